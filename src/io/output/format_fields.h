/* format_fields.h: texts as CSV fields and JSON strings, into buffers that are large enough.
 *
 * Each writes to `out` and returns the end of its output, without a terminating NUL. */
#ifndef DIS_IO_FORMAT_FIELDS_H
#define DIS_IO_FORMAT_FIELDS_H
#include "dissent/status.h"

/* The maximum number of bytes that n bytes of text become. */
#define DIS_FIELD_BYTES(n)  (2 * (n) + 2)
#define DIS_STRING_BYTES(n) (6 * (n) + 2)

/* A field of CSV (delimiter ',') or TSV ('\t'): in double quotes, inner ones doubled, when it contains the delimiter, a
 * quote, CR or LF, or begins or ends with a space; otherwise unchanged. */
char *dis__format_csv_field(char *out, const char *text, size_t n, char delimiter);

/* A JSON string with its quotes. Invalid UTF-8 is replaced by U+FFFD. */
char *dis__format_json_string(char *out, const char *text, size_t n);

/* A number, for JSON and CSV. Infinite ones are the string "inf" or "-inf" (with quotes in JSON only); NaN is null in
 * JSON and empty in CSV. Room: DIS_REAL_TEXT. */
char *dis__format_json_real(char *out, double x);
char *dis__format_csv_real(char *out, double x);
/* Room: 20 bytes. */
char *dis__format_count(char *out, uint64_t x);

#endif
