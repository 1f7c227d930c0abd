/* Votes by the mapper: answers of records (record_walk.h) into batches of votes, on one thread, in one pass; a second
 * one if duplicates are resolved by time and there are some (resolve_duplicates.c). */
#include "votes/mapper/mapped_votes.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether ---- */

/* Whether the file, judged by its first records, is JSON Lines, which the plain reader reads faster. */
static bool is_lines(const dis__input *in)
{
    enum { SAMPLE = 1 << 20 };
    dis__json_split split;
    if (dis__json_split_open(&split, in, NULL, false) != DIS_OK) return false;
    if (split.kind != DIS_SPLIT_SEQUENCE && split.kind != DIS_SPLIT_SINGLE) return false;
    const char *p = split.at, *end = split.end - p > SAMPLE ? p + SAMPLE : split.end;
    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(split.end - p)), *stop = lf ? lf : split.end;
        if (stop > p && stop[-1] == '\r') stop--;
        if (stop == p || *p != '{' || stop[-1] != '}') return false;
        p = lf ? lf + 1 : end;
    }
    return true;
}

/* Whether every path is a plain column of the table. */
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

/* The option that requires the mapper for votes of any format; NULL: none. */
static const char *cause_of_options(const dis_votes_options *o)
{
    const bool by_time = o->time && (o->duplicates == DIS_DUPLICATES_FIRST || o->duplicates == DIS_DUPLICATES_LAST);
    return o->input == DIS_INPUT_WIDE ? "`input` wide"
           : o->records               ? "`records`"
           : o->n_keep                ? "`keep`"
           : o->no_header             ? "`no_header`"
           : o->multiple_labels       ? "`multiple_labels`"
           : by_time                  ? "`time`"
                                      : NULL;
}

/* The option with a path. */
static const char *cause_of_paths(const dis_votes_options *o)
{
    return dis__path_is_special(o->task, true)     ? "`task`"
           : dis__path_is_special(o->worker, true) ? "`worker`"
           : dis__path_is_special(o->label, true)  ? "`label`"
                                                   : "`drop`";
}

/* The caller's options: a preset replaces all options that it sets, and a scale the columns of its tasks. */
static const char *cause_of_caller(const dis__reader *r, const char *(*of)(const dis_votes_options *o))
{
    const char *cause = of(&r->caller), *own = of(&r->o);
    if (of == cause_of_options) return cause || !own ? cause : "`preset`";
    if (strcmp(cause, own) == 0) return cause;
    return r->caller.preset ? "`preset`" : "`scale`";
}

dis_status dis__needs_mapper(const dis__reader *r, bool *needed, const char **cause)
{
    const dis_votes_options *o = &r->o;
    *cause = cause_of_caller(r, cause_of_options);
    *needed = *cause;
    for (size_t i = 0; i < r->n_inputs && !*needed; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(o->format, r->input[i].path, &format));
        if (strcmp(format, "npy") == 0) continue;
        bool plain = true;
        if (strncmp(format, "json", 4) == 0) {
            plain = !dis__path_is_special(o->task, true) && !dis__path_is_special(o->worker, true) &&
                    !dis__path_is_special(o->label, true);
            for (size_t d = 0; d < o->n_drop; d++) plain = plain && !dis__path_is_special(o->drop[d].column, true);
            if (!plain) *cause = cause_of_caller(r, cause_of_paths);
            *needed = !plain || (strcmp(format, "json") == 0 && !is_lines(&r->input[i]));
        } else {
            DIS_TRY(all_columns(r, format, &plain));
            if (!plain) *cause = cause_of_caller(r, cause_of_paths);
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
    const dis__scale *scale = dis__scale_of(o->scale);
    m->joiner = scale->part[0] ? DIS_PART_SEPARATOR : '/';
    m->part_option = scale->part[0] ? scale->part_option : NULL;
    m->numbers = o->input == DIS_INPUT_COUNTS || o->input == DIS_INPUT_SOFT;
    m->no_worker = o->input == DIS_INPUT_COUNTS || (o->input == DIS_INPUT_SOFT && !o->worker);
    DIS_TRY(dis__alloc_zeroed(&m->rule, o->n_drop + o->n_keep, sizeof *m->rule));
    DIS_TRY(dis__path_parse(o->task ? o->task : "task", "task", &m->task));
    if (!m->no_worker) DIS_TRY(dis__path_parse(o->worker ? o->worker : "worker|performer", "worker", &m->worker));
    DIS_TRY(dis__path_parse(o->label ? o->label : "label", "label", &m->label));
    if (o->time) DIS_TRY(dis__path_parse(o->time, "time", &m->time));
    if (m->label.n_parts > 1 || m->time.n_parts > 1)
        return dis__fail(DIS_EUSAGE, "the path of the %s has several parts; only those of tasks and workers may",
                         m->label.n_parts > 1 ? "label" : "time");
    dis__path_part *label = &m->label.part[0];
    if (m->numbers && label->step[label->n_steps - 1].kind == DIS_STEP_NAME)
        label->n_steps--; /* names exist in any case */
    DIS_TRY(parse_rules(o->drop, o->n_drop, false, m));
    return parse_rules(o->keep, o->n_keep, true, m);
}

dis_status dis__mapping_init(const dis_votes_options *o, dis__mapping *m)
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

static dis_status refuse_several(const dis__answer *a, dis__row_problem *problem)
{
    const dis__vote_field *x = &a->label[0].value, *y = &a->label[1].value;
    problem->at = x->at;
    snprintf(problem->text, sizeof problem->text,
             "worker \"%.*s\" gave task \"%.*s\" %zu labels (\"%.*s\", \"%.*s\"%s); name one question with `label`, or "
             "say `multiple_labels` all or join",
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

/* "a+b" from labels in any order. */
static dis_status join_labels(dis__mapped_votes *m, const dis__answer *a, dis__vote_field *out)
{
    size_t used = 0;
    qsort(a->label, a->n_labels, sizeof *a->label, by_text);
    for (size_t i = 0; i < a->n_labels; i++) {
        const dis__vote_field *x = &a->label[i].value;
        if (i && by_text(&a->label[i - 1], &a->label[i]) == 0) continue;
        DIS_TRY(dis__reserve(&m->joined, &m->joined_capacity, used, used + x->n + 1, 1));
        if (used) m->joined[used++] = m->reader->rules.scale->is_set ? DIS_PART_SEPARATOR : '+';
        memcpy(m->joined + used, x->text, x->n);
        used += x->n;
    }
    *out = (dis__vote_field){.text = m->joined, .n = used, .at = a->label[0].value.at};
    return DIS_OK;
}

static dis_status add_answer(void *user, const dis__answer *a, dis__row_problem *problem)
{
    dis__mapped_votes *m = user;
    const dis_multiple_labels several = m->reader->o.multiple_labels;
    const dis__vote_field none = {.text = "", .n = 0, .at = a->at};
    dis__vote_field cell[] = {a->task, a->worker, a->n_labels ? a->label[0].value : none};
    m->n_answers++;
    if (a->n_labels < 2) return m->on_answer(m->user, cell, a, problem);
    if (several == DIS_MULTIPLE_ERROR) return refuse_several(a, problem);
    if (several == DIS_MULTIPLE_JOIN) {
        DIS_TRY(join_labels(m, a, &cell[DIS_ID_COLUMNS]));
        return m->on_answer(m->user, cell, a, problem);
    }
    for (size_t i = 0; i < a->n_labels; i++) {
        cell[DIS_ID_COLUMNS] = a->label[i].value;
        DIS_TRY(m->on_answer(m->user, cell, a, problem));
    }
    return DIS_OK;
}

dis_status dis__mapped_votes_run(dis__mapped_votes *m, const dis__mapping *mapping, bool count)
{
    m->n_answers = 0;
    m->run =
        (dis__mapping_run){.reader = m->reader, .mapping = mapping, .on_answer = add_answer, .user = m, .count = count};
    return dis__mapping_run_all(&m->run);
}

void dis__mapped_votes_free(dis__mapped_votes *m)
{
    dis__free(m->joined);
    m->joined = NULL;
}

/* ---- into the table ---- */

typedef struct {
    dis__reader *reader;
    const dis__mapping *mapping;
    dis__mapped_votes walk;
    dis__batch *batch;
    size_t limit; /* votes of a batch */
    uint64_t n_rows, n_replaced, n_flushed;
} mapped;

enum { ROWS_A_BATCH = 1 << 17 };

static dis_status begin_batch(mapped *m)
{
    dis__reader *reader = m->reader;
    const size_t n_bytes = (size_t)reader->collector.n_bytes;
    m->limit = n_bytes < ROWS_A_BATCH ? n_bytes + 1 : ROWS_A_BATCH;
    const dis__round round = {
        .n_batches = 1, .n_bytes = n_bytes, .max_rows = m->limit + 1, .room = DIS_HEADROOM_UNLIMITED, .in_order = true};
    DIS_TRY(dis__collector_begin_round(&reader->collector, &round));
    dis__batch_reset(m->batch, &reader->rules, &reader->collector.labels, reader->collector.ids, 0, NULL,
                     &reader->texts[0]);
    return DIS_OK;
}

/* n_bytes: bytes of all inputs read so far; the size of an archive is unknown until its end. */
static dis_status flush(mapped *m, uint64_t n_bytes)
{
    dis__collector *c = &m->reader->collector;
    if (c->n_bytes < n_bytes) c->n_bytes = n_bytes;
    m->reader->votes->notes.missing_labels += m->batch->na;
    DIS_TRY(dis__collector_add_round(m->reader->ctx, c, &m->batch, 1, n_bytes - m->n_flushed));
    m->n_flushed = n_bytes;
    return begin_batch(m);
}

static uint64_t bytes_so_far(const mapped *m)
{
    const dis__record_reader *s = m->walk.run.source;
    uint64_t n = (uint64_t)((s->table ? s->csv.next : s->values.split.at) - s->input->bytes);
    for (size_t i = 0; i < m->walk.run.input; i++) n += m->reader->input[i].n;
    return n;
}

static dis_status put_vote(void *user, const dis__vote_field *cell, const dis__answer *a, dis__row_problem *problem)
{
    (void)a;
    mapped *m = user;
    const dis__input *in = m->walk.run.source->input;
    const char *end = in->bytes + (in->stream ? 0 : in->n); /* text of a stream does not stay valid */
    DIS_TRY(dis__batch_row(m->batch, cell, in->bytes, end, problem));
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

/* A repeated vote, and the position of the first one. */
typedef struct {
    dis__mapped_votes walk;
    const dis__duplicate *twice;
    char first[600];
} looking;

static dis_status find_twice(void *user, const dis__vote_field *cell, const dis__answer *a, dis__row_problem *problem)
{
    looking *l = user;
    dis__reader *reader = l->walk.reader;
    dis__record_reader *source = l->walk.run.source;
    const dis_names *tasks = reader->votes->tasks, *workers = reader->votes->workers;
    if (!cell_is(&cell[DIS_COLUMN_TASK], tasks, l->twice->item) ||
        !cell_is(&cell[DIS_COLUMN_WORKER], workers, l->twice->worker) || !dis__row_is_vote(&reader->rules, cell))
        return DIS_OK;
    uint64_t line, column;
    dis__csv_position(&source->file.csv, a->at, &line, &column);
    if (!l->first[0]) {
        snprintf(l->first, sizeof l->first, "%s%sline %llu", l->walk.run.input ? source->input->path : "",
                 l->walk.run.input ? ", " : "", (unsigned long long)line);
        return DIS_OK;
    }
    problem->at = a->at;
    snprintf(
        problem->text, sizeof problem->text,
        "worker \"%.60s\" has already voted on task \"%.60s\" (%.80s); choose the vote to keep: `duplicates` first, "
        "last or all",
        dis_names_get(workers, l->twice->worker, NULL), dis_names_get(tasks, l->twice->item, NULL), l->first);
    reader->o.lenient = false; /* not a bad row */
    return DIS_EDATA;
}

/* Reads the files again for the two answers. */
static dis_status fail_duplicate(dis__reader *r, const dis__duplicate *twice)
{
    dis__mapping mapping;
    DIS_TRY(dis__mapping_init(&r->o, &mapping));
    looking l = {.twice = twice, .walk = {.reader = r, .on_answer = find_twice, .user = &l}};
    const dis_status status = dis__mapped_votes_run(&l.walk, &mapping, false);
    dis__mapped_votes_free(&l.walk);
    dis__mapping_free(&mapping);
    return status == DIS_OK ? dis__fail_file_changed(r->input[0].path) : status;
}

/* Before the check for duplicates: resolves those with times. */
static dis_status choose_by_time(dis__reader *r, void *user)
{
    mapped *m = user;
    DIS_TRY(dis__resolve_duplicates_by_time(r, m->mapping, &m->n_replaced));
    r->o.duplicates = DIS_DUPLICATES_ALL; /* the remaining ones are labels of one answer */
    return DIS_OK;
}

static dis_status read_votes(mapped *m)
{
    dis__reader *r = m->reader;
    if (r->o.time && (r->o.duplicates == DIS_DUPLICATES_FIRST || r->o.duplicates == DIS_DUPLICATES_LAST)) {
        r->choose = choose_by_time;
        r->choose_user = m;
    }
    DIS_TRY(begin_batch(m));
    DIS_TRY(dis__mapped_votes_run(&m->walk, m->mapping, true));
    r->votes->notes.rows += m->n_rows;
    const uint64_t all = r->collector.n_bytes;
    DIS_TRY(flush(m, all > m->n_flushed ? all : m->n_flushed));
    return dis__reader_finish(r);
}

dis_status dis__read_mapped(dis__reader *r)
{
    dis__mapping mapping;
    DIS_TRY(dis__mapping_init(&r->o, &mapping));
    mapped m = {.reader = r, .mapping = &mapping, .batch = &r->batch[0]};
    m.walk = (dis__mapped_votes){.reader = r, .on_answer = put_vote, .user = &m};
    r->fail_duplicate = fail_duplicate;
    if (r->o.multiple_labels == DIS_MULTIPLE_ALL && r->o.duplicates == DIS_DUPLICATES_ERROR)
        r->o.duplicates = DIS_DUPLICATES_ALL; /* labels of one answer are votes of the same worker */
    const dis_status status = read_votes(&m);
    if (status == DIS_OK && r->choose) r->votes->notes.duplicates = m.n_replaced;
    dis__mapped_votes_free(&m.walk);
    dis__mapping_free(&mapping);
    return status;
}
