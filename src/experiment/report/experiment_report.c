/* The report of an experiment: one page, built from the parts of src/report. */
#include "experiment/report/experiment_report.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "dissent/version.h"
#include "tool/experiments.h"
#include "tool/files.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

dis__figure_id dis__next_id(dis__experiment_page *p, const char *kind)
{
    dis__figure_id id;
    snprintf(id.text, sizeof id.text, "%s-%zu", kind, ++p->n_ids);
    return id;
}

void dis__put_title(dis__markup *m, const char *ours, const char *theirs)
{
    dis__markup plain = {0};
    dis__markup_append(m, ours);
    dis__markup_append_display(&plain, theirs, strlen(theirs), 60);
    dis__markup_append_markup_escaped(m, &plain);
    dis__markup_append_n(m, "", 1); /* to be used as a string */
    dis__markup_free(&plain);
}

const dis_experiment_cell *dis__row_cell(const dis__experiment_page *p, size_t row)
{
    return &p->e->plan->cell[p->t.row[row].cell];
}

size_t dis__data_end(const dis__experiment_page *p, size_t first)
{
    size_t end = first + 1;
    while (end < p->t.n_rows && strcmp(dis__row_cell(p, end)->data, dis__row_cell(p, first)->data) == 0) end++;
    return end;
}

/* The part after "DATA: " or "DATA, " of a cell's name; NULL: it begins differently, or the part is empty. */
static const char *behind_data(const dis_experiment_cell *c)
{
    const size_t n = strlen(c->data);
    if (strncmp(c->name, c->data, n) != 0 || (c->name[n] != ':' && c->name[n] != ',') || c->name[n + 1] != ' ')
        return NULL;
    return c->name[n + 2] ? c->name + n + 2 : NULL;
}

const char *dis__short_name(const dis__experiment_page *p, size_t first, size_t end, size_t r)
{
    for (size_t i = first; i < end; i++)
        if (!behind_data(dis__row_cell(p, i))) return dis__row_cell(p, r)->name;
    return behind_data(dis__row_cell(p, r));
}

void dis__put_set_title(const dis__experiment_page *p, dis__markup *m, const char *ours, const char *set,
                        const char *data)
{
    const bool several = p->t.n_rows && dis__data_end(p, 0) < p->t.n_rows;
    char theirs[128];
    snprintf(theirs, sizeof theirs, "%.40s%s%.40s", set, several ? ", " : "", several ? data : "");
    dis__put_title(m, ours, theirs);
}

/* ---- how it was made ---- */

static void fit_row(dis__data_table *g, const char *what, const char *value)
{
    dis__data_table_add_static_text(g, what);
    dis__data_table_add_text(g, value, strlen(value));
}

static void settings(dis__experiment_page *p)
{
    dis__figure f = {
        .id = "cells", .title = "Conditions", .question = "What was compared?", .wide = true, .open = true};
    dis__markup_append(&f.caption, "Everything that tells one condition from another.");
    dis__data_table_add_column(&f.table, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "data", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "settings", DIS__CELL_LONG_TEXT);
    for (size_t r = 0; r < p->t.n_rows; r++) {
        const dis_experiment_cell *cell = dis__row_cell(p, r);
        dis__markup all = {0};
        for (size_t i = 0; i < cell->n_settings; i++) {
            if (i) dis__markup_append(&all, ", ");
            dis__markup_append_n(&all, cell->setting[i].key, strlen(cell->setting[i].key));
            dis__markup_append(&all, " ");
            dis__markup_append_n(&all, cell->setting[i].value, strlen(cell->setting[i].value));
        }
        dis__data_table_add_text(&f.table, cell->name, strlen(cell->name));
        dis__data_table_add_text(&f.table, cell->data, strlen(cell->data));
        dis__data_table_add_text(&f.table, all.n ? all.bytes : "", all.n);
        if (f.table.status == DIS_OK) f.table.status = all.status;
        dis__markup_free(&all);
    }
    dis__page_figure_add(p->page, &f);
}

dis_status dis__experiment_provenance(dis__experiment_page *p)
{
    const dis__plan *plan = p->e->plan;
    char hex[65];
    DIS_TRY(dis__file_sha256(plan->path, hex));
    dis__page_section_begin(p->page, "made", "How this was made",
                            "Enough to make it again: the same file, data and version give the same runs.");
    settings(p);
    double seconds = 0;
    for (size_t r = 0; r < plan->n_runs; r++)
        if (p->e->selected[r] && !isnan(p->known->seconds[r])) seconds += p->known->seconds[r];
    dis__figure f = {.id = "sources",
                     .title = "Sources",
                     .question = "Which files and settings were used?",
                     .open = true};
    dis__markup_append(&f.caption,
                       "Runs have keys: the SHA-256 of all that determines their result, inputs by their contents.");
    dis__data_table_add_column(&f.table, "what", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "value", DIS__CELL_LONG_TEXT);
    fit_row(&f.table, "experiment", plan->path);
    fit_row(&f.table, "its SHA-256", hex);
    fit_row(&f.table, "store", p->e->store);
    fit_row(&f.table, "resamples of a comparison", dis__format_grouped(plan->resamples).text);
    fit_row(&f.table, "items drawn for one", dis__format_percent(plan->fraction).text);
    fit_row(&f.table, "hours of computing", dis__format_fixed(seconds / 3600, 2).text);
    dis__page_figure_add(p->page, &f);
    dis__page_section_end(p->page);
    return DIS_OK;
}

/* ---- training ---- */

/* The metric that epochs were kept by: what the cell says, else what training takes by itself, macro-F1 where there was
 * gold (then it is another number than the cross-entropy beside it) and cross-entropy elsewhere. */
static const char *selection_metric(const dis_experiment_cell *cell, const dis_curve *curve)
{
    for (size_t i = 0; i < cell->n_settings; i++)
        if (strcmp(cell->setting[i].key, "keep") == 0) return cell->setting[i].value;
    bool measured = false, other = false;
    for (size_t e = 0; e < curve->n_epochs; e++) {
        const double dev = curve->epoch[e].dev, beside = curve->epoch[e].dev_cross_entropy;
        measured |= !isnan(dev);
        other |= !isnan(dev) && !(fabs(dev - beside) <= 1e-12 * fabs(dev));
    }
    return !measured ? NULL : other ? "macro_f1" : "cross_entropy";
}

static dis_status add_curves(dis__experiment_page *p, dis_report *report)
{
    const dis__plan *plan = p->e->plan;
    for (size_t r = 0; r < plan->n_runs; r++) {
        if (!p->e->selected[r] || p->known->state[r] != DIS_RUN_DONE) continue;
        const dis_experiment_cell *cell = &plan->cell[plan->run[r].cell];
        dis_epoch *epoch = NULL;
        dis_curve curve = {.seed = plan->run[r].seed};
        DIS_TRY(dis__store_curve(p->store, plan->run[r].key, &epoch, &curve.n_epochs, &curve.best_epoch));
        curve.epoch = epoch;
        curve.dev_metric = selection_metric(cell, &curve);
        const dis_status status = curve.n_epochs ? dis_report_add_curve(report, cell->name, &curve) : DIS_OK;
        dis__free(epoch);
        DIS_TRY(status);
    }
    return DIS_OK;
}

/* The section of the other report, for curves collected here. */
dis_status dis__experiment_training(dis__experiment_page *p)
{
    dis_report *report = NULL;
    dis__report_job *job = NULL;
    if (!p->store) return DIS_OK;
    dis_status status = dis_report_create(NULL, &report);
    if (status == DIS_OK) status = add_curves(p, report);
    if (status == DIS_OK) status = dis__alloc_zeroed(&job, 1, sizeof *job);
    if (status == DIS_OK) {
        job->ctx = p->ctx;
        job->r = report;
        job->page = *p->page;
        status = dis__section_training(job);
        *p->page = job->page;
    }
    dis__free(job);
    dis_report_destroy(report);
    return status;
}

/* ---- the page ---- */

/* In the order of the page. */
/* clang-format off */
static dis_status (*const sections[])(dis__experiment_page *) = {
    dis__experiment_results,
    dis__experiment_baseline,
    dis__experiment_training,
    dis__experiment_labels,
    dis__experiment_people,
    dis__experiment_provenance,
};
/* clang-format on */
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static dis_status write_page(dis__experiment_page *p, const char *path)
{
    const dis__plan *plan = p->e->plan;
    dis__markup title = {0}, subtitle = {0};
    dis__markup_append_display(&title, plan->name, strlen(plan->name), 200);
    if (*plan->about) {
        dis__markup_append_display(&subtitle, plan->about, strlen(plan->about), 400);
        dis__markup_append(&subtitle, " \xC2\xB7 ");
    }
    dis__markup_appendf(&subtitle, "dissent %s", dis_version());
    return dis__page_write(p->page, &title, &subtitle, path);
}

/* All sections into `page`. */
static dis_status fill_page(dis_context *ctx, dis_experiment *experiment, dis__page *page,
                            dis_status (*then)(dis__experiment_page *p, const char *path), const char *path)
{
    dis__store *store;
    dis__known known = {0};
    dis_experiment_table *table = NULL;
    dis__experiment_page p = {.ctx = ctx, .e = experiment, .known = &known, .page = page};
    DIS_TRY(dis__store_open(experiment->store, false, DIS__STORE_PATIENCE_MS, &store));
    p.store = store;
    dis_status status = dis__known_read(experiment, store, &known);
    if (status == DIS_OK) status = dis__table_make(ctx, experiment, store, &known, &table);
    if (status == DIS_OK) p.t = dis_experiment_table_get_view(table);
    for (size_t s = 0; s < N_SECTIONS && status == DIS_OK; s++) {
        dis__progress(ctx, "drawing", (double)s / N_SECTIONS);
        status = dis__check_stop(ctx);
        if (status == DIS_OK) status = sections[s](&p);
    }
    if (status == DIS_OK) status = then(&p, path);
    dis__progress(ctx, "drawing", 1);
    dis__page_free(page);
    dis_experiment_table_destroy(table);
    dis__known_free(&known);
    dis__store_close(store);
    return status;
}

dis_status dis_experiment_write_report(dis_context *ctx, dis_experiment *experiment, const char *path)
{
    dis__page page = {0};
    DIS_TRY(dis__experiment_check_output(experiment, path));
    return fill_page(ctx, experiment, &page, write_page, path);
}

static dis_status write_drawings(dis__experiment_page *p, const char *folder)
{
    DIS_TRY(p->page->body.status);
    return dis__svg_files_write(p->page->svg_files, folder, p->e->plan->name);
}

dis_status dis_experiment_write_charts(dis_context *ctx, dis_experiment *experiment, const char *folder)
{
    dis__svg_files drawings = {0};
    dis__page page = {.svg_files = &drawings};
    const dis_status status = fill_page(ctx, experiment, &page, write_drawings, folder);
    dis__svg_files_free(&drawings);
    return status;
}
