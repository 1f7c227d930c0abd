/* The objective during the iterations of each method. */
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

/* Objectives of different methods have nothing in common but that they rise: drawn is how far each still has to go, a
 * vote, on a log scale. The last iteration is its own reference and is not drawn. */
enum { MAX_POINTS = 200 };

typedef struct {
    dis__chart_line line[DIS__REPORT_SHOWN_VIEWS];
    size_t view[DIS__REPORT_SHOWN_VIEWS], n;
    double x[DIS__REPORT_SHOWN_VIEWS][MAX_POINTS], y[DIS__REPORT_SHOWN_VIEWS][MAX_POINTS];
    double min, max, longest;
} traces;

static void add_trace(const dis__report_job *job, traces *t, size_t m)
{
    const dis_fit_view fit_view = dis_fit_get_view(job->r->view[m].fit);
    const double votes = job->votes_view.n_votes ? (double)job->votes_view.n_votes : 1,
                 end = fit_view.trace[fit_view.n_trace - 1];
    const size_t stride = 1 + (fit_view.n_trace - 2) / MAX_POINTS;
    dis__chart_line *l = &t->line[t->n];
    l->name = job->r->view[m].name;
    l->x = t->x[t->n];
    l->y = t->y[t->n];
    for (size_t i = 0; i + 1 < fit_view.n_trace && l->n < MAX_POINTS; i += stride) {
        const double gap = (end - fit_view.trace[i]) / votes;
        if (!(gap > 1e-15) || !isfinite(gap)) continue;
        t->x[t->n][l->n] = (double)(i + 1);
        t->y[t->n][l->n++] = gap;
        t->min = fmin(t->min, gap);
        t->max = fmax(t->max, gap);
        t->longest = fmax(t->longest, (double)(i + 1));
    }
    if (l->n >= 2)
        t->view[t->n++] = m;
    else
        *l = (dis__chart_line){0};
}

static void draw_traces(dis__report_job *job, const traces *t)
{
    dis__figure f = {.id = "em-trace",
                     .title = "Convergence of the methods",
                     .question = "Did the label methods converge?"};
    for (size_t i = 0; i < t->n; i++) {
        const dis_fit_view fit_view = dis_fit_get_view(job->r->view[t->view[i]].fit);
        dis__markup_append_name(&f.caption, t->line[i].name, strlen(t->line[i].name), 30);
        dis__markup_appendf(&f.caption,
                            fit_view.converged ? " converged after %d iterations. "
                                               : " stopped after %d iterations without converging: allow more. ",
                            fit_view.iterations);
    }
    dis__markup_append(&f.caption, "A straight decline means steady progress. A plateau means that the method was "
                                   "nearly stuck before it improved.");
    const dis__line_chart l = {.line = t->line,
                               .n = t->n,
                               .x = dis__axis_scale_nice(0, t->longest, 5, true),
                               .y = dis__axis_scale_log(t->min, t->max),
                               .x_title = "iteration",
                               .y_title = "objective still to gain (nats per vote)"};
    dis__line_chart_draw(&f.chart, &l, dis__figure_name(&f, "line chart"));
    dis__data_table_add_column(&f.table, "method", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "iteration", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "still to gain (nats per vote)", DIS__CELL_REAL);
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->line[i].n; k++) {
            dis__data_table_add_text(&f.table, t->line[i].name, strlen(t->line[i].name));
            dis__data_table_add_number(&f.table, t->line[i].x[k]);
            dis__data_table_add_number(&f.table, t->line[i].y[k]);
        }
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__figure_traces(dis__report_job *job)
{
    traces *t;
    DIS_TRY(dis__alloc_zeroed(&t, 1, sizeof *t));
    t->min = INFINITY;
    for (size_t m = 0; m < job->r->n_views && t->n < DIS__REPORT_SHOWN_VIEWS; m++)
        if (job->r->view[m].fit && dis_fit_get_view(job->r->view[m].fit).n_trace > 2) add_trace(job, t, m);
    if (t->n) draw_traces(job, t);
    dis__free(t);
    return DIS_OK;
}
