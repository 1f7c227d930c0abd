/* Counts and soft votes by the mapper: the label of a record is an object of values by class, or a list of values. Two
 * passes over the input: the first finds the classes, the second the values. */
#include "votes/mapper/record_reader.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "votes/read/count_table.h"
#include <stdio.h>

typedef struct {
    dis__count_table numbers;
    dis__key_table found; /* classes; value: index into keys */
    dis__arena texts;
    dis__key *keys; /* (n_keys) */
    size_t n_keys, keys_capacity;
} counting;

/* First pass. */
static dis_status find_classes(void *user, const dis__answer *a, dis__row_problem *problem)
{
    counting *c = user;
    for (size_t i = 0; i < a->n_labels; i++) {
        const dis__mapped_label *label = &a->label[i];
        dis__key key = dis__key_from_text(&c->numbers.reader->rules.secret, label->name, label->n_name);
        if (dis__key_table_find(&c->found, &key)) continue;
        if (label->n_name == 0 || label->n_name > DIS_MAX_ID) {
            problem->at = label->value.at;
            snprintf(problem->text, sizeof problem->text, "a class without a name, or of more than %u bytes",
                     DIS_MAX_ID);
            return DIS_EDATA;
        }
        if (c->n_keys == DIS_MAX_CLASSES)
            return dis__fail(DIS_ELIMIT, "more than %u classes; is this the right path?", DIS_MAX_CLASSES);
        const char *copy;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__arena_copy(&c->texts, label->name, label->n_name, &copy));
        key = dis__key_from_text(&c->numbers.reader->rules.secret, copy, label->n_name);
        key.value = (uint32_t)c->n_keys;
        DIS_TRY(dis__reserve(&c->keys, &c->keys_capacity, c->n_keys, c->n_keys + 1, sizeof *c->keys));
        c->keys[c->n_keys++] = key;
        DIS_TRY(dis__key_table_insert(&c->found, &key, &at, &fresh));
    }
    return DIS_OK;
}

/* Second pass. */
static dis_status add_counts(void *user, const dis__answer *a, dis__row_problem *problem)
{
    counting *c = user;
    dis__count_table *t = &c->numbers;
    const bool listed = t->reader->o.n_classes && a->n_labels && a->label[0].name == a->label[0].number;
    memset(t->row, 0, t->n_classes * sizeof *t->row);
    t->reader->votes->notes.rows++;
    for (size_t i = 0; i < a->n_labels; i++) {
        const dis__mapped_label *label = &a->label[i];
        const dis__vote_field *value = &label->value;
        double x;
        problem->at = value->at;
        if (!dis__parse_real(value->text, value->n, &x) || x < 0) {
            snprintf(problem->text, sizeof problem->text, "\"%.*s\" is not a %s: a number of 0 or more",
                     value->n > 60 ? 60 : (int)value->n, value->text, t->soft ? "probability" : "count");
            return DIS_EDATA;
        }
        /* values of a list are those of the declared classes, in order */
        const size_t k =
            listed ? (i < t->n_classes ? i : SIZE_MAX) : dis_names_find(t->classes, label->name, label->n_name);
        if (k == SIZE_MAX) {
            snprintf(problem->text, sizeof problem->text, "the class \"%.*s\" is not among the declared ones; add it",
                     label->n_name > 100 ? 100 : (int)label->n_name, label->name);
            return DIS_EDATA;
        }
        t->row[k] = x;
    }
    return dis__count_table_add(t, &a->task, a->worker.text ? &a->worker : NULL, a->at, problem);
}

static dis_status read_all(counting *c, const dis__mapping *mapping)
{
    dis__reader *r = c->numbers.reader;
    dis__mapping_run run = {.reader = r, .mapping = mapping, .on_answer = find_classes, .user = c};
    DIS_TRY(dis__mapping_run_all(&run));
    if (c->n_keys == 0 && r->o.n_classes == 0)
        return dis__fail_at(DIS_EDATA, r->input[0].path, 0, 0,
                            "no numbers by class; name them with `label`, as in p{}");
    DIS_TRY(dis__count_table_set_classes(&c->numbers, c->keys, c->n_keys));
    run = (dis__mapping_run){.reader = r, .mapping = mapping, .on_answer = add_counts, .user = c, .count = true};
    DIS_TRY(dis__mapping_run_all(&run));
    return dis__count_table_finish(&c->numbers);
}

dis_status dis__read_mapped_counts(dis__reader *r)
{
    dis__mapping mapping;
    if (!r->o.label) r->o.label = "p|counts{}";
    DIS_TRY(dis__mapping_init(&r->o, &mapping));
    if (dis__path_axes(&mapping.label) == 0) {
        dis__mapping_free(&mapping);
        return dis__fail(DIS_EUSAGE,
                         "the path of the label, \"%.200s\", does not end at numbers by class; end it in {} or []",
                         r->o.label);
    }
    counting c = {.numbers = {.reader = r, .soft = r->o.input == DIS_INPUT_SOFT}};
    const dis_status status = read_all(&c, &mapping);
    dis__count_table_free(&c.numbers);
    dis__key_table_free(&c.found);
    dis__arena_free(&c.texts);
    dis__free(c.keys);
    dis__mapping_free(&mapping);
    return status;
}
