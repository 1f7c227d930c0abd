/* Scales of their own: the figures of other programs on the same votes (tests/parity/make_kinds_fixtures.py), what each
 * refuses, and the same bytes for any number of threads. */
#include "dissent/dissent.h"
#include "tool/method_checks.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"

#define FIXTURES DIS_SOURCE_DIR "/tests/parity/fixtures/kinds/"

static dis_votes *read_votes(const char *file, dis_scale scale, const char *label)
{
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes = NULL;
    o.scale = scale;
    o.label = label;
    if (scale == DIS_SCALE_PAIRWISE) o.task = "task";
    if (dis_votes_read(NULL, &file, 1, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

static dis_scaled *measure(dis_context *ctx, const dis_votes *votes, const char *method, size_t resamples)
{
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *s = NULL;
    o.resamples = resamples;
    o.method = &method;
    o.n_methods = method != NULL;
    if (dis_scaled_run(ctx, votes, &o, &s) != DIS_OK) fail_msg("%s", dis_last_error());
    return s;
}

static double value_of(const dis_scaled *s, const char *name)
{
    const dis_scaled_view v = dis_scaled_get_view(s);
    for (size_t m = 0; m < v.n_measures; m++)
        if (strcmp(v.measures[m].name, name) == 0) return v.measures[m].value.value;
    fail_msg("no measure %s", name);
    return 0;
}

/* The number in `column` of the row that begins with `name`. */
static double cell(const dis_scaled *s, const char *table, const char *name, const char *column)
{
    const dis_scaled_table *t = dis_scaled_find_table(s, table);
    assert_non_null(t);
    for (size_t i = 0; i < t->n_rows; i++) {
        const dis_scaled_column *first = &t->columns[0];
        if (strcmp(dis_names_get(first->names, first->index ? first->index[i] : i, NULL), name) != 0) continue;
        for (size_t c = 1; c < t->n_columns; c++)
            if (strcmp(t->columns[c].name, column) == 0) return t->columns[c].values[i];
    }
    fail_msg("no row %s with %s in %s", name, column, table);
    return 0;
}

/* Calls `check` for every figure of a file in peers.csv; the number of them. */
static size_t each_peer(const char *file, void (*check)(const dis_scaled *s, const char *name, double value),
                        const dis_scaled *s)
{
    char line[400];
    size_t n = 0;
    FILE *in = fopen(FIXTURES "peers.csv", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *name = strchr(line, ','), *value = name ? strchr(name + 1, ',') : NULL;
        if (!value) continue;
        *name++ = *value++ = 0;
        if (strcmp(line, file) != 0) continue;
        check(s, name, strtod(value, NULL));
        n++;
    }
    fclose(in);
    return n;
}

static void near(const char *name, double value, double peer, double bound)
{
    if (!(fabs(value - peer) <= bound)) fail_msg("%s: %.15g, and the peer has %.15g", name, value, peer);
}

static void check_numeric(const dis_scaled *s, const char *name, double value)
{
    if (strncmp(name, "mean:", 5) == 0)
        near(name, cell(s, "labels", name + 5, "mean"), value, .07);
    else if (strncmp(name, "bias:", 5) == 0)
        near(name, cell(s, "workers", name + 5, "bias"), value, .01);
    else
        near(name, value_of(s, name), value, strstr(name, "_sd") ? .04 * value : 1e-12);
}

/* lme4's means with one noise for all: ours differ by what independent q(t) and q(b) make of the variances. */
static void test_numeric(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "numeric.csv", DIS_SCALE_NUMERIC, NULL);
    dis_scaled *s = measure(NULL, votes, "random-effects:shrink=1e9,tolerance=1e-12", 0);
    assert_true(dis_scaled_get_view(s).converged);
    assert_int_equal(each_peer("numeric.csv", check_numeric, s), 60 + 8 + 5);
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static void check_sets(const dis_scaled *s, const char *name, double value)
{
    near(name, strncmp(name, "alpha:", 6) == 0 ? cell(s, "classes", name + 6, "alpha") : value_of(s, name), value,
         1e-12);
}

static void test_sets(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "sets.csv", DIS_SCALE_MULTI_LABEL, "label[|]");
    dis_scaled *s = measure(NULL, votes, "standard", 0);
    assert_int_equal(each_peer("sets.csv", check_sets, s), 6);
    const dis_scaled_table *joint = dis_scaled_find_table(s, "joint");
    double sum = 0;
    for (size_t i = 0; i < joint->n_rows; i++) sum += joint->columns[2].values[i];
    assert_true(fabs(sum - 50) < 1e-9); /* one distribution per item */
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static void check_pairs(const dis_scaled *s, const char *name, double value)
{
    near(name, cell(s, "labels", name + strlen("score:"), "score"), value, 1e-6);
}

/* choix without reliabilities; with them, the fourth rater, who decides nearly at random, is found. */
static void test_pairs(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "pairs.csv", DIS_SCALE_PAIRWISE, NULL);
    dis_scaled *s = measure(NULL, votes, "bradley-terry:reliability=no,penalty=.01", 0);
    assert_int_equal(each_peer("pairs.csv", check_pairs, s), 7);
    dis_scaled_destroy(s);
    s = measure(NULL, votes, NULL, 0);
    for (int w = 0; w < 3; w++) {
        char name[] = {'w', (char)('0' + w), 0};
        assert_true(cell(s, "workers", name, "reliability") > cell(s, "workers", "w3", "reliability") + .2);
    }
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static dis_votes *read_text(dis_scale scale, const char *text)
{
    char path[] = "/tmp/dissent-scaled-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes = NULL;
    const char *file = path;
    o.scale = scale;
    o.format = "csv";
    if (dis_votes_read(NULL, &file, 1, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    remove(path);
    return votes;
}

/* ---- comparisons: maxima of likelihoods that scipy finds (tests/parity/make_pairwise_fixtures.py) ---- */

#define PAIRS DIS_SOURCE_DIR "/tests/parity/fixtures/pairwise/"

typedef struct {
    const dis_votes *votes;
    double *length;
    dis_scaled *result;
    char method[200];
} pairwise_peer;

static dis_votes *read_comparisons(double **length)
{
    const char *file = PAIRS "pairs.csv", *columns[] = {"la", "lb"};
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes = NULL;
    dis_names *text[2];
    o.scale = DIS_SCALE_PAIRWISE;
    o.task = "task";
    if (dis_votes_read(NULL, &file, 1, &o, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    const dis_votes_view v = dis_votes_get_view(votes);
    *length = calloc(v.n_items, sizeof **length);
    for (int i = 0; i < 2; i++) {
        size_t found;
        if (dis_votes_read_texts(NULL, &file, 1, &o, &columns[i], 1, v.tasks, &text[i], &found) != DIS_OK)
            fail_msg("%s", dis_last_error());
        assert_int_equal(found, v.n_items);
    }
    for (size_t i = 0; i < v.n_items; i++)
        (*length)[i] = atof(dis_names_get(text[0], i, NULL)) - atof(dis_names_get(text[1], i, NULL));
    dis_names_destroy(text[0]);
    dis_names_destroy(text[1]);
    return votes;
}

static void fit_peer(pairwise_peer *x, const char *method, bool covariates)
{
    if (strcmp(x->method, method) == 0) return;
    const dis_scaled_covariate length = {.name = "length", .value = x->length};
    dis_scaled_options o = dis_scaled_options_default();
    o.resamples = 0;
    o.method = &method;
    o.n_methods = 1;
    o.covariates = &length;
    o.n_covariates = covariates;
    dis_scaled_destroy(x->result);
    if (dis_scaled_run(NULL, x->votes, &o, &x->result) != DIS_OK) fail_msg("%s", dis_last_error());
    snprintf(x->method, sizeof x->method, "%s", method);
}

/* Row of thing `name` in camp `camp`. */
static double camp_score(const dis_scaled *s, double camp, const char *name)
{
    const dis_scaled_table *t = dis_scaled_find_table(s, "camps");
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->columns[1].values[i] == camp &&
            strcmp(dis_names_get(t->columns[0].names, t->columns[0].index[i], NULL), name) == 0)
            return t->columns[3].values[i];
    fail_msg("no camp %g with %s", camp, name);
    return 0;
}

static double peer_value(const dis_scaled *s, char *name)
{
    char *thing = strchr(name, ':');
    *thing++ = 0;
    if (strcmp(name, "score") == 0) return cell(s, "labels", thing, "score");
    if (strncmp(name, "camp", 4) == 0) return camp_score(s, atof(name + 4), thing);
    if (strcmp(name, "coefficient") == 0) return cell(s, "coefficients", thing, "coefficient");
    return cell(s, "workers", thing, name);
}

static void test_pairwise_likelihoods(void **state)
{
    (void)state;
    char line[400];
    size_t n = 0;
    pairwise_peer x = {.votes = NULL};
    dis_votes *votes = read_comparisons(&x.length);
    x.votes = votes;
    FILE *in = fopen(PAIRS "peers.csv", "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in)) {
        char *method = strchr(line, ',') + 1, *end, *name, *value;
        if (*method == '"') {
            end = strchr(++method, '"');
            *end++ = 0;
        } else {
            end = strchr(method, ',');
        }
        *end = 0;
        name = strchr(end + 1, ',') + 1;
        value = strchr(name, ',');
        *value++ = 0;
        fit_peer(&x, method, end[1] != ',');
        near(line, peer_value(x.result, name), strtod(value, NULL), 1e-6);
        n++;
    }
    fclose(in);
    assert_int_equal(n, 71);
    dis_scaled_destroy(x.result);
    free(x.length);
    dis_votes_destroy(votes);
}

/* A ring of 150 things, in several copies with other names and without comparisons between them. */
static dis_votes *read_rings(int n_copies)
{
    enum { THINGS = 150, STEPS = 4, LINE = 40 };
    char *text = malloc((size_t)n_copies * THINGS * STEPS * LINE + LINE), *at = text;
    at += sprintf(at, "a,b,worker,winner\n");
    for (int copy = 0; copy < n_copies; copy++)
        for (int k = 0; k < THINGS; k++)
            for (int step = 1; step <= STEPS; step++)
                at += sprintf(at, "c%dt%03d,c%dt%03d,w%d,%s\n", copy, k, copy, (k + step * step) % THINGS,
                              (k * 5 + step) % 7, (k * k + 3 * k * step) % 5 < 3 ? "a" : "b");
    dis_votes *votes = read_text(DIS_SCALE_PAIRWISE, text);
    free(text);
    return votes;
}

/* Conjugate gradients (600 things) find the scores that Cholesky finds (150 things), and draws find its errors. */
static void test_pairwise_sparse(void **state)
{
    (void)state;
    dis_votes *one = read_rings(1), *four = read_rings(4);
    dis_scaled *dense = measure(NULL, one, "bradley-terry:reliability=no", 0),
               *sparse = measure(NULL, four, "bradley-terry:reliability=no", 0);
    assert_true(dis_scaled_get_view(sparse).converged);
    double mean = 0;
    for (int k = 0; k < 150; k++)
        for (int copy = 0; copy < 4; copy++) {
            char name[16], first[16];
            snprintf(name, sizeof name, "c%dt%03d", copy, k);
            snprintf(first, sizeof first, "c0t%03d", k);
            near(name, cell(sparse, "labels", name, "score"), cell(dense, "labels", first, "score"), 1e-6);
            const double ratio = cell(sparse, "labels", name, "se") / cell(dense, "labels", first, "se");
            assert_true(ratio > .8 && ratio < 1.25);
            mean += ratio / 600;
            const double low = cell(sparse, "ranks", name, "rank_low"), high = cell(sparse, "ranks", name, "rank_high");
            assert_true(low >= 1 && low <= cell(dense, "ranks", first, "rank_low") && high <= 150 &&
                        high >= cell(dense, "ranks", first, "rank_high"));
        }
    near("mean ratio of standard errors", mean, 1, .02);
    dis_scaled_destroy(dense);
    dis_scaled_destroy(sparse);
    dis_votes_destroy(one);
    dis_votes_destroy(four);
}

/* ---- what people would not expect in a file ---- */

/* A worker who saw a pair 60 times in each order has 3,600 pairs of swapped opinions. */
static void test_repeated_pairs(void **state)
{
    (void)state;
    char text[8000] = "worker,a,b,winner\nw2,A,B,B\n";
    for (int i = 0; i < 60; i++) strcat(text, i < 15 ? "w1,A,B,B\nw1,B,A,A\n" : "w1,A,B,A\nw1,B,A,A\n");
    dis_votes *votes = read_text(DIS_SCALE_PAIRWISE, text);
    dis_scaled *s = measure(NULL, votes, NULL, 10);
    assert_true(cell(s, "workers", "w1", "swapped") == 3600);
    assert_true(cell(s, "workers", "w1", "kept") == .75); /* 45 of 60 opinions x 60 */
    assert_true(value_of(s, "kept") == .75);
    assert_true(cell(s, "workers", "w2", "compared") == 120);
    assert_true(cell(s, "workers", "w2", "agreement") == .125); /* 15 of 120 */
    assert_true(value_of(s, "agreement") == .125);
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static dis_scaled *measure_numbers(const double v[6], dis_votes **votes)
{
    char text[1000];
    snprintf(text, sizeof text, "task,worker,label\na,x,%.17g\na,y,%.17g\nb,x,%.17g\nb,y,%.17g\nc,x,%.17g\nc,y,%.17g\n",
             v[0], v[1], v[2], v[3], v[4], v[5]);
    *votes = read_text(DIS_SCALE_NUMERIC, text);
    return measure(NULL, *votes, NULL, 50);
}

/* The same labels times 2^1023 and 2^-1030: squares of both are out of range, results are not. */
static void test_extreme_numbers(void **state)
{
    (void)state;
    static const double plain[6] = {.5, .625, -.75, -.5, .25, 1.5};
    static const int exponents[] = {1023, -1030};
    dis_votes *votes, *votes_plain;
    dis_scaled *expected = measure_numbers(plain, &votes_plain);
    for (size_t e = 0; e < 2; e++) {
        double v[6];
        for (int i = 0; i < 6; i++) v[i] = ldexp(plain[i], exponents[e]);
        dis_scaled *s = measure_numbers(v, &votes);
        near("alpha", value_of(s, "alpha_interval"), value_of(expected, "alpha_interval"), 1e-12);
        near("icc", value_of(s, "icc"), value_of(expected, "icc"), 1e-9);
        near("sd", ldexp(value_of(s, "item_sd"), -exponents[e]), value_of(expected, "item_sd"), 1e-9);
        near("mean", ldexp(cell(s, "labels", "c", "mean"), -exponents[e]), cell(expected, "labels", "c", "mean"), 1e-9);
        near("noise", ldexp(cell(s, "workers", "x", "noise"), -exponents[e]), cell(expected, "workers", "x", "noise"),
             1e-9);
        dis_scaled_destroy(s);
        dis_votes_destroy(votes);
    }
    dis_scaled_destroy(expected);
    dis_votes_destroy(votes_plain);
}

/* A spread above the largest double is absent, never inf. */
static void test_too_large_spread(void **state)
{
    (void)state;
    static const double v[6] = {1.7e308, -1.7e308, -1.7e308, 1.7e308, 0, 0};
    dis_votes *votes;
    dis_scaled *s = measure_numbers(v, &votes);
    assert_true(isnan(cell(s, "labels", "a", "spread"))); /* 2.4e308 */
    assert_true(isfinite(value_of(s, "alpha_interval")));
    const dis_scaled_view view = dis_scaled_get_view(s);
    for (size_t t = 0; t < view.n_tables; t++)
        for (size_t c = 1; c < view.tables[t].n_columns; c++)
            for (size_t i = 0; i < view.tables[t].n_rows; i++) assert_true(!isinf(view.tables[t].columns[c].values[i]));
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static void check_spans(const dis_scaled *s, const char *name, double value)
{
    near(name, value_of(s, name), value, 1e-12);
}

static void test_spans(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "spans.csv", DIS_SCALE_SPANS, NULL);
    dis_scaled *s = measure(NULL, votes, NULL, 0);
    assert_int_equal(each_peer("spans.csv", check_spans, s), 3);
    dis_scaled_destroy(s);
    dis_votes_destroy(votes);
}

static size_t n_peers;
static double sum_x, sum_y, sum_xx, sum_yy, sum_xy;
static const dis_votes *ordinal_votes;
static const dis_fit *ordinal_fit;

static void check_ordinal(const dis_scaled *s, const char *name, double value)
{
    (void)s;
    const dis_votes_view v = dis_votes_get_view(ordinal_votes);
    if (strncmp(name, "bias:", 5) != 0) return;
    const size_t w = dis_names_find(v.workers, name + 5, strlen(name + 5));
    const double x = dis_fit_find_parameter(ordinal_fit, "bias")->values[w];
    n_peers++;
    sum_x += x, sum_y += value, sum_xx += x * x, sum_yy += value * value, sum_xy += x * value;
}

/* Biases of workers as R's cumulative probit model with random effects has them. */
static void test_ordinal(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "ordinal.csv", DIS_SCALE_ORDINAL, NULL);
    dis_fit *fit = NULL;
    assert_int_equal(dis_fit_run(NULL, votes, "ordinal", NULL, &fit), DIS_OK);
    ordinal_votes = votes;
    ordinal_fit = fit;
    each_peer("ordinal.csv", check_ordinal, NULL);
    assert_int_equal(n_peers, 12);
    const double n = (double)n_peers, xy = sum_xy - sum_x * sum_y / n, xx = sum_xx - sum_x * sum_x / n,
                 yy = sum_yy - sum_y * sum_y / n;
    assert_true(xy / sqrt(xx * yy) > .999);
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
}

/* Measures alone are those of the whole, without the tables of labels. */
static void test_measures_only(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        dis_scale scale;
        const char *label;
    } kinds[] = {{FIXTURES "sets.csv", DIS_SCALE_MULTI_LABEL, "label[|]"},
                 {FIXTURES "spans.csv", DIS_SCALE_SPANS, NULL}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        dis_votes *votes = read_votes(kinds[k].file, kinds[k].scale, kinds[k].label);
        dis_scaled_options o = dis_scaled_options_default();
        dis_scaled *full, *part;
        assert_int_equal(dis_scaled_run(NULL, votes, &o, &full), DIS_OK);
        o.measures_only = true;
        assert_int_equal(dis_scaled_run(NULL, votes, &o, &part), DIS_OK);
        const dis_scaled_view a = dis_scaled_get_view(full), b = dis_scaled_get_view(part);
        assert_int_equal(a.n_measures, b.n_measures);
        for (size_t m = 0; m < a.n_measures; m++) assert_true(a.measures[m].value.value == b.measures[m].value.value);
        assert_non_null(dis_scaled_find_table(full, "labels"));
        assert_null(dis_scaled_find_table(part, "labels"));
        assert_non_null(dis_scaled_find_table(part, "workers"));
        dis_scaled_destroy(full);
        dis_scaled_destroy(part);
        dis_votes_destroy(votes);
    }
}

/* ---- what is refused ---- */

static void refuse(dis_scale scale, const char *text, const char *message)
{
    char folder[64], path[96];
    snprintf(folder, sizeof folder, "/tmp/dissent-scaled-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/v.csv", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes = NULL;
    const char *file = path;
    o.scale = scale;
    assert_int_equal(dis_votes_read(NULL, &file, 1, &o, &votes), DIS_EDATA);
    if (!strstr(dis_last_error(), message)) fail_msg("\"%s\" has no \"%s\"", dis_last_error(), message);
    remove(path);
    remove(folder);
}

static void test_refused(void **state)
{
    (void)state;
    refuse(DIS_SCALE_NUMERIC, "task,worker,label\na,x,1\na,y,two\n", "v.csv:3:5: the label \"two\" is not a number");
    refuse(DIS_SCALE_PAIRWISE, "a,b,winner,worker\nm,n,o,x\n",
           "v.csv:2:5: the winner \"o\" is neither \"m\" nor \"n\"");
    refuse(DIS_SCALE_PAIRWISE, "a,b,winner,worker\nm,m,m,x\n", "compared with itself");
    refuse(DIS_SCALE_PAIRWISE, "a,b,winner,worker\n,m,m,x\n", "one of them is empty");
    refuse(DIS_SCALE_SPANS, "task,start,end,label,worker\nd,5,5,A,x\n", "a span from 5 to 5");
    refuse(DIS_SCALE_SPANS, "task,start,end,label,worker\nd,-1,5,A,x\n", "integer from 0, not \"-1\"");
    refuse(DIS_SCALE_SPANS, "task,start,end,label,worker\nd,1,5,O,x\n", "a span of class O");
}

/* ---- threads, faults ---- */

static const struct {
    const char *file, *label;
    dis_scale scale;
} files[] = {{FIXTURES "numeric.csv", NULL, DIS_SCALE_NUMERIC},
             {FIXTURES "sets.csv", "label[|]", DIS_SCALE_MULTI_LABEL},
             {FIXTURES "pairs.csv", NULL, DIS_SCALE_PAIRWISE},
             {FIXTURES "spans.csv", NULL, DIS_SCALE_SPANS}};
enum { N_FILES = sizeof files / sizeof *files };

static void test_threads(void **state)
{
    (void)state;
    dis_context *ctx;
    dis_context_options o = dis_context_options_default();
    o.threads = 3;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    for (size_t f = 0; f < N_FILES; f++) {
        dis_votes *votes = read_votes(files[f].file, files[f].scale, files[f].label);
        dis_scaled *a = measure(NULL, votes, NULL, 50), *b = measure(ctx, votes, NULL, 50);
        const dis_scaled_view x = dis_scaled_get_view(a), y = dis_scaled_get_view(b);
        assert_int_equal(x.n_tables, y.n_tables);
        for (size_t t = 0; t < x.n_tables; t++)
            for (size_t c = 0; c < x.tables[t].n_columns; c++)
                if (!x.tables[t].columns[c].names)
                    assert_memory_equal(x.tables[t].columns[c].values, y.tables[t].columns[c].values,
                                        x.tables[t].n_rows * sizeof(double));
        for (size_t m = 0; m < x.n_measures; m++) {
            assert_true(x.measures[m].value.value == y.measures[m].value.value || x.measures[m].value.reason);
            assert_true(!x.measures[m].value.has_interval || x.measures[m].value.ci_low == y.measures[m].value.ci_low);
        }
        dis_scaled_destroy(a);
        dis_scaled_destroy(b);
        dis_votes_destroy(votes);
    }
    dis_context_destroy(ctx);
}

static dis_status walk(void *arg)
{
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *s;
    static const char *const standard = "standard";
    o.resamples = 2;
    if (!dis__scaled_model_find(dis_votes_scale(arg))) {
        o.method = &standard;
        o.n_methods = 1;
    }
    const dis_status status = dis_scaled_run(NULL, arg, &o, &s);
    if (status == DIS_OK) dis_scaled_destroy(s);
    return status;
}

/* Every part of the pairwise model: ties, covariates, sides, camps, groups. */
typedef struct {
    const dis_votes *votes;
    const dis_worker_groups *groups;
    dis_scaled_covariate covariate;
} pairwise_parts;

static dis_status walk_pairwise(void *arg)
{
    static const char *const method = "bradley-terry:ties=rao-kupper,position=yes,sides=yes,camps=2,permutations=1,"
                                      "restarts=1,iterations=2";
    const pairwise_parts *x = arg;
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *s;
    o.resamples = 2;
    o.method = &method;
    o.n_methods = 1;
    o.covariates = &x->covariate;
    o.n_covariates = 1;
    o.groups = x->groups;
    const dis_status status = dis_scaled_run(NULL, x->votes, &o, &s);
    if (status == DIS_OK) dis_scaled_destroy(s);
    return status;
}

static void test_pairwise_faults(void **state)
{
    (void)state;
    static const char *const side[] = {"x", "y", "x", "y", "x", "y", "x", "y"};
    double *length;
    dis_names *value;
    dis_worker_groups *groups;
    dis_worker_groups_options how = dis_worker_groups_options_default();
    dis_votes *votes = read_comparisons(&length);
    how.min_group = 2;
    assert_int_equal(dis_votes_get_view(votes).n_workers, 8);
    assert_int_equal(dis_names_create(side, 8, &value), DIS_OK);
    assert_int_equal(dis_worker_groups_create(votes, value, &how, &groups), DIS_OK);
    pairwise_parts parts = {.votes = votes, .groups = groups, .covariate = {.name = "length", .value = length}};
    walk_faults(walk_pairwise, NULL, &parts);
    dis_worker_groups_destroy(groups);
    dis_names_destroy(value);
    dis_votes_destroy(votes);
    free(length);
}

static dis_status walk_preferences(void *arg)
{
    static const char *const method = "bradley-terry:preferences=yes,camps=2,permutations=0,restarts=1,iterations=2";
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *s;
    o.resamples = 0;
    o.method = &method;
    o.n_methods = 1;
    const dis_status status = dis_scaled_run(NULL, arg, &o, &s);
    if (status == DIS_OK) dis_scaled_destroy(s);
    return status;
}

static void test_preferences_faults(void **state)
{
    (void)state;
    dis_votes *votes = read_text(DIS_SCALE_PAIRWISE, "a,b,worker,label\nx,y,u,a\ny,z,u,a\nz,x,v,b\nx,y,v,b\n"
                                                     "x,z,w,a\ny,z,w,tie\nx,y,s,a\nz,y,s,a\n");
    walk_faults(walk_preferences, NULL, votes);
    dis_votes_destroy(votes);
}

typedef struct {
    const dis_votes *votes;
    const char *from, *to;
} state_parts;

static dis_status walk_states(void *arg)
{
    const state_parts *x = arg;
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *s;
    o.resamples = 0;
    o.append = x->from;
    o.state_file = x->to;
    const dis_status status = dis_scaled_run(NULL, x->votes, &o, &s);
    if (status == DIS_OK) dis_scaled_destroy(s);
    return status;
}

static void test_state_faults(void **state)
{
    (void)state;
    char one[] = "/tmp/dissent-state-XXXXXX", two[] = "/tmp/dissent-state-XXXXXX";
    assert_int_equal(close(mkstemp(one)) + close(mkstemp(two)), 0);
    dis_votes *votes = read_text(DIS_SCALE_PAIRWISE, "a,b,worker,label\nx,y,u,a\ny,z,u,a\nz,x,v,b\nx,y,v,b\n");
    dis_votes *more = read_text(DIS_SCALE_PAIRWISE, "a,b,worker,label\nx,z,w,a\nnew,z,w,tie\n");
    state_parts parts = {.votes = votes, .to = one};
    walk_faults(walk_states, NULL, &parts);
    parts = (state_parts){.votes = more, .from = one, .to = two};
    walk_faults(walk_states, NULL, &parts);
    dis_votes_destroy(votes);
    dis_votes_destroy(more);
    remove(one);
    remove(two);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FILES; f++) {
        dis_votes *votes = read_votes(files[f].file, files[f].scale, files[f].label);
        walk_faults(walk, NULL, votes);
        dis_votes_destroy(votes);
    }
}

static void test_other_scale(void **state)
{
    (void)state;
    dis_votes *votes = read_votes(FIXTURES "ordinal.csv", DIS_SCALE_ORDINAL, NULL);
    dis_scaled *s = NULL;
    assert_int_equal(dis_scaled_run(NULL, votes, NULL, &s), DIS_EUSAGE);
    assert_null(s);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numeric),         cmocka_unit_test(test_sets),
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_pairwise_likelihoods),
        cmocka_unit_test(test_pairwise_sparse), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_ordinal),         cmocka_unit_test(test_measures_only),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_other_scale),     cmocka_unit_test(test_faults),
        cmocka_unit_test(test_pairwise_faults), cmocka_unit_test(test_preferences_faults),
        cmocka_unit_test(test_state_faults),    cmocka_unit_test(test_repeated_pairs),
        cmocka_unit_test(test_extreme_numbers), cmocka_unit_test(test_too_large_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
