/* Results of `dissent eval`: as text, as tables, and as a JSON summary. */
#include "tool/json_writer.h"
#include "tool/value_names.h"
#include "tool/table_writer.h"
#include "evaluate/cmd_eval.h"
#include <math.h>
#include <string.h>

#define N(columns) (sizeof(columns) / sizeof *(columns))

/* ---- for people ---- */

enum { NAME_WIDTH = 28, MAX_WITH_INTERVALS = 3, MAX_SHOWN_CLASSES = 12 };

/* The end of a path, which is what tells files apart, cut to fit a column. */
static const char *short_name(const char *path, size_t width, char out[CLI_SAFE])
{
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    cli_safe(name, out);
    const size_t n = strlen(out);
    if (n > width) memmove(out, out + n - width, width + 1);
    for (char *s = out; *s && ((unsigned char)*s & 0xc0) == 0x80;) memmove(s, s + 1, strlen(s)); /* no cut character */
    return out;
}

static const char *figure_text(const dis_metric *m, bool interval, char out[CLI_METRIC_SIZE])
{
    dis_metric plain = *m;
    plain.has_interval = m->has_interval && interval;
    if (plain.reason)
        snprintf(out, CLI_METRIC_SIZE, "-");
    else
        cli_metric_format(&plain, 4, out);
    return out;
}

static void metric_rows(const eval_command *job, bool (*belongs)(size_t m), bool intervals, int width)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        if (!eval_has_metric(job, m) || !belongs(m)) continue;
        const dis_evaluation_metric_row *row = dis_evaluation_metric_get(m);
        const bool aside = strcmp(row->better, "baseline") == 0 || strcmp(row->better, "floor") == 0;
        char name[NAME_WIDTH + 8];
        const char *arrow = dis__evaluation_metric_arrow(m); /* of three bytes and one column */
        snprintf(name, sizeof name, "%s%s%s%s", aside ? "  " : "", row->name, *arrow ? " " : "", arrow);
        printf("%-*s", *arrow ? NAME_WIDTH + 2 : NAME_WIDTH, name);
        for (size_t i = 0; i < job->n; i++) {
            char text[CLI_METRIC_SIZE];
            figure_text(&job->view[i].metric[m], intervals, text);
            if (i + 1 < job->n)
                printf("%-*s", width, text);
            else
                printf("%s\n", text);
        }
    }
}

static bool of_gold(size_t m)
{
    return dis_evaluation_metric_get(m)->needs & DIS_NEEDS_GOLD;
}

static bool of_people(size_t m)
{
    return dis_evaluation_metric_get(m)->needs & DIS_NEEDS_HUMAN;
}

static bool of_neither(size_t m)
{
    return dis_evaluation_metric_get(m)->needs == 0;
}

/* Why figures are missing, once each. */
static void reasons(const eval_command *job)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        for (size_t i = 0; i < job->n && eval_has_metric(job, m); i++) {
            const char *reason = job->view[i].metric[m].reason;
            if (!reason) continue;
            bool printed = false;
            for (size_t j = 0; j < i; j++) printed = printed || job->view[j].metric[m].reason == reason;
            char safe[CLI_SAFE];
            if (!printed)
                printf("- %s: %s%s%s%s\n", dis_evaluation_metric_get(m)->name, reason, job->n > 1 ? " (" : "",
                       job->n > 1 ? short_name(job->in.path[i], 40, safe) : "", job->n > 1 ? ")" : "");
        }
}

static void class_rows(const eval_command *job)
{
    const dis_evaluation_view *v = &job->view[0];
    if (!v->classes || !job->wanted[DIS_EVALUATION_MACRO_F1] || job->n > 1) return;
    const size_t shown = v->n_classes < MAX_SHOWN_CLASSES ? v->n_classes : MAX_SHOWN_CLASSES;
    printf("\n%-*s%10s%10s  %-10s%-10s%s\n", NAME_WIDTH, "class", "gold", "predicted", "precision", "recall", "F1");
    for (size_t k = 0; k < shown; k++) {
        const dis_class_scores *s = &v->classes[k];
        char safe[CLI_SAFE], f1[CLI_METRIC_SIZE];
        cli_safe(dis_names_get(job->in.alignment.classes, k, NULL), safe);
        printf("%-*s%10llu%10llu  %-10.4f%-10.4f%s\n", NAME_WIDTH, safe, (unsigned long long)s->n_gold,
               (unsigned long long)s->n_predicted, s->precision.value, s->recall.value, figure_text(&s->f1, true, f1));
    }
    if (shown < v->n_classes) printf("... and %zu more: --classes-table FILE has them all\n", v->n_classes - shown);
}

/* Shares of the classes, for one file of predictions. */
static void soft_class_rows(const eval_command *job)
{
    const dis_evaluation_view *v = &job->view[0];
    if (!v->soft_classes || job->n > 1) return;
    const size_t shown = v->n_classes < MAX_SHOWN_CLASSES ? v->n_classes : MAX_SHOWN_CLASSES;
    printf("\n%-*s%10s%10s  %-10s%-10s%s\n", NAME_WIDTH, "class share", "people", "predicted", "precision", "recall",
           "F1");
    for (size_t k = 0; k < shown; k++) {
        const dis_soft_class_scores *s = &v->soft_classes[k];
        char safe[CLI_SAFE], f1[CLI_METRIC_SIZE];
        cli_safe(dis_names_get(job->in.alignment.classes, k, NULL), safe);
        printf("%-*s%10.4f%10.4f  %-10.4f%-10.4f%s\n", NAME_WIDTH, safe, s->human, s->predicted, s->precision.value,
               s->recall.value, figure_text(&s->f1, true, f1));
    }
    if (shown < v->n_classes) printf("... and %zu more: --classes-table FILE has them all\n", v->n_classes - shown);
}

void eval_text_print(const eval_command *job)
{
    const bool intervals = job->n <= MAX_WITH_INTERVALS;
    const int width = intervals ? 28 : 16; /* "10.5569 [10.3999, 10.7135]" and a gap */
    char items[CLI_NUMBER], safe[CLI_SAFE];
    if (job->n > 1) {
        printf("%-*s", NAME_WIDTH, "");
        for (size_t i = 0; i < job->n; i++)
            printf(i + 1 < job->n ? "%-*s" : "%.*s", width, short_name(job->in.path[i], (size_t)width - 2, safe));
        if (job->n > 0) putchar('\n');
    }
    if (job->v->gold) {
        printf("against gold labels, %s items\n", cli_count_format(job->view[0].n_gold, items));
        metric_rows(job, of_gold, intervals, width);
    }
    if (job->in.alignment.n_sources > job->n) {
        const bool annotators = job->view[0].interval_scope == DIS_INTERVAL_ANNOTATORS;
        printf("%sagainst people, %s items, nats%s%s%s\n", job->v->gold ? "\n" : "",
               cli_count_format(job->in.alignment.n_items, items), job->v->human_labels ? ", labels: " : "",
               job->v->human_labels ? job->v->human_labels : "",
               annotators && intervals ? "; intervals for other annotators and items" : "");
        metric_rows(job, of_people, intervals, width);
    }
    putchar('\n');
    metric_rows(job, of_neither, intervals, width);
    class_rows(job);
    soft_class_rows(job);
    reasons(job);
}

/* ---- tables ---- */

dis_status eval_table_write(const eval_command *job, const char *format)
{
    static const char *const columns[] = {"metric",  "predictions", "value",  "ci_low",
                                          "ci_high", "n",           "better", "reason"};
    dis__table_writer *t;
    const dis_status status =
        dis__table_writer_create(cli_metric_table_path(&job->v->figures), format, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        for (size_t i = 0; i < job->n && eval_has_metric(job, m); i++) {
            const dis_metric *x = &job->view[i].metric[m];
            cli_cell_write_text(t, dis_evaluation_metric_get(m)->name);
            cli_cell_write_text(t, job->in.path[i]);
            cli_cell_write_metric(t, x);
            dis__table_writer_count(t, x->n);
            cli_cell_write_text(t, dis_evaluation_metric_get(m)->better);
            cli_cell_write_text(t, x->reason);
        }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status eval_items_write(const eval_command *job)
{
    static const char *const first[] = {"predictions", "task", "gold", "predicted", "correct"};
    const char *columns[N(first) + DIS_EVALUATION_METRICS];
    const dis_alignment_view *a = &job->in.alignment;
    const dis_evaluation_items *any = &job->view[0].items; /* all have the same columns */
    memcpy(columns, first, sizeof first);
    for (size_t c = 0; c < any->n_columns; c++)
        columns[N(first) + c] = dis_evaluation_metric_get(any->column[c].metric)->name;
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->items, NULL, columns, N(first) + any->n_columns, &t);
    if (status != DIS_OK) return status;
    for (size_t f = 0; f < job->n; f++) {
        const dis_evaluation_items *x = &job->view[f].items;
        for (size_t i = 0; i < a->n_items; i++) {
            cli_cell_write_text(t, job->in.path[f]);
            cli_cell_write_name(t, a->tasks, i);
            const bool known = a->gold && a->gold[i] >= 0;
            if (known)
                cli_cell_write_name(t, a->classes, (size_t)a->gold[i]);
            else
                dis__table_writer_null(t);
            cli_cell_write_name(t, a->classes, (size_t)x->predicted[i]);
            if (known)
                dis__table_writer_count(t, a->gold[i] == x->predicted[i]);
            else
                dis__table_writer_null(t);
            for (size_t c = 0; c < x->n_columns; c++)
                if (x->column[c].values)
                    dis__table_writer_real(t, x->column[c].values[i]);
                else
                    dis__table_writer_null(t);
        }
    }
    return dis__table_writer_finish(t, DIS_OK);
}

static void write_metrics(dis__table_writer *t, const dis_metric *const *metrics, size_t n)
{
    for (size_t m = 0; m < n; m++) {
        if (metrics[m])
            cli_cell_write_metric(t, metrics[m]);
        else
            for (int cell = 0; cell < 3; cell++) dis__table_writer_null(t);
    }
}

static void write_class(dis__table_writer *t, const dis_class_scores *s)
{
    const dis_metric *const metrics[] = {s ? &s->precision : NULL, s ? &s->recall : NULL, s ? &s->f1 : NULL};
    const uint64_t counts[] = {s ? s->n_gold : 0, s ? s->n_predicted : 0, s ? s->n_correct : 0};
    for (size_t c = 0; c < N(counts); c++)
        if (s)
            dis__table_writer_count(t, counts[c]);
        else
            dis__table_writer_null(t);
    write_metrics(t, metrics, N(metrics));
}

static void write_soft_class(dis__table_writer *t, const dis_soft_class_scores *s)
{
    const dis_metric *const metrics[] = {s ? &s->precision : NULL, s ? &s->recall : NULL, s ? &s->f1 : NULL,
                                         s ? &s->brier : NULL, s ? &s->cross_entropy : NULL};
    dis__table_writer_real(t, s ? s->human : (double)NAN);
    dis__table_writer_real(t, s ? s->predicted : (double)NAN);
    write_metrics(t, metrics, N(metrics));
}

#define METRIC_COLUMNS(name) name, name "_ci_low", name "_ci_high"

dis_status eval_class_table_write(const eval_command *job)
{
    static const char *const columns[] = {"predictions",
                                          "class",
                                          "gold",
                                          "predicted",
                                          "correct",
                                          METRIC_COLUMNS("precision"),
                                          METRIC_COLUMNS("recall"),
                                          METRIC_COLUMNS("f1"),
                                          "human_share",
                                          "predicted_share",
                                          METRIC_COLUMNS("soft_precision"),
                                          METRIC_COLUMNS("soft_recall"),
                                          METRIC_COLUMNS("soft_f1"),
                                          METRIC_COLUMNS("class_brier"),
                                          METRIC_COLUMNS("class_cross_entropy")};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->class_table, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t f = 0; f < job->n; f++) {
        const dis_evaluation_view *v = &job->view[f];
        for (size_t k = 0; (v->classes || v->soft_classes) && k < v->n_classes; k++) {
            cli_cell_write_text(t, job->in.path[f]);
            cli_cell_write_name(t, job->in.alignment.classes, k);
            write_class(t, v->classes ? &v->classes[k] : NULL);
            write_soft_class(t, v->soft_classes ? &v->soft_classes[k] : NULL);
        }
    }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status eval_confusion_write(const eval_command *job)
{
    static const char *const columns[] = {"predictions", "gold", "predicted", "items"};
    const size_t k = job->in.alignment.n_classes;
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->confusion, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t f = 0; f < job->n; f++)
        for (size_t c = 0; job->view[f].confusion && c < k * k; c++) {
            cli_cell_write_text(t, job->in.path[f]);
            cli_cell_write_name(t, job->in.alignment.classes, c / k);
            cli_cell_write_name(t, job->in.alignment.classes, c % k);
            dis__table_writer_count(t, job->view[f].confusion[c]);
        }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status eval_bins_write(const eval_command *job)
{
    static const char *const columns[] = {"predictions", "above", "up_to", "items", "confidence", "accuracy"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->bins, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t f = 0; f < job->n; f++)
        for (size_t b = 0; b < job->view[f].n_bins; b++) {
            const dis_reliability_bin *x = &job->view[f].bin[b];
            cli_cell_write_text(t, job->in.path[f]);
            dis__table_writer_real(t, x->low);
            dis__table_writer_real(t, x->high);
            dis__table_writer_count(t, x->n);
            dis__table_writer_real(t, x->confidence);
            dis__table_writer_real(t, x->accuracy);
        }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status eval_human_bins_write(const eval_command *job)
{
    static const char *const columns[] = {"predictions", "quantity", "class",     "above",
                                          "up_to",       "items",    "predicted", "human"};
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(job->v->human_bins, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t f = 0; f < job->n; f++)
        for (size_t b = 0; b < job->view[f].n_human_bins; b++) {
            const dis_human_bin *x = &job->view[f].human_bin[b];
            const bool entropy = x->class_index == SIZE_MAX;
            cli_cell_write_text(t, job->in.path[f]);
            cli_cell_write_text(t, entropy ? "entropy" : "probability");
            if (entropy)
                dis__table_writer_null(t);
            else
                cli_cell_write_name(t, job->in.alignment.classes, x->class_index);
            dis__table_writer_real(t, x->low);
            dis__table_writer_real(t, x->high);
            dis__table_writer_count(t, x->n);
            dis__table_writer_real(t, x->predicted);
            dis__table_writer_real(t, x->human);
        }
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- for machines ---- */

enum { MAX_CONFUSION = 200 }; /* classes of a matrix within the summary; --confusion has larger ones */

static void put_metrics(const eval_command *job, dis__json_writer *j, const dis_evaluation_view *v)
{
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (eval_has_metric(job, m)) {
            dis__json_writer_key(j, dis_evaluation_metric_get(m)->name);
            dis__json_writer_metric(j, &v->metric[m]);
        }
    dis__json_writer_end_object(j);
}

static void put_classes(const eval_command *job, dis__json_writer *j, const dis_evaluation_view *v)
{
    if (!v->classes) return;
    cli_json_write_text(j, "majority_class", dis_names_get(job->in.alignment.classes, v->majority_class, NULL));
    dis__json_writer_key(j, "by_class");
    dis__json_writer_begin_array(j);
    for (size_t k = 0; k < v->n_classes; k++) {
        const dis_class_scores *s = &v->classes[k];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "class", dis_names_get(job->in.alignment.classes, k, NULL));
        cli_json_write_count(j, "gold", s->n_gold);
        cli_json_write_count(j, "predicted", s->n_predicted);
        cli_json_write_count(j, "correct", s->n_correct);
        dis__json_writer_key(j, "precision");
        dis__json_writer_metric(j, &s->precision);
        dis__json_writer_key(j, "recall");
        dis__json_writer_metric(j, &s->recall);
        dis__json_writer_key(j, "f1");
        dis__json_writer_metric(j, &s->f1);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "confusion");
    if (!v->confusion || v->n_classes > MAX_CONFUSION) {
        dis__json_writer_null(j);
        return;
    }
    dis__json_writer_begin_array(j); /* row: gold, column: predicted */
    for (size_t g = 0; g < v->n_classes; g++) {
        dis__json_writer_begin_array(j);
        for (size_t k = 0; k < v->n_classes; k++) dis__json_writer_count(j, v->confusion[g * v->n_classes + k]);
        dis__json_writer_end_array(j);
    }
    dis__json_writer_end_array(j);
}

static void put_metric(dis__json_writer *j, const char *key, const dis_metric *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_metric(j, m);
}

static void put_soft_classes(const eval_command *job, dis__json_writer *j, const dis_evaluation_view *v)
{
    if (!v->soft_classes) return;
    dis__json_writer_key(j, "by_class_share");
    dis__json_writer_begin_array(j);
    for (size_t k = 0; k < v->n_classes; k++) {
        const dis_soft_class_scores *s = &v->soft_classes[k];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "class", dis_names_get(job->in.alignment.classes, k, NULL));
        cli_json_write_real(j, "human", s->human);
        cli_json_write_real(j, "predicted", s->predicted);
        put_metric(j, "precision", &s->precision);
        put_metric(j, "recall", &s->recall);
        put_metric(j, "f1", &s->f1);
        put_metric(j, "brier", &s->brier);
        put_metric(j, "cross_entropy", &s->cross_entropy);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_calibration(dis__json_writer *j, const dis_evaluation_view *v)
{
    if (v->bin) {
        dis__json_writer_key(j, "bins");
        dis__json_writer_begin_array(j);
        for (size_t b = 0; b < v->n_bins; b++) {
            dis__json_writer_begin_object(j);
            cli_json_write_real(j, "above", v->bin[b].low);
            cli_json_write_real(j, "up_to", v->bin[b].high);
            cli_json_write_count(j, "n", v->bin[b].n);
            cli_json_write_real(j, "confidence", v->bin[b].confidence);
            cli_json_write_real(j, "accuracy", v->bin[b].accuracy);
            dis__json_writer_end_object(j);
        }
        dis__json_writer_end_array(j);
    }
    if (v->n_splits == 0) return;
    dis__json_writer_key(j, "temperatures");
    dis__json_writer_begin_array(j);
    for (size_t s = 0; s < v->n_splits; s++) {
        dis__json_writer_begin_object(j);
        cli_json_write_real(j, "value", v->temperature[s]);
        cli_json_write_bool(j, "on_bound", v->at_bound[s]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

dis_status eval_json_write(const eval_command *job)
{
    const eval_values *v = job->v;
    dis__json_writer *j;
    dis_status status = cli_summary_open(v->figures.json, "eval", &v->figures.seed, &j);
    if (status != DIS_OK) return status;
    status = label_input_write_json(&job->in, j);
    if (status == DIS_OK && v->groups) {
        dis__json_writer_key(j, "groups");
        status = cli_input_write(j, v->groups, "groups");
    }
    if (status == DIS_OK && job->people.groups) {
        dis__json_writer_key(j, "worker_table");
        status = cli_input_write(j, v->people.table, "worker table");
    }
    cli_json_write_count(j, "items", job->in.alignment.n_items);
    cli_json_write_names(j, "classes", job->in.alignment.classes);
    cli_json_write_text(j, "human_labels", v->human_labels);
    cli_json_write_bool(j, "ordinal", votes_input_is_ordered(&v->reading));
    cli_json_write_count(j, "resamples", v->figures.resamples);
    cli_json_write_text(j, "intervals_over", dis_interval_scope_name(job->view[0].interval_scope));
    cli_json_write_count(j, "annotators", job->view[0].n_annotators);
    cli_json_write_bool(j, "few_annotators", job->view[0].few_annotators);
    cli_json_write_real(j, "fraction", v->figures.fraction);
    cli_json_write_count(j, "top_k", v->top_k);
    cli_json_write_text(j, "entropy_base", "e");
    cli_json_write_real(j, "probability_floor", 1e-12);
    dis__json_writer_key(j, "predictions");
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < job->n; i++) {
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "path", job->in.path[i]);
        cli_json_write_count(j, "floored", job->view[i].n_floored);
        if (job->in.alignment.n_sources > job->n)
            cli_json_write_count(j, "human_floored", job->view[i].n_human_floored);
        put_metrics(job, j, &job->view[i]);
        put_classes(job, j, &job->view[i]);
        put_soft_classes(job, j, &job->view[i]);
        put_calibration(j, &job->view[i]);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
    if (job->n == 1) put_metrics(job, j, &job->view[0]); /* where one looks first */
    eval_groups_write_json(job, j);
    if (v->votes.n && status == DIS_OK) votes_input_write_json_notes(&job->votes, j);
    return cli_summary_close(j, status);
}
