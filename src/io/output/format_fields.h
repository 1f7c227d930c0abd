/* format_fields.h: texts as CSV fields and JSON strings, into memory that is large enough.
 *
 * Each writes at `out` and returns the position behind what it wrote; nothing ends with a NUL. */
#ifndef DIS_IO_OUTPUT_TEXT_WRITE_H
#define DIS_IO_OUTPUT_TEXT_WRITE_H
#include "dissent/status.h"

/* The maximum number of bytes that n bytes of text become. */
#define DIS_FIELD_BYTES(n)  (2 * (n) + 2)
#define DIS_STRING_BYTES(n) (6 * (n) + 2)

/* A field of CSV (delimiter ',') or TSV ('\t'): in double quotes, inner ones doubled, when it contains the delimiter, a
 * quote, CR or LF, or begins or ends with a space; as it is otherwise. */
char *dis__format_csv_field(char *out, const char *text, size_t n, char delimiter);

/* A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD: JSON has no way to write them. */
char *dis__format_json_string(char *out, const char *text, size_t n);

/* A number: JSON and CSV alike. Infinite ones are the string "inf" or "-inf" (with quotes in JSON only), NaN is null in
 * JSON and nothing at all in CSV. Room: DIS_REAL_TEXT. */
char *dis__format_json_real(char *out, double x);
char *dis__format_csv_real(char *out, double x);
/* Room: 20 bytes. */
char *dis__format_count(char *out, uint64_t x);

#endif
