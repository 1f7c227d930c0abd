/* The size of a struct of options: every public call with one takes a shorter struct up to its size and the defaults
 * beyond, takes a longer one whose further bytes are 0, and refuses any other by the name of the struct. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/options/sized_structs.h"
#include "compatibility/older_caller.h"
#include "support/train_support.h"
#include "tool/files.h"

#define ENCODER DIS_SOURCE_DIR "/tests/parity/fixtures/encoders/bert_vocabulary"

/* ---- one call per row: what it gives, as a number ---- */

typedef struct {
    crowd c;
    dis_evaluation_input evaluation;
    dis_comparison_input comparison;
    dis_encoder *encoder;
    dis_tokenizer *tokenizer;
    dis_experiment *experiment;
} fixture;

static double checksum(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += isfinite(x[i]) ? x[i] * (double)(i + 1) : 1;
    return sum;
}

static double of_labels(const dis_labels *labels)
{
    const dis_labels_view v = dis_labels_get_view(labels);
    return checksum(v.p, v.n_items * v.n_classes);
}

static double of_metrics(const dis_metric *m, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += m[i].reason ? 1 : m[i].value + (m[i].has_interval ? m[i].ci_low + 2 * m[i].ci_high : 0);
    return sum;
}

static dis_status context(const fixture *f, const void *o, double *value)
{
    (void)f;
    dis_context *ctx;
    DIS_TRY(dis_context_create(o, &ctx));
    *value = dis_context_n_threads(ctx);
    dis_context_destroy(ctx);
    return DIS_OK;
}

static dis_status alignment(const fixture *f, const void *o, double *value)
{
    const dis_alignment_source sources[] = {{"hard", dis_labels_get_view(f->c.hard)},
                                            {"soft", dis_labels_get_view(f->c.soft)}};
    dis_alignment *a;
    DIS_TRY(dis_alignment_run(NULL, sources, 2, o, &a));
    *value = (double)dis_alignment_get_view(a).n_items;
    dis_alignment_destroy(a);
    return DIS_OK;
}

static dis_status evaluation(const fixture *f, const void *o, double *value)
{
    dis_evaluation *e;
    DIS_TRY(dis_evaluation_run(NULL, &f->evaluation, o, &e));
    *value = of_metrics(dis_evaluation_get_view(e).metric, DIS_EVALUATION_METRICS);
    dis_evaluation_destroy(e);
    return DIS_OK;
}

static dis_status run_labels(const fixture *f, const dis_label_result_options *o, double *value)
{
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result *m;
    DIS_TRY(dis_label_plan_parse(NULL, 0, NULL, true, &choice));
    DIS_TRY(dis_label_result_run(NULL, f->c.votes, &choice, o, &m));
    *value = checksum(dis_label_result_get_view(m).p, N * K);
    dis_label_result_destroy(m);
    return DIS_OK;
}

static dis_status make(const fixture *f, const void *o, double *value)
{
    return run_labels(f, o, value);
}

static dis_status make_with_fit(const fixture *f, const void *o, double *value)
{
    dis_label_result_options how = dis_label_result_options_default();
    how.fit = o;
    return run_labels(f, &how, value);
}

static dis_status auto_weights(const fixture *f, const void *o, double *value)
{
    static const char *const specs[] = {"standard", "dawid-skene"};
    double weight[2];
    DIS_TRY(dis_views_auto_weights(NULL, f->c.votes, specs, 2, o, weight));
    *value = checksum(weight, 2);
    return DIS_OK;
}

static dis_status fit(const fixture *f, const void *o, double *value)
{
    dis_fit *result;
    DIS_TRY(dis_fit_run(NULL, f->c.votes, "mace", o, &result));
    *value = checksum(dis_fit_p(result), N * K);
    dis_fit_destroy(result);
    return DIS_OK;
}

static dis_status report(const fixture *f, const void *o, double *value)
{
    dis_report *r;
    DIS_TRY(dis_report_create(o, &r));
    const dis_status status = dis_report_add_votes(r, f->c.votes, NULL);
    *value = 0;
    dis_report_destroy(r);
    return status;
}

static dis_status views(const fixture *f, const void *o, double *value)
{
    const double *p[] = {f->evaluation.q, f->evaluation.human};
    const dis_views both = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = 2, .p = p};
    dis_views_distances *d;
    DIS_TRY(dis_views_distances_run(NULL, &both, o, &d));
    *value = of_metrics(dis_views_distances_get_view(d).jsd, 4);
    dis_views_distances_destroy(d);
    return DIS_OK;
}

static dis_status embed_items(const fixture *f, const void *o, double *value)
{
    float *x = calloc(N * dis_encoder_get_view(f->encoder).width, sizeof *x);
    const dis_status status = dis_encoder_embed_items(NULL, f->encoder, f->c.texts, o, x);
    *value = x[0] + x[1];
    free(x);
    return status;
}

static const dis_token_text a_text = {.first = "the red apple", .n_first = 13};

static dis_status encode(const fixture *f, const void *o, double *value)
{
    dis_tokens *tokens;
    DIS_TRY(dis_tokenizer_encode(NULL, f->tokenizer, &a_text, 1, o, &tokens));
    *value = (double)dis_tokens_get_view(tokens).text_start[1];
    dis_tokens_destroy(tokens);
    return DIS_OK;
}

static dis_status encode_words(const fixture *f, const void *o, double *value)
{
    static const char *const word[] = {"red", "apple"};
    static const size_t length[] = {3, 5}, start[] = {0, 2};
    dis_tokens *tokens;
    DIS_TRY(dis_tokenizer_encode_words(NULL, f->tokenizer, word, length, start, 1, o, &tokens));
    *value = (double)dis_tokens_get_view(tokens).text_start[1];
    dis_tokens_destroy(tokens);
    return DIS_OK;
}

static dis_status encode_file(const fixture *f, const void *o, double *value)
{
    size_t n = 0;
    char output[256];
    snprintf(output, sizeof output, "%s", in_folder("ids.json"));
    const dis_status status = dis__tokenizer_encode_file(NULL, f->tokenizer, in_folder("ids.txt"), o, output, &n);
    *value = (double)n;
    return status;
}

static dis_status experiment_read(const fixture *f, const void *o, double *value)
{
    (void)f;
    dis_experiment *e;
    DIS_TRY(dis_experiment_read(NULL, in_folder("no_such_plan.yaml"), o, &e));
    *value = 0;
    dis_experiment_destroy(e);
    return DIS_OK;
}

static dis_status train_model(const fixture *f, const void *o, double *value)
{
    const dis_examples examples = {.size = sizeof(dis_examples), .items = f->c.texts, .labels = f->c.soft};
    dis_model *model;
    dis_labels *labels;
    DIS_TRY(dis_model_train(NULL, &examples, NULL, o, &model));
    const dis_status status = dis_model_predict(NULL, model, f->c.texts, NULL, &labels);
    dis_model_destroy(model);
    DIS_TRY(status);
    *value = of_labels(labels);
    dis_labels_destroy(labels);
    return DIS_OK;
}

static dis_status folds_draw(const fixture *f, const void *o, double *value)
{
    const dis_examples examples = {.size = sizeof(dis_examples), .items = f->c.texts, .labels = f->c.soft};
    dis_folds *folds;
    DIS_TRY(dis_folds_create(NULL, &examples, o, 1, &folds));
    *value = 0;
    dis_folds_destroy(folds);
    return DIS_OK;
}

static dis_status comparison(const fixture *f, const void *o, double *value)
{
    dis_comparison *c;
    DIS_TRY(dis_comparison_run(NULL, &f->comparison, o, &c));
    *value = dis_comparison_get_view(c).metric[0].p_two_sided + dis_comparison_get_view(c).metric[0].difference.ci_low;
    dis_comparison_destroy(c);
    return DIS_OK;
}

static dis_status agreement(const fixture *f, const void *o, double *value)
{
    dis_agreement *a;
    DIS_TRY(dis_agreement_run(NULL, f->c.votes, o, &a));
    const dis_agreement_view v = dis_agreement_get_view(a);
    *value = of_metrics(v.metric, v.n_metrics) + (v.items ? 1 : 0) + (v.workers ? 2 : 0) + (double)v.n_pairs;
    dis_agreement_destroy(a);
    return DIS_OK;
}

static dis_status review(const fixture *f, const void *o, double *value)
{
    dis_review *r;
    DIS_TRY(dis_review_run(NULL, f->c.votes, o, &r));
    *value = dis_review_get_view(r).items[0].gain + (double)dis_review_get_view(r).items[0].item;
    dis_review_destroy(r);
    return DIS_OK;
}

static dis_status items(const fixture *f, const void *o, double *value)
{
    (void)f;
    dis_items *read;
    DIS_TRY(dis_items_read(NULL, in_folder("t.csv"), o, &read));
    *value = (double)dis_items_get_view(read).n_items;
    dis_items_destroy(read);
    return DIS_OK;
}

static dis_status labels_read(const fixture *f, const void *o, double *value)
{
    (void)f;
    dis_labels *labels;
    DIS_TRY(dis_labels_read(NULL, in_folder("soft.csv"), o, &labels));
    *value = of_labels(labels);
    dis_labels_destroy(labels);
    return DIS_OK;
}

static dis_status votes_read(const fixture *f, const void *o, double *value)
{
    (void)f;
    const char *path = in_folder("votes.csv");
    dis_votes *votes;
    DIS_TRY(dis_votes_read(NULL, &path, 1, o, &votes));
    *value = (double)dis_votes_get_view(votes).n_votes;
    dis_votes_destroy(votes);
    return DIS_OK;
}

static dis_status from_columns(const fixture *f, const void *o, double *value)
{
    (void)f;
    const dis_votes_columns none = {.size = sizeof(dis_votes_columns), .task = {.n_pieces = 0}};
    dis_votes *votes;
    DIS_TRY(dis_votes_create_from_columns(NULL, &none, o, &votes));
    *value = (double)dis_votes_get_view(votes).n_votes;
    dis_votes_destroy(votes);
    return DIS_OK;
}

static dis_status synth(const fixture *f, const void *o, double *value)
{
    (void)f;
    *value = 0;
    return dis_synth_write(NULL, o, in_folder("synth.csv"), NULL);
}

static dis_status run_refused(const fixture *f, const void *o, double *value)
{
    dis_experiment_counts counts;
    *value = 0;
    return o ? dis_experiment_run(NULL, f->experiment, o, &counts) : DIS_OK;
}

static dis_status out_of_fold(const fixture *f, const void *o, double *value)
{
    const dis_examples examples = {.size = sizeof(dis_examples), .items = f->c.texts, .labels = f->c.soft};
    dis_labels *labels;
    DIS_TRY(dis_folds_predict(NULL, &examples, NULL, o, NULL, &labels));
    *value = of_labels(labels);
    dis_labels_destroy(labels);
    return DIS_OK;
}

static dis_status two_folds(const fixture *f, const dis_model_train_options *o, const dis_train_runs_options *several,
                            double *value)
{
    const dis_examples examples = {.size = sizeof(dis_examples), .items = f->c.texts, .labels = f->c.soft};
    dis_folds_options two = dis_folds_options_default();
    dis_folds *folds;
    dis_train_runs *runs;
    two.n_folds = 2;
    DIS_TRY(dis_folds_create(NULL, &examples, &two, 1, &folds));
    dis_train_runs_options own = dis_train_runs_options_default();
    own.n_runs = 0;
    own.folds = folds;
    const dis_status status = dis_model_train_runs(NULL, &examples, NULL, o, several ? several : &own, &runs);
    if (status == DIS_OK) {
        const dis_train_runs_view v = dis_train_runs_get_view(runs);
        *value = v.out_of_fold ? of_labels(v.out_of_fold) : v.curve[0].epoch[0].loss;
        dis_train_runs_destroy(runs);
    }
    dis_folds_destroy(folds);
    return status;
}

static dis_status folds_train(const fixture *f, const void *o, double *value)
{
    return two_folds(f, o, NULL, value);
}

static dis_status train_runs(const fixture *f, const void *several, double *value)
{
    const dis_train_runs_options one = dis_train_runs_options_default();
    return two_folds(f, NULL, several ? several : &one, value);
}

/* ---- inputs: a wrong size is refused before anything of them is read ---- */

static dis_status evaluation_input(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_evaluation *e;
    return dis_evaluation_run(NULL, o, NULL, &e);
}

static dis_status evaluation_votes(const fixture *f, const void *o, double *value)
{
    (void)value;
    dis_evaluation *e;
    dis_evaluation_input in = f->evaluation;
    in.votes = o;
    return dis_evaluation_run(NULL, &in, NULL, &e);
}

static dis_status comparison_input(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_comparison *c;
    return dis_comparison_run(NULL, o, NULL, &c);
}

static dis_status comparison_votes(const fixture *f, const void *o, double *value)
{
    (void)value;
    dis_comparison *c;
    dis_comparison_input in = f->comparison;
    in.votes = o;
    return dis_comparison_run(NULL, &in, NULL, &c);
}

static dis_status votes_arrays(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_votes *votes;
    return dis_votes_create_from_arrays(NULL, o, &votes);
}

static dis_status votes_columns(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_votes *votes;
    return dis_votes_create_from_columns(NULL, o, NULL, &votes);
}

static dis_status views_combine(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    double out[N * K];
    return dis_views_combine(NULL, o, "average", out, NULL);
}

static dis_status views_compare(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_views_distances *d;
    return dis_views_distances_run(NULL, o, NULL, &d);
}

/* A result that the caller's struct gets: its size is read, and nothing else. */
static dis_status combination(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    double out[N * K] = {0};
    const double *p[] = {out};
    const dis_views one = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = 1, .p = p};
    return dis_views_combine(NULL, &one, "average", out, (dis_combination *)o);
}

static dis_status label_plan(const fixture *f, const void *o, double *value)
{
    (void)value;
    dis_label_result *m;
    return dis_label_result_run(NULL, f->c.votes, o, NULL, &m);
}

static dis_status label_plan_parsed(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    return dis_label_plan_parse(NULL, 0, NULL, true, (dis_label_plan *)o);
}

static dis_status review_plan(const fixture *f, const void *o, double *value)
{
    (void)value;
    dis_review *r;
    dis_review_options options = dis_review_options_default();
    options.plan = o;
    return dis_review_run(NULL, f->c.votes, &options, &r);
}

static dis_status train_examples(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_model *model;
    return dis_model_train(NULL, o, NULL, NULL, &model);
}

static dis_status dev_examples(const fixture *f, const void *o, double *value)
{
    (void)value;
    const dis_examples examples = {.size = sizeof(dis_examples), .items = f->c.texts, .labels = f->c.soft};
    dis_model *model;
    return dis_model_train(NULL, &examples, o, NULL, &model);
}

static dis_status folds_examples(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_folds *folds;
    return dis_folds_create(NULL, o, NULL, 1, &folds);
}

static dis_status report_test(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_report *r;
    DIS_TRY(dis_report_create(NULL, &r));
    const dis_status status = dis_report_add_test(r, o);
    dis_report_destroy(r);
    return status;
}

static dis_status watch_vote(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_watch *watch;
    DIS_TRY(dis_watch_create(NULL, &watch));
    const dis_status status = dis_watch_add(watch, o);
    dis_watch_destroy(watch);
    return status;
}

static dis_status labels_created(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_labels *labels;
    return dis_labels_create(NULL, o, &labels);
}

static dis_status labels_written(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    return dis_labels_write(NULL, o, in_folder("refused.csv"), NULL);
}

static dis_status labels_exported(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_labels_export_options options = dis_labels_export_options_default();
    options.target = "label-studio";
    return dis_labels_export(NULL, o, in_folder("refused.json"), &options, NULL);
}

static dis_status predictions(const fixture *f, const void *o, double *value)
{
    (void)value;
    double *p;
    dis_predictions_counts counts;
    return dis_predictions_align(NULL, o, f->c.votes, &p, &counts);
}

static dis_status study_plan(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    return dis_study_predict(NULL, NULL, (dis_study_plan *)o);
}

static dis_status gold_created(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_gold *created;
    return dis_gold_create(NULL, o, &created);
}

static dis_status items_created(const fixture *f, const void *o, double *value)
{
    (void)f, (void)value;
    dis_items *created;
    return dis_items_create(NULL, o, &created);
}

/* ---- all of them ---- */

typedef struct {
    const char *name;
    size_t size;
    dis_status (*call)(const fixture *f, const void *o, double *value);
    bool refusals_only;
} row;

#define ROW(type, call)                  \
    {                                    \
#type, sizeof(type), call, false \
    }
#define REFUSED(type, call)             \
    {                                   \
#type, sizeof(type), call, true \
    }
static const row rows[] = {
    ROW(dis_context_options, context),
    ROW(dis_alignment_options, alignment),
    ROW(dis_evaluation_options, evaluation),
    ROW(dis_label_result_options, make),
    ROW(dis_fit_options, make_with_fit),
    ROW(dis_fit_options, auto_weights),
    ROW(dis_fit_options, fit),
    ROW(dis_report_options, report),
    ROW(dis_views_distances_options, views),
    ROW(dis_embed_options, embed_items),
    ROW(dis_tokenizer_options, encode),
    ROW(dis_tokenizer_options, encode_words),
    ROW(dis_tokenizer_options, encode_file),
    ROW(dis_experiment_options, experiment_read),
    REFUSED(dis_experiment_run_options, run_refused),
    ROW(dis_model_train_options, train_model),
    ROW(dis_model_train_options, folds_train),
    ROW(dis_model_train_options, out_of_fold),
    ROW(dis_train_runs_options, train_runs),
    ROW(dis_folds_options, folds_draw),
    ROW(dis_comparison_options, comparison),
    ROW(dis_agreement_options, agreement),
    ROW(dis_review_options, review),
    ROW(dis_items_options, items),
    ROW(dis_labels_read_options, labels_read),
    ROW(dis_votes_options, votes_read),
    ROW(dis_votes_options, from_columns),
    ROW(dis_synth_options, synth),
    REFUSED(dis_evaluation_input, evaluation_input),
    REFUSED(dis_evaluation_votes, evaluation_votes),
    REFUSED(dis_comparison_input, comparison_input),
    REFUSED(dis_comparison_votes, comparison_votes),
    REFUSED(dis_votes_arrays, votes_arrays),
    REFUSED(dis_votes_columns, votes_columns),
    REFUSED(dis_views, views_combine),
    REFUSED(dis_views, views_compare),
    REFUSED(dis_combination, combination),
    REFUSED(dis_label_plan, label_plan),
    REFUSED(dis_label_plan, label_plan_parsed),
    REFUSED(dis_label_plan, review_plan),
    REFUSED(dis_examples, train_examples),
    REFUSED(dis_examples, dev_examples),
    REFUSED(dis_examples, folds_examples),
    REFUSED(dis_report_test, report_test),
    REFUSED(dis_watch_vote, watch_vote),
    REFUSED(dis_labels_view, labels_created),
    REFUSED(dis_labels_view, labels_written),
    REFUSED(dis_labels_view, labels_exported),
    REFUSED(dis_labels_view, predictions),
    REFUSED(dis_study_plan, study_plan),
    REFUSED(dis_gold_view, gold_created),
    REFUSED(dis_items_view, items_created),
};
enum { ROWS = sizeof rows / sizeof *rows };

enum { ROOM = 2048 };
static size_t given[ROOM / sizeof(size_t)];

/* A struct of that size, and bytes that are no part of it. */
static const void *sized(size_t size)
{
    memset(given, 0xa5, sizeof given);
    given[0] = size;
    return given;
}

static double q[N * K], human[N * K];
static int32_t gold[N], a_predicts[N], b_predicts[N];
static const int32_t *const a_side[] = {a_predicts}, *const b_side[] = {b_predicts};

static fixture start(void)
{
    fixture f = {.c = read_crowd()};
    for (int i = 0; i < N; i++) {
        gold[i] = i % K;
        a_predicts[i] = i % 7 ? i % K : 0;
        b_predicts[i] = i % 4 ? i % K : 1;
        for (int k = 0; k < K; k++) {
            q[i * K + k] = k == a_predicts[i] ? .5 : .25;
            human[i * K + k] = k == gold[i] ? .8 : .1;
        }
    }
    f.evaluation = (dis_evaluation_input){
        .size = sizeof(dis_evaluation_input), .n_items = N, .n_classes = K, .q = q, .gold = gold, .human = human};
    f.comparison = (dis_comparison_input){.size = sizeof(dis_comparison_input),
                                          .n_items = N,
                                          .n_classes = K,
                                          .gold = gold,
                                          .n_a = 1,
                                          .n_b = 1,
                                          .a = a_side,
                                          .b = b_side,
                                          .human = human};
    assert_int_equal(dis_encoder_read(NULL, ENCODER, &f.encoder), DIS_OK);
    assert_int_equal(dis_tokenizer_read(NULL, ENCODER, &f.tokenizer), DIS_OK);
    return f;
}

static void end(fixture *f)
{
    dis_encoder_destroy(f->encoder);
    dis_tokenizer_destroy(f->tokenizer);
    free_crowd(&f->c);
}

static void shorter_means_defaults(void **state)
{
    (void)state;
    fixture f = start();
    for (size_t r = 0; r < ROWS; r++) {
        if (rows[r].refusals_only) continue;
        double usual = 0, shorter = 0;
        const dis_status status = rows[r].call(&f, NULL, &usual);
        if (rows[r].call(&f, sized(sizeof(size_t)), &shorter) != status || shorter != usual)
            fail_msg("row %zu, %s: %g with the defaults, %g by size: %s", r, rows[r].name, usual, shorter,
                     dis_last_error());
    }
    end(&f);
}

static void other_sizes_are_refused(void **state)
{
    (void)state;
    fixture f = start();
    const size_t refused[] = {0, sizeof(size_t) - 1, sizeof(size_t) + 1, 0, SIZE_MAX};
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            const size_t size = i == 3 ? rows[r].size + sizeof(size_t) : refused[i];
            double value;
            if (rows[r].call(&f, sized(size), &value) != DIS_EUSAGE || !strstr(dis_last_error(), rows[r].name))
                fail_msg("row %zu, %s: size %zu: %s", r, rows[r].name, size, dis_last_error());
        }
    end(&f);
}

/* ---- what the copy itself does ---- */

typedef struct {
    size_t size;
    double first, second;
} options;

static void fields_up_to_the_size(void **state)
{
    (void)state;
    const options usual = {sizeof usual, 1, 2};
    options own = usual;
    const options two = {offsetof(options, second), 7, 8};
    assert_int_equal(DIS_OPTIONS_COPY(options, &own, &two), DIS_OK);
    assert_true(own.size == sizeof own && own.first == 7 && own.second == 2);
    own = usual;
    assert_int_equal(DIS_OPTIONS_COPY(options, &own, NULL), DIS_OK);
    assert_memory_equal(&own, &usual, sizeof own);
}

static void longer_by_zeros_is_taken(void **state)
{
    (void)state;
    options own = {sizeof own, 1, 2};
    struct {
        options o;
        double further;
    } newer = {{sizeof newer, 3, 4}, 0};
    assert_int_equal(DIS_OPTIONS_COPY(options, &own, &newer.o), DIS_OK);
    assert_true(own.size == sizeof own && own.first == 3 && own.second == 4);
    newer.further = 1;
    own = (options){sizeof own, 1, 2};
    assert_int_equal(DIS_OPTIONS_COPY(options, &own, &newer.o), DIS_EUSAGE);
    assert_true(own.first == 1 && own.second == 2);
}

static void an_older_caller_gets_the_same(void **state)
{
    (void)state;
    fixture f = start();
    dis_evaluation_options o = dis_evaluation_options_default();
    o.seed = 5;
    o.resamples = 50;
    dis_evaluation *now;
    void *older;
    assert_int_equal(dis_evaluation_run(NULL, &f.evaluation, &o, &now), DIS_OK);
    assert_int_equal(evaluate_as_older_caller(&f.evaluation, 5, 50, &older), DIS_OK);
    const dis_evaluation_view a = dis_evaluation_get_view(now), b = dis_evaluation_get_view(older);
    assert_int_equal(b.resamples, 50);
    assert_int_equal(b.n_bins, a.n_bins);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) assert_memory_equal(&a.metric[m].value, &b.metric[m].value, 24);
    dis_evaluation_destroy(now);
    dis_evaluation_destroy(older);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_means_defaults),        cmocka_unit_test(other_sizes_are_refused),
        cmocka_unit_test(fields_up_to_the_size),         cmocka_unit_test(longer_by_zeros_is_taken),
        cmocka_unit_test(an_older_caller_gets_the_same),
    };
    return cmocka_run_group_tests(tests, make_folder_in_memory, remove_folder);
}
