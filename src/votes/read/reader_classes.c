/* The classes of a table from the collected labels: declared ones, otherwise those found, in order (class_names.c).
 * Under fold_case and trim (class_names.h) several labels are one class. Cost: a few lookups per distinct label. */
#include "votes/read/reader.h"
#include "votes/table/class_names.h"
#include "core/memory/memory.h"

/* Names of the classes (n) from the keys of their texts, in the order given by position (n). */
static dis_status name_classes(const dis__key *keys, const uint16_t *place, size_t n, dis_names **out)
{
    char **texts;
    DIS_TRY(dis__alloc_zeroed(&texts, n, sizeof *texts));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        status = dis__copy_text(&texts[place[i]], dis__key_text(&keys[i]), keys[i].n);
    if (status == DIS_OK) status = dis_names_create((const char *const *)texts, n, out);
    for (size_t i = 0; i < n; i++) dis__free(texts[i]);
    dis__free(texts);
    return status;
}

/* Labels under fold_case and trim: `key` (n) receives the distinct ones, class_of (n labels) the index of each. */
static dis_status merge_labels(const dis__reader *r, dis__arena *texts, dis__key *key, size_t *n, uint16_t *class_of)
{
    const dis__collector *c = &r->collector;
    char room[DIS_MAX_ID];
    dis__key_table table = {0};
    dis_status status = DIS_OK;
    *n = 0;
    for (size_t i = 0; i < c->labels.n && status == DIS_OK; i++) {
        size_t length = c->labels.key[i].n;
        const char *text = dis__fold_label(&r->rules, dis__key_text(&c->labels.key[i]), &length, room), *copy;
        const dis__key *at;
        bool fresh = false;
        status = dis__arena_copy(texts, text, length, &copy);
        if (status != DIS_OK) break;
        key[*n] = dis__key_from_text(&r->rules.secret, copy, length);
        key[*n].value = (uint32_t)*n;
        status = dis__key_table_insert(&table, &key[*n], &at, &fresh);
        if (status == DIS_OK) class_of[i] = (uint16_t)at->value;
        *n += fresh;
    }
    dis__key_table_free(&table);
    return status;
}

static dis_status make_merged(dis__reader *r, dis__key *key, uint16_t *place, uint16_t *class_of)
{
    dis__arena texts = {0};
    size_t n;
    dis_status status = merge_labels(r, &texts, key, &n, class_of);
    if (status == DIS_OK) status = dis__classes_order(key, n, r->rules.scale->info.ordered, place);
    if (status == DIS_OK) status = name_classes(key, place, n, &r->votes->classes);
    for (size_t i = 0; i < r->collector.labels.n && status == DIS_OK; i++) class_of[i] = place[class_of[i]];
    r->votes->n_classes = n;
    dis__arena_free(&texts);
    return status;
}

static dis_status make_folded(dis__reader *r, uint16_t *class_of)
{
    const size_t n = r->collector.labels.n;
    dis__key *key;
    uint16_t *place = NULL;
    DIS_TRY(dis__alloc_array(&key, n, sizeof *key));
    dis_status status = dis__alloc_array(&place, n, sizeof *place);
    if (status == DIS_OK) status = make_merged(r, key, place, class_of);
    dis__free(place);
    dis__free(key);
    return status;
}

static dis_status make_declared(dis__reader *r, uint16_t *class_of)
{
    const dis__collector *c = &r->collector;
    char room[DIS_MAX_ID];
    for (size_t i = 0; i < c->labels.n; i++) {
        size_t n = c->labels.key[i].n;
        const char *text = dis__fold_label(&r->rules, dis__key_text(&c->labels.key[i]), &n, room);
        const dis__key key = dis__key_from_text(&r->rules.secret, text, n);
        class_of[i] = (uint16_t)dis__key_table_find(&r->rules.known, &key)->value;
    }
    r->votes->n_classes = r->o.n_classes;
    return dis_names_create(r->o.classes, r->o.n_classes, &r->votes->classes);
}

dis_status dis__reader_classes(dis__reader *r, uint16_t *class_of)
{
    const dis__collector *c = &r->collector;
    if (r->rules.declared && !r->rules.scale->is_set) return make_declared(r, class_of);
    if (r->rules.fold_case || r->rules.trim) return make_folded(r, class_of);
    DIS_TRY(dis__classes_order(c->labels.key, c->labels.n, r->rules.scale->info.ordered, class_of));
    r->votes->n_classes = c->labels.n;
    return name_classes(c->labels.key, class_of, c->labels.n, &r->votes->classes);
}
