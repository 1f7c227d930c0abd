/* Batches: see batch.h. */
#include "votes/collect/batch.h"
#include "votes/table/class_names.h"
#include "core/memory/memory.h"
#include <stdarg.h>
#include <stdio.h>

enum { FIRST_SLOTS = 1024 };

static void drop_messages(dis__batch *b)
{
    for (size_t i = 0; i < b->n_skipped; i++) dis__free(b->skipped[i].message);
    b->n_skipped = 0;
}

void dis__batch_reset(dis__batch *b, const dis__label_rules *rules, const dis__collected_labels *known,
                      dis__ids ids[DIS_ID_COLUMNS], size_t j, const dis__batch *before, dis__arena *texts)
{
    if (!b->rules || b->label.n) { /* otherwise all labels are known, and known labels keep their indices */
        for (size_t i = 0; i < DIS_CACHED_LABELS; i++) b->recent[i] = (dis__cached_label){.word = DIS_NO_WORD};
        b->first_labels = (dis__first_labels){0};
    }
    b->rules = rules;
    b->known = known;
    b->texts = texts;
    for (int c = 0; c < DIS_ID_COLUMNS; c++)
        b->chunk_ids[c] = dis__chunk_ids_begin(&ids[c], j, before ? &before->chunk_ids[c] : NULL, texts);
    if (b->label.n) memset(b->label.slot, 0, b->label.n_slots * sizeof *b->label.slot);
    b->label.n = b->label.n_votes = 0;
    b->n_rows = b->n_runs = 0;
    b->numbered_later = false;
    b->n_long = 0;
    dis__arena_free(&b->long_texts);
    b->seen = b->na = b->dropped = b->bad = 0;
    drop_messages(b);
}

void dis__batch_free(dis__batch *b)
{
    dis__free(b->run);
    dis__free(b->run_word);
    dis__free(b->long_task);
    dis__arena_free(&b->long_texts);
    dis__free(b->label_of);
    dis__free(b->run_row);
    dis__free(b->worker);
    dis__free(b->row_label);
    dis__free(b->label.key);
    dis__free(b->label.label);
    dis__free(b->label.slot);
    drop_messages(b);
    *b = (dis__batch){0};
}

dis_status dis__batch_reserve(dis__batch *b, size_t n)
{
    enum { FIRST_ROWS = 64 };
    const size_t need = b->n_rows + n;
    if (need <= b->capacity) return DIS_OK;
    const size_t capacity = need < 2 * b->capacity ? 2 * b->capacity : need < FIRST_ROWS ? FIRST_ROWS : need;
    DIS_TRY(dis__resize_array(&b->run, b->n_runs, capacity, sizeof *b->run));
    DIS_TRY(dis__resize_array(&b->run_word, b->n_runs, capacity, sizeof *b->run_word));
    DIS_TRY(dis__resize_array(&b->run_row, b->n_runs, capacity, sizeof *b->run_row));
    DIS_TRY(dis__resize_array(&b->worker, b->n_rows, capacity, sizeof *b->worker));
    DIS_TRY(dis__resize_array(&b->row_label, b->n_rows, capacity, sizeof *b->row_label));
    b->capacity = capacity;
    return DIS_OK;
}

dis_status dis__batch_add_long_task(dis__batch *b, const char *task, size_t n, bool is_stable)
{
    DIS_TRY(dis__reserve(&b->long_task, &b->long_capacity, b->n_long, b->n_long + 1, sizeof *b->long_task));
    if (!is_stable) DIS_TRY(dis__arena_copy(&b->long_texts, task, n, &task));
    b->long_task[b->n_long++] = (dis__task_text){task, n};
    return DIS_OK;
}

void dis__batch_cache_label(dis__batch *b, uint64_t word, dis__label label)
{
    dis__first_labels *first_labels = &b->first_labels;
    b->recent[dis__label_slot(word)] = (dis__cached_label){.word = word, .label = label};
    if (label.kind != DIS_LABEL_VOTE) return;
    for (size_t i = 0; i < first_labels->n; i++)
        if (first_labels->word[i] == word) return;
    if (first_labels->n == DIS_FIRST_LABELS) {
        first_labels->more = true;
        return;
    }
    first_labels->word[first_labels->n] = word;
    first_labels->index[first_labels->n++] = label.index;
}

static dis_status grow_slots(dis__labels *c)
{
    const size_t n = c->n_slots ? 2 * c->n_slots : FIRST_SLOTS;
    uint64_t *slot;
    DIS_TRY(dis__alloc_zeroed(&slot, n, sizeof *slot));
    for (size_t k = 0; k < c->n; k++) {
        size_t i = (size_t)c->key[k].hash & (n - 1);
        while (slot[i]) i = (i + 1) & (n - 1);
        slot[i] = (c->key[k].hash & ~(uint64_t)UINT32_MAX) | (k + 1);
    }
    dis__free(c->slot);
    c->slot = slot;
    c->n_slots = n;
    return DIS_OK;
}

/* Whether every class of a set is a known class. */
static bool all_declared(const dis__label_rules *rules, const dis__key *label)
{
    const char *text = dis__key_text(label), *end = text + label->n;
    for (const char *next; text < end; text = next + 1) {
        next = memchr(text, DIS_PART_SEPARATOR, (size_t)(end - text));
        if (!next) next = end;
        const dis__key key = dis__key_from_text(&rules->secret, text, (size_t)(next - text));
        const dis__key *known = dis__key_table_find(&rules->known, &key);
        if (!known || known->value == DIS_LABEL_IS_NA) return false;
    }
    return true;
}

const char *dis__fold_label(const dis__label_rules *rules, const char *text, size_t *n, char *room)
{
    if (!rules->fold_case && !rules->trim) return text;
    *n = dis__label_fold(text, *n, rules->fold_case, rules->trim, room);
    return room;
}

static dis__label_kind kind_of(const dis__label_rules *rules, const dis__key *label)
{
    const dis__key *known = dis__key_table_find(&rules->known, label);
    if (known) return known->value == DIS_LABEL_IS_NA ? DIS_LABEL_NA : DIS_LABEL_VOTE;
    const bool is_set = rules->scale && rules->scale->is_set;
    if (label->n == 0) return is_set ? DIS_LABEL_VOTE : DIS_LABEL_EMPTY;
    if (rules->declared) return is_set && all_declared(rules, label) ? DIS_LABEL_VOTE : DIS_LABEL_UNDECLARED;
    return rules->scale && rules->scale->accepts && !rules->scale->accepts(dis__key_text(label), label->n)
               ? DIS_LABEL_INVALID
               : DIS_LABEL_VOTE;
}

dis__label_kind dis__label_classify(const dis__label_rules *rules, const dis__key *label)
{
    char room[DIS_MAX_ID];
    if ((!rules->fold_case && !rules->trim) || label->n > DIS_MAX_ID) return kind_of(rules, label);
    size_t n = label->n;
    const char *text = dis__fold_label(rules, dis__key_text(label), &n, room);
    const dis__key key = dis__key_from_text(&rules->secret, text, n);
    return kind_of(rules, &key);
}

/* Adds a new label at a free slot. */
static dis_status add_label(dis__batch *b, const dis__key *key, uint64_t *slot)
{
    dis__labels *c = &b->label;
    const size_t n = c->n, index = b->known->n + c->n_votes;
    DIS_TRY(dis__reserve(&c->key, &c->key_capacity, n, n + 1, sizeof *c->key));
    DIS_TRY(dis__reserve(&c->label, &c->label_capacity, n, n + 1, sizeof *c->label));
    const dis__label_kind kind = dis__label_classify(b->rules, key);
    if (kind == DIS_LABEL_VOTE && index > DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "more than %u different labels; is this the right column?", DIS_MAX_CLASSES);
    c->key[n] = *key;
    c->label[n] = (dis__label){.index = (uint32_t)index, .kind = kind};
    c->n_votes += kind == DIS_LABEL_VOTE;
    *slot = (key->hash & ~(uint64_t)UINT32_MAX) | ++c->n;
    return DIS_OK;
}

dis_status dis__batch_label(dis__batch *b, const dis__key *key, dis__label *label)
{
    dis__labels *c = &b->label;
    const dis__key *known = dis__key_table_find(&b->known->table, key);
    if (known) {
        *label = (dis__label){.index = known->value, .kind = DIS_LABEL_VOTE};
        return DIS_OK;
    }
    if (2 * c->n >= c->n_slots) DIS_TRY(grow_slots(c));
    size_t i = (size_t)key->hash & (c->n_slots - 1), k = 0;
    for (; c->slot[i]; i = (i + 1) & (c->n_slots - 1)) {
        k = (uint32_t)c->slot[i] - 1;
        if (c->slot[i] >> 32 == key->hash >> 32 && dis__key_equal(&c->key[k], key)) break;
    }
    if (c->slot[i] == 0) {
        k = c->n;
        DIS_TRY(add_label(b, key, &c->slot[i]));
    }
    *label = c->label[k];
    return DIS_OK;
}

dis_status dis__row_problem_set(dis__row_problem *p, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, sizeof p->text, format, args);
    va_end(args);
    p->at = at;
    return DIS_EDATA;
}

static dis_status check_id(const dis__vote_field *cell, const char *what, dis__row_problem *problem)
{
    if (cell->n == 0) return dis__row_problem_set(problem, cell->at, "an empty %s; every vote needs one", what);
    if (cell->n > DIS_MAX_ID)
        return dis__row_problem_set(problem, cell->at, "a %s of more than %u bytes; shorten it", what, DIS_MAX_ID);
    return DIS_OK;
}

/* Whether a text is in the input, where it stays valid. */
static bool is_stable(const dis__vote_field *cell, const char *input, const char *input_end)
{
    return cell->text >= input && cell->text < input_end;
}

/* Copies a long new label if it is not in the input, or not for long. */
dis_status dis__batch_find_label(dis__batch *b, const char *text, size_t n, bool in_input, dis__label *label)
{
    const dis__key key = dis__key_from_text(&b->rules->secret, text, n);
    const size_t before = b->label.n;
    DIS_TRY(dis__batch_label(b, &key, label));
    if (b->label.n == before || n <= DIS_KEY_INLINE || (in_input && !b->input_is_transient)) return DIS_OK;
    const char *copy;
    DIS_TRY(dis__arena_copy(b->texts, text, n, &copy));
    b->label.key[before].high = (uint64_t)(uintptr_t)copy;
    return DIS_OK;
}

/* The label as the scale defines it, from the whole row. */
static dis_status scale_label(const dis__label_rules *rules, const dis__vote_field *cell, dis__vote_field *label,
                              dis__row_problem *problem)
{
    char why[240];
    const dis__vote_field *task = &cell[DIS_COLUMN_TASK];
    *label = cell[DIS_ID_COLUMNS];
    if (!rules->scale || !rules->scale->row) return DIS_OK;
    if (rules->scale->row(task->text, task->n, &label->text, &label->n, why, sizeof why)) return DIS_OK;
    const dis__key key = dis__key_from_text(&rules->secret, label->text, label->n);
    if (dis__label_classify(rules, &key) == DIS_LABEL_NA) return DIS_OK;
    return dis__row_problem_set(problem, label->at, "%s", why);
}

bool dis__row_is_vote(const dis__label_rules *rules, const dis__vote_field cell[DIS_ID_COLUMNS + 1])
{
    dis__row_problem unused;
    dis__vote_field label;
    if (check_id(&cell[DIS_COLUMN_TASK], "task", &unused) != DIS_OK ||
        check_id(&cell[DIS_COLUMN_WORKER], "worker", &unused) != DIS_OK || cell[DIS_ID_COLUMNS].n > DIS_MAX_ID ||
        scale_label(rules, cell, &label, &unused) != DIS_OK)
        return false;
    const dis__key key = dis__key_from_text(&rules->secret, label.text, label.n);
    return dis__label_classify(rules, &key) == DIS_LABEL_VOTE;
}

dis_status dis__batch_row(dis__batch *b, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const char *input,
                          const char *input_end, dis__row_problem *problem)
{
    const dis__vote_field *given = &cell[DIS_ID_COLUMNS];
    DIS_TRY(check_id(&cell[DIS_COLUMN_TASK], "task", problem));
    DIS_TRY(check_id(&cell[DIS_COLUMN_WORKER], "worker", problem));
    if (given->n > DIS_MAX_ID)
        return dis__row_problem_set(problem, given->at, "a label of more than %u bytes; shorten it", DIS_MAX_ID);

    dis__label label;
    dis__vote_field other;
    uint32_t index[DIS_ID_COLUMNS];
    DIS_TRY(scale_label(b->rules, cell, &other, problem));
    given = &other;
    DIS_TRY(dis__batch_find_label(b, given->text, given->n, is_stable(given, input, input_end), &label));
    switch ((dis__label_kind)label.kind) {
    case DIS_LABEL_VOTE: break;
    case DIS_LABEL_NA: b->na++; return DIS_OK;
    case DIS_LABEL_EMPTY: return dis__row_problem_set(problem, given->at, DIS_EMPTY_LABEL);
    case DIS_LABEL_UNDECLARED:
        return dis__row_problem_set(
            problem, given->at, "the label \"%.*s\" is not among the declared classes; add it, or make it an NA value",
            given->n > 200 ? 200 : (int)given->n, given->text);
    case DIS_LABEL_INVALID:
        return dis__row_problem_set(
            problem, given->at, "the label \"%.*s\" is not %s, as scale %s has it; correct it, or make it an NA value",
            given->n > 100 ? 100 : (int)given->n, given->text, b->rules->scale->info.label, b->rules->scale->info.name);
    }
    DIS_TRY(dis__batch_reserve(b, 1));
    for (int c = b->numbered_later ? DIS_COLUMN_WORKER : DIS_COLUMN_TASK; c < DIS_ID_COLUMNS; c++) {
        dis__id_key key;
        dis__id_key_init(b->chunk_ids[c].ids, cell[c].text, cell[c].n, is_stable(&cell[c], input, input_end), &key);
        index[c] = dis__ids_find(&b->chunk_ids[c], &key);
        if (index[c] == DIS_ID_NONE) return DIS_ELIMIT; /* the allocator has set the message */
    }
    const dis__vote_field *task = &cell[DIS_COLUMN_TASK];
    if (b->numbered_later) {
        uint64_t word = 0;
        if (task->n > DIS_ID_INLINE)
            DIS_TRY(dis__batch_add_long_task(b, task->text, task->n, is_stable(task, input, input_end)));
        else
            memcpy(&word, task->text, task->n);
        if (word == 0 && task->n <= DIS_ID_INLINE)
            return dis__row_problem_set(problem, task->at, "a task of NUL bytes");
        dis__batch_add_unnumbered(b, word, index[DIS_COLUMN_WORKER], label.index);
    } else {
        dis__batch_add(b, index[DIS_COLUMN_TASK], index[DIS_COLUMN_WORKER], label.index);
    }
    return DIS_OK;
}

dis_status dis__batch_skip(dis__batch *b, const dis__row_problem *problem)
{
    b->bad++;
    if (b->n_skipped == DIS_MAX_MESSAGES) return DIS_OK;
    DIS_TRY(dis__copy_text(&b->skipped[b->n_skipped].message, problem->text, strlen(problem->text)));
    b->skipped[b->n_skipped++].at = problem->at;
    return DIS_OK;
}
