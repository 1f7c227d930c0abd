/* Counters of the fault hooks; an empty file outside test builds. */
#include "core/fault_injection.h"
#ifdef DIS_FAULT_HOOKS
#include <stdatomic.h>

static _Atomic uint64_t countdown[DIS_FAULT_KINDS];
static _Atomic bool reached[DIS_FAULT_KINDS];
static _Atomic int64_t blocks;

int64_t dis__fault_blocks(void)
{
    return blocks;
}

void dis__fault_count_block(int64_t change)
{
    blocks += change;
}

void dis__fault_arm(dis_fault_kind kind, uint64_t n)
{
    reached[kind] = false;
    countdown[kind] = n;
}

bool dis__fault_reached(dis_fault_kind kind)
{
    return reached[kind];
}

bool dis__fault_inject(dis_fault_kind kind)
{
    uint64_t now = countdown[kind];
    while (now && !atomic_compare_exchange_weak(&countdown[kind], &now, now - 1)) {}
    if (now != 1) return false;
    reached[kind] = true;
    return true;
}
#else
typedef int dis__no_fault_hooks; /* ISO C forbids an empty file */
#endif
