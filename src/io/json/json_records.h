/* json_records.h: the records of a JSON file of any size (json_split.h), in little memory: pages of a mapped file are
 * released after they were read, and an archive is decompressed as it is read, slightly ahead of the current record.
 *
 *     dis__csv places;
 *     dis__json_records records;
 *     dis__csv_open(&places, &input, ',');
 *     DIS_TRY(dis__json_records_open(&records, &input, &places, NULL, false));
 *     while ((status = dis__json_records_next(&records, &more)) == DIS_OK && more)
 *         DIS_TRY(dis__json_records_parse(&records, &json, &root)) ...
 *     dis__csv_close(&places);
 *
 * DIS_EDATA has a message with line and column. */
#ifndef DIS_IO_JSON_JSON_RECORDS_H
#define DIS_IO_JSON_JSON_RECORDS_H
#include "io/csv/csv.h"
#include "io/json/json_read.h"
#include "io/json/json_split.h"

typedef struct {
    dis__input *in; /* opened as a stream or not */
    dis__csv *positions;
    dis__json_split split;
    const char *passed;
} dis__json_records;

enum { DIS_RECORDS_READ_AHEAD = 1 << 20 }; /* bytes of an archive to decompress ahead of the current record */

/* records, lines: see dis__json_split_open(). The input is read from its start. */
dis_status dis__json_records_open(dis__json_records *r, dis__input *in, dis__csv *positions, const char *records,
                                  bool lines);
/* The next record is r->split.text; earlier ones may no longer be in memory. */
dis_status dis__json_records_next(dis__json_records *r, bool *more);
/* The current record, parsed; `root` is valid until the next call. */
dis_status dis__json_records_parse(dis__json_records *r, dis__json *json, const dis__json_value **root);
/* The same for a text within the file: the name of a record. */
dis_status dis__json_records_text(dis__json_records *r, const char *text, size_t n, dis__json *json,
                                  const dis__json_value **root);

/* DIS_EDATA at a value of the current record. */
dis_status dis__json_records_fail(dis__json_records *r, const dis__json_value *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For readers of other formats, too: releases the memory before `at`, after counting its lines. */
void dis__input_advance(dis__input *in, const char *at, dis__csv *positions, const char **passed);

#endif
