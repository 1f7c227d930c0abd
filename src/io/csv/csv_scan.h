/* csv_scan.h: finds separators and line ends in simple text.
 *
 * The fast path of the CSV reader: bytes are scanned 64 at a time, and every separator and LF is added to a list. It
 * stops before the first 64 bytes that contain a quote, a NUL or a lone CR: rows that extend there are parsed by
 * dis__csv_row(). */
#ifndef DIS_IO_CSV_CSV_SCAN_H
#define DIS_IO_CSV_CSV_SCAN_H
#include "core/kernel.h"
#include "dissent/status.h"

#define DIS_SCAN_LF 0x80000000u /* set in the list for an LF */

enum { DIS_SCAN_STEP = 64 };

typedef struct {
    size_t n;       /* entries in the list */
    size_t scanned; /* bytes scanned: fewer than requested if the fast path stopped */
    bool crlf;      /* some LF has a CR before it */
    bool not_ascii; /* needs a check for valid UTF-8 */
} dis__csv_scan;

/* text: n bytes, n < 2^31; list: room for n + DIS_SCAN_STEP entries, each an offset and perhaps DIS_SCAN_LF. */
DIS_KERNEL_DECLARE(dis__csv_scan, dis__csv_scan_text, (const char *text, size_t n, char separator, uint32_t *list));

#endif
