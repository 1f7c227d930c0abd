/* Checks of a complete table, after reading. All are linear in votes or classes; those over votes run only for tables
 * of an unusual shape. */
#include "votes/roles/table_checks.h"
#include "tool/rank_calls.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "votes/table/class_names.h"
#include "votes/roles/column_roles.h"
#include <stdio.h>

/* ---- labels that are not classes ---- */

enum { MIN_VOTES = 20 };

static bool all_numbers(const dis_names *classes)
{
    for (size_t k = 0; k < dis_names_count(classes); k++) {
        size_t n;
        double x;
        const char *text = dis_names_get(classes, k, &n);
        if (!dis__parse_real(text, n, &x)) return false;
    }
    return true;
}

/* Another column that could be the label, judged by the data. */
static dis_status advise_label(dis__reader *r, dis__record_reader *s, dis__suggestion *advice)
{
    const dis_votes_options *o = &r->o;
    const char *const named[] = {o->task ? o->task : "task", o->worker ? o->worker : "worker"};
    size_t known[] = {DIS_NO_COLUMN, DIS_NO_COLUMN, DIS_NO_COLUMN};
    dis__survey survey;
    dis__long_guess guess;
    bool empty;
    DIS_TRY(dis__survey_first(s, &survey, &empty));
    if (empty) return DIS_OK;
    for (size_t c = 0; c < survey.n_columns; c++)
        for (int i = 0; i < 2; i++)
            if (strcmp(survey.column[c].name, named[i]) == 0) known[i] = c;
    dis_status status = DIS_OK;
    if (known[0] != DIS_NO_COLUMN && known[1] != DIS_NO_COLUMN) {
        status = dis__guess_long(&survey, known, &guess);
        const bool found = status == DIS_OK && guess.task != DIS_NO_COLUMN;
        if (found) dis__suggest_long_table(advice, &survey, &guess, false, (const size_t[]){0, 0, DIS_NO_COLUMN});
    }
    dis__survey_free(&survey);
    return status;
}

static dis_status advise_other_label(dis__reader *r, dis__suggestion *advice)
{
    dis__record_reader s;
    if (r->n_inputs == 0 || r->o.input != DIS_INPUT_VOTES || r->o.no_header || r->o.records) return DIS_OK;
    DIS_TRY(dis__record_reader_open(&s, r, &r->input[0]));
    const dis_status status = advise_label(r, &s, advice);
    dis__record_reader_close(&s);
    return status == DIS_EDATA ? DIS_OK : status;
}

static dis_status check_classes(dis__reader *r, bool *good)
{
    const dis_votes *v = r->votes;
    size_t n_items, n_votes;
    dis__votes_get_totals(v, &n_items, &n_votes);
    const bool classes = r->o.scale == DIS_SCALE_NOMINAL || r->o.scale == DIS_SCALE_ORDINAL;
    *good = !classes || v->counts || r->rules.declared || r->o.allow_many_classes || n_votes < MIN_VOTES ||
            2 * v->n_classes <= n_votes;
    if (*good) return DIS_OK;
    dis__suggestion advice = {0};
    if (all_numbers(v->classes)) {
        dis__suggestion_begin_line(&advice);
        dis__suggestion_add_value(&advice, "scale", "numeric", 7);
    }
    DIS_TRY(advise_other_label(r, &advice));
    const dis_status status =
        dis__fail_at(DIS_EDATA, r->n_inputs ? r->input[0].path : "votes", 0, 0,
                     "%zu different labels in %zu votes, such as \"%.60s\" and \"%.60s\": are these classes? If "
                     "so, list them (`classes`) or accept them all (`allow_many_classes`)%s",
                     v->n_classes, n_votes, dis_names_get(v->classes, 0, NULL), dis_names_get(v->classes, 1, NULL),
                     advice.n ? "; otherwise use:" : "; otherwise name another column with `label`");
    return dis__fail_append(status, advice.text);
}

/* ---- labels that look alike ---- */

static dis_status fold_all(const dis_names *classes, dis__secret *secret, dis__arena *texts, dis__key_table *table,
                           char *list, size_t room)
{
    for (size_t k = 0; k < dis_names_count(classes); k++) {
        size_t n;
        char *folded;
        bool fresh;
        const char *text = dis_names_get(classes, k, &n), *copy;
        const dis__key *at;
        DIS_TRY(dis__alloc_array(&folded, n + 1, 1));
        const size_t n_folded = dis__label_fold(text, n, true, true, folded);
        dis_status status = dis__arena_copy(texts, folded, n_folded, &copy);
        dis__free(folded);
        DIS_TRY(status);
        dis__key key = dis__key_from_text(secret, copy, n_folded);
        key.value = (uint32_t)k;
        DIS_TRY(dis__key_table_insert(table, &key, &at, &fresh));
        if (fresh) continue;
        char pair[160];
        const int length =
            snprintf(pair, sizeof pair, "\"%.50s\" and \"%.50s\"", dis_names_get(classes, at->value, NULL), text);
        const size_t used = strlen(list);
        if (used + (size_t)length + 8 < room)
            snprintf(list + used, room - used, "%s%s", used ? ", " : "", pair);
        else if (used + 6 < room && strcmp(list + used - 3, "...") != 0)
            snprintf(list + used, room - used, ", ...");
    }
    return DIS_OK;
}

/* Names the pairs of classes that differ only in case or surrounding spaces. */
static dis_status note_similar(dis__reader *r)
{
    enum { MAX_CLASSES = 5000 };
    char list[400] = "";
    dis__key_table table = {0};
    dis__arena texts = {0};
    if (r->votes->n_classes > MAX_CLASSES || r->rules.declared) return DIS_OK;
    dis_status status = fold_all(r->votes->classes, &r->rules.secret, &texts, &table, list, sizeof list);
    dis__key_table_free(&table);
    dis__arena_free(&texts);
    if (status != DIS_OK || !*list) return status;
    return dis__votes_add_note(
        r->votes, DIS_NOTE_SUSPICIOUS,
        "classes that differ only in case or spaces are different classes: %s; to merge them, use "
        "`fold_case`, `trim`",
        list);
}

static dis_status note_missing(dis__reader *r)
{
    char list[200] = "";
    for (size_t k = 0; k < r->votes->n_classes && r->votes->n_classes <= 1000 && !r->rules.declared; k++) {
        size_t n;
        const char *text = dis_names_get(r->votes->classes, k, &n);
        if (dis__is_missing_word(text, n)) dis__text_list_append(list, sizeof list, text, n);
    }
    if (!*list) return DIS_OK;
    return dis__votes_add_note(r->votes, DIS_NOTE_SUSPICIOUS, "%s is a class here; if it means no vote, set `na` %s",
                               list, list);
}

/* ---- workers ---- */

static uint32_t label_of(const dis_votes *v, size_t i)
{
    return v->label8 ? v->label8[i] : v->label16[i];
}

/* Share of equal labels among pairs of votes in one row of counts (n_rows, n_classes), over all rows. */
static double agreement(const uint32_t *counts, size_t n_rows, size_t n_classes)
{
    double same = 0, pairs = 0;
    for (size_t r = 0; r < n_rows; r++) {
        double n = 0;
        for (size_t k = 0; k < n_classes; k++) {
            const double x = counts[r * n_classes + k];
            same += x * (x - 1);
            n += x;
        }
        pairs += n * (n - 1);
    }
    return pairs > 0 ? same / pairs : 0;
}

/* Votes on one item should agree more than votes of one person. If it is the other way round, and there are many more
 * workers than tasks, the columns are probably swapped. */
static dis_status note_swapped(dis__reader *r)
{
    enum { MANY = 20, TIMES = 4, MAX_CELLS = 1 << 24 };
    const dis_votes *v = r->votes;
    const size_t n_task = dis__saturating_size(v->n_items, v->n_classes, 0),
                 n_worker = dis__saturating_size(v->n_workers, v->n_classes, 0);
    if (v->n_workers < MANY || v->n_items < 2 || v->n_workers / TIMES < v->n_items || 2 * v->n_workers > v->n_votes ||
        n_task > MAX_CELLS || n_worker > MAX_CELLS)
        return DIS_OK;
    uint32_t *counts;
    DIS_TRY(dis__alloc_zeroed(&counts, n_task + n_worker, sizeof *counts));
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t x = v->start[i]; x < v->start[i + 1]; x++) {
            counts[i * v->n_classes + label_of(v, x)]++;
            counts[n_task + v->worker[x] * v->n_classes + label_of(v, x)]++;
        }
    const double by_task = agreement(counts, v->n_items, v->n_classes),
                 by_worker = agreement(counts + n_task, v->n_workers, v->n_classes);
    dis__free(counts);
    if (by_worker < by_task + .1) return DIS_OK;
    return dis__votes_add_note(r->votes, DIS_NOTE_SUSPICIOUS,
                               "%zu tasks and %zu workers, and votes agree within workers (%.0f %%) more than within "
                               "tasks (%.0f %%): are the columns swapped (`task`, `worker`)?",
                               v->n_items, v->n_workers, 100 * by_worker, 100 * by_task);
}

static dis_status note_workers(dis__reader *r)
{
    const dis_votes *v = r->votes;
    if (!v->start || v->part.n_items) return DIS_OK;
    if (v->n_workers == 1 && v->n_items > 1)
        return dis__votes_add_note(r->votes, DIS_NOTE_SUSPICIOUS,
                                   "all votes are by one worker, \"%.60s\": labels are the votes themselves; is the "
                                   "column of workers right (`worker`)?",
                                   dis_names_get(v->workers, 0, NULL));
    return note_swapped(r);
}

dis_status dis__votes_add_table_notes(dis__reader *r)
{
    bool good;
    DIS_TRY(check_classes(r, &good));
    if (r->o.scale != DIS_SCALE_NOMINAL && r->o.scale != DIS_SCALE_ORDINAL) return DIS_OK;
    DIS_TRY(note_similar(r));
    DIS_TRY(note_missing(r));
    return note_workers(r);
}
