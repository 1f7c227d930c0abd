/* Workers: accuracy and verdicts, as the review has them, and what each confuses.
 *
 * Accuracy and verdicts are rows of dis_review, estimated from the votes alone. With gold labels the table also has the
 * accuracy against them. */
#include "report/sections/worker_statistics.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include "review/review_parts.h"
#include "stats/distributions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Z_95 1.959963984540054

enum { DRAWN_POINTS = 1500, LISTED = 10, WITH_INTERVALS = 80, RANKED = 60, RASTER = 40, KINDS = 3 };

static const char *const kinds[KINDS] = {"like the others", "less accurate", "unreliable"};

const dis_review_worker *dis__worker_statistics_find_review(const dis__report_job *job, const dis__worker_statistics *c,
                                                            size_t worker)
{
    return c->row ? &job->verdicts.workers[c->row[worker]] : NULL;
}

static unsigned char marker_kind(const dis_review_worker *w)
{
    return dis__review_verdict_is_unreliable(w->verdict) ? 2 : w->verdict == DIS_REVIEW_WEAK ? 1 : 0;
}

static bool judged(const dis_review_worker *w)
{
    return w->votes > 0 && w->verdict != DIS_REVIEW_NO_VERDICT;
}

static const char *worker_name(const dis__report_job *job, size_t w)
{
    return dis_names_get(job->votes_view.workers, w, NULL);
}

/* How many workers there are of each verdict, and the votes of those that are doubtful. */
typedef struct {
    size_t judged, cause[DIS_REVIEW_VERDICTS];
    uint64_t doubtful_votes;
} counts;

static counts count_verdicts(const dis__report_job *job)
{
    counts c = {0};
    for (size_t i = 0; i < job->verdicts.n_workers; i++) {
        const dis_review_worker *w = &job->verdicts.workers[i];
        if (w->votes == 0) continue;
        c.judged += judged(w);
        c.cause[w->verdict]++;
        if (dis__review_verdict_is_unreliable(w->verdict)) c.doubtful_votes += w->votes;
    }
    return c;
}

static void count_votes(const dis__report_job *job, dis__worker_statistics *c)
{
    const dis_votes_view *v = &job->votes_view;
    for (uint64_t a = 0; a < v->n_votes; a++) c->votes[v->worker[a]]++;
    for (size_t i = 0; c->n_gold_votes && i < v->n_items; i++)
        for (uint64_t a = v->start[i]; job->r->gold[i] >= 0 && a < v->start[i + 1]; a++) {
            c->n_gold_votes[v->worker[a]]++;
            c->n_gold_correct[v->worker[a]] += (int32_t)dis__vote_label(v, a) == job->r->gold[i];
        }
    c->min = INFINITY;
    for (size_t w = 0; w < v->n_workers; w++) {
        if (c->votes[w] == 0) continue;
        c->min = fmin(c->min, (double)c->votes[w]);
        c->max = fmax(c->max, (double)c->votes[w]);
        c->n_busiest = dis__top_items_add(c->busiest, c->n_busiest, DIS__WORKER_ROWS,
                                          (dis__top_item){.score = (double)c->votes[w], .item = w});
    }
    for (size_t i = 0; c->row && i < job->verdicts.n_workers; i++) c->row[job->verdicts.workers[i].worker] = i;
}

/* ---- accuracy ---- */

/* Few workers: one row each, with the name. */
static void draw_list(const dis__report_job *job, const dis__worker_statistics *c, dis__figure *f)
{
    enum { ROOM = 120 };
    const char *row[LISTED];
    char text[LISTED][ROOM];
    double value[LISTED], low[LISTED], high[LISTED];
    size_t n = 0;
    for (size_t i = 0; i < c->n_busiest && n < LISTED; i++) {
        const dis_review_worker *w = dis__worker_statistics_find_review(job, c, c->busiest[i].item);
        const char *name = worker_name(job, w->worker);
        if (!judged(w)) continue;
        snprintf(text[n], ROOM, "%s (%s vote%s%s%s)", name, dis__format_grouped(w->votes).text,
                 dis__plural_suffix(w->votes), marker_kind(w) ? ", " : "", marker_kind(w) ? kinds[marker_kind(w)] : "");
        row[n] = strlen(name) < ROOM - 50 ? text[n] : name;
        value[n] = w->accuracy;
        low[n] = w->accuracy_low;
        high[n++] = w->accuracy_high;
    }
    const dis__interval_chart all = {.row = row,
                                     .value = value,
                                     .low = low,
                                     .high_end = high,
                                     .n = n,
                                     .high = 1,
                                     .x_title = "share of correct votes, 95 % interval"};
    dis__interval_chart_draw(&f->chart, &all, dis__figure_name(f, "dots with intervals"));
}

/* The axes, and the line that marks all votes together. Where everybody cast about as many votes, workers stand in the
 * order of their shares instead. */
typedef struct {
    bool ranked;
    const char *x_title;
    double x[2], y[2];
    dis__chart_line line;
    dis__axis_scale sx, sy;
} backdrop;

static void init_backdrop(const dis__report_job *job, const dis__worker_statistics *c, size_t judged_workers,
                          backdrop *b)
{
    b->ranked = c->max < 1.6 * c->min && judged_workers <= RANKED;
    b->x_title = b->ranked ? "annotators, by accuracy" : "votes cast (log scale)";
    b->sx = b->ranked ? dis__axis_scale_nice(0, (double)judged_workers + 1, 5, true)
                      : dis__axis_scale_log_around(fmax(1, .8 * c->min), fmax(2, 1.1 * c->max));
    b->sy = (dis__axis_scale){.low = 0, .high = 1, .first = 0, .step = .2};
    b->x[0] = b->sx.low;
    b->x[1] = b->sx.high;
    b->y[0] = b->y[1] = job->verdicts.typical_accuracy;
    b->line = (dis__chart_line){.name = "all votes", .x = b->x, .y = b->y, .n = 2};
}

static const char right_title[] = "share of correct votes";

typedef struct {
    double *x, *y, *low, *high;
    const char **name;
    unsigned char *kind;
} points;

static dis_status make_points(points *p, size_t n)
{
    DIS_TRY(dis__alloc_array(&p->x, n, sizeof *p->x));
    DIS_TRY(dis__alloc_array(&p->y, n, sizeof *p->y));
    DIS_TRY(dis__alloc_array(&p->low, n, sizeof *p->low));
    DIS_TRY(dis__alloc_array(&p->high, n, sizeof *p->high));
    DIS_TRY(dis__alloc_array(&p->name, n, sizeof *p->name));
    return dis__alloc_array(&p->kind, n, sizeof *p->kind);
}

static void free_points(points *p)
{
    dis__free(p->x);
    dis__free(p->y);
    dis__free(p->low);
    dis__free(p->high);
    dis__free(p->name);
    dis__free(p->kind);
}

static int by_share(const void *a, const void *b)
{
    const dis__top_item *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Rows of the review whose workers can be judged, by their shares where they are to be ranked. */
static dis_status judged_rows(const dis__report_job *job, bool ranked, dis__top_item **rows, size_t *n)
{
    *n = 0;
    DIS_TRY(dis__alloc_array(rows, job->verdicts.n_workers, sizeof **rows));
    for (size_t i = 0; i < job->verdicts.n_workers; i++) {
        const dis_review_worker *w = &job->verdicts.workers[i];
        if (judged(w)) (*rows)[(*n)++] = (dis__top_item){.score = w->accuracy, .item = i};
    }
    if (ranked) qsort(*rows, *n, sizeof **rows, by_share);
    return DIS_OK;
}

static dis_status draw_points(const dis__report_job *job, const backdrop *b, dis__figure *f)
{
    points p = {0};
    size_t n = 0;
    dis__top_item *rows = NULL;
    dis_status status = judged_rows(job, b->ranked, &rows, &n);
    if (status == DIS_OK) status = make_points(&p, n);
    for (size_t i = 0; status == DIS_OK && i < n; i++) {
        const dis_review_worker *w = &job->verdicts.workers[rows[i].item];
        p.x[i] = b->ranked ? (double)(i + 1) : (double)w->votes;
        p.y[i] = w->accuracy;
        p.low[i] = w->accuracy_low;
        p.high[i] = w->accuracy_high;
        p.name[i] = worker_name(job, w->worker);
        p.kind[i] = marker_kind(w);
    }
    const bool intervals = n <= WITH_INTERVALS;
    const dis__scatter_chart s = {.x = p.x,
                                  .y = p.y,
                                  .low = intervals ? p.low : NULL,
                                  .high = p.high,
                                  .kind = p.kind,
                                  .n = n,
                                  .kinds = kinds,
                                  .n_kinds = KINDS,
                                  .name = p.name,
                                  .sx = b->sx,
                                  .sy = b->sy,
                                  .x_title = b->x_title,
                                  .y_title = right_title,
                                  .curve = &b->line,
                                  .n_curves = 1,
                                  .fixed_positions = b->ranked};
    if (status == DIS_OK) dis__scatter_chart_draw(&f->chart, &s, dis__figure_name(f, "scatter plot"));
    free_points(&p);
    dis__free(rows);
    return status;
}

static dis_status draw_raster(const dis__report_job *job, const backdrop *b, dis__figure *f)
{
    uint64_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, RASTER * RASTER, sizeof *count));
    for (size_t r = 0; r < job->verdicts.n_workers; r++) {
        const dis_review_worker *w = &job->verdicts.workers[r];
        if (!judged(w)) continue;
        const size_t i = (size_t)dis__axis_scale_position(&b->sx, (double)w->votes, 0, RASTER - 1e-9);
        const size_t j = (size_t)dis__axis_scale_position(&b->sy, w->accuracy, 0, RASTER - 1e-9);
        count[j * RASTER + i]++;
    }
    const dis__density_chart d = {.count = count,
                                  .n_x = RASTER,
                                  .n_y = RASTER,
                                  .sx = b->sx,
                                  .sy = b->sy,
                                  .x_title = b->x_title,
                                  .y_title = right_title,
                                  .unit = "annotators",
                                  .curve = &b->line,
                                  .n_curves = 1};
    dis__density_chart_draw(&f->chart, &d, dis__figure_name(f, "raster"));
    dis__free(count);
    return DIS_OK;
}

static void put_gold(dis__data_table *g, double n, double correct)
{
    dis__data_table_add_number(g, n);
    dis__data_table_add_number(g, n > 0 ? correct / n : NAN);
    dis__data_table_add_number(g, n > 0 ? dis__wilson_bound(correct / n, n, Z_95, -1) : NAN);
    dis__data_table_add_number(g, n > 0 ? dis__wilson_bound(correct / n, n, Z_95, 1) : NAN);
}

static void put_quality_table(const dis__report_job *job, const dis__worker_statistics *c, dis__data_table *g)
{
    dis__data_table_add_column(g, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "votes", DIS__CELL_COUNT);
    dis__data_table_add_column(g, "on shared items", DIS__CELL_COUNT);
    dis__data_table_add_column(g, "correct", DIS__CELL_PERCENT);
    dis__data_table_add_column(g, "95 % from", DIS__CELL_PERCENT);
    dis__data_table_add_column(g, "to", DIS__CELL_PERCENT);
    dis__data_table_add_column(g, "others there", DIS__CELL_PERCENT);
    dis__data_table_add_column(g, "verdict", DIS__CELL_TEXT);
    if (c->n_gold_votes) {
        dis__data_table_add_column(g, "on items with gold", DIS__CELL_COUNT);
        dis__data_table_add_column(g, "accuracy against gold", DIS__CELL_PERCENT);
        dis__data_table_add_column(g, "gold 95 % from", DIS__CELL_PERCENT);
        dis__data_table_add_column(g, "gold to", DIS__CELL_PERCENT);
    }
    for (size_t i = 0; i < c->n_busiest; i++) {
        const dis_review_worker *w = dis__worker_statistics_find_review(job, c, c->busiest[i].item);
        size_t length;
        const char *name = dis_names_get(job->votes_view.workers, w->worker, &length);
        dis__data_table_add_text(g, name, length);
        dis__data_table_add_number(g, (double)w->votes);
        dis__data_table_add_number(g, (double)w->shared);
        dis__data_table_add_number(g, w->accuracy);
        dis__data_table_add_number(g, w->accuracy_low);
        dis__data_table_add_number(g, w->accuracy_high);
        dis__data_table_add_number(g, w->peer_accuracy);
        dis__data_table_add_static_text(g, dis_review_verdict_name(w->verdict));
        if (c->n_gold_votes) put_gold(g, (double)c->n_gold_votes[w->worker], (double)c->n_gold_correct[w->worker]);
    }
}

static dis_status quality(dis__report_job *job, const dis__worker_statistics *c)
{
    const counts n = count_verdicts(job);
    dis__figure f = {.id = "worker-quality",
                     .title = "Accuracy of annotators",
                     .question = "How accurate is each annotator?",
                     .note = job->votes_view.n_workers > DIS__WORKER_ROWS
                                 ? "The 500 annotators with the most votes; dissent review lists all annotators."
                                 : NULL};
    backdrop b;
    if (n.judged == 0) return DIS_OK;
    init_backdrop(job, c, n.judged, &b);
    dis__markup_appendf(&f.caption, "Estimated from the votes alone: of all votes together, %s are correct. ",
                        dis__format_percent(job->verdicts.typical_accuracy).text);
    if (job->verdicts.n_without_verdict)
        dis__markup_appendf(&f.caption, "%zu annotator%s cannot be judged and %s left out. ",
                            job->verdicts.n_without_verdict, dis__plural_suffix(job->verdicts.n_without_verdict),
                            job->verdicts.n_without_verdict == 1 ? "is" : "are");
    if (n.judged <= WITH_INTERVALS) dis__markup_append(&f.caption, "Lines are 95\xC2\xA0% intervals. ");
    if (!b.ranked && n.judged > LISTED && n.judged <= DRAWN_POINTS)
        dis__markup_append(&f.caption, "Marks are moved aside where they would cover each other.");
    dis_status status = DIS_OK;
    if (n.judged <= LISTED)
        draw_list(job, c, &f);
    else
        status = n.judged <= DRAWN_POINTS ? draw_points(job, &b, &f) : draw_raster(job, &b, &f);
    put_quality_table(job, c, &f.table);
    dis__page_figure_add(&job->page, &f);
    return status;
}

/* ---- in words ---- */

static void put_causes(dis__markup *finding, const counts *n)
{
    static const char *const one[] = {"", "gives mostly the same class, whatever the item",
                                      "votes independently of the items", "mistakes one class for another"},
                             *const many[] = {"", "give mostly the same class, whatever the item",
                                              "vote independently of the items", "mistake one class for another"};
    bool any = false;
    for (size_t k = DIS_REVIEW_CONSTANT; k <= DIS_REVIEW_CONFUSES; k++) {
        if (n->cause[k] == 0) continue;
        dis__markup_appendf(finding, "%s%zu %s", any ? ", " : ": ", n->cause[k], n->cause[k] == 1 ? one[k] : many[k]);
        any = true;
    }
}

static void append_doubtful(const dis__report_job *job, const counts *n, dis__markup *finding)
{
    const dis_review_view *v = &job->verdicts;
    dis__markup_appendf(finding, "Of all votes together an estimated %s are correct. ",
                        dis__format_percent(v->typical_accuracy).text);
    if (v->n_unreliable) {
        dis__markup_appendf(
            finding, "%zu of %zu annotators %s unreliable, with %s of the votes", v->n_unreliable, v->n_workers,
            v->n_unreliable == 1 ? "is" : "are",
            dis__format_percent((double)n->doubtful_votes / fmax(1, (double)job->votes_view.n_votes)).text);
        put_causes(finding, n);
        dis__markup_append(finding, ".");
    } else {
        dis__markup_appendf(finding, "None of the %zu annotator%s that can be judged is unreliable.", n->judged,
                            dis__plural_suffix(n->judged));
    }
    if (v->n_weak)
        dis__markup_appendf(finding, " %zu %s less accurate than the others on the same items.", v->n_weak,
                            v->n_weak == 1 ? "is" : "are");
    if (v->n_without_verdict) dis__markup_appendf(finding, " %zu cannot be judged.", v->n_without_verdict);
}

static void add_worker_findings(dis__report_job *job)
{
    const counts n = count_verdicts(job);
    const dis_review_view *v = &job->verdicts;
    dis__markup finding = {0};
    const bool is_undecided = dis__report_is_undecided(job);
    if (n.judged && !is_undecided)
        append_doubtful(job, &n, &finding);
    else
        dis__markup_append(&finding,
                           !v->n_compared ? "No verdict on single annotators: no item has votes of two of them."
                           : is_undecided ? "No verdict on single annotators: there are too few votes to judge them."
                                          : "No verdict on single annotators: their votes agree no more than chance.");
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
    const size_t flagged = v->n_unreliable + v->n_weak;
    if (n.judged && !is_undecided)
        dis__page_tile_add(&job->page, dis__format_abbreviated(flagged).text,
                           job->r->panel  ? "flagged voters"
                           : flagged == 1 ? "flagged annotator"
                                          : "flagged annotators");
}

dis_status dis__section_workers(dis__report_job *job)
{
    const size_t n = job->votes_view.n_workers;
    /* with a single class there is nothing to be right or wrong about */
    if (!job->votes_view.start || n == 0 || job->votes_view.n_votes == 0 || job->r->n_classes < 2) return DIS_OK;
    dis__worker_statistics *c;
    dis_status status;
    DIS_TRY(dis__alloc_zeroed(&c, 1, sizeof *c));
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&c->votes, n, sizeof *c->votes), end);
    if (job->review) DIS_TRY_GOTO(status, dis__alloc_zeroed(&c->row, n, sizeof *c->row), end);
    if (job->r->gold) {
        DIS_TRY_GOTO(status, dis__alloc_zeroed(&c->n_gold_votes, n, sizeof *c->n_gold_votes), end);
        DIS_TRY_GOTO(status, dis__alloc_zeroed(&c->n_gold_correct, n, sizeof *c->n_gold_correct), end);
    }
    count_votes(job, c);
    if (job->review) add_worker_findings(job);
    if (!dis__report_is_chance_level(job) && !dis__report_is_undecided(job)) {
        dis__page_section_begin(&job->page, "workers", "Annotators",
                                job->review ? "Judged by the votes of all others on the same items."
                                            : "Use dissent review for a crowd of this size.");
        if (job->review) DIS_TRY_GOTO(status, quality(job, c), end);
        dis__figure_pairs(job);
        if (job->r->n_views) DIS_TRY_GOTO(status, dis__figure_confusions(job, c), end);
        dis__page_section_end(&job->page);
    }
end:
    dis__free(c->votes);
    dis__free(c->n_gold_votes);
    dis__free(c->n_gold_correct);
    dis__free(c->row);
    dis__free(c);
    return status;
}
