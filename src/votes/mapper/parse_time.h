/* parse_time.h: parses times as written by annotation tools. */
#ifndef DIS_VOTES_MAPPER_PARSE_TIME_H
#define DIS_VOTES_MAPPER_PARSE_TIME_H
#include <stdbool.h>
#include <stddef.h>

/* Seconds since 1970 in UTC from a number (seconds, or milliseconds above 1e11), "2023-05-04T12:34:56.7+02:00",
 * "2023-05-04 12:34:56 UTC", "5/4/2023 12:34:56" (month first) or "Thu May 04 12:34:56 PDT 2023". Without a zone: UTC.
 * false: another format. */
bool dis__parse_time(const char *text, size_t n, double *seconds);

#endif
