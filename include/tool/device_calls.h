/* device_calls.h: what the program asks about devices before it creates a context. Not part of the public interface. */
#ifndef DIS_TOOL_DEVICE_CALLS_H
#define DIS_TOOL_DEVICE_CALLS_H
#include <stdbool.h>
#include <stddef.h>

/* Words without a number, such as "cuda", in one of several ranks of a machine: its devices in turn. Writes the name of
 * the device of this rank, "cuda:1". false: the words name a device by number or the CPU, or there is no such device. */
bool dis__device_of_rank(const char *words, long rank, char *name, size_t n);
/* Whether these words name the first device of a machine whose driver is loaded. Takes no time, unlike finding the
 * device. */
bool dis__device_has_driver(const char *words);

#endif
