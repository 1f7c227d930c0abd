/* text_format.h: the format of a text file, from its first line: a file of an unexpected format gets an error that
 * names the format, instead of a later syntax error. */
#ifndef DIS_IO_INPUT_TEXT_FORMAT_H
#define DIS_IO_INPUT_TEXT_FORMAT_H
#include "core/error.h"
#include "io/input/input.h"

/* For files that are about to be read as "csv", "tsv" or "jsonl" with a header or keys. Blank lines at the end are
 * removed. DIS_EDATA: this is a JSON array, JSON over several lines, or JSON Lines read as CSV. `option`: the option
 * that sets the format ("--input-format"); NULL: only the file name determines it. *separator: that of the columns: the
 * usual one of the format, unless the header has none of these and one of comma, semicolon, tab and | alone, or Excel's
 * line "sep=;" comes before it, which is then skipped (in->preamble). DIS_EDATA: the header has several of them, but
 * not the usual one. NULL: not needed. */
dis_status dis__text_format_check(dis__input *in, const char *format, const char *option, char *separator);

/* Skips n lines before the header. */
void dis__text_skip_lines(dis__input *in, size_t n);

/* Removes blank lines at the end; does nothing while more input may follow. */
void dis__text_trim_blank_lines(dis__input *in);

/* UTF-16 with a byte order mark, as Excel and Windows write it. */
bool dis__is_utf16(const char *bytes, size_t n);
/* Converts into `out`, which has room for n / 2 * 3 bytes, without the mark. DIS_EDATA: half a character, a lone
 * surrogate. */
dis_status dis__utf16_to_utf8(const char *path, const char *bytes, size_t n, char *out, size_t *n_out);

#endif
