/* Agreement of the annotators: coefficients, by class, and between the workers with most votes. */
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

enum { PAIR_WORKERS = 12, MAX_PAIRS = PAIR_WORKERS * (PAIR_WORKERS - 1) / 2, TABLE_CLASSES = 500 };

/* Soft votes and counts with fractions cannot be compared vote by vote. */
static bool has_integer_counts(const dis_votes_view *v)
{
    for (size_t i = 0; !v->start && i < v->n_items * v->n_classes; i++)
        if (v->counts[i] != floor(v->counts[i])) return false;
    return true;
}

dis_status dis__report_agreement(dis__report_job *job)
{
    if (!job->r->votes || job->votes_view.n_items == 0 || !has_integer_counts(&job->votes_view)) return DIS_OK;
    dis_agreement_options o = dis_agreement_options_default();
    o.parts = DIS_AGREEMENT_PAIRS;
    o.gold = job->r->gold;
    o.ordinal = job->r->ordinal;
    o.resamples = job->r->resamples;
    o.seed = job->r->seed;
    o.max_pairs = MAX_PAIRS;
    DIS_TRY(dis_agreement_run(job->ctx, job->r->votes, &o, &job->agreement));
    job->chance = dis_agreement_get_view(job->agreement).chance;
    return DIS_OK;
}

static const dis_metric *metric(const dis__report_job *job, const char *name)
{
    const dis_metric *m = dis_agreement_find(job->agreement, name);
    return m && !m->reason ? m : NULL;
}

/* The coefficient used in sentences: for ordered classes one that uses the order. */
static const dis_metric *main_alpha(const dis__report_job *job)
{
    const dis_metric *ordinal = job->r->ordinal ? metric(job, "alpha_ordinal") : NULL;
    return ordinal ? ordinal : metric(job, "alpha_nominal");
}

/* Landis and Koch (1977), as commonly used; the words are coarse, so the value is shown too. */
static const char *agreement_word(double kappa)
{
    static const struct {
        double below;
        const char *word;
    } rows[] = {{.2, "slight"}, {.4, "fair"}, {.6, "moderate"}, {.8, "substantial"}, {INFINITY, "almost perfect"}};
    size_t i = 0;
    while (kappa >= rows[i].below) i++;
    return rows[i].word;
}

/* The meaning of the coefficient, considering its interval: one that includes chance shows nothing. */
void dis__report_append_chance_agreement(dis__markup *m, const char *kind, const dis_metric *alpha,
                                         const dis_chance_test *test)
{
    if (alpha->degenerate) {
        dis__markup_append(m, "all votes are for one class, so chance cannot be estimated");
        return;
    }
    if (test && test->verdict != DIS_CHANCE_BEYOND)
        dis__markup_append(m, test->verdict == DIS_CHANCE_NOISE ? "no more than expected by chance"
                                                                : "too few to distinguish this from chance");
    else if (!test && alpha->has_interval && alpha->ci_low <= 0 && alpha->ci_high >= 0)
        dis__markup_append(m, alpha->ci_high > .4 ? "too few to distinguish this from chance"
                                                  : "no more than expected by chance");
    else if (alpha->value < 0)
        dis__markup_appendf(m, "less than expected by chance");
    else
        dis__markup_appendf(m, "%s agreement beyond chance", agreement_word(alpha->value));
    const int decimals = alpha->has_interval && alpha->ci_high - alpha->ci_low < .02 ? 3 : 2;
    dis__markup_appendf(m, " (Krippendorff\xE2\x80\x99s %salpha %s", kind,
                        dis__format_fixed(alpha->value, decimals).text);
    if (alpha->has_interval)
        dis__markup_appendf(m, ", 95\xC2\xA0%% from %s to %s", dis__format_fixed(alpha->ci_low, decimals).text,
                            dis__format_fixed(alpha->ci_high, decimals).text);
    dis__markup_append(m, ")");
}

bool dis__report_is_chance_level(const dis__report_job *job)
{
    return job->agreement && job->chance.verdict == DIS_CHANCE_NOISE;
}

bool dis__report_is_undecided(const dis__report_job *job)
{
    return job->review && (job->verdicts.n_compared == 0 || job->chance.verdict == DIS_CHANCE_UNKNOWN);
}

void dis__report_add_agreement_finding(dis__report_job *job)
{
    const dis_metric *percent = job->agreement ? metric(job, "percent") : NULL;
    const dis_metric *alpha = job->agreement ? main_alpha(job) : NULL;
    if (!percent || !alpha) return;
    dis__markup finding = {0};
    dis__markup_appendf(&finding, "Two votes on the same item agree in %s of the cases: ",
                        dis__format_percent(percent->value).text);
    dis__report_append_chance_agreement(&finding, job->r->ordinal ? "ordinal " : "", alpha, &job->chance);
    dis__markup_append(&finding, ".");
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
    dis__page_tile_add(&job->page, dis__format_percent(percent->value).text, "of pairs of votes agree");
}

void dis__figure_coefficients(dis__report_job *job)
{
    static const char *const shown[] = {"alpha_ordinal", "gwet_ac2_ordinal", "alpha_interval", "percent",
                                        "fleiss",        "alpha_nominal",    "gwet_ac1",       "cohen"};
    enum { N_SHOWN = sizeof shown / sizeof *shown };
    const char *row[N_SHOWN];
    double value[N_SHOWN], low[N_SHOWN], high[N_SHOWN];
    size_t n = 0;
    if (!job->agreement) return;
    const dis_agreement_view a = dis_agreement_get_view(job->agreement);
    for (size_t i = 0; i < N_SHOWN; i++) {
        const dis_metric *m = metric(job, shown[i]);
        const bool ordered = strstr(shown[i], "ordinal") || strstr(shown[i], "interval");
        if (!m || (ordered && !job->r->ordinal)) continue;
        for (size_t k = 0; dis_agreement_measure_get(k); k++)
            if (strcmp(dis_agreement_measure_get(k)->name, shown[i]) == 0) row[n] = dis_agreement_measure_get(k)->title;
        value[n] = m->value;
        low[n] = m->has_interval ? m->ci_low : (double)NAN;
        high[n++] = m->has_interval ? m->ci_high : (double)NAN;
    }
    if (n == 0) return;
    dis__figure f = {.id = "agreement",
                     .title = "Agreement between annotators",
                     .question = "How well do annotators agree?"};
    const dis_metric *alpha = main_alpha(job), *percent = metric(job, "percent");
    if (percent && alpha) {
        dis__markup_appendf(&f.caption, "%s of the pairs of votes on an item agree, ",
                            dis__format_percent(percent->value).text);
        dis__report_append_chance_agreement(&f.caption, job->r->ordinal ? "ordinal " : "", alpha, &job->chance);
        dis__markup_append(&f.caption, ". ");
    }
    dis__markup_append(&f.caption, "0 is chance and 1 is full agreement, except for the mean item agreement.");
    if (a.n_single_votes)
        dis__markup_appendf(&f.caption, " %s item%s with a single vote %s left out.",
                            dis__format_grouped(a.n_single_votes).text, dis__plural_suffix(a.n_single_votes),
                            a.n_single_votes == 1 ? "is" : "are");
    const dis__interval_chart c = {.row = row,
                                   .value = value,
                                   .low = low,
                                   .high_end = high,
                                   .n = n,
                                   .high = 1,
                                   .x_title = "agreement, with 95 % interval"};
    dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__data_table_add_column(&f.table, "coefficient", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "value", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "n", DIS__CELL_COUNT);
    for (size_t i = 0; i < a.n_metrics; i++) {
        const dis_metric *m = &a.metric[i];
        if (m->reason) continue;
        dis__data_table_add_static_text(&f.table, dis_agreement_measure_get(i)->title);
        dis__data_table_add_metric(&f.table, m);
        dis__data_table_add_number(&f.table, (double)m->n);
    }
    dis__page_figure_add(&job->page, &f);
}

void dis__figure_class_agreement(dis__report_job *job)
{
    if (!job->agreement || job->r->n_classes < 2) return;
    const dis_agreement_view a = dis_agreement_get_view(job->agreement);
    static const char *const series[] = {"another vote agrees", "by chance"};
    const char *row[DIS__REPORT_SHOWN_CLASSES];
    double value[2 * DIS__REPORT_SHOWN_CLASSES];
    size_t best = SIZE_MAX, worst = SIZE_MAX, n = 0;
    for (size_t i = 0; i < job->n_shown; i++) {
        const dis_agreement_class *c = &a.classes[job->top_class[i]];
        if (c->agreement.reason) continue;
        row[n] = dis__class_name(job, job->top_class[i]);
        value[2 * n] = c->agreement.value;
        value[2 * n + 1] = c->share;
        if (best == SIZE_MAX || value[2 * n] > value[2 * best]) best = n;
        if (worst == SIZE_MAX || value[2 * n] < value[2 * worst]) worst = n;
        n++;
    }
    if (n == 0) return;
    dis__figure f = {.id = "class-agreement",
                     .title = "Agreement by class",
                     .question = "On which classes do annotators agree?"};
    dis__markup_append(&f.caption, "When one person chooses a class, how often does another choose it too? ");
    if (best != worst) {
        dis__markup_append(&f.caption, "Most often for ");
        dis__markup_append_name(&f.caption, row[best], strlen(row[best]), 30);
        dis__markup_appendf(&f.caption, " (%s), least for ", dis__format_percent(value[2 * best]).text);
        dis__markup_append_name(&f.caption, row[worst], strlen(row[worst]), 30);
        dis__markup_appendf(&f.caption, " (%s). ", dis__format_percent(value[2 * worst]).text);
    }
    dis__markup_append(&f.caption, "The second bar is the value expected by chance.");
    const dis__bar_chart b = {.row = row,
                              .series = series,
                              .n = n,
                              .n_series = 2,
                              .value = value,
                              .x_title = "chance that another vote agrees (%)",
                              .share = true};
    dis__bar_chart_draw(&f.chart, &b, dis__figure_name(&f, "bars"));
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "votes", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "share of votes", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "another vote agrees", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "Fleiss' kappa", DIS__CELL_REAL);
    for (size_t k = 0; k < a.n_classes && k < TABLE_CLASSES; k++) {
        const dis_agreement_class *c = &a.classes[k];
        dis__data_table_add_text(&f.table, dis__class_name(job, k), strlen(dis__class_name(job, k)));
        dis__data_table_add_number(&f.table, (double)c->votes);
        dis__data_table_add_number(&f.table, c->share);
        dis__data_table_add_number(&f.table, c->agreement.reason ? (double)NAN : c->agreement.value);
        dis__data_table_add_number(&f.table, c->fleiss.reason ? (double)NAN : c->fleiss.value);
    }
    dis__page_figure_add(&job->page, &f);
}

/* ---- pairs of workers ---- */

typedef struct {
    uint32_t worker[PAIR_WORKERS];
    const char *name[PAIR_WORKERS];
    size_t n;
    double value[PAIR_WORKERS * PAIR_WORKERS];
} pairs;

static size_t place_of(pairs *p, uint32_t worker)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->worker[i] == worker) return i;
    if (p->n == PAIR_WORKERS) return SIZE_MAX;
    p->worker[p->n] = worker;
    return p->n++;
}

static void put_pair(dis__markup *m, const dis__report_job *job, const dis_agreement_pair *p)
{
    const char *a = dis_names_get(job->votes_view.workers, p->a, NULL),
               *b = dis_names_get(job->votes_view.workers, p->b, NULL);
    dis__markup_append_name(m, a, strlen(a), 24);
    dis__markup_append(m, " and ");
    dis__markup_append_name(m, b, strlen(b), 24);
    dis__markup_appendf(m, " (%s of %s)", dis__format_percent(p->agreement).text, dis__format_grouped(p->n).text);
}

void dis__figure_pairs(dis__report_job *job)
{
    if (!job->agreement) return;
    const dis_agreement_view a = dis_agreement_get_view(job->agreement);
    if (!a.pairs || a.n_pairs < 3) return;
    pairs p = {0};
    for (size_t i = 0; i < PAIR_WORKERS * PAIR_WORKERS; i++) p.value[i] = NAN;
    const dis_agreement_pair *best = NULL, *worst = NULL;
    for (size_t i = 0; i < a.n_pairs; i++) {
        const dis_agreement_pair *one = &a.pairs[i];
        const size_t x = place_of(&p, one->a), y = place_of(&p, one->b);
        if (x == SIZE_MAX || y == SIZE_MAX) continue;
        p.value[x * PAIR_WORKERS + y] = p.value[y * PAIR_WORKERS + x] = one->agreement;
        if (one->n < 5) continue; /* too few to mention */
        if (!best || one->agreement > best->agreement) best = one;
        if (!worst || one->agreement < worst->agreement) worst = one;
    }
    for (size_t i = 0; i < p.n; i++) p.name[i] = dis_names_get(job->votes_view.workers, p.worker[i], NULL);
    for (size_t i = 0; i < p.n; i++) /* close up the rows */
        memmove(p.value + i * p.n, p.value + i * PAIR_WORKERS, p.n * sizeof *p.value);
    dis__figure f = {.id = "pairwise-agreement",
                     .title = "Agreement between pairs",
                     .question = "Which annotators agree with each other?"};
    dis__markup_appendf(&f.caption, "The %zu annotators with most votes, on the items that both voted on. ", p.n);
    if (best && worst && best != worst) {
        dis__markup_append(&f.caption, "Most alike: ");
        put_pair(&f.caption, job, best);
        dis__markup_append(&f.caption, "; least: ");
        put_pair(&f.caption, job, worst);
        dis__markup_append(&f.caption, ". A pale row marks an annotator who disagrees with everyone.");
    } else {
        dis__markup_append(&f.caption, "They share too few items for firm conclusions.");
    }
    const dis__heat_map h = {.name = p.name,
                             .n = p.n,
                             .value = p.value,
                             .high = 1,
                             .percent = true,
                             .row_title = "",
                             .column_title = "votes that agree (%)",
                             .value_title = "agree",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "other annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "shared votes", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "agree", DIS__CELL_PERCENT);
    dis__data_table_add_column(&f.table, "Cohen's kappa", DIS__CELL_REAL);
    for (size_t i = 0; i < a.n_pairs; i++) {
        const char *one = dis_names_get(job->votes_view.workers, a.pairs[i].a, NULL);
        const char *two = dis_names_get(job->votes_view.workers, a.pairs[i].b, NULL);
        dis__data_table_add_text(&f.table, one, strlen(one));
        dis__data_table_add_text(&f.table, two, strlen(two));
        dis__data_table_add_number(&f.table, (double)a.pairs[i].n);
        dis__data_table_add_number(&f.table, a.pairs[i].agreement);
        dis__data_table_add_number(&f.table, a.pairs[i].cohen);
    }
    dis__page_figure_add(&job->page, &f);
}
