/* Workers: how often each is borne out by the labels, and what each confuses.
 *
 * Quality is the mean probability that the trusted labels give to what the worker said. It is set against the number of
 * votes in a funnel: around the mean of all, the range in which 95 % of workers of that quality would fall by chance
 * (Spiegelhalter 2005). Who falls below it is not unlucky. */
#include "report/inside.h"
#include "core/memory.h"
#include "labels/method.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWN_POINTS = 1500, MOST_ROWS = 500, SHOWN_MATRICES = 4, RASTER = 40 };

typedef struct {
    double *quality; /* (n_workers) */
    uint64_t *votes; /* (n_workers) */
    double mean;     /* of all votes */
    size_t below, above;
    uint64_t votes_below;
    dis__ranked busiest[MOST_ROWS]; /* by number of votes */
    size_t n_busiest;
    dis__ranked unusual[2 * SHOWN_MATRICES];
    size_t n_unusual;
} crowd;

/* Standard deviations from the mean of all. */
static double z_of(const crowd *c, size_t w)
{
    const double variance = c->mean * (1 - c->mean) / (double)c->votes[w];
    return variance > 0 ? (c->quality[w] - c->mean) / sqrt(variance) : 0;
}

static void judge(const dis__report_job *job, crowd *c)
{
    double right = 0, all = 0;
    for (size_t w = 0; w < job->look.n_workers; w++) {
        right += c->quality[w] * (double)c->votes[w];
        all += (double)c->votes[w];
    }
    c->mean = all > 0 ? right / all : 0;
    for (size_t w = 0; w < job->look.n_workers; w++) {
        if (c->votes[w] == 0) continue;
        const double z = z_of(c, w);
        c->above += z > 1.96;
        if (z < -1.96) {
            c->below++;
            c->votes_below += c->votes[w];
            c->n_unusual = dis__rank(c->unusual, c->n_unusual, 2 * SHOWN_MATRICES,
                                     (dis__ranked){.score = -z, .weight = (double)c->votes[w], .item = w});
        }
        c->n_busiest = dis__rank(c->busiest, c->n_busiest, MOST_ROWS,
                                 (dis__ranked){.score = (double)c->votes[w], .weight = 0, .item = w});
    }
}

static const char *worker_name(const dis__report_job *job, size_t w)
{
    return dis_names_get(job->look.workers, w, NULL);
}

/* ---- quality against volume ---- */

enum { CURVE = 60 };

typedef struct {
    double x[CURVE], low[CURVE], high[CURVE], mean[CURVE];
    dis__line line[3];
    dis__scale sx, sy;
} funnel;

static void make_funnel(const crowd *c, double least, double most, funnel *f)
{
    f->sx = dis__scale_log_around(fmax(1, .8 * least), fmax(2, 1.1 * most));
    f->sy = (dis__scale){.low = 0, .high = 1, .first = 0, .step = .2};
    for (size_t i = 0; i < CURVE; i++) {
        const double n = f->sx.low * pow(f->sx.high / f->sx.low, (double)i / (CURVE - 1));
        const double half = 1.96 * sqrt(c->mean * (1 - c->mean) / n);
        f->x[i] = n;
        f->mean[i] = c->mean;
        f->low[i] = fmax(0, c->mean - half);
        f->high[i] = fmin(1, c->mean + half);
    }
    f->line[0] = (dis__line){.name = "mean", .x = f->x, .y = f->mean, .n = CURVE};
    f->line[1] = (dis__line){.x = f->x, .y = f->low, .n = CURVE};
    f->line[2] = (dis__line){.x = f->x, .y = f->high, .n = CURVE};
}

static dis_status draw_points(const dis__report_job *job, const crowd *c, const funnel *f, dis__figure *figure)
{
    const size_t n = job->look.n_workers;
    double *x = NULL;
    const char **name = NULL;
    unsigned char *kind = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&x, n, sizeof *x), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&name, n, sizeof *name), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&kind, n, sizeof *kind), end);
    for (size_t w = 0; w < n; w++) {
        const double z = c->votes[w] ? z_of(c, w) : 0;
        x[w] = c->votes[w] ? (double)c->votes[w] : 1;
        name[w] = worker_name(job, w);
        kind[w] = z < -1.96;
    }
    static const char *const kinds[] = {"as expected or better", "below what chance explains"};
    const dis__scatter s = {.x = x,
                            .y = c->quality,
                            .kind = kind,
                            .n = n,
                            .kinds = kinds,
                            .n_kinds = 2,
                            .name = name,
                            .sx = f->sx,
                            .sy = f->sy,
                            .x_title = "votes cast (log scale)",
                            .y_title = "share of votes borne out",
                            .curve = f->line,
                            .n_curves = 3};
    dis__chart_scatter(&figure->chart, &s, dis__figure_name(figure, "scatter plot"));
end:
    dis__free(x);
    dis__free(name);
    dis__free(kind);
    return status;
}

static dis_status draw_raster(const dis__report_job *job, const crowd *c, const funnel *f, dis__figure *figure)
{
    uint64_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, RASTER * RASTER, sizeof *count));
    for (size_t w = 0; w < job->look.n_workers; w++) {
        if (c->votes[w] == 0) continue;
        const size_t i = (size_t)dis__scale_place(&f->sx, (double)c->votes[w], 0, RASTER - 1e-9);
        const size_t j = (size_t)dis__scale_place(&f->sy, c->quality[w], 0, RASTER - 1e-9);
        count[j * RASTER + i]++;
    }
    const dis__density d = {.count = count,
                            .n_x = RASTER,
                            .n_y = RASTER,
                            .sx = f->sx,
                            .sy = f->sy,
                            .x_title = "votes cast (log scale)",
                            .y_title = "share of votes borne out",
                            .unit = "workers",
                            .curve = f->line,
                            .n_curves = 3};
    dis__chart_density(&figure->chart, &d, dis__figure_name(figure, "raster"));
    dis__free(count);
    return DIS_OK;
}

static dis_status quality_and_volume(dis__report_job *job, const crowd *c)
{
    funnel fun;
    dis__figure f = {.id = "worker-quality",
                     .title = "Quality against volume",
                     .note = job->look.n_workers > MOST_ROWS ? "The 500 workers with most votes; dissent labels "
                                                               "--workers writes all."
                                                             : NULL};
    double least = INFINITY;
    for (size_t w = 0; w < job->look.n_workers; w++)
        if (c->votes[w]) least = fmin(least, (double)c->votes[w]);
    make_funnel(c, least, c->n_busiest ? c->busiest[0].score : 1, &fun);
    const double total = (double)job->look.n_votes;
    dis__putf(&f.caption, "On average %s of a worker\xE2\x80\x99s votes are borne out by the labels. ",
              dis__share(c->mean).text);
    if (c->below)
        dis__putf(
            &f.caption,
            "%zu of %zu worker%s fall below the funnel, further than chance explains; they cast %s of the votes. ",
            c->below, job->look.n_workers, dis__plural(job->look.n_workers),
            dis__share((double)c->votes_below / total).text);
    else
        dis__put(&f.caption, "Nobody falls below the funnel: all differences may be chance. ");
    dis__put(&f.caption, "Inside the dashed funnel lie 95 % of workers of average quality.");
    const dis_status status =
        job->look.n_workers <= DRAWN_POINTS ? draw_points(job, c, &fun, &f) : draw_raster(job, c, &fun, &f);
    dis__grid_column(&f.grid, "worker", DIS__TEXT);
    dis__grid_column(&f.grid, "votes", DIS__COUNT);
    dis__grid_column(&f.grid, "share borne out", DIS__SHARE);
    dis__grid_column(&f.grid, "standard deviations from the mean", DIS__REAL);
    for (size_t i = 0; i < c->n_busiest; i++) {
        const size_t w = c->busiest[i].item;
        size_t length;
        const char *name = dis_names_get(job->look.workers, w, &length);
        dis__grid_text(&f.grid, name, length);
        dis__grid_number(&f.grid, (double)c->votes[w]);
        dis__grid_number(&f.grid, c->quality[w]);
        dis__grid_number(&f.grid, z_of(c, w));
    }
    dis__page_figure(&job->page, &f);
    return status;
}

/* ---- confusion matrices ---- */

typedef struct {
    size_t worker[2 * SHOWN_MATRICES], n;
    double *sum; /* (n, true class, class voted) of the shown classes */
} matrices;

/* Expected counts: the label's probability of each true class, at the class voted. */
static void count_confusions(const dis__report_job *job, matrices *m, const uint32_t *slot, const size_t *place)
{
    const dis_votes_view *v = &job->look;
    const double *p = job->r->view[job->main].p;
    const size_t shown = job->n_shown;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            const uint32_t s = slot[v->worker[k]];
            const size_t voted = place[dis__vote_label(v, k)];
            if (s == UINT32_MAX || voted == SIZE_MAX) continue;
            for (size_t t = 0; t < shown; t++)
                m->sum[(s * shown + t) * shown + voted] += p[i * v->n_classes + job->top_class[t]];
        }
}

static void draw_matrix(dis__report_job *job, const crowd *c, const matrices *m, size_t i, dis__figure *f,
                        const char *const *names)
{
    const size_t shown = job->n_shown, w = m->worker[i];
    double value[DIS__REPORT_SHOWN_CLASSES * DIS__REPORT_SHOWN_CLASSES], of[DIS__REPORT_SHOWN_CLASSES];
    size_t length;
    const char *name = dis_names_get(job->look.workers, w, &length);
    for (size_t t = 0; t < shown; t++) {
        const double *row = m->sum + (i * shown + t) * shown;
        double total = 0;
        for (size_t k = 0; k < shown; k++) total += row[k];
        of[t] = total;
        for (size_t k = 0; k < shown; k++) value[t * shown + k] = total >= .5 ? row[k] / total : NAN;
        for (size_t k = 0; k < shown; k++) {
            dis__grid_text(&f->grid, name, length);
            dis__grid_text(&f->grid, names[t], strlen(names[t]));
            dis__grid_text(&f->grid, names[k], strlen(names[k]));
            dis__grid_number(&f->grid, row[k]);
            dis__grid_number(&f->grid, value[t * shown + k]);
        }
    }
    dis__markup label = {0};
    dis__put(&label, "Confusion matrix of worker ");
    dis__put_name(&label, name, length, 40);
    dis__putf(&label, ": %s votes, %s borne out.", dis__grouped(c->votes[w]).text, dis__share(c->quality[w]).text);
    dis__putf(&f->chart, "<div class=\"one%s\"><p><b><bdi>", shown > 6 ? " big" : "");
    dis__put_shown(&f->chart, name, length, 24);
    dis__putf(&f->chart, "</bdi></b> <span class=\"q\">%s votes, %s borne out</span></p>",
              dis__grouped(c->votes[w]).text, dis__share(c->quality[w]).text);
    const dis__heat h = {.name = names,
                         .n = shown,
                         .value = value,
                         .count = of,
                         .count_title = "votes",
                         .low = 0,
                         .high = 1,
                         .percent = true,
                         .row_title = "label",
                         .column_title = "worker said (%)",
                         .value_title = "",
                         .width = shown > 6 ? 440 : 216};
    dis__chart_heat(&f->chart, &h, &label);
    dis__put(&f->chart, "</div>\n");
    dis__markup_free(&label);
}

static void draw_matrices(dis__report_job *job, const crowd *c, const matrices *m, size_t n_busy)
{
    dis__figure f = {.id = "worker-confusion", .title = "What workers confuse", .wide = true};
    const char *names[DIS__REPORT_SHOWN_CLASSES];
    for (size_t k = 0; k < job->n_shown; k++) names[k] = dis__class_name(job, job->top_class[k]);
    dis__putf(&f.caption,
              "Rows are what the labels say, columns what the worker said, in percent of the row: a careful worker has "
              "a dark diagonal, one who always says the same a dark column. First the %zu with most votes",
              n_busy);
    if (m->n > n_busy)
        dis__putf(&f.caption,
                  m->n - n_busy > 1 ? ", then the %zu furthest below what chance explains"
                                    : ", then %zu more, furthest below what chance explains",
                  m->n - n_busy);
    dis__put(&f.caption, ".");
    if (job->n_shown < job->r->n_classes)
        dis__putf(&f.caption, " The %zu most frequent classes of %zu.", job->n_shown, job->r->n_classes);
    dis__grid_column(&f.grid, "worker", DIS__TEXT);
    dis__grid_column(&f.grid, "true class (labels)", DIS__TEXT);
    dis__grid_column(&f.grid, "class voted", DIS__TEXT);
    dis__grid_column(&f.grid, "expected votes", DIS__REAL);
    dis__grid_column(&f.grid, "share of the true class", DIS__SHARE);
    for (size_t i = 0; i < m->n; i++) draw_matrix(job, c, m, i, &f, names);
    dis__page_figure(&job->page, &f);
}

static dis_status confusions(dis__report_job *job, const crowd *c)
{
    const size_t shown = job->n_shown, n_workers = job->look.n_workers, n_classes = job->r->n_classes;
    matrices m = {0};
    uint32_t *slot = NULL;
    size_t *place = NULL, n_busy;
    dis_status status;
    for (size_t i = 0; i < c->n_busiest && m.n < SHOWN_MATRICES; i++) m.worker[m.n++] = c->busiest[i].item;
    n_busy = m.n;
    for (size_t i = 0; i < c->n_unusual && m.n < 2 * SHOWN_MATRICES; i++) {
        bool new = true;
        for (size_t j = 0; j < n_busy; j++) new &= m.worker[j] != c->unusual[i].item;
        if (new) m.worker[m.n++] = c->unusual[i].item;
    }
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&m.sum, m.n * shown * shown, sizeof *m.sum), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&slot, n_workers, sizeof *slot), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&place, n_classes, sizeof *place), end);
    for (size_t w = 0; w < n_workers; w++) slot[w] = UINT32_MAX;
    for (size_t k = 0; k < n_classes; k++) place[k] = SIZE_MAX;
    for (size_t i = 0; i < m.n; i++) slot[m.worker[i]] = (uint32_t)i;
    for (size_t k = 0; k < shown; k++) place[job->top_class[k]] = k;
    count_confusions(job, &m, slot, place);
    draw_matrices(job, c, &m, n_busy);
end:
    dis__free(m.sum);
    dis__free(slot);
    dis__free(place);
    return status;
}

static void say_workers(dis__report_job *job, const crowd *c)
{
    dis__markup say = {0};
    dis__putf(&say, "The labels bear out %s of the votes. ", dis__share(c->mean).text);
    if (c->below) {
        dis__putf(&say, "%zu worker%s stay%s clearly below that, with %s of all votes; ", c->below,
                  dis__plural(c->below), c->below == 1 ? "s" : "",
                  dis__share((double)c->votes_below / (double)job->look.n_votes).text);
        const char *name = worker_name(job, c->unusual[0].item);
        dis__put_name(&say, name, strlen(name), 30);
        dis__putf(&say, " most of all (%s of %s votes).", dis__share(c->quality[c->unusual[0].item]).text,
                  dis__grouped(c->votes[c->unusual[0].item]).text);
    } else {
        dis__put(&say, "No worker stays clearly below that.");
    }
    dis__page_say(&job->page, &say);
    dis__markup_free(&say);
}

dis_status dis__section_workers(dis__report_job *job)
{
    const size_t n = job->look.n_workers;
    if (!job->look.start || n == 0 || job->r->n_views == 0 || job->look.n_votes == 0) return DIS_OK;
    crowd *c;
    dis_status status;
    DIS_TRY(dis__alloc_zeroed(&c, 1, sizeof *c));
    DIS_TRY_GOTO(status, dis__alloc_array(&c->quality, n, sizeof *c->quality), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&c->votes, n, sizeof *c->votes), end);
    DIS_TRY_GOTO(status, dis_worker_quality(job->ctx, job->r->votes, job->r->view[job->main].p, c->quality, c->votes),
                 end);
    judge(job, c);
    say_workers(job, c);
    dis__page_section(
        &job->page, "workers", "Workers",
        "Judged by the labels this report trusts: the share of a worker\xE2\x80\x99s votes that they bear out.");
    DIS_TRY_GOTO(status, quality_and_volume(job, c), end);
    dis__figure_pairs(job);
    DIS_TRY_GOTO(status, confusions(job, c), end);
    dis__page_section_end(&job->page);
end:
    dis__free(c->quality);
    dis__free(c->votes);
    dis__free(c);
    return status;
}
