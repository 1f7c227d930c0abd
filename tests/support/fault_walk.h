/* fault_walk.h: every fault in turn, for tests. */
#ifndef DIS_SUPPORT_FAULT_WALK_H
#define DIS_SUPPORT_FAULT_WALK_H
#include "core/fault_injection.h"
#include "sanitized.h"

/* Runs `call` with the 1st, 2nd, ... allocation, system call and short count failing, until a run no longer reaches the
 * fault; under sanitizers, where a run takes ten times as long, with a sample of them, sparser towards the end. A
 * failed allocation must come back as DIS_ELIMIT and a failed system call as DIS_EIO, and no run may leave memory
 * behind; the caller of this sees to everything else within `call` (outputs untouched) and `failed`, run after each
 * failure (old file intact, nothing left over; may be NULL). */
static inline void walk_faults(dis_status (*call)(void *arg), void (*failed)(void *arg), void *arg)
{
    static const dis_status expected[DIS_FAULT_KINDS] = {DIS_ELIMIT, DIS_EIO, DIS_OK};
    for (int kind = 0; kind < DIS_FAULT_KINDS; kind++)
        for (uint64_t n = 1;; n += SANITIZED ? 1 + n / 8 : 1) {
            const int64_t blocks = dis__fault_blocks();
            dis__fault_arm((dis_fault_kind)kind, n);
            const dis_status status = call(arg);
            const bool reached = dis__fault_reached((dis_fault_kind)kind);
            dis__fault_arm((dis_fault_kind)kind, 0);
            assert_int_equal(dis__fault_blocks(), blocks);
            if (!reached) {
                assert_int_equal(status, DIS_OK);
                break;
            }
            assert_int_equal(status, expected[kind]);
            if (status != DIS_OK && failed) failed(arg);
        }
}

#endif
