/* lewidi_internal.h: shared by the files of Le-Wi-Di. */
#ifndef DIS_EVALUATE_LEWIDI_INTERNAL_H
#define DIS_EVALUATE_LEWIDI_INTERNAL_H
#include "tool/lewidi.h"
#include "core/error.h"

/* Rounded to five decimals as Python's round() does: the nearest decimal, ties to an even last digit. */
double dis__round5(double x);

/* "ID" or "ID:PART" of an item; returns its length. */
enum { DIS__LEWIDI_TASK = 1 << 16 };
size_t dis__lewidi_task(const dis__lewidi_view *v, size_t i, size_t part, char *out, size_t capacity);

#endif
