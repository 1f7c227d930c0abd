/* Streams the records of JSON files: see json_records.h. A record that reaches the end of the available part of an
 * archive is scanned again with twice as much text, so that the cost stays linear. */
#include "io/json/json_records.h"
#include "io/input/text_format.h"
#include <stdarg.h>
#include <stdio.h>

static dis_status fail(dis__json_records *r)
{
    uint64_t line, column;
    dis__csv_position(r->positions, r->split.problem_at, &line, &column);
    return dis__fail_at(DIS_EDATA, r->in->path, line, column, "%s", r->split.problem);
}

static bool is_cut(const dis__json_records *r, dis_status split)
{
    return !dis__input_is_complete(r->in) && (split == DIS_EDATA || r->split.at == r->split.end);
}

dis_status dis__json_records_open(dis__json_records *r, dis__input *in, dis__csv *positions, const char *records,
                                  bool lines)
{
    *r = (dis__json_records){.in = in, .positions = positions};
    for (size_t n = lines ? DIS_RECORDS_READ_AHEAD : DIS_SPLIT_PROBE;; n = 2 * in->n) {
        DIS_TRY(dis__input_extend(in, n));
        const dis_status status = dis__json_split_open(&r->split, in, records, lines);
        if (is_cut(r, status)) continue;
        return status == DIS_EDATA ? fail(r) : status;
    }
}

void dis__input_advance(dis__input *in, const char *at, dis__csv *positions, const char **passed)
{
    uint64_t line, column;
    if (!in->stream) {
        dis__input_release_pages(in, at, passed);
        return;
    }
    dis__csv_position(positions, at, &line, &column);
    dis__input_discard(in, (size_t)(at - in->bytes));
}

/* Extends the text by n bytes, if the archive has as many; blank lines at the end are ignored. */
static dis_status fill(dis__json_records *r, size_t n)
{
    if (!r->in->stream) return DIS_OK;
    DIS_TRY(dis__input_extend(r->in, (size_t)(r->split.at - r->in->bytes) + n));
    if (r->split.kind == DIS_SPLIT_LINES) dis__text_trim_blank_lines(r->in);
    r->split.end = r->positions->end = r->in->bytes + r->in->n;
    return DIS_OK;
}

dis_status dis__json_records_next(dis__json_records *r, bool *more)
{
    dis__input_advance(r->in, r->split.at, r->positions, &r->passed);
    r->split.problem = NULL;
    const dis__json_split before = r->split;
    for (size_t n = DIS_RECORDS_READ_AHEAD;; n *= 2) {
        r->split = before;
        DIS_TRY(fill(r, n));
        const dis_status status = dis__json_split_next(&r->split, more);
        if (is_cut(r, status) && n <= 2 * (size_t)DIS_MAX_RECORD) continue;
        return status == DIS_EDATA ? fail(r) : status;
    }
}

dis_status dis__json_records_text(dis__json_records *r, const char *text, size_t n, dis__json *json,
                                  const dis__json_value **root)
{
    dis__json_position position = {.file = "", .offset = (uint64_t)(text - r->in->bytes)};
    const dis_status status = dis__json_parse(json, text, n, &position, root);
    if (status != DIS_EDATA) return status;
    position.file = r->in->path; /* parse again for the position, which takes time to compute */
    dis__csv_position(r->positions, text, &position.line, &position.column);
    return dis__json_parse(json, text, n, &position, root);
}

dis_status dis__json_records_parse(dis__json_records *r, dis__json *json, const dis__json_value **root)
{
    return dis__json_records_text(r, r->split.text, r->split.n, json, root);
}

dis_status dis__json_records_fail(dis__json_records *r, const dis__json_value *value, const char *format, ...)
{
    char reason[1024];
    uint64_t line, column;
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    dis__csv_position(r->positions, r->split.text + value->at, &line, &column);
    return dis__fail_at(DIS_EDATA, r->in->path, line, column, "%s", reason);
}
