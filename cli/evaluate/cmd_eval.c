/* dissent eval: evaluates predictions against gold labels and against people. */
#include "tool/arrays.h"
#include "tool/table_columns.h"
#include "evaluate/cmd_eval.h"
#include <stdlib.h>
#include <string.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(eval_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, human, "human", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(WORDS, votes, "votes", .argument = "FILE...", .names = CLI_NAMES_FILE),
    OPTION(TEXT, human_labels, "human-labels", .argument = "SPEC", .names = CLI_NAMES_METHOD),
    OPTION(LIST, metric, "metric", .argument = "NAME",
           CLI_HELP(METRICS, "compute only this metric (see: dissent list metrics); repeat for several [all]")),
    CLI_OUTPUT_OPTION(eval_values, items, "items", CLI_TABLE_FORMATS, CLI_HELP(OUTPUT, "write one row per item")),
    CLI_OUTPUT_OPTION(eval_values, class_table, "classes-table", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    CLI_OUTPUT_OPTION(eval_values, confusion, "confusion", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the confusion matrix")),
    CLI_OUTPUT_OPTION(eval_values, bins, "bins", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the bins of the reliability diagram")),
    CLI_OUTPUT_OPTION(eval_values, human_bins, "human-bins", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write predicted and human shares and entropies in bins")),
    OPTION(COUNT, top_k, "top-k", .argument = "N", .fallback = "3", .low = 1, .high = 65535,
           CLI_HELP(METRICS, "number of classes in top_k_accuracy")),
    OPTION(COUNT, n_bins, "ece-bins", .argument = "N", .fallback = "15", .low = 1, .high = DIS_EVALUATION_MAX_BINS,
           CLI_HELP(METRICS, "number of bins of equal width in metrics of calibration")),
    OPTION(COUNT, n_splits, "splits", .argument = "N", .fallback = "5", .low = 1, .high = DIS_EVALUATION_MAX_SPLITS,
           CLI_HELP(METRICS, "number of random halves in calibrated_log_likelihood")),
    OPTION(TEXT, groups, "item-groups", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(METRICS, "items that stay in the same half (task and group, or sentence) [every item separately]")),
    OPTION(TEXT, perspectives, "perspectives", .argument = "SET",
           CLI_HELP(METRICS, "evaluate predictions per annotator against --votes (votes), or by the rules of Le-Wi-Di "
                             "2025: MP, CSC, Paraphrase or VariErrNLI")),
    OPTION(TEXT, history, "history", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "with --perspectives votes: earlier votes, for a baseline per annotator [the other votes]")),
    CLI_OUTPUT_OPTION(eval_values, worker_errors, "worker-errors", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "with --perspectives votes: write error rates per annotator")),
    OPTION(TEXT, official, "official", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "with --perspectives SET: the official JSON file of the set")),
    OPTION(TEXT, soft, "soft", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "with --perspectives SET: soft predictions, as label file or submission file")),
    OPTION(TEXT, annotators, "annotators", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "with --perspectives: predictions per annotator (task,worker,label), or a submission file")),
    OPTION(TEXT, submission, "submission", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER,
           .holds = "*_test_soft.tsv|*_test_pe.tsv", CLI_HELP(OUTPUT, "write the submission files of Le-Wi-Di 2025")),
    CLI_OUTPUT_OPTION(eval_values, save_votes, "save-votes", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the official annotations as task,worker,label")),
    CLI_OUTPUT_OPTION(eval_values, save_texts, "save-texts", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write the official texts as task,text,text_2")),
    CLI_GROUPS_OPTIONS(eval_values, people),
    CLI_OUTPUT_OPTION(eval_values, group_table, "group-table", CLI_TABLE_FORMATS, CLI_SHARED_HELP),
    OPTION(COUNT, permutations, "permutations", .argument = "N", .fallback = "1000", .high = 1e6),
    CLI_METRIC_TABLE_OPTIONS(eval_values, figures, "1000"),
    CLI_OVER_OPTION(eval_values, over),
    CLI_GOLD_COLUMNS_OPTION(eval_values, reading.gold_columns),
    CLI_VOTES_OPTIONS(eval_values, reading),
    CLI_SCALE_OPTIONS(eval_values, reading),
    CLI_DEVICE_OPTION(eval_values),
    CLI_COMMON_OPTIONS(eval_values),
};
/* clang-format on */

bool eval_has_metric(const eval_command *job, size_t m)
{
    const unsigned needs = dis_evaluation_metric_get(m)->needs;
    if (job->v->metric.n == 0) { /* not requested by name, and without a value here */
        if (needs & DIS_NEEDS_ORDER && !votes_input_is_ordered(&job->v->reading)) return false;
        if (m == DIS_EVALUATION_TOP_K_ACCURACY && job->v->top_k >= job->in.alignment.n_classes) return false;
    }
    if (needs & DIS_NEEDS_SETS && !eval_is_of_sets(job)) return false;
    return job->wanted[m] && !(needs & DIS_NEEDS_WORKERS) && (!(needs & DIS_NEEDS_GOLD) || job->v->gold) &&
           (!(needs & DIS_NEEDS_HUMAN) || job->human.p || job->v->human);
}

/* ---- before reading ---- */

static const char *metric_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_evaluation_metric_get(i) ? dis_evaluation_metric_get(i)->name : NULL;
}

static int check_metrics(eval_command *job)
{
    const cli_list *given = &job->v->metric;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) job->wanted[m] = given->n == 0;
    for (size_t i = 0; i < given->n; i++) {
        const dis_evaluation_metric m = dis_evaluation_metric_find(given->value[i]);
        if (m == DIS_EVALUATION_METRICS) {
            const char *near = dis__name_find_nearest(given->value[i], metric_name, NULL);
            return cli_usage(job->c, "no metric \"%s\"%s%s%s dissent list metrics shows them", given->value[i],
                             near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
        }
        if (dis_evaluation_metric_get(m)->needs & DIS_NEEDS_WORKERS)
            return cli_usage(job->c, "%s is a metric of predictions per annotator; add --perspectives votes",
                             given->value[i]);
        if (dis_evaluation_metric_get(m)->needs & DIS_NEEDS_SETS && !eval_is_of_sets(job))
            return cli_usage(job->c, "%s is a metric of sets of classes; add --scale multi-label", given->value[i]);
        job->wanted[m] = true;
    }
    return 0;
}

static int check(eval_command *job, char **operands)
{
    const eval_values *v = job->v;
    cli *c = job->c;
    if (!v->gold && !v->human && v->votes.n == 0)
        return cli_usage(c, "eval needs labels to evaluate against: --gold, --human, or --votes with --human-labels");
    if (v->human && v->votes.n)
        return cli_usage(c, "--human and --votes both define the human labels; give one of them");
    if (v->votes.n && !v->human_labels)
        return cli_usage(
            c, "--votes needs --human-labels standard, softmax or another method: the choice changes the values");
    if (v->human_labels && v->votes.n == 0) return cli_usage(c, "--human-labels needs --votes FILE");
    if (votes_input_is_scaled(&v->reading) && !eval_is_of_sets(job))
        return cli_usage(c, "eval compares distributions over classes; --scale nominal, ordinal or multi-label");
    if (eval_is_of_sets(job) && v->gold)
        return cli_usage(c, "--scale multi-label: give gold labels as votes of one annotator, with --votes and "
                            "--human-labels standard");
    if (eval_is_of_sets(job) && v->people.group)
        return cli_usage(c, "--group compares votes for single classes; leave out --scale multi-label");
    int code = v->votes.n == 0 ? votes_input_check_unused(c, &v->reading, "give --votes FILE") : 0;
    if (code == 0) code = check_metrics(job);
    if (code == 0) code = eval_groups_check(job);
    if (code == 0) code = cli_metric_table_check(c, &v->figures);
    if (code == 0 && v->human_labels) code = cli_failed(c, dis_method_check(v->human_labels));
    for (size_t i = 0; i < job->n && code == 0; i++) code = label_input_add(&job->in, operands[i], "predictions");
    if (v->human && code == 0) code = label_input_add(&job->in, v->human, "human");
    job->in.multi_label = eval_is_of_sets(job);
    job->in.gold_path = v->gold;
    job->in.gold_columns = v->reading.gold_columns;
    job->in.fold_case = v->reading.fold_case;
    job->in.trim = v->reading.trim;
    return code == 0 ? votes_input_check(&job->votes) : code;
}

/* ---- reading ---- */

/* Byte order says nothing of "low", "medium", "high", and columns may come in any order. */
static int check_order(eval_command *job)
{
    if (!votes_input_is_ordered(&job->v->reading) || job->classes) return 0;
    const dis_names *names = job->in.alignment.classes;
    double before = 0, x = 0;
    for (size_t k = 0; k < job->in.alignment.n_classes; k++, before = x) {
        char *end;
        const char *name = dis_names_get(names, k, NULL);
        x = strtod(name, &end);
        if (*end || end == name)
            return cli_usage(job->c,
                             "--scale ordinal: class \"%s\" is not a number; give the classes in order with --classes",
                             name);
        if (k && x < before)
            return cli_usage(job->c,
                             "--scale ordinal: class \"%s\" is out of order; give the classes in order with --classes",
                             name);
    }
    return 0;
}

static int people_from_votes(eval_command *job, dis_context *ctx)
{
    votes_input *in = &job->votes;
    if (eval_is_of_sets(job)) return eval_sets_people(job, ctx);
    const int code = votes_input_read_with_classes(in, ctx, dis_labels_get_view(job->in.labels[0]).classes);
    if (code != 0) return code;
    dis_fit_options how = dis_fit_options_default();
    how.seed = job->v->figures.seed;
    const dis_status status = dis_fit_run(ctx, in->votes, job->v->human_labels, &how, &job->fit);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->human = (dis_labels_view){.size = sizeof(dis_labels_view),
                                   .n_items = in->view.n_items,
                                   .n_classes = in->view.n_classes,
                                   .p = dis_fit_p(job->fit),
                                   .tasks = in->view.tasks,
                                   .classes = in->view.classes};
    return label_input_add_view(&job->in, in->paths[0], "votes", &job->human);
}

static int read_all(eval_command *job, dis_context *ctx)
{
    if (job->votes.classes.n) {
        const dis_status status = dis_names_create(job->votes.classes.name, job->votes.classes.n, &job->classes);
        if (status != DIS_OK) return cli_failed(job->c, status);
        job->in.classes = job->classes;
    }
    int code = label_input_read_files(&job->in, ctx);
    if (code == 0 && job->v->votes.n) code = people_from_votes(job, ctx);
    if (code == 0) code = label_input_align(&job->in, ctx);
    if (code == 0) code = check_order(job);
    if (code == 0) label_input_print(&job->in);
    return code;
}

static int read_groups(eval_command *job, dis_context *ctx)
{
    if (!job->v->groups) return 0;
    const size_t n = job->in.alignment.n_items;
    job->group = malloc(n * sizeof *job->group);
    if (!job->group) return cli_error(job->c, DIS_ELIMIT, "no memory for the groups of %zu items", n);
    return cli_failed(job->c,
                      dis__item_groups_read(ctx, job->v->groups, job->in.alignment.tasks, job->group, &job->n_groups));
}

/* ---- measuring ---- */

static int measure(eval_command *job, dis_context *ctx)
{
    const eval_values *v = job->v;
    const dis_alignment_view *t = &job->in.alignment;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.seed = v->figures.seed;
    o.resamples = v->figures.resamples;
    o.fraction = v->figures.fraction;
    o.ordinal = votes_input_is_ordered(&v->reading);
    o.keep_items = v->items || v->bins; /* bins too come from single items */
    o.top_k = (size_t)v->top_k;
    o.n_bins = (size_t)v->n_bins;
    o.n_splits = (size_t)v->n_splits;
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = job->wanted;
    o.interval_scope = (dis_interval_scope)v->over;
    const bool votes_known = v->votes.n && !eval_is_of_sets(job);
    if (votes_known) {
        const int code = label_input_match_votes(&job->in, &job->votes.view, &job->vote_item, &job->vote_class);
        if (code != 0) return code;
    }
    const dis_evaluation_votes votes = {.size = sizeof(dis_evaluation_votes),
                                        .votes = job->votes.votes,
                                        .labels = v->human_labels,
                                        .item_map = job->vote_item,
                                        .class_map = job->vote_class};
    for (size_t i = 0; i < job->n; i++) {
        const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                         .n_items = t->n_items,
                                         .n_classes = t->n_classes,
                                         .q = t->p[i],
                                         .gold = t->gold,
                                         .human = t->n_sources > job->n ? t->p[job->n] : NULL,
                                         .group = job->group,
                                         .n_groups = job->n_groups,
                                         .votes = votes_known ? &votes : NULL,
                                         .multi_label = eval_is_of_sets(job)};
        const dis_status status = dis_evaluation_run(ctx, &in, &o, &job->evaluation[i]);
        if (status != DIS_OK) return cli_failed(job->c, status);
        job->view[i] = dis_evaluation_get_view(job->evaluation[i]);
    }
    return 0;
}

/* The accuracy beside that of always predicting the majority class, and whether the confidence fits it. */
static void print_finding(const eval_command *job, size_t i)
{
    const dis_metric *metric = job->view[i].metric, *accuracy = &metric[DIS_EVALUATION_ACCURACY],
                     *majority = &metric[DIS_EVALUATION_MAJORITY_ACCURACY],
                     *confidence = &metric[DIS_EVALUATION_CONFIDENCE];
    char safe[CLI_SAFE], value[CLI_METRIC_SIZE], calibration[80] = "";
    if (!job->view[i].n_gold || !job->wanted[DIS_EVALUATION_ACCURACY] || accuracy->reason) return;
    if (job->wanted[DIS_EVALUATION_CONFIDENCE] && !confidence->reason) {
        const double gap = confidence->value - accuracy->value;
        const bool apart =
            accuracy->has_interval && (confidence->value < accuracy->ci_low || confidence->value > accuracy->ci_high);
        snprintf(calibration, sizeof calibration, "; mean confidence %.3f%s", confidence->value,
                 !apart    ? ""
                 : gap > 0 ? " (overconfident)"
                           : " (underconfident)");
    }
    char baseline[64] = "";
    if (job->wanted[DIS_EVALUATION_MAJORITY_ACCURACY] && !majority->reason)
        snprintf(baseline, sizeof baseline, ", majority class %.3f", majority->value);
    cli_print(job->c, "%s%s%s: accuracy %s%s%s", cli_bold(job->c), cli_safe(job->in.path[i], safe), cli_plain(job->c),
              cli_metric_format(accuracy, 3, value), baseline, calibration);
}

static void print_summary(eval_command *job)
{
    char items[CLI_NUMBER], floored[CLI_NUMBER];
    if (job->view[0].few_annotators)
        cli_warn(job->c, "the human labels are from only %zu annotator%s: other annotators might reverse the result",
                 job->view[0].n_annotators, cli_plural(job->view[0].n_annotators));
    for (size_t i = 0; i < job->n; i++)
        if (job->view[i].n_floored)
            cli_print(job->c, "%s: %s probabilities below 1e-12 were set to 1e-12 in logarithms", job->in.path[i],
                      cli_count_format(job->view[i].n_floored, floored));
    cli_print(job->c, "%s item%s, %zu classes, %zu file%s of predictions (%.2f s)",
              cli_count_format(job->in.alignment.n_items, items), cli_plural(job->in.alignment.n_items),
              job->in.alignment.n_classes, job->n, cli_plural(job->n), cli_seconds_since(&job->c->start));
    for (size_t i = 0; i < job->n; i++) print_finding(job, i);
    if (job->n == 1 && job->view[0].n_gold && !job->v->items) {
        static const char *const table[] = {"--items", "items.csv", NULL};
        cli_next_print(job->c, "eval", table, "the values of every item");
    }
    if (job->n == 2 && job->v->gold && !job->v->votes.n)
        cli_next_print(job->c, "compare", NULL, "whether the difference is significant");
}

static int write_all(eval_command *job)
{
    const eval_values *v = job->v;
    const char *format = cli_metric_table_format(&v->figures);
    dis_status status = DIS_OK;
    if (v->items) status = eval_items_write(job);
    if (status == DIS_OK && v->class_table) status = eval_class_table_write(job);
    if (status == DIS_OK && v->confusion) status = eval_confusion_write(job);
    if (status == DIS_OK && v->bins) status = eval_bins_write(job);
    if (status == DIS_OK && v->human_bins) status = eval_human_bins_write(job);
    if (status == DIS_OK) status = eval_groups_write(job);
    if (status == DIS_OK && format) status = eval_table_write(job, format);
    if (status == DIS_OK && v->figures.json) status = eval_json_write(job);
    if (status != DIS_OK) return cli_failed(job->c, status);
    if (format) return 0;
    eval_text_print(job);
    eval_groups_print(job);
    return cli_flush(job->c);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const eval_values *v = values;
    if (v->perspectives && strcmp(v->perspectives, "votes") == 0) return eval_workers_run(c, v, n_operands);
    if (v->history || v->worker_errors)
        return cli_usage(c, "--%s needs --perspectives votes", v->history ? "history" : "worker-errors");
    if (v->perspectives) return eval_perspectives_run(c, v, n_operands);
    if (v->official || v->soft || v->annotators || v->submission || v->save_votes || v->save_texts)
        return cli_usage(
            c, "--official, --soft, --annotators, --submission, --save-votes and --save-texts need --perspectives");
    if (n_operands == 0) return cli_usage(c, "eval needs PRED...");
    eval_command job = {
        .c = c,
        .v = v,
        .n = n_operands,
        .in = {.c = c, .lenient = v->reading.lenient, .renormalise = v->reading.renormalise},
        .votes = {.c = c, .v = &v->reading, .paths = (char *const *)v->votes.value, .n_paths = v->votes.n},
        .people = {.c = c, .v = &v->people}};
    dis_context *ctx = NULL;
    c->replicates_data = true;
    int code = check(&job, operands);
    if (code == 0) code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = read_all(&job, ctx);
    if (code == 0) code = read_groups(&job, ctx);
    if (code == 0) code = measure(&job, ctx);
    if (code == 0) code = eval_groups_compute(&job, ctx);
    if (code == 0 && dis_context_rank(ctx) == 0) code = write_all(&job);
    if (code == 0) print_summary(&job);
    code = cli_ranks_end(c, ctx, code);
    for (size_t i = 0; i < job.n; i++) dis_evaluation_destroy(job.evaluation[i]);
    for (size_t i = 0; i < job.n; i++) dis_group_evaluation_destroy(job.by_group[i]);
    groups_input_free(&job.people);
    label_input_free(&job.in);
    dis_fit_destroy(job.fit);
    free(job.set_p);
    dis_names_destroy(job.set_classes);
    free(job.group);
    dis_free(job.vote_item);
    dis_free(job.vote_class);
    votes_input_free(&job.votes);
    dis_names_destroy(job.classes);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_eval;
const cli_command cli_cmd_eval = {
    .name = "eval",
    .section = CLI_LEARN,
    .summary = "evaluate predictions against gold labels and human labels",
    .operands = "PRED...",
    .text =
        "Evaluates predicted distributions against gold labels (--gold), soft labels of people (--human, or "
        "--votes with --human-labels), or both. Predictions are label files as written by dissent labels, or CSV, "
        "TSV, JSONL or npy files with one column per class. Several files give one table with a column each. Each "
        "value has a 95 % bootstrap interval over items; values against --votes also hold for new annotators, "
        "unless --over items is given. For comparison, the table has the majority-class baseline and the entropy "
        "of the human labels, which is the minimum of the cross-entropy.\n\n"
        "Files are matched by task and class. Items or classes that are not in all files are errors. --lenient "
        "leaves such items out, reads missing classes as 0, and reports the number of both. --human-labels has no "
        "default because it changes the values. dissent list metrics prints all metrics.\n\n"
        "With --scale multi-label, predictions are probabilities of each class, and votes are sets of classes. Metrics "
        "are means over the classes, and intervals hold for new items.\n\n"
        "With --votes, --worker-table and --group, every vote of a group is compared with the prediction for its "
        "item. This shows for which group the predictions are best.\n\n"
        "With --perspectives votes, predictions per annotator (--annotators, as written by dissent predict "
        "--perspectives) are compared with --votes. The error rates are averaged over votes, items and annotators. "
        "With --ordinal, distances are computed too. With --perspectives SET, the scores of the shared task "
        "Le-Wi-Di 2025 are computed.",
    .examples = "  dissent eval predicted.csv --gold gold.csv\n"
                "  dissent eval a.csv b.csv --gold gold.csv --human human.csv --json metrics.json\n"
                "  dissent eval predicted.csv --votes votes.csv --human-labels softmax --items items.csv\n"
                "  dissent eval --perspectives votes --votes test.csv --annotators each.csv --history train.csv\n"
                "  dissent eval --perspectives MP --official MP_test.json --annotators predictions.csv\n",
    .basic = "gold|human|votes|human-labels|metric|over|output|items|json|quiet",
    .ranks = true,
    .late_device = true,
    .names = CLI_NAMES_FILE,
    .min = 0,
    .max = CLI_MAX_VALUES,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(eval_values),
    .run = run,
};
