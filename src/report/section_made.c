/* How this was made: inputs with their hashes, what reading let pass, the methods. */
#include "report/report_internal.h"
#include <string.h>

static void row(dis__grid *g, const char *what, const char *value, const char *hash)
{
    dis__grid_text(g, what, strlen(what));
    dis__grid_text(g, value, strlen(value));
    dis__grid_ours(g, hash);
}

/* Sources with their hashes, which were added behind them as "SHA-256 ..." of the same role. */
static void put_sources(dis__grid *g, const dis_report *r)
{
    static const char mark[] = "SHA-256 ";
    for (size_t i = 0; i < r->n_sources; i++) {
        const dis__report_source *s = &r->source[i], *next = i + 1 < r->n_sources ? s + 1 : NULL;
        const bool hashed = next && strncmp(next->text, mark, strlen(mark)) == 0 && strcmp(next->role, s->role) == 0;
        row(g, s->role, s->text, hashed ? next->text + strlen(mark) : "");
        i += hashed;
    }
}

static void note(dis__grid *g, const char *what, uint64_t n)
{
    if (n) row(g, what, dis__grouped(n).text, "");
}

dis_status dis__section_made(dis__report_job *job)
{
    const dis_report *r = job->r;
    dis__page_section(&job->page, "made", "How this was made",
                      "Enough to make it again: the same inputs, version and seed give the same bytes.");
    dis__figure f = {.id = "sources", .title = "Sources and settings", .wide = true, .open = true};
    if (r->tasks)
        dis__putf(&f.caption, "%zu view%s of %s items. ", r->n_views, dis__plural(r->n_views),
                  dis__grouped(r->n_items).text);
    if (r->n_predictions)
        dis__putf(&f.caption, "%zu set%s of predictions of %s items. ", r->n_predictions, dis__plural(r->n_predictions),
                  dis__grouped(r->test.n_items).text);
    if (r->n_curves) dis__putf(&f.caption, "%zu training run%s. ", r->n_curves, dis__plural(r->n_curves));
    if (r->resamples && (r->tasks || r->n_predictions))
        dis__putf(&f.caption, "Intervals are from %s bootstrap resamples of the items.",
                  dis__grouped(r->resamples).text);
    dis__grid_column(&f.grid, "what", DIS__TEXT);
    dis__grid_column(&f.grid, "value", DIS__LONG);
    dis__grid_column(&f.grid, "SHA-256", DIS__LONG);
    put_sources(&f.grid, r);
    if (r->votes) {
        const dis_votes_notes n = dis_votes_read_notes(r->votes);
        note(&f.grid, "items with a tie for the first place", n.ties);
        note(&f.grid, "bad rows skipped", n.bad_rows);
        note(&f.grid, "votes without a label left out", n.na);
        note(&f.grid, "rows dropped by rules", n.dropped);
        note(&f.grid, "votes of a worker on an item again", n.duplicates);
        note(&f.grid, "rows scaled to sum to 1", n.renormalised);
        note(&f.grid, "items left out for too few votes", n.items_left_out);
        if (n.look_alike_classes) row(&f.grid, "classes that look alike", "kept apart, such as \"0\" and \"0.0\"", "");
    }
    dis__page_figure(&job->page, &f);
    DIS_TRY(dis__figure_traces(job));
    dis__page_section_end(&job->page);
    return DIS_OK;
}
