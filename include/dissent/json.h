/* json.h: writes a JSON file, such as the summary for machines.
 *
 *     dis_json *json;
 *     if (dis_json_open("summary.json", &json) == DIS_OK) {
 *         dis_json_begin_object(json);
 *         dis_json_key(json, "n_items");
 *         dis_json_count(json, 800);
 *         dis_json_end_object(json);
 *         if (dis_json_finish(json, DIS_OK) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *     }
 *
 * Calls in between cannot fail by themselves: the first failure is kept and comes back from dis_json_finish. Calls that
 * make no sense (a value without its key, an array closed as an object) are one, DIS_EBUG. The file appears whole or
 * not at all. Infinite numbers are written as the strings "inf" and "-inf", NaN as null. Threads: one file, one thread
 * at a time. */
#ifndef DIS_JSON_H
#define DIS_JSON_H
#include "dissent/status.h"

typedef struct dis_json dis_json;

/* "-": standard output. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_json_open(const char *path, dis_json **out);

DIS_API void dis_json_begin_object(dis_json *json);
DIS_API void dis_json_end_object(dis_json *json);
DIS_API void dis_json_begin_array(dis_json *json);
DIS_API void dis_json_end_array(dis_json *json);
DIS_API void dis_json_key(dis_json *json, const char *key);

/* Texts are copied; bytes that are not UTF-8 become U+FFFD. A NULL text is null. */
DIS_API void dis_json_text(dis_json *json, const char *text);
DIS_API void dis_json_text_n(dis_json *json, const char *text, size_t n);
DIS_API void dis_json_real(dis_json *json, double x);
DIS_API void dis_json_count(dis_json *json, uint64_t x);
DIS_API void dis_json_bool(dis_json *json, bool x);
DIS_API void dis_json_null(dis_json *json);

/* Ends and frees `json`. With `so_far` DIS_OK and no failure on the way the file is put in place; otherwise nothing is
 * changed on the disk and the failure comes back. */
DIS_API dis_status dis_json_finish(dis_json *json, dis_status so_far);

#endif
