/* sanitized.h: whether this is a build with sanitizers, where everything takes ten times as long: tests that repeat one
 * thing often repeat it less there. */
#ifndef DIS_TESTS_SANITIZED_H
#define DIS_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
