/* The official files of Le-Wi-Di 2025: an object by item with `text`, `annotators`, `annotations` and `soft_label`.
 *
 * Annotators come in the order of `annotators`, in VariErrNLI (whose list repeats ids) in that of the keys of
 * `annotations`.
 * Values are numbers, also "1.0"; in VariErrNLI names of labels with commas between them. Cost: one pass. */
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "core/options/sized_structs.h"
#include "evaluate/lewidi/lewidi_internal.h"
#include "io/input/input.h"
#include "io/json/json_read.h"
#include "votes/ids/intern.h"
#include <math.h>
#include <string.h>
#include <strings.h>

static const dis__lewidi_set sets[] = {
    {.name = "MP", .summary = "MultiPICo: irony, yes or no", .n_parts = 1, .n_classes = 2},
    {.name = "CSC",
     .summary = "conversational sarcasm, 1 to 6",
     .n_parts = 1,
     .n_classes = 6,
     .low = 1,
     .ordered = true,
     .scale = 6},
    {.name = "Paraphrase",
     .summary = "paraphrases, -5 to 5",
     .n_parts = 1,
     .n_classes = 11,
     .low = -5,
     .first_bin = -5,
     .ordered = true,
     .scale = 11},
    {.name = "VariErrNLI",
     .summary = "natural language inference, each label yes or no",
     .part = {"contradiction", "entailment", "neutral"},
     .n_parts = 3,
     .n_classes = 2},
};

const dis__lewidi_set *dis__lewidi_set_get(size_t i)
{
    return i < sizeof sets / sizeof *sets ? &sets[i] : NULL;
}

const dis__lewidi_set *dis__lewidi_set_find(const char *name)
{
    static const struct {
        const char *other, *name;
    } others[] = {{"Par", "Paraphrase"}, {"VEN", "VariErrNLI"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(name, others[i].other) == 0) name = others[i].name;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcasecmp(name, sets[i].name) == 0) return &sets[i];
    return NULL;
}

struct dis__lewidi {
    const dis__lewidi_set *set;
    dis_names *items, *workers, *texts;
    uint64_t *start;
    uint32_t *worker;
    int32_t *value;
    double *soft;
    size_t n_items, n_annotations;
};

static dis__lewidi_view view_of(const dis__lewidi *l)
{
    return (dis__lewidi_view){.set = l->set,
                              .n_items = l->n_items,
                              .n_workers = dis_names_count(l->workers),
                              .n_annotations = l->n_annotations,
                              .items = l->items,
                              .workers = l->workers,
                              .texts = l->texts,
                              .start = l->start,
                              .worker = l->worker,
                              .value = l->value,
                              .soft = l->soft};
}
dis__lewidi_view dis__lewidi_get_view(const dis__lewidi *official)
{
    return view_of(official);
}

void dis__lewidi_destroy(dis__lewidi *l)
{
    if (!l) return;
    dis_names_destroy(l->items);
    dis_names_destroy(l->workers);
    dis_names_destroy(l->texts);
    dis__free(l->start);
    dis__free(l->worker);
    dis__free(l->value);
    dis__free(l->soft);
    dis__free(l);
}

/* ---- reading ---- */

typedef struct {
    dis__lewidi *l;
    const dis__json *json;
    dis__name_list items, workers, texts;
    dis__key_table table; /* of workers; value: index */
    dis__secret secret;
    dis__arena ids;
    size_t worker_capacity, value_capacity;
    char *text; /* of an item */
    size_t text_capacity;
    size_t n_soft; /* items with soft labels */
} loader;

static dis_status worker_of(loader *d, const char *text, size_t n, uint32_t *out)
{
    dis__key key = dis__key_from_text(&d->secret, text, n);
    const dis__key *at = dis__key_table_find(&d->table, &key);
    bool fresh;
    if (at) {
        *out = at->value;
        return DIS_OK;
    }
    const char *stays;
    DIS_TRY(dis__arena_copy(&d->ids, text, n, &stays));
    key = dis__key_from_text(&d->secret, stays, n);
    key.value = *out = (uint32_t)d->workers.n;
    DIS_TRY(dis__key_table_insert(&d->table, &key, &at, &fresh));
    return dis__name_list_add(&d->workers, text, n);
}

/* A class as its value: a number of the scale, also "1.0". */
static dis_status class_of(const loader *d, const dis__json_value *at, const char *text, size_t n, int32_t *out)
{
    const dis__lewidi_set *s = d->l->set;
    double x;
    if (!dis__parse_real(text, n, &x) || x != floor(x) || x < s->low || x >= s->low + (double)s->n_classes)
        return dis__json_fail(d->json, at, "\"%.*s\" is not a value of %s, %d to %d", (int)(n > 60 ? 60 : n), text,
                              s->name, s->low, s->low + (int)s->n_classes - 1);
    *out = (int32_t)x;
    return DIS_OK;
}

/* "entailment,neutral" as yes or no for each part. */
static dis_status parts_of(const loader *d, const dis__json_value *v, int32_t *out)
{
    const dis__lewidi_set *s = d->l->set;
    const char *text = v->text, *end = v->text + v->length;
    for (size_t p = 0; p < s->n_parts; p++) out[p] = 0;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *stop = comma ? comma : end;
        bool known = false;
        while (text < stop && *text == ' ') text++;
        for (size_t p = 0; p < s->n_parts; p++)
            if (strlen(s->part[p]) == (size_t)(stop - text) && memcmp(s->part[p], text, (size_t)(stop - text)) == 0) {
                out[p] = 1;
                known = true;
            }
        if (!known)
            return dis__json_fail(d->json, v, "\"%.*s\" is not a label of %s", (int)(stop - text), text, s->name);
        text = comma ? comma + 1 : end;
    }
    return DIS_OK;
}

static dis_status add_annotation(loader *d, const char *name, size_t n, const dis__json_value *v)
{
    dis__lewidi *l = d->l;
    const size_t parts = l->set->n_parts, at = l->n_annotations;
    if (!v || (v->kind != DIS_JSON_STRING && v->kind != DIS_JSON_NUMBER))
        return dis__json_fail(d->json, v ? v : d->json->values, "annotator \"%.*s\" has no annotation",
                              (int)(n > 60 ? 60 : n), name);
    DIS_TRY(dis__reserve(&l->worker, &d->worker_capacity, at, at + 1, sizeof *l->worker));
    DIS_TRY(dis__reserve(&l->value, &d->value_capacity, at * parts, (at + 1) * parts, sizeof *l->value));
    DIS_TRY(worker_of(d, name, n, &l->worker[at]));
    if (parts > 1)
        DIS_TRY(parts_of(d, v, l->value + at * parts));
    else
        DIS_TRY(class_of(d, v, v->text, v->length, &l->value[at]));
    l->n_annotations++;
    return DIS_OK;
}

static const dis__json_value *member_of(const dis__json_value *object, const char *name, size_t n)
{
    const dis__json_value *key = object + 1;
    for (uint32_t m = 0; m < object->n; m++) {
        const dis__json_value *v = key + 1;
        if (key->length == n && memcmp(key->text, name, n) == 0) return v;
        key = v + v->skip;
    }
    return NULL;
}

static dis_status parse_annotations(loader *d, const dis__json_value *item)
{
    const dis__json_value *list = dis__json_member(item, "annotators"), *by = dis__json_member(item, "annotations");
    if (!by || by->kind != DIS_JSON_OBJECT)
        return dis__json_fail(d->json, item,
                              "no object \"annotations\": this is not an official file of Le-Wi-Di 2025");
    if (d->l->set->n_parts > 1 || !list || list->kind != DIS_JSON_STRING) {
        const dis__json_value *key = by + 1;
        for (uint32_t m = 0; m < by->n; m++) {
            DIS_TRY(add_annotation(d, key->text, key->length, key + 1));
            key = key + 1 + key[1].skip;
        }
        return DIS_OK;
    }
    for (const char *text = list->text, *end = list->text + list->length; text < end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *stop = comma ? comma : end;
        DIS_TRY(add_annotation(d, text, (size_t)(stop - text), member_of(by, text, (size_t)(stop - text))));
        text = comma ? comma + 1 : end;
    }
    return DIS_OK;
}

static dis_status parse_row(loader *d, const dis__json_value *object, double *row)
{
    const dis__json_value *key = object + 1;
    if (object->kind != DIS_JSON_OBJECT) return dis__json_fail(d->json, object, "a soft label must be an object");
    for (uint32_t m = 0; m < object->n; m++) {
        const dis__json_value *v = key + 1;
        int32_t class = 0;
        if (v->kind != DIS_JSON_NUMBER) return dis__json_fail(d->json, v, "a soft label must consist of numbers");
        if (!(d->l->set->low == 1 && key->length == 1 && key->text[0] == '0')) { /* an empty bin 0 */
            DIS_TRY(class_of(d, key, key->text, key->length, &class));
            row[class - d->l->set->low] = v->number;
        }
        key = v + v->skip;
    }
    return DIS_OK;
}

static dis_status parse_soft(loader *d, const dis__json_value *item, size_t i)
{
    const dis__lewidi_set *s = d->l->set;
    const dis__json_value *soft = dis__json_member(item, "soft_label");
    double *row = d->l->soft + i * s->n_parts * s->n_classes;
    if (!soft || soft->kind != DIS_JSON_OBJECT || soft->n == 0) return DIS_OK;
    d->n_soft++;
    if (s->n_parts == 1) return parse_row(d, soft, row);
    for (size_t p = 0; p < s->n_parts; p++) {
        const dis__json_value *part = dis__json_member(soft, s->part[p]);
        if (!part) return dis__json_fail(d->json, soft, "no soft label for %s", s->part[p]);
        DIS_TRY(parse_row(d, part, row + p * s->n_classes));
    }
    return DIS_OK;
}

/* The texts of an item separated by tabs; tabs and line ends within become spaces. */
static dis_status parse_texts(loader *d, const dis__json_value *item)
{
    const dis__json_value *text = dis__json_member(item, "text");
    size_t used = 0;
    if (text && text->kind == DIS_JSON_OBJECT) {
        const dis__json_value *key = text + 1;
        for (uint32_t m = 0; m < text->n; m++) {
            const dis__json_value *v = key + 1;
            DIS_TRY(dis__reserve(&d->text, &d->text_capacity, used, used + v->length + 1, 1));
            if (m) d->text[used++] = '\t';
            for (uint32_t c = 0; c < v->length && v->kind == DIS_JSON_STRING; c++)
                d->text[used++] = strchr("\t\r\n", v->text[c]) ? ' ' : v->text[c];
            key = v + v->skip;
        }
    }
    return dis__name_list_add(&d->texts, used ? d->text : "", used);
}

static dis_status parse_items(loader *d, const dis__json_value *root)
{
    dis__lewidi *l = d->l;
    const dis__json_value *key = root + 1;
    const size_t cells = dis__saturating_size(l->set->n_parts * l->set->n_classes, root->n, 0);
    if (root->kind != DIS_JSON_OBJECT || root->n == 0)
        return dis__json_fail(d->json, root, "an official file of Le-Wi-Di 2025 is an object by item");
    DIS_TRY(dis__alloc_array(&l->start, (size_t)root->n + 1, sizeof *l->start));
    DIS_TRY(dis__alloc_zeroed(&l->soft, cells, sizeof *l->soft));
    for (uint32_t m = 0; m < root->n; m++) {
        const dis__json_value *item = key + 1;
        if (item->kind != DIS_JSON_OBJECT) return dis__json_fail(d->json, item, "an item must be an object");
        l->start[m] = l->n_annotations;
        DIS_TRY(dis__name_list_add(&d->items, key->text, key->length));
        DIS_TRY(parse_annotations(d, item));
        if (l->n_annotations == l->start[m]) return dis__json_fail(d->json, item, "an item without annotators");
        DIS_TRY(parse_soft(d, item, m));
        DIS_TRY(parse_texts(d, item));
        key = item + item->skip;
    }
    l->n_items = root->n;
    l->start[l->n_items] = l->n_annotations;
    if (d->n_soft < l->n_items) {
        dis__free(l->soft);
        l->soft = NULL;
    }
    DIS_TRY(dis__name_list_move(&d->items, &l->items));
    DIS_TRY(dis__name_list_move(&d->workers, &l->workers));
    return dis__name_list_move(&d->texts, &l->texts);
}

static dis_status load(dis_context *ctx, const char *path, loader *d)
{
    dis__input in;
    dis__json json = {0};
    const dis__json_value *root;
    const dis__json_position at = {.file = path, .line = 1, .column = 1};
    DIS_TRY(dis__input_open(ctx, path, &in));
    d->secret = dis__secret_draw();
    d->json = &json;
    dis_status status = dis__json_parse(&json, in.bytes, in.n, &at, &root);
    if (status == DIS_OK) status = parse_items(d, root);
    dis__json_free(&json);
    return dis__input_finish(&in, status);
}

dis_status dis__lewidi_read(dis_context *ctx, const char *path, const dis__lewidi_set *set, dis__lewidi **out)
{
    loader d = {0};
    DIS_TRY(dis__alloc_zeroed(&d.l, 1, sizeof *d.l));
    d.l->set = set;
    const dis_status status = load(ctx, path, &d);
    dis__name_list_free(&d.items);
    dis__name_list_free(&d.workers);
    dis__name_list_free(&d.texts);
    dis__key_table_free(&d.table);
    dis__arena_free(&d.ids);
    dis__free(d.text);
    if (status != DIS_OK) {
        dis__lewidi_destroy(d.l);
        return status;
    }
    *out = d.l;
    return DIS_OK;
}
