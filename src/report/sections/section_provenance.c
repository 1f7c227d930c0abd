/* How this was made: inputs with their hashes, what reading let pass, the methods. */
#include "report/report_internal.h"
#include <string.h>

static void row(dis__data_table *g, const char *what, const char *value, const char *hash)
{
    dis__data_table_add_text(g, what, strlen(what));
    dis__data_table_add_text(g, value, strlen(value));
    dis__data_table_add_static_text(g, hash);
}

/* Sources with their hashes, which were added after them as "SHA-256 ..." of the same role. */
static void put_sources(dis__data_table *g, const dis_report *r)
{
    static const char mark[] = "SHA-256 ";
    for (size_t i = 0; i < r->n_sources; i++) {
        const dis__report_source *s = &r->source[i], *next = i + 1 < r->n_sources ? s + 1 : NULL;
        const bool hashed = next && strncmp(next->text, mark, strlen(mark)) == 0 && strcmp(next->role, s->role) == 0;
        row(g, s->role, s->text, hashed ? next->text + strlen(mark) : "");
        i += hashed;
    }
}

static void note(dis__data_table *g, const char *what, uint64_t n)
{
    if (n) row(g, what, dis__format_grouped(n).text, "");
}

/* How the label methods compare; the labels section has the table where gold labels say which is best. */
static dis_status methods(dis__report_job *job)
{
    if (job->r->n_views == 0 || job->r->n_items == 0 || dis__report_is_chance_level(job)) return DIS_OK;
    if (!job->statistics[job->main].n_gold) dis__figure_views(job);
    dis__figure_label_entropies(job);
    return dis__figure_distances(job);
}

dis_status dis__section_provenance(dis__report_job *job)
{
    const dis_report *r = job->r;
    dis__page_section_begin(
        &job->page, "made", "Appendix: how this was made",
        "Label methods, convergence, inputs and settings. The same inputs, version and seed give the "
        "same bytes.");
    DIS_TRY(methods(job));
    dis__figure f = {.id = "sources",
                     .title = "Sources and settings",
                     .question = "Which files and settings were used?",
                     .wide = true,
                     .open = true};
    if (r->n_views)
        dis__markup_appendf(&f.caption, "%zu set%s of labels of %s item%s. ", r->n_views,
                            dis__plural_suffix(r->n_views), dis__format_grouped(r->n_items).text,
                            dis__plural_suffix(r->n_items));
    if (r->n_predictions)
        dis__markup_appendf(&f.caption, "%zu set%s of predictions of %s items. ", r->n_predictions,
                            dis__plural_suffix(r->n_predictions), dis__format_grouped(r->test.n_items).text);
    if (r->n_curves)
        dis__markup_appendf(&f.caption, "%zu training run%s. ", r->n_curves, dis__plural_suffix(r->n_curves));
    if (r->resamples && (r->tasks || r->n_predictions))
        dis__markup_appendf(&f.caption, "Intervals are from %s bootstrap resamples of the items.",
                            dis__format_grouped(r->resamples).text);
    dis__data_table_add_column(&f.table, "what", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "value", DIS__CELL_LONG_TEXT);
    dis__data_table_add_column(&f.table, "SHA-256", DIS__CELL_LONG_TEXT);
    put_sources(&f.table, r);
    if (r->votes) {
        const dis_votes_notes n = dis_votes_get_notes(r->votes);
        if (!job->scaled) note(&f.table, "items with a tie for the first place", n.ties);
        note(&f.table, "bad rows skipped", n.bad_rows);
        note(&f.table, "votes without a label left out", n.missing_labels);
        note(&f.table, "rows dropped by rules", n.dropped);
        note(&f.table, "repeated votes on an item", n.duplicates);
        note(&f.table, "rows scaled to sum to 1", n.renormalised);
        note(&f.table, "items left out for too few votes", n.items_left_out);
        if (n.similar_classes) row(&f.table, "classes that look alike", "kept apart, such as \"0\" and \"0.0\"", "");
    }
    dis__page_figure_add(&job->page, &f);
    DIS_TRY(dis__figure_traces(job));
    dis__page_section_end(&job->page);
    return DIS_OK;
}
