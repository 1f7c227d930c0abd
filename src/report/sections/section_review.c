/* What to do next: items worth another vote and workers worth a look, as dis_review ranks them, each with its
 * reason. */
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

/* A review keeps a confusion matrix per worker; where they are huge, it is a job of its own and not of a report. */
enum { MAX_ROWS = 100, MAX_CELLS = 20000000 };

static void put_text(dis__data_table *g, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    dis__data_table_add_text(g, text, n);
}

/* How many labels are correct, as far as that can be told. */
static void put_expected(const dis__report_job *job, dis__markup *m, const dis_review_view *v)
{
    const dis__view_statistics *trusted = &job->statistics[job->main];
    if (job->r->n_views && trusted->n_gold)
        dis__markup_appendf(m, "%s of the labels of items whose class is known are correct. ",
                            dis__format_percent((double)trusted->right / (double)trusted->n_gold).text);
    else if (!v->n_compared && v->n_workers)
        dis__markup_append(m, "No item has votes of two people: the share of correct labels cannot be estimated. ");
    else if (v->chance.verdict == DIS_CHANCE_UNKNOWN)
        dis__markup_append(m, "There are too few votes to tell whether annotators agree more than chance, so the order "
                              "is tentative. ");
    else
        dis__markup_appendf(m, "An estimated %s of the labels are correct, and %s of all votes. ",
                            dis__format_percent(v->expected_accuracy).text,
                            dis__format_percent(v->typical_accuracy).text);
}

/* Rows of the review that are shown: as it ranks them, or on a scale those that are most likely more than one class
 * off. */
static size_t first_items(const dis__report_job *job, const dis_review_view *v, bool is_scale,
                          dis__top_item row[MAX_ROWS])
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->items[i].is_gold) continue;
        const double off = is_scale ? 1 - dis__report_probability_near(job, v->items[i].item) : 0;
        n = dis__top_items_add(row, n, MAX_ROWS, (dis__top_item){.score = floor(off * 1e10 + .5), .item = i});
    }
    return n;
}

static void items(dis__report_job *job, const dis_review *review, const dis_review_view *v)
{
    char reason[DIS_REVIEW_REASON_SIZE];
    const bool is_scale = !isnan(dis__report_share_near(job));
    dis__top_item row[MAX_ROWS];
    const size_t n_rows = first_items(job, v, is_scale, row);
    dis__figure f = {.id = "label-next",
                     .title = "Items to label again",
                     .question = "Which items should be labelled again?",
                     .wide = true,
                     .open = true};
    if (v->n_items < 2) return; /* nothing to rank */
    if (v->n_items > MAX_ROWS) f.note = "The first 100; dissent review ranks all.";
    put_expected(job, &f.caption, v);
    dis__markup_append(&f.caption, is_scale ? "The labels that are most likely more than one class off come first."
                                            : "The labels that are most likely wrong come first. Correct: probability "
                                              "that the label is correct.");
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "label", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "correct", DIS__CELL_PERCENT);
    if (is_scale) dis__data_table_add_column(&f.table, "within one class", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "gain", DIS__CELL_REAL);
    dis__data_table_set_csv_only(&f.table);
    dis__data_table_add_column(&f.table, "why", DIS__CELL_LONG_TEXT);
    for (size_t at = 0; at < n_rows; at++) {
        const size_t i = row[at].item;
        const dis_review_item *one = &v->items[i];
        put_text(&f.table, job->votes_view.tasks, one->item);
        dis__report_add_text_cell(job, &f.table, one->item);
        put_text(&f.table, job->votes_view.classes, one->label);
        dis__data_table_add_number(&f.table, one->p_correct);
        if (is_scale) dis__data_table_add_number(&f.table, dis__report_probability_near(job, one->item));
        dis__data_table_add_number(&f.table, one->gain);
        dis_review_format_item_reason(review, job->r->votes, i, reason, sizeof reason);
        dis__data_table_add_text(&f.table, reason, strlen(reason));
    }
    dis__page_figure_add(&job->page, &f);
}

static void workers(dis__report_job *job, const dis_review *review, const dis_review_view *v)
{
    char reason[DIS_REVIEW_REASON_SIZE];
    const size_t out = v->n_unreliable + v->n_weak; /* ranked first */
    if (v->n_workers == 0) return;
    dis__figure f = {.id = "look-at-workers",
                     .title = job->r->panel ? "People and judges that stand out" : "Annotators to talk to",
                     .question =
                         job->r->panel ? "Which people or judges stand out?" : "Which annotators should you talk to?",
                     .wide = true,
                     .open = true};
    if (out > MAX_ROWS) f.note = "The first 100; dissent review lists all annotators.";
    if (out == 0 || dis__report_is_undecided(job)) {
        if (dis__report_is_undecided(job))
            dis__markup_append(&f.caption, "There are too few votes to judge any annotator.");
        else if (v->n_without_verdict < v->n_workers)
            dis__markup_appendf(&f.caption, "No one is unreliable or less accurate than the others.");
        else
            dis__markup_appendf(&f.caption, "These votes allow no verdict on any annotator.");
        dis__page_figure_add(&job->page, &f);
        return;
    }
    dis__markup_appendf(
        &f.caption,
        "%zu of %zu %s%s stand%s out: the votes do not depend on the item, mistake one class for another, or agree "
        "less with the others than the others agree with each other on the same items. Correct: estimated share of "
        "correct votes; others: the same for all others on these items.",
        out, v->n_workers, job->r->panel ? "voter" : "annotator", dis__plural_suffix(v->n_workers),
        out == 1 ? "s" : "");
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "votes", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "correct", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "others", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "evidence", DIS__CELL_REAL);
    dis__data_table_set_csv_only(&f.table);
    dis__data_table_add_column(&f.table, "why", DIS__CELL_LONG_TEXT);
    for (size_t i = 0; i < out && i < MAX_ROWS; i++) {
        const dis_review_worker *one = &v->workers[i];
        put_text(&f.table, job->votes_view.workers, one->worker);
        dis__data_table_add_number(&f.table, (double)one->votes);
        dis__data_table_add_number(&f.table, one->accuracy);
        dis__data_table_add_number(&f.table, one->peer_accuracy);
        dis__data_table_add_number(&f.table, one->evidence);
        dis_review_format_worker_reason(review, job->r->votes, i, reason, sizeof reason);
        dis__data_table_add_text(&f.table, reason, strlen(reason));
    }
    dis__page_figure_add(&job->page, &f);
}

/* Workers by the size of their bias, the largest first. */
static size_t rank_by_bias(const dis_review_view *v, dis__top_item best[MAX_ROWS])
{
    size_t n = 0;
    for (size_t w = 0; w < v->n_workers; w++)
        n = dis__top_items_add(best, n, MAX_ROWS,
                               (dis__top_item){.score = fabs(v->ordinal_workers[w].bias), .item = w});
    return n;
}

static void draw_biases(const dis__report_job *job, const dis_review_view *v, const dis__top_item *best, size_t n,
                        dis__figure *f)
{
    enum { DRAWN = 20 };
    const char *row[DRAWN];
    double value[DRAWN], low[DRAWN], high[DRAWN];
    if (n > DRAWN) n = DRAWN;
    for (size_t i = 0; i < n; i++) {
        const dis_review_ordinal_worker *o = &v->ordinal_workers[best[i].item];
        row[i] = dis_names_get(job->votes_view.workers, best[i].item, NULL);
        value[i] = o->bias;
        low[i] = o->bias_low;
        high[i] = o->bias_high;
    }
    const dis__interval_chart c = {.row = row,
                                   .value = value,
                                   .low = low,
                                   .high_end = high,
                                   .n = n,
                                   .x_title = "classes too low (-) or too high, with 95 % interval"};
    dis__interval_chart_draw(&f->chart, &c, dis__figure_name(f, "dots with intervals"));
}

/* Where classes have an order: how far above or below the others each worker votes. */
static void on_the_scale(dis__report_job *job, const dis_review_view *v)
{
    if (!v->ordinal_workers || dis__report_is_undecided(job)) return;
    dis__top_item best[MAX_ROWS];
    const size_t n = rank_by_bias(v, best);
    dis__figure f = {.id = "workers-on-the-scale",
                     .title = "Bias on the scale",
                     .question = "Which annotators vote too high or too low?"};
    if (v->n_workers > MAX_ROWS) f.note = "The 100 largest; dissent review lists all annotators.";
    dis__markup_appendf(&f.caption,
                        "%zu of %zu annotator%s vote%s more than a quarter of a class too high or too low. The largest "
                        "biases come first. Spread: of votes about an item's position; lapses: share of votes that do "
                        "not depend on the item.",
                        v->n_biased, v->n_workers, dis__plural_suffix(v->n_workers), v->n_biased == 1 ? "s" : "");
    draw_biases(job, v, best, n, &f);
    static const char *const columns[] = {"bias", "from", "to", "spread", "spread from", "spread to"};
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        dis__data_table_add_column(&f.table, columns[i], DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "lapses", DIS__CELL_PERCENT);
    for (size_t i = 0; i < n; i++) {
        const size_t w = best[i].item;
        const dis_review_ordinal_worker *o = &v->ordinal_workers[w];
        const double figures[] = {o->bias,       o->bias_low,    o->bias_high, o->spread,
                                  o->spread_low, o->spread_high, o->lapse_rate};
        put_text(&f.table, job->votes_view.workers, w);
        for (size_t c = 0; c < sizeof figures / sizeof *figures; c++) dis__data_table_add_number(&f.table, figures[c]);
    }
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__report_review(dis__report_job *job)
{
    const size_t n_classes = job->r->n_classes, n_workers = job->votes_view.n_workers ? job->votes_view.n_workers : 1;
    if (!job->agreement || n_classes < 2) return DIS_OK; /* soft votes cannot be reviewed one by one */
    if (dis__saturating_size(dis__saturating_size(n_classes, n_classes, 0), n_workers, 0) > MAX_CELLS) return DIS_OK;
    dis_review_options o = dis_review_options_default();
    o.seed = job->r->seed;
    o.camps = true;
    if (job->r->n_views) o.p = job->r->view[job->main].p;
    o.causes = job->r->causes;
    o.groups = job->r->groups;
    DIS_TRY(dis_review_run(job->ctx, job->r->votes, &o, &job->review));
    job->verdicts = dis_review_get_view(job->review);
    return DIS_OK;
}

dis_status dis__section_review(dis__report_job *job)
{
    dis__class_pairs pairs = {0};
    if (!job->review) {
        dis__report_add_verdict(job, &pairs);
        return DIS_OK;
    }
    const bool is_noise = dis__report_is_chance_level(job);
    if (!is_noise) DIS_TRY(dis__class_pairs_find(job, &pairs));
    dis__report_add_verdict(job, &pairs);
    if (is_noise) return DIS_OK;
    dis__page_section_begin(&job->page, "next", "What to do next",
                            "Items to label again, annotators to talk to, and classes that the guidelines should "
                            "tell apart.");
    DIS_TRY(dis__figure_camps(job));
    items(job, job->review, &job->verdicts);
    workers(job, job->review, &job->verdicts);
    on_the_scale(job, &job->verdicts);
    DIS_TRY(dis__figure_votes_to_discuss(job));
    dis__figure_vote_causes(job);
    if (job->r->n_items > 1) dis__figure_class_pairs(job, &pairs);
    dis__page_findings_put(&job->page);
    return DIS_OK;
}
