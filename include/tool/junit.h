/* junit.h: results of checks as JUnit XML, which CI systems show as tests. */
#ifndef DIS_TOOL_JUNIT_H
#define DIS_TOOL_JUNIT_H
#include "dissent/status.h"

typedef struct {
    const char *name;
    const char *failure; /* why it failed; NULL: it passed */
} dis__junit_case;

/* Writes one test suite, complete or not at all; "-": standard output. DIS_EIO, DIS_ELIMIT. */
dis_status dis__junit_write(const char *path, const char *suite, const dis__junit_case *cases, size_t n);

#endif
