/* Known labels from a file of task and label, by one table of the votes' tasks. Cost: a lookup a row. */
#include "votes/reader.h"
#include "core/memory.h"
#include <stdio.h>

typedef struct {
    const dis_votes *votes;
    dis__secret secret;
    dis__table tasks; /* value: item */
    int32_t *gold;    /* (n_items) */
    size_t unknown;
} known;

/* Tells why a row is refused, in `message`. */
static dis_status take(known *k, const dis__cell *task, const dis__cell *label, char *message, size_t room)
{
    const dis__key key = dis__key_of(&k->secret, task->text, task->n);
    const dis__key *at = dis__table_find(&k->tasks, &key);
    if (!at) {
        k->unknown++;
        return DIS_OK;
    }
    const size_t class = dis_names_find(k->votes->classes, label->text, label->n);
    if (class == SIZE_MAX) {
        snprintf(message, room, "the gold label \"%.*s\" is no class of the votes; declare it with --classes",
                 label->n > 200 ? 200 : (int)label->n, label->text);
        return DIS_EDATA;
    }
    int32_t *gold = &k->gold[at->value];
    if (*gold >= 0 && *gold != (int32_t) class) {
        snprintf(message, room, "task \"%.*s\" has two gold labels; keep one", task->n > 200 ? 200 : (int)task->n,
                 task->text);
        return DIS_EDATA;
    }
    *gold = (int32_t) class;
    return DIS_OK;
}

static dis_status read_csv(known *k, dis__csv *csv)
{
    static const char *const tasks[] = {"task", NULL}, *const labels[] = {"label", "gold", NULL};
    size_t task, label;
    DIS_TRY(dis__csv_header(csv));
    DIS_TRY(dis__csv_role(csv, "task", NULL, tasks, &task));
    DIS_TRY(dis__csv_role(csv, "label", NULL, labels, &label));
    for (bool more = true;;) {
        DIS_TRY(dis__csv_next(csv, &more));
        if (!more) return DIS_OK;
        char message[512];
        const dis__csv_field *t = &csv->field[task], *l = &csv->field[label];
        const dis__cell cells[] = {{.text = t->text, .n = t->n, .at = t->at},
                                   {.text = l->text, .n = l->n, .at = l->at}};
        const dis_status status = take(k, &cells[0], &cells[1], message, sizeof message);
        if (status != DIS_OK) return dis__csv_fail(csv, l, "%s", message);
    }
}

static dis_status read_jsonl(known *k, const dis__input *in, dis__json *json)
{
    const char *line = in->bytes, *end = line + in->n;
    if (in->n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3;
    if (line == end) return dis__fail_at(DIS_EDATA, in->path, 0, 0, "the file is empty");
    for (uint64_t number = 1; line < end; number++) {
        const char *lf = memchr(line, '\n', (size_t)(end - line)), *stop = lf ? lf : end;
        if ((size_t)(stop - line) > DIS_MAX_FIELD)
            return dis__fail_at(DIS_EDATA, in->path, number, 1, "a line of more than %u bytes", DIS_MAX_FIELD);
        const dis__json_place place = {.file = in->path,
                                       .line = number,
                                       .column = 1,
                                       .offset = (uint64_t)(line - in->bytes)};
        const dis__json_value *root;
        DIS_TRY(dis__json_parse(json, line, (size_t)(stop - line), &place, &root));
        dis__cell cells[2];
        static const char *const keys[] = {"task", "label"};
        for (int i = 0; i < 2; i++) {
            const dis__json_value *v = dis__json_member(root, keys[i]);
            if (!v && i) v = dis__json_member(root, "gold");
            if (!v) return dis__json_fail(json, root, "no key \"%s\"", keys[i]);
            if (v->kind == DIS_JSON_ARRAY || v->kind == DIS_JSON_OBJECT || v->kind == DIS_JSON_NULL)
                return dis__json_fail(json, v, "\"%s\" must be a text or a number", keys[i]);
            cells[i] = (dis__cell){.text = v->text, .n = v->length};
        }
        char message[512];
        const dis_status status = take(k, &cells[0], &cells[1], message, sizeof message);
        if (status != DIS_OK) return dis__json_fail(json, root, "%s", message);
        line = lf ? lf + 1 : end;
    }
    return DIS_OK;
}

static dis_status read_gold(dis_context *ctx, known *k, const char *path)
{
    const dis_names *tasks = k->votes->tasks;
    DIS_TRY(dis__alloc_array(&k->gold, k->votes->n_items, sizeof *k->gold));
    for (size_t i = 0; i < k->votes->n_items; i++) {
        k->gold[i] = -1;
        size_t n;
        const char *text = dis_names_get(tasks, i, &n);
        dis__key key = dis__key_of(&k->secret, text, n);
        key.value = (uint32_t)i;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__table_put(&k->tasks, &key, &at, &fresh));
    }
    const char *format;
    DIS_TRY(dis__votes_format(NULL, path, &format));
    dis__input in;
    DIS_TRY(dis__input_open(ctx, path, &in));
    dis_status status;
    if (strcmp(format, "jsonl") == 0) {
        dis__json json = {0};
        status = read_jsonl(k, &in, &json);
        dis__json_free(&json);
    } else if (strcmp(format, "npy") == 0) {
        status = dis__fail_at(DIS_EDATA, path, 0, 0, "gold labels are read from csv, tsv and jsonl, not from npy");
    } else {
        dis__csv csv;
        dis__csv_open(&csv, &in, strcmp(format, "tsv") == 0 ? '\t' : ',');
        status = read_csv(k, &csv);
        dis__csv_close(&csv);
    }
    dis__input_close(&in);
    return status;
}

dis_status dis_gold_read(dis_context *ctx, const char *path, const dis_votes *votes, int32_t *gold, size_t *unknown)
{
    known k = {.votes = votes, .secret = dis__secret_draw()};
    const dis_status status = read_gold(ctx, &k, path);
    if (status == DIS_OK) {
        if (votes->n_items) memcpy(gold, k.gold, votes->n_items * sizeof *gold);
        if (unknown) *unknown = k.unknown;
    }
    dis__free(k.gold);
    dis__table_free(&k.tasks);
    return status;
}
