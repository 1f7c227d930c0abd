/* Votes by the mapper: answers of records (map_walk.h) into batches of votes, one thread, in one pass; two where
 * duplicates go by time: the first finds out which answer of a worker to an item counts, in a table of 48 bytes per
 * pair and its names. */
#include "votes/map_read.h"
#include "core/memory.h"
#include "votes/when.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- whether ---- */

/* A JSON file whose lines are its records, as far as the first ones tell, which the plain reader reads faster. */
static bool is_lines(const dis__input *in)
{
    enum { SAMPLE = 1 << 20 };
    dis__json_split split;
    if (dis__json_split_open(&split, in, NULL, false) != DIS_OK) return false;
    if (split.kind != DIS_SPLIT_SEQUENCE && split.kind != DIS_SPLIT_WHOLE) return false;
    const char *p = split.at, *end = split.end - p > SAMPLE ? p + SAMPLE : split.end;
    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(split.end - p)), *stop = lf ? lf : split.end;
        if (stop > p && stop[-1] == '\r') stop--;
        if (stop == p || *p != '{' || stop[-1] != '}') return false;
        p = lf ? lf + 1 : end;
    }
    return true;
}

/* Whether every path is simply a column of the table. */
static dis_status all_columns(const dis__reader *r, const char *format, bool *all)
{
    const dis_votes_options *o = &r->o;
    const char *const names[] = {o->task, o->worker, o->label};
    bool plain = true, dots = false;
    for (size_t i = 0; i < 3 + o->n_drop; i++) {
        const char *name = i < 3 ? names[i] : o->drop[i - 3].column;
        plain = plain && !dis__path_is_special(name, false);
        dots = dots || (name && strchr(name, '.'));
    }
    *all = plain;
    if (plain && !dots) return DIS_OK;
    dis__csv csv;
    dis__csv_open(&csv, &r->input[0], dis__votes_separator(o, format));
    const dis_status status = dis__csv_header(&csv);
    *all = true;
    for (size_t i = 0; status == DIS_OK && i < 3 + o->n_drop; i++) {
        const char *name = i < 3 ? names[i] : o->drop[i - 3].column;
        *all = *all && (!name || dis__csv_column(&csv, name) != SIZE_MAX || !dis__path_is_special(name, true));
    }
    dis__csv_close(&csv);
    return status;
}

dis_status dis__needs_mapper(const dis__reader *r, bool *needed)
{
    const dis_votes_options *o = &r->o;
    const bool by_time = o->time && (o->duplicates == DIS_DUPLICATES_FIRST || o->duplicates == DIS_DUPLICATES_LAST);
    *needed = o->input == DIS_INPUT_WIDE || o->records || o->n_keep || o->no_header || o->several || by_time;
    for (size_t i = 0; i < r->n_inputs && !*needed; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(o->format, r->input[i].path, &format));
        if (strcmp(format, "npy") == 0) continue;
        bool plain = true;
        if (strncmp(format, "json", 4) == 0) {
            plain = !dis__path_is_special(o->task, true) && !dis__path_is_special(o->worker, true) &&
                    !dis__path_is_special(o->label, true);
            for (size_t d = 0; d < o->n_drop; d++) plain = plain && !dis__path_is_special(o->drop[d].column, true);
            *needed = !plain || (strcmp(format, "json") == 0 && !is_lines(&r->input[i]));
        } else {
            DIS_TRY(all_columns(r, format, &plain));
            *needed = !plain;
        }
    }
    return DIS_OK;
}

/* ---- the mapping ---- */

static dis_status parse_rules(const dis_drop_rule *rules, size_t n, bool keep, dis__mapping *m)
{
    for (size_t i = 0; i < n; i++) {
        dis__map_rule *rule = &m->rule[m->n_rules++];
        rule->value = rules[i].value;
        rule->keep = keep;
        DIS_TRY(dis__path_parse(rules[i].column, keep ? "keep" : "drop", &rule->path));
        if (rule->path.n_parts > 1)
            return dis__fail(DIS_EUSAGE, "the path of a rule, \"%.200s\", has several parts", rules[i].column);
    }
    return DIS_OK;
}

static dis_status make(const dis_votes_options *o, dis__mapping *m)
{
    m->joiner = dis__scale_of(o->scale)->part[0] ? DIS_PARTS : '/';
    m->numbers = o->input == DIS_INPUT_COUNTS || o->input == DIS_INPUT_SOFT;
    m->no_worker = o->input == DIS_INPUT_COUNTS || (o->input == DIS_INPUT_SOFT && !o->worker);
    DIS_TRY(dis__alloc_zeroed(&m->rule, o->n_drop + o->n_keep, sizeof *m->rule));
    DIS_TRY(dis__path_parse(o->task ? o->task : "task", "task", &m->task));
    if (!m->no_worker) DIS_TRY(dis__path_parse(o->worker ? o->worker : "worker|performer", "worker", &m->worker));
    DIS_TRY(dis__path_parse(o->label ? o->label : "label", "label", &m->label));
    if (o->time) DIS_TRY(dis__path_parse(o->time, "time", &m->time));
    if (m->label.n_parts > 1 || m->time.n_parts > 1)
        return dis__fail(DIS_EUSAGE, "the path of the %s has several parts; tasks and workers alone may",
                         m->label.n_parts > 1 ? "label" : "time");
    dis__path_part *label = &m->label.part[0];
    if (m->numbers && label->step[label->n_steps - 1].kind == DIS_STEP_NAME)
        label->n_steps--; /* names are there anyway */
    DIS_TRY(parse_rules(o->drop, o->n_drop, false, m));
    return parse_rules(o->keep, o->n_keep, true, m);
}

dis_status dis__mapping_make(const dis_votes_options *o, dis__mapping *m)
{
    *m = (dis__mapping){0};
    const dis_status status = make(o, m);
    if (status != DIS_OK) dis__mapping_free(m);
    return status;
}

void dis__mapping_free(dis__mapping *m)
{
    dis__free(m->rule);
    *m = (dis__mapping){0};
}

/* ---- one answer as votes ---- */

typedef dis_status (*take_vote)(void *user, const dis__vote_field cell[DIS_ID_COLUMNS + 1], const dis__answer *answer,
                                dis__problem *problem);

typedef struct {
    dis__reader *reader;
    dis__map_run run;
    take_vote take;
    char *joined;
    size_t joined_capacity;
    uint64_t n_answers;
    /* where votes go */
    dis__batch *batch;
    size_t limit; /* votes of a batch */
    uint64_t n_rows, n_replaced, n_flushed;
    /* which answers count, by time */
    dis__table pairs; /* "task NUL worker"; value: index into latest */
    dis__arena texts;
    struct latest {
        double time;
        uint64_t answer;
        bool timed;
    } * latest;
    size_t n_latest, latest_capacity;
    char *pair;
    size_t pair_capacity;
    /* a duplicate that is looked for */
    const dis__duplicate *twice;
    char first[600];
} mapped;

static dis_status refuse_several(const dis__answer *a, dis__problem *problem)
{
    const dis__vote_field *x = &a->label[0].value, *y = &a->label[1].value;
    problem->at = x->at;
    snprintf(problem->text, sizeof problem->text,
             "worker \"%.*s\" gave task \"%.*s\" %zu labels (\"%.*s\", \"%.*s\"%s); name one question with `label`, or "
             "say `several` all or join",
             a->worker.n > 40 ? 40 : (int)a->worker.n, a->worker.text, a->task.n > 40 ? 40 : (int)a->task.n,
             a->task.text, a->n_labels, x->n > 30 ? 30 : (int)x->n, x->text, y->n > 30 ? 30 : (int)y->n, y->text,
             a->n_labels > 2 ? ", ..." : "");
    return DIS_EDATA;
}

static int by_text(const void *a, const void *b)
{
    const dis__vote_field *x = &((const dis__mapped_label *)a)->value, *y = &((const dis__mapped_label *)b)->value;
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* "a+b" of labels in any order. */
static dis_status join_labels(mapped *m, const dis__answer *a, dis__vote_field *out)
{
    size_t used = 0;
    qsort(a->label, a->n_labels, sizeof *a->label, by_text);
    for (size_t i = 0; i < a->n_labels; i++) {
        const dis__vote_field *x = &a->label[i].value;
        if (i && by_text(&a->label[i - 1], &a->label[i]) == 0) continue;
        DIS_TRY(dis__reserve(&m->joined, &m->joined_capacity, used, used + x->n + 1, 1));
        if (used) m->joined[used++] = m->reader->rules.scale->sets ? DIS_PARTS : '+';
        memcpy(m->joined + used, x->text, x->n);
        used += x->n;
    }
    *out = (dis__vote_field){.text = m->joined, .n = used, .at = a->label[0].value.at};
    return DIS_OK;
}

static dis_status take_answer(void *user, const dis__answer *a, dis__problem *problem)
{
    mapped *m = user;
    const dis_several several = m->reader->o.several;
    const dis__vote_field none = {.text = "", .n = 0, .at = a->at};
    dis__vote_field cell[] = {a->task, a->worker, a->n_labels ? a->label[0].value : none};
    m->n_answers++;
    if (a->n_labels < 2) return m->take(m, cell, a, problem);
    if (several == DIS_SEVERAL_ERROR) return refuse_several(a, problem);
    if (several == DIS_SEVERAL_JOIN) {
        DIS_TRY(join_labels(m, a, &cell[DIS_ID_COLUMNS]));
        return m->take(m, cell, a, problem);
    }
    for (size_t i = 0; i < a->n_labels; i++) {
        cell[DIS_ID_COLUMNS] = a->label[i].value;
        DIS_TRY(m->take(m, cell, a, problem));
    }
    return DIS_OK;
}

static bool is_vote(const dis__reader *r, const dis__vote_field *label)
{
    const dis__key key = dis__key_of(&r->rules.secret, label->text, label->n);
    return dis__label_kind_of(&r->rules, &key) == DIS_LABEL_VOTE;
}

/* ---- by time ---- */

static dis_status make_pair(mapped *m, const dis__vote_field *cell, dis__key *key, size_t *n)
{
    const dis__vote_field *task = &cell[DIS_COLUMN_TASK], *worker = &cell[DIS_COLUMN_WORKER];
    *n = task->n + 1 + worker->n;
    DIS_TRY(dis__reserve(&m->pair, &m->pair_capacity, 0, *n, 1));
    memcpy(m->pair, task->text, task->n);
    m->pair[task->n] = 0;
    memcpy(m->pair + task->n + 1, worker->text, worker->n);
    *key = dis__key_of(&m->reader->rules.secret, m->pair, *n);
    return DIS_OK;
}

static dis_status no_time(const dis__answer *a, const dis_votes_options *o, dis__problem *problem)
{
    problem->at = a->time.text ? a->time.at : a->at;
    snprintf(
        problem->text, sizeof problem->text,
        "worker \"%.*s\" answered task \"%.*s\" more than once, and \"%.40s\" is no time here; name another path with "
        "`time` (# goes by the order of records)",
        a->worker.n > 40 ? 40 : (int)a->worker.n, a->worker.text, a->task.n > 40 ? 40 : (int)a->task.n, a->task.text,
        o->time);
    return DIS_EDATA;
}

/* First pass: which answer of each pair counts. */
static dis_status compare_times(void *user, const dis__vote_field *cell, const dis__answer *a, dis__problem *problem)
{
    mapped *m = user;
    if (!is_vote(m->reader, &cell[DIS_ID_COLUMNS])) return DIS_OK;
    struct latest now = {.answer = m->n_answers};
    now.timed = a->time.text && dis__when(a->time.text, a->time.n, &now.time);
    dis__key key;
    size_t n;
    DIS_TRY(make_pair(m, cell, &key, &n));
    const dis__key *at = dis__table_find(&m->pairs, &key);
    if (at) {
        struct latest *best = &m->latest[at->value];
        if (best->answer == now.answer) return DIS_OK; /* another label of the same answer */
        if (!now.timed || !best->timed) return no_time(a, &m->reader->o, problem);
        const bool last = m->reader->o.duplicates == DIS_DUPLICATES_LAST;
        if (last ? now.time >= best->time : now.time < best->time) *best = now;
        return DIS_OK;
    }
    const char *copy;
    bool added;
    DIS_TRY(dis__arena_copy(&m->texts, m->pair, n, &copy));
    key = dis__key_of(&m->reader->rules.secret, copy, n);
    key.value = (uint32_t)m->n_latest;
    if (m->n_latest == DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "too many votes to go by time");
    DIS_TRY(dis__reserve(&m->latest, &m->latest_capacity, m->n_latest, m->n_latest + 1, sizeof *m->latest));
    m->latest[m->n_latest++] = now;
    return dis__table_put(&m->pairs, &key, &at, &added);
}

static dis_status counts_by_time(mapped *m, const dis__vote_field *cell, bool *counts)
{
    *counts = true;
    if (!m->latest || !is_vote(m->reader, &cell[DIS_ID_COLUMNS])) return DIS_OK;
    dis__key key;
    size_t n;
    DIS_TRY(make_pair(m, cell, &key, &n));
    const dis__key *at = dis__table_find(&m->pairs, &key);
    *counts = !at || m->latest[at->value].answer == m->n_answers;
    return DIS_OK;
}

/* ---- into the table ---- */

enum { ROWS_A_BATCH = 1 << 17 };

static dis_status begin_batch(mapped *m)
{
    dis__reader *reader = m->reader;
    const size_t n_bytes = (size_t)reader->collector.n_bytes;
    m->limit = n_bytes < ROWS_A_BATCH ? n_bytes + 1 : ROWS_A_BATCH;
    const dis__round round = {
        .n_batches = 1, .n_bytes = n_bytes, .max_rows = m->limit + 1, .room = DIS_ROOM_FOR_ALL, .in_order = true};
    DIS_TRY(dis__collect_prepare(&reader->collector, &round));
    dis__batch_reset(m->batch, &reader->rules, &reader->collector.labels, reader->collector.ids, 0, NULL,
                     &reader->texts[0]);
    return DIS_OK;
}

/* n_bytes: of all inputs, that were read so far. */
static dis_status flush(mapped *m, uint64_t n_bytes)
{
    m->reader->votes->notes.na += m->batch->na;
    DIS_TRY(dis__collect(m->reader->ctx, &m->reader->collector, &m->batch, 1, n_bytes - m->n_flushed));
    m->n_flushed = n_bytes;
    return begin_batch(m);
}

static uint64_t bytes_so_far(const mapped *m)
{
    const dis__source *s = m->run.source;
    uint64_t n = (uint64_t)((s->table ? s->csv.next : s->split.at) - s->input->bytes);
    for (size_t i = 0; i < m->run.input; i++) n += m->reader->input[i].n;
    return n;
}

static dis_status put_vote(void *user, const dis__vote_field *cell, const dis__answer *a, dis__problem *problem)
{
    (void)a;
    mapped *m = user;
    const dis__input *in = m->run.source->input;
    bool counts;
    DIS_TRY(counts_by_time(m, cell, &counts));
    if (!counts) {
        m->n_rows++;
        m->n_replaced++;
        return dis__batch_see_label(m->batch, &cell[DIS_ID_COLUMNS], in->bytes, in->bytes + in->n);
    }
    DIS_TRY(dis__batch_row(m->batch, cell, in->bytes, in->bytes + in->n, problem));
    m->n_rows++;
    return m->batch->n_rows < m->limit ? DIS_OK : flush(m, bytes_so_far(m));
}

/* ---- duplicates ---- */

static bool cell_is(const dis__vote_field *cell, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    return cell->n == n && memcmp(cell->text, text, n) == 0;
}

static dis_status find_twice(void *user, const dis__vote_field *cell, const dis__answer *a, dis__problem *problem)
{
    mapped *m = user;
    const dis_names *tasks = m->reader->votes->tasks, *workers = m->reader->votes->workers;
    if (!cell_is(&cell[DIS_COLUMN_TASK], tasks, m->twice->item) ||
        !cell_is(&cell[DIS_COLUMN_WORKER], workers, m->twice->worker) || !is_vote(m->reader, &cell[DIS_ID_COLUMNS]))
        return DIS_OK;
    uint64_t line, column;
    dis__csv_place(&m->run.source->file.csv, a->at, &line, &column);
    if (!m->first[0]) {
        snprintf(m->first, sizeof m->first, "%s%sline %llu", m->run.input ? m->run.source->input->path : "",
                 m->run.input ? ", " : "", (unsigned long long)line);
        return DIS_OK;
    }
    problem->at = a->at;
    snprintf(
        problem->text, sizeof problem->text,
        "worker \"%.60s\" has already voted on task \"%.60s\" (%.80s); say which vote to keep: `duplicates` first, "
        "last or all",
        dis_names_get(workers, m->twice->worker, NULL), dis_names_get(tasks, m->twice->item, NULL), m->first);
    m->reader->o.lenient = false; /* this is no bad row */
    return DIS_EDATA;
}

static void free_mapped(mapped *m)
{
    dis__free(m->joined);
    dis__free(m->pair);
    dis__free(m->latest);
    dis__table_free(&m->pairs);
    dis__arena_free(&m->texts);
}

static dis_status run(mapped *m, const dis__mapping *mapping, take_vote take, bool count)
{
    m->take = take;
    m->n_answers = 0;
    m->run = (dis__map_run){.reader = m->reader, .mapping = mapping, .take = take_answer, .user = m, .count = count};
    return dis__map_run_all(&m->run);
}

/* Goes through the files once more for the two answers. */
static dis_status fail_duplicate(dis__reader *r, const dis__duplicate *twice)
{
    dis__mapping mapping;
    DIS_TRY(dis__mapping_make(&r->o, &mapping));
    mapped m = {.reader = r, .twice = twice};
    const dis_status status = run(&m, &mapping, find_twice, false);
    free_mapped(&m);
    dis__mapping_free(&mapping);
    return status == DIS_OK ? dis__fail(DIS_EBUG, "a duplicate vote that cannot be found again") : status;
}

static dis_status read_votes(mapped *m, const dis__mapping *mapping)
{
    dis__reader *r = m->reader;
    const bool by_time =
        r->o.time && (r->o.duplicates == DIS_DUPLICATES_FIRST || r->o.duplicates == DIS_DUPLICATES_LAST);
    if (by_time) DIS_TRY(run(m, mapping, compare_times, false));
    DIS_TRY(begin_batch(m));
    DIS_TRY(run(m, mapping, put_vote, true));
    r->votes->notes.rows += m->n_rows;
    return flush(m, r->collector.n_bytes);
}

dis_status dis__read_mapped(dis__reader *r)
{
    dis__mapping mapping;
    DIS_TRY(dis__mapping_make(&r->o, &mapping));
    mapped m = {.reader = r, .batch = &r->batch[0]};
    r->fail_duplicate = fail_duplicate;
    if (r->o.several == DIS_SEVERAL_ALL && r->o.duplicates == DIS_DUPLICATES_ERROR)
        r->o.duplicates = DIS_DUPLICATES_ALL; /* labels of one answer are votes of one worker */
    dis_status status = read_votes(&m, &mapping);
    if (status == DIS_OK) status = dis__reader_finish(r);
    if (status == DIS_OK) r->votes->notes.duplicates += m.n_replaced;
    free_mapped(&m);
    dis__mapping_free(&mapping);
    return status;
}
