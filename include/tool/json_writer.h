/* json_writer.h: writes a JSON file, such as the summary for machines.
 *
 *     dis__json_writer *json;
 *     if (dis__json_writer_create("summary.json", &json) == DIS_OK) {
 *         dis__json_writer_begin_object(json);
 *         dis__json_writer_key(json, "n_items");
 *         dis__json_writer_count(json, 800);
 *         dis__json_writer_end_object(json);
 *         if (dis__json_writer_finish(json, DIS_OK) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *     }
 *
 * Calls in between cannot fail by themselves: the first failure is kept and comes back from dis__json_writer_finish. Calls that
 * make no sense (a value without its key, an array closed as an object) are one, DIS_EBUG. The file appears whole or
 * not at all. Infinite numbers are written as the strings "inf" and "-inf", NaN as null. Threads: one file, one thread
 * at a time. */
#ifndef DIS_TOOL_JSON_WRITER_H
#define DIS_TOOL_JSON_WRITER_H
#include "dissent/metric.h"

typedef struct dis__json_writer dis__json_writer;

/* "-": standard output. DIS_EIO, DIS_ELIMIT. */
dis_status dis__json_writer_create(const char *path, dis__json_writer **out);

void dis__json_writer_begin_object(dis__json_writer *json);
void dis__json_writer_end_object(dis__json_writer *json);
void dis__json_writer_begin_array(dis__json_writer *json);
void dis__json_writer_end_array(dis__json_writer *json);
void dis__json_writer_key(dis__json_writer *json, const char *key);

/* Texts are copied; bytes that are not UTF-8 become U+FFFD. A NULL text is null. */
void dis__json_writer_text(dis__json_writer *json, const char *text);
void dis__json_writer_text_n(dis__json_writer *json, const char *text, size_t n);
void dis__json_writer_real(dis__json_writer *json, double x);
void dis__json_writer_count(dis__json_writer *json, uint64_t x);
void dis__json_writer_bool(dis__json_writer *json, bool x);
void dis__json_writer_null(dis__json_writer *json);

/* A value with its interval, as every summary has it: {"value", "ci_low", "ci_high", "n"}. */
void dis__json_writer_metric(dis__json_writer *json, const dis_metric *metric);

/* Ends and frees `json`. With `so_far` DIS_OK and no failure on the way the file is put in place; otherwise nothing is
 * changed on the disk and the failure comes back. */
dis_status dis__json_writer_finish(dis__json_writer *json, dis_status so_far);

#endif
