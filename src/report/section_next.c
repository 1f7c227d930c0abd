/* What to do next: items worth another vote and workers worth a look, as dis_review ranks them, each with its
 * reason. */
#include "report/workers.h"
#include "core/memory/memory.h"
#include <string.h>

/* A review keeps a confusion matrix per worker; where they are huge, it is a job of its own and not of a report. */
enum { MAX_ROWS = 100, MAX_CELLS = 20000000 };

static void put_text(dis__grid *g, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    dis__grid_text(g, text, n);
}

/* How many labels are correct, as far as that can be told. */
static void put_expected(const dis__report_job *job, dis__markup *m, const dis_review_view *v)
{
    const dis__view_tally *trusted = &job->tally[job->main];
    if (job->r->n_views && trusted->judged)
        dis__putf(m, "%s of the labels of items whose class is known are correct. ",
                  dis__share((double)trusted->right / (double)trusted->judged).text);
    else if (!v->n_compared && v->n_workers)
        dis__put(m, "No item has votes of two people: how many labels are correct cannot be told. ");
    else
        dis__putf(m, "%s estimated %s of the labels are correct, and %s of all votes. ",
                  v->chance.verdict == DIS_CHANCE_UNKNOWN
                      ? "There are too few votes to tell whether annotators agree more than chance. If they do, an"
                      : "An",
                  dis__share(v->right).text, dis__share(v->typical).text);
}

static void items(dis__report_job *job, const dis_review *review, const dis_review_view *v)
{
    char reason[DIS_REVIEW_REASON];
    size_t n = 0;
    dis__figure f = {.id = "label-next", .title = "Items to label again", .wide = true, .open = true};
    if (v->n_items > MAX_ROWS) f.note = "The first 100; dissent review ranks all.";
    put_expected(job, &f.caption, v);
    dis__put(
        &f.caption,
        "The labels that are most likely wrong come first. Right: probability that the label is correct; gain: how "
        "much one more vote is expected to tell (nats).");
    dis__grid_column(&f.grid, "item", DIS__TEXT);
    dis__text_column(job, &f.grid);
    dis__grid_column(&f.grid, "label", DIS__TEXT);
    dis__grid_column(&f.grid, "right", DIS__SHARE);
    dis__grid_column(&f.grid, "gain", DIS__REAL);
    dis__grid_column(&f.grid, "why", DIS__LONG);
    for (size_t i = 0; i < v->n_items && n < MAX_ROWS; i++) {
        const dis_review_item *one = &v->items[i];
        if (one->known) continue;
        put_text(&f.grid, job->look.tasks, one->item);
        dis__text_cell(job, &f.grid, one->item);
        put_text(&f.grid, job->look.classes, one->label);
        dis__grid_number(&f.grid, one->right);
        dis__grid_number(&f.grid, one->gain);
        dis_review_item_reason(review, job->r->votes, i, reason, sizeof reason);
        dis__grid_text(&f.grid, reason, strlen(reason));
        n++;
    }
    dis__page_figure(&job->page, &f);
}

static void workers(dis__report_job *job, const dis_review *review, const dis_review_view *v)
{
    char reason[DIS_REVIEW_REASON];
    const size_t out = v->n_doubtful + v->n_weak; /* ranked first */
    if (v->n_workers == 0) return;
    dis__figure f = {.id = "look-at-workers", .title = "Workers to look at", .wide = true, .open = true};
    if (out > MAX_ROWS) f.note = "The first 100; dissent review lists all workers.";
    if (out == 0) {
        if (v->n_unjudged < v->n_workers)
            dis__putf(&f.caption, "No one is doubtful or less accurate than the others.");
        else
            dis__putf(&f.caption, "Nobody can be judged by these votes.");
        dis__page_figure(&job->page, &f);
        return;
    }
    dis__putf(&f.caption,
              "%zu of %zu worker%s stand%s out: votes that do not depend on the item, votes that mistake one class for "
              "another, or votes that agree less with the others than these agree on the same items. Right: accuracy "
              "of the worker; others: accuracy of the others on the same items; evidence: powers of ten for votes "
              "that ignore the items.",
              out, v->n_workers, dis__plural(v->n_workers), out == 1 ? "s" : "");
    dis__grid_column(&f.grid, "worker", DIS__TEXT);
    dis__grid_column(&f.grid, "votes", DIS__COUNT);
    dis__grid_column(&f.grid, "right", DIS__SHARE);
    dis__grid_column(&f.grid, "others", DIS__SHARE);
    dis__grid_column(&f.grid, "evidence", DIS__REAL);
    dis__grid_column(&f.grid, "why", DIS__LONG);
    for (size_t i = 0; i < out && i < MAX_ROWS; i++) {
        const dis_review_worker *one = &v->workers[i];
        put_text(&f.grid, job->look.workers, one->worker);
        dis__grid_number(&f.grid, (double)one->votes);
        dis__grid_number(&f.grid, one->quality);
        dis__grid_number(&f.grid, one->peers);
        dis__grid_number(&f.grid, one->evidence);
        dis_review_worker_reason(review, job->r->votes, i, reason, sizeof reason);
        dis__grid_text(&f.grid, reason, strlen(reason));
    }
    dis__page_figure(&job->page, &f);
}

/* Where classes have an order: how far above or below the others each worker votes. */
static void on_the_scale(dis__report_job *job, const dis_review_view *v)
{
    if (!v->ordinal_workers) return;
    dis__figure f = {.id = "workers-on-the-scale", .title = "Workers on the scale", .wide = true, .open = true};
    if (v->n_workers > MAX_ROWS) f.note = "The first 100; dissent review lists all workers.";
    dis__putf(
        &f.caption,
        "%zu of %zu worker%s vote%s more than a quarter of a class too high or too low. Bias, and spread of votes "
        "about an item's place, are in classes, with 95 %% intervals; lapses are the share of votes that do not "
        "depend on the item.",
        v->n_biased, v->n_workers, dis__plural(v->n_workers), v->n_biased == 1 ? "s" : "");
    static const char *const columns[] = {"bias", "from", "to", "spread", "spread from", "spread to"};
    dis__grid_column(&f.grid, "worker", DIS__TEXT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) dis__grid_column(&f.grid, columns[i], DIS__REAL);
    dis__grid_column(&f.grid, "lapses", DIS__SHARE);
    for (size_t w = 0; w < v->n_workers && w < MAX_ROWS; w++) {
        const dis_review_ordinal_worker *o = &v->ordinal_workers[w];
        const double figures[] = {o->bias,       o->bias_low,    o->bias_high, o->spread,
                                  o->spread_low, o->spread_high, o->lapse};
        put_text(&f.grid, job->look.workers, w);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) dis__grid_number(&f.grid, figures[i]);
    }
    dis__page_figure(&job->page, &f);
}

dis_status dis__report_review(dis__report_job *job)
{
    const size_t n_classes = job->r->n_classes, n_workers = job->look.n_workers ? job->look.n_workers : 1;
    if (!job->agreement || n_classes < 2) return DIS_OK; /* soft votes cannot be reviewed one by one */
    if (dis__saturating_size(dis__saturating_size(n_classes, n_classes, 0), n_workers, 0) > MAX_CELLS) return DIS_OK;
    dis_review_options o = dis_review_options_default();
    o.seed = job->r->seed;
    if (job->r->n_views) o.p = job->r->view[job->main].p;
    DIS_TRY(dis_review_run(job->ctx, job->r->votes, &o, &job->review));
    job->verdicts = dis_review_look(job->review);
    return DIS_OK;
}

dis_status dis__section_next(dis__report_job *job)
{
    if (!job->review || dis__votes_are_noise(job)) return DIS_OK;
    dis__page_section(&job->page, "next", "What to do next",
                      "Where another vote helps most, and whose votes are worth a look, each with the reason.");
    items(job, job->review, &job->verdicts);
    workers(job, job->review, &job->verdicts);
    on_the_scale(job, &job->verdicts);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
