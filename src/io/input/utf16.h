/* utf16.h: UTF-16 text with a byte order mark, as Excel and Windows write it, into UTF-8. */
#ifndef DIS_IO_INPUT_UTF16_H
#define DIS_IO_INPUT_UTF16_H
#include "core/error.h"

bool dis__is_utf16(const char *bytes, size_t n);
/* Into `out`, which has room for n / 2 * 3 bytes, without the mark. DIS_EDATA: half a character, a lone surrogate. */
dis_status dis__utf16_to_utf8(const char *path, const char *bytes, size_t n, char *out, size_t *n_out);

#endif
