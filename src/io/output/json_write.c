/* JSON output, indented by two spaces per level. */
#include "tool/json_writer.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "io/output/output_file.h"
#include "io/output/format_fields.h"
#include <string.h>

enum { DEPTH = 64 };

struct dis__json_writer {
    dis__out *out;
    dis__first_error failed;
    size_t depth;
    char kind[DEPTH]; /* '{' or '[' of each open level */
    bool some[DEPTH]; /* whether it has a member */
    bool after_key, done;
};

static void bug(dis__json_writer *json, const char *what)
{
    dis__first_error_record(&json->failed, dis__fail(DIS_EBUG, "JSON is written out of order: %s", what));
}

static void put(dis__json_writer *json, const char *bytes, size_t n)
{
    if (json->failed.status == DIS_OK) dis__first_error_record(&json->failed, dis__out_write(json->out, bytes, n));
}

static void new_line(dis__json_writer *json)
{
    put(json, "\n", 1);
    for (size_t i = 0; i < json->depth; i++) put(json, "  ", 2);
}

/* Writes the comma and line break before a value or key. */
static void separate(dis__json_writer *json, bool is_key)
{
    if (json->done) bug(json, "something after the end");
    if (json->after_key) {
        json->after_key = false;
        if (is_key) bug(json, "a key after a key");
        return;
    }
    if (json->depth == 0) return;
    if ((json->kind[json->depth - 1] == '{') != is_key)
        bug(json, is_key ? "a key in an array" : "a value without its key");
    if (json->some[json->depth - 1]) put(json, ",", 1);
    json->some[json->depth - 1] = true;
    new_line(json);
}

static void value(dis__json_writer *json, const char *bytes, size_t n)
{
    separate(json, false);
    put(json, bytes, n);
    json->done = json->depth == 0;
}

static void begin(dis__json_writer *json, char kind)
{
    separate(json, false);
    if (json->depth == DEPTH) bug(json, "too many levels");
    if (json->failed.status != DIS_OK) return;
    put(json, &kind, 1);
    json->kind[json->depth] = kind;
    json->some[json->depth++] = false;
}

static void end(dis__json_writer *json, char kind, char close)
{
    if (json->failed.status != DIS_OK) return;
    if (json->depth == 0 || json->kind[json->depth - 1] != kind || json->after_key) {
        bug(json, "what is closed is not open");
        return;
    }
    json->depth--;
    if (json->some[json->depth]) new_line(json);
    put(json, &close, 1);
    json->done = json->depth == 0;
}

static void string(dis__json_writer *json, const char *text, size_t n)
{
    put(json, "\"", 1);
    while (n) { /* in pieces, cut between characters */
        size_t piece = n < 1024 ? n : 1024;
        while (piece < n && piece > 1020 && ((unsigned char)text[piece] & 0xC0) == 0x80) piece--;
        char room[DIS_STRING_BYTES(1024)];
        const char *last = dis__format_json_string(room, text, piece);
        put(json, room + 1, (size_t)(last - room) - 2);
        text += piece;
        n -= piece;
    }
    put(json, "\"", 1);
}

dis_status dis__json_writer_create(const char *path, dis__json_writer **out)
{
    dis__json_writer *json;
    DIS_TRY(dis__alloc_zeroed(&json, 1, sizeof *json));
    const dis_status status = dis__out_open(path, &json->out);
    if (status != DIS_OK) {
        dis__free(json);
        return status;
    }
    *out = json;
    return DIS_OK;
}

void dis__json_writer_begin_object(dis__json_writer *json)
{
    begin(json, '{');
}

void dis__json_writer_end_object(dis__json_writer *json)
{
    end(json, '{', '}');
}

void dis__json_writer_begin_array(dis__json_writer *json)
{
    begin(json, '[');
}

void dis__json_writer_end_array(dis__json_writer *json)
{
    end(json, '[', ']');
}

void dis__json_writer_key(dis__json_writer *json, const char *key)
{
    separate(json, true);
    if (json->depth == 0) bug(json, "a key outside an object");
    string(json, key, strlen(key));
    put(json, ": ", 2);
    json->after_key = true;
}

void dis__json_writer_text_n(dis__json_writer *json, const char *text, size_t n)
{
    if (!text) {
        dis__json_writer_null(json);
        return;
    }
    separate(json, false);
    string(json, text, n);
    json->done = json->depth == 0;
}

void dis__json_writer_text(dis__json_writer *json, const char *text)
{
    dis__json_writer_text_n(json, text, text ? strlen(text) : 0);
}

void dis__json_writer_real(dis__json_writer *json, double x)
{
    char room[DIS_REAL_TEXT];
    value(json, room, (size_t)(dis__format_json_real(room, x) - room));
}

void dis__json_writer_count(dis__json_writer *json, uint64_t x)
{
    char room[20];
    value(json, room, (size_t)(dis__format_count(room, x) - room));
}

void dis__json_writer_bool(dis__json_writer *json, bool x)
{
    value(json, x ? "true" : "false", x ? 4 : 5);
}

void dis__json_writer_null(dis__json_writer *json)
{
    value(json, "null", 4);
}

dis_status dis__json_writer_finish(dis__json_writer *json, dis_status so_far)
{
    if (so_far == DIS_OK) {
        if (!json->done) bug(json, "it ends in the middle");
        put(json, "\n", 1);
        so_far = dis__first_error_restore(&json->failed);
    }
    const dis_status status = dis__out_finish(json->out, so_far);
    dis__free(json);
    return status;
}
