/* sanitized.h: whether this is a build with sanitizers, where everything takes ten times as long: tests that repeat one
 * thing often repeat it less there. */
#ifndef DIS_SUPPORT_SANITIZED_H
#define DIS_SUPPORT_SANITIZED_H

#ifdef DIS_SANITIZED /* cmake/dissent.cmake */
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
