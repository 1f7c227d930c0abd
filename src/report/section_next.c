/* What to do next: items worth another vote and workers worth a look, as dis_review ranks them, each with its reason. */
#include "report/workers.h"
#include "core/memory.h"
#include <string.h>

/* A review keeps a confusion matrix a worker; where they are huge, it is a job of its own and not of a report. */
enum { MOST_ROWS = 100, MOST_CELLS = 20000000 };

static void put_text(dis__grid *g, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    dis__grid_text(g, text, n);
}

static void items(dis__report_job *job, const dis_review *review, const dis_review_view *v)
{
    char reason[DIS_REVIEW_REASON];
    size_t n = 0;
    dis__figure f = {.id = "label-next", .title = "Items to label again", .wide = true, .open = true};
    if (v->n_items > MOST_ROWS) f.note = "The first 100; dissent review ranks all.";
    dis__putf(
        &f.caption,
        "An estimated %s of the labels are right, and %s of all votes together. One more vote helps most where "
        "the votes leave the label open: these items come first. Right: chance that the label is right; gain: how much "
        "one more vote is expected to tell (nats).",
        dis__share(v->right).text, dis__share(v->typical).text);
    dis__grid_column(&f.grid, "item", DIS__TEXT);
    dis__text_column(job, &f.grid);
    dis__grid_column(&f.grid, "label", DIS__TEXT);
    dis__grid_column(&f.grid, "right", DIS__SHARE);
    dis__grid_column(&f.grid, "gain", DIS__REAL);
    dis__grid_column(&f.grid, "why", DIS__LONG);
    for (size_t i = 0; i < v->n_items && n < MOST_ROWS; i++) {
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
    size_t n = 0, out = 0;
    for (size_t i = 0; i < v->n_workers; i++) out += dis__doubtful(&v->workers[i]);
    if (v->n_workers == 0) return;
    dis__figure f = {.id = "look-at-workers", .title = "Workers to look at", .wide = true, .open = true};
    if (out > MOST_ROWS) f.note = "The first 100; dissent review --workers lists all.";
    if (out == 0) {
        dis__putf(&f.caption, "Nobody stands out: all %zu vote like their peers, as far as their votes can tell.",
                  v->n_workers);
        dis__page_figure(&job->page, &f);
        return;
    }
    dis__putf(&f.caption,
              "%zu of %zu worker%s stand%s out by votes that do not depend on the item, or that mistake one class for "
              "another. Evidence counts powers of ten; peers are what a typical worker would reach on the same items.",
              out, v->n_workers, dis__plural(v->n_workers), out == 1 ? "s" : "");
    dis__grid_column(&f.grid, "worker", DIS__TEXT);
    dis__grid_column(&f.grid, "votes", DIS__COUNT);
    dis__grid_column(&f.grid, "right", DIS__SHARE);
    dis__grid_column(&f.grid, "peers", DIS__SHARE);
    dis__grid_column(&f.grid, "evidence", DIS__REAL);
    dis__grid_column(&f.grid, "why", DIS__LONG);
    for (size_t i = 0; i < v->n_workers && n < MOST_ROWS; i++) {
        const dis_review_worker *one = &v->workers[i];
        if (!dis__doubtful(one)) continue;
        put_text(&f.grid, job->look.workers, one->worker);
        dis__grid_number(&f.grid, (double)one->votes);
        dis__grid_number(&f.grid, one->quality);
        dis__grid_number(&f.grid, one->peers);
        dis__grid_number(&f.grid, one->evidence);
        dis_review_worker_reason(review, job->r->votes, i, reason, sizeof reason);
        dis__grid_text(&f.grid, reason, strlen(reason));
        n++;
    }
    dis__page_figure(&job->page, &f);
}

dis_status dis__report_review(dis__report_job *job)
{
    const size_t n_classes = job->r->n_classes, n_workers = job->look.n_workers ? job->look.n_workers : 1;
    if (!job->agreement || n_classes < 2) return DIS_OK; /* soft votes cannot be reviewed one by one */
    if (dis__size(dis__size(n_classes, n_classes, 0), n_workers, 0) > MOST_CELLS) return DIS_OK;
    dis_review_options o = dis_review_options_default();
    o.seed = job->r->seed;
    DIS_TRY(dis_review_run(job->ctx, job->r->votes, &o, &job->review));
    job->verdicts = dis_review_look(job->review);
    return DIS_OK;
}

dis_status dis__section_next(dis__report_job *job)
{
    if (!job->review) return DIS_OK;
    dis__page_section(&job->page, "next", "What to do next",
                      "Where another vote helps most, and whose votes are worth a look, each with the reason.");
    items(job, job->review, &job->verdicts);
    workers(job, job->review, &job->verdicts);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
