/* fault_injection.h: makes the n-th allocation or system call fail, in test builds only (DIS_FAULT_HOOKS).
 *
 * Tests walk n over all sites: arm(kind, 1), arm(kind, 2), ... until a run does not reach the n-th. The tool of a test
 * build arms itself from DISSENT_FAULT=alloc:N, io:N or short:N and, at its end, prints to stderr whether the fault was
 * reached and whether memory was leaked. */
#ifndef DIS_CORE_FAULT_INJECTION_H
#define DIS_CORE_FAULT_INJECTION_H
#include "dissent/status.h"

#if !defined(DIS_FAULT_SOURCE) && !defined(DIS_FAULT_HOOKS)
#error "a file of the library that asks for faults stands in DIS_FAULT_SOURCES of cmake/dissent.cmake"
#endif

/* ALLOC: an allocation fails. IO: a system call fails. SHORT: a read or write moves one byte only, which is not an
 * error.
 */
typedef enum { DIS_FAULT_ALLOC, DIS_FAULT_IO, DIS_FAULT_SHORT, DIS_FAULT_KINDS } dis_fault_kind;

#ifdef DIS_FAULT_HOOKS
/* Makes the n-th call of that kind from now on fail, once (n from 1); 0: none. Resets the counter. */
void dis__fault_arm(dis_fault_kind kind, uint64_t n);
/* True once the armed call has failed. */
bool dis__fault_reached(dis_fault_kind kind);
bool dis__fault_inject(dis_fault_kind kind);
/* Blocks allocated and not freed since the start: equal before and after a call that leaks nothing. */
int64_t dis__fault_blocks(void);
void dis__fault_count_block(int64_t change);
#else
static inline bool dis__fault_inject(dis_fault_kind kind)
{
    (void)kind;
    return false;
}

static inline void dis__fault_count_block(int64_t change)
{
    (void)change;
}
#endif

#endif
