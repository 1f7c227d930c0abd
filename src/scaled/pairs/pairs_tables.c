/* Scores, coefficients, pairs and annotators as tables: see bradley_terry.c. */
#include "tool/arrays.h"
#include "scaled/pairs/pairs.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

enum { MIN_CLUSTERS = 5 }; /* whose standard deviation is shown */

static void count_results(const dis__pairs *m, double *won, double *lost, double *tied)
{
    for (size_t i = 0; i < m->merged.n; i++) {
        const dis__pair_cell *c = &m->merged.cell[i];
        won[c->a] += c->n[0];
        lost[c->b] += c->n[0];
        won[c->b] += c->n[1];
        lost[c->a] += c->n[1];
        tied[c->a] += c->n[2];
        tied[c->b] += c->n[2];
    }
}

static void add_notes(const dis__pairs *m, dis_scaled *out)
{
    if (m->n_components > 1)
        dis__scaled_add_note(out,
                             "the things form %zu components without comparisons between them: scores and ranks hold "
                             "within a component only",
                             m->n_components);
    if (m->n_strong > m->n_components)
        dis__scaled_add_note(out, "some things have only won, or only lost, against the rest: the penalty alone bounds "
                                  "their scores");
    if (m->o->ties && !m->model.has_tie) dis__scaled_add_note(out, "there are no ties: the model is that without ties");
    if (m->n_unknown)
        dis__scaled_add_note(out, "%llu values of covariates are missing and count as no difference",
                             (unsigned long long)m->n_unknown);
}

static dis_status add_scores(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    dis_scaled_column *c;
    double *score, *se, *rank, *won, *lost, *tied, *component, *key;
    DIS_TRY(dis__scaled_add_table(out, "labels", "scores of what was compared, the best first", n,
                                  7 + (m->n_components > 1), &c));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "score", n, &score));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "se", n, &se));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "rank", n, &rank));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "won", n, &won));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "lost", n, &lost));
    DIS_TRY(dis__scaled_init_column(out, &c[6], "tied", n, &tied));
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    DIS_TRY(dis__pairs_center(m, m->parameter, out, score, rank));
    count_results(m, won, lost, tied);
    if (m->n_components > 1) {
        DIS_TRY(dis__scaled_init_column(out, &c[7], "component", n, &component));
        for (size_t k = 0; k < n; k++) component[k] = m->component[k] + 1;
    }
    for (size_t k = 0; k < n; k++) {
        se[k] = sqrt(m->errors.variance[k]);
        key[k] = -((double)m->component[k] * (double)(n + 1) + rank[k]);
    }
    add_notes(m, out);
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

/* Coefficients per unit of the covariate, with 95 % intervals for new annotators; the tie parameter. */
static dis_status add_coefficients(const dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_x + m->model.has_tie;
    const char *names[DIS_PAIRS_MAX_COVARIATES + 2];
    dis_scaled_column *c;
    double *value, *se, *low, *high, *p;
    if (n == 0) return DIS_OK;
    DIS_TRY(dis__scaled_add_table(out, "coefficients", "coefficients of covariates in log-odds per unit", n, 6, &c));
    DIS_TRY(dis__scaled_init_column(out, &c[1], "coefficient", n, &value));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "se", n, &se));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "low", n, &low));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "high", n, &high));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "p", n, &p));
    const size_t first = m->n_things + m->model.has_tie;
    for (size_t j = 0; j < n; j++) {
        const bool tie = j == m->n_x;
        const size_t k = tie ? m->n_things : first + j;
        const double scale = tie ? 1 : m->scale_x[j], df = m->errors.df[k];
        const double q = isinf(df) ? dis__normal_quantile(.975) : dis__student_critical(.025, fmax(1, df));
        names[j] = tie ? "ties" : m->name_x[j];
        value[j] = m->parameter[k] / scale;
        se[j] = sqrt(m->errors.variance[k]) / scale;
        low[j] = value[j] - q * se[j];
        high[j] = value[j] + q * se[j];
        p[j] =
            tie ? (double)NAN : fmin(1, 2 * dis__student_tail(fabs(value[j]) / se[j], isinf(df) ? 1e9 : fmax(1, df)));
    }
    c[0] = (dis_scaled_column){.name = "covariate"};
    return dis__scaled_add_names(out, names, n, &c[0].names);
}

static dis_status add_measures(const dis__pairs *m, dis_scaled *out)
{
    const struct {
        const char *name, *title;
        double value;
        size_t n;
    } row[] = {{"taste_sd", "Standard deviation of scores between annotators", m->plain_errors.taste_sd, m->n_workers},
               {"task_sd", "Standard deviation of scores between tasks", m->plain_errors.task_sd, m->n_tasks}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        dis__scaled_add_measure(out, row[i].name, row[i].title,
                                isnan(row[i].value) || row[i].n < MIN_CLUSTERS
                                    ? dis__metric_undefined("fewer than 5 of them")
                                    : (dis_metric){.value = row[i].value, .n = row[i].n});
    return DIS_OK;
}

/* The share of comparisons without a tie that the scores predict correctly. */
static void add_foretold(const dis__pairs *m, dis_scaled *out)
{
    double right = 0;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        if (c->verdict == DIS_PAIR_TIE) continue;
        n++;
        const double d = m->parameter[c->a] - m->parameter[c->b];
        right += d == 0 ? .5 : (d > 0) == (c->verdict == DIS_PAIR_FIRST);
    }
    dis__scaled_add_measure(out, "foretold", "Comparisons that agree with the scores",
                            n ? (dis_metric){.value = right / (double)n, .n = n}
                              : dis__metric_undefined("there are only ties"));
}

static dis_status add_raters(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_workers, n_columns = 9 + (m->side ? 1u : 0u) + (m->camp ? 2u : 0u);
    dis_scaled_column *c;
    dis__rater_counts r;
    double *reliability, *key, *side = NULL, *camp = NULL, *p_camp = NULL;
    size_t at = 9;
    DIS_TRY(dis__scaled_add_table(out, "workers", "raters by their reliability, the lowest first", n, n_columns, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = m->workers};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "votes", n, &r.votes));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "reliability", n, &reliability));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "by_scores", n, &r.share));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "first_preferred", n, &r.first));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "agreement", n, &r.agreed));
    DIS_TRY(dis__scaled_init_column(out, &c[6], "compared", n, &r.compared));
    DIS_TRY(dis__scaled_init_column(out, &c[7], "kept", n, &r.consistent));
    DIS_TRY(dis__scaled_init_column(out, &c[8], "swapped", n, &r.both));
    if (m->side) DIS_TRY(dis__scaled_init_column(out, &c[at++], "side", n, &side));
    if (m->camp) {
        DIS_TRY(dis__scaled_init_column(out, &c[at++], "camp", n, &camp));
        DIS_TRY(dis__scaled_init_column(out, &c[at++], "p_camp", n, &p_camp));
    }
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    const size_t table = out->n_tables - 1;
    DIS_TRY(dis__pairs_measure(m, &r, out));
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *x = &m->c[i];
        const double d = m->parameter[x->a] - m->parameter[x->b], won = dis__comparison_outcome(x);
        r.votes[x->worker]++;
        r.first[x->worker] += won;
        r.share[x->worker] += d == 0 || x->verdict == DIS_PAIR_TIE ? .5 : (d > 0) == (x->verdict == DIS_PAIR_FIRST);
    }
    for (size_t w = 0; w < n; w++) {
        reliability[w] = m->reliability ? m->reliability[w] : (double)NAN;
        if (side) side[w] = m->side[w];
        if (camp) camp[w] = m->camp[w], p_camp[w] = m->p_camp[w];
        r.share[w] = r.votes[w] > 0 ? r.share[w] / r.votes[w] : (double)NAN;
        r.first[w] = r.votes[w] > 0 ? r.first[w] / r.votes[w] : (double)NAN;
        r.agreed[w] = r.compared[w] > 0 ? r.agreed[w] / r.compared[w] : (double)NAN;
        r.consistent[w] = r.both[w] > 0 ? r.consistent[w] / r.both[w] : (double)NAN;
        key[w] = m->reliability ? -m->reliability[w] : -r.share[w];
    }
    return dis__scaled_sort_table(out, &out->table[table], key);
}

static bool is_same_pair(const dis__comparison *p, const dis__comparison *q)
{
    return (p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a);
}

/* Pairs of things by how evenly opinions are split. Sorts the comparisons. */
static dis_status add_pairs(dis__pairs *m, dis_scaled *out)
{
    static const dis__pair_key keys[] = {DIS_BY_LOW, DIS_BY_HIGH};
    size_t n = 0;
    double *key, *count[3], *chance;
    uint32_t *a, *b;
    dis_scaled_column *c;
    DIS_TRY(dis__pairs_sort(m, keys, 2));
    for (size_t i = 0; i < m->n; i++) n += i == 0 || !is_same_pair(&m->c[i - 1], &m->c[i]);
    DIS_TRY(dis__scaled_add_table(out, "items", "pairs of things by how evenly opinions are split", n, 6, &c));
    DIS_TRY(dis__scaled_allocate(out, &a, 2 * n, sizeof *a));
    DIS_TRY(dis__scaled_allocate(out, &key, n, sizeof *key));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "for_a", n, &count[0]));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "for_b", n, &count[1]));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "ties", n, &count[2]));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "p_a", n, &chance));
    b = a + n;
    for (size_t i = 0, to = 0; i < m->n; i++) {
        const dis__comparison *x = &m->c[i];
        to += i > 0 && !is_same_pair(&m->c[i - 1], x);
        a[to] = x->a < x->b ? x->a : x->b;
        b[to] = x->a < x->b ? x->b : x->a;
        count[dis__pair_opinion(x)][to]++;
    }
    for (size_t i = 0; i < n; i++) {
        chance[i] = dis__pair_preference(m->model.ties, m->parameter[a[i]] - m->parameter[b[i]],
                                         dis__pair_tie(&m->model, m->parameter));
        key[i] = -fabs((count[0][i] + .5 * count[2][i]) / (count[0][i] + count[1][i] + count[2][i]) - .5);
    }
    c[0] = (dis_scaled_column){.name = "a", .names = m->things, .index = a};
    c[1] = (dis_scaled_column){.name = "b", .names = m->things, .index = b};
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

dis_status dis__pairs_add_results(dis__pairs *m, dis_scaled *out)
{
    DIS_TRY(add_scores(m, out));
    DIS_TRY(add_pairs(m, out));
    DIS_TRY(dis__pairs_add_camps(m, out));
    DIS_TRY(add_raters(m, out));
    add_foretold(m, out);
    DIS_TRY(dis__pairs_add_ranks(m, out));
    DIS_TRY(add_coefficients(m, out));
    DIS_TRY(dis__pairs_add_groups(m, out));
    DIS_TRY(dis__pairs_add_preferences(m, out));
    return add_measures(m, out);
}
