/* dissent predict: predictions of a trained model, as a file of labels; dissent model: describes a model. */
#include "tool/json_writer.h"
#include "tool/table_columns.h"
#include "tool/table_writer.h"
#include "tool/arrays.h"
#include "tool/label_calls.h"
#include "output/confidence_output.h"
#include "output/metric_table.h"
#include "input/groups_input.h"
#include "input/items_input.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    cli_items_values reading;
    const char *items, *output, *format, *head, *pairs, *perspectives;
    cli_table_values table;
    int point;
} predict_values;

#define OPTION(kind, field, name, ...) CLI_OPTION(predict_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option predict_options[] = {
    OPTION(TEXT, items, "items", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           .formats = CLI_LABEL_FORMATS, .standard = "the predictions"),
    OPTION(TEXT, format, "format", .argument = "FORMAT"),
    OPTION(TEXT, head, "head", .argument = "NAME",
           CLI_HELP(METHOD, "head of the model: gold, silver, soft, crowd, vote or class [the first]")),
    OPTION(TEXT, pairs, "pairs", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "annotators to predict for each item (task,worker), for models of annotators")),
    CLI_WORKER_TABLE_OPTIONS(predict_values, table),
    CLI_OUTPUT_OPTION(predict_values, perspectives, "perspectives", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write predictions for each annotator (task,worker,label,p:CLASS,...)")),
    OPTION(CHOICE, point, "point", .argument = "RULE", .fallback = "mode", .choices = "mode|median",
           CLI_HELP(OUTPUT, "label in --perspectives: the most probable class, or the median of ordered classes")),
    CLI_DEVICE_OPTION(predict_values),
    CLI_PRECISION_OPTION(predict_values),
    CLI_ITEMS_OPTIONS(predict_values, reading),
    CLI_COMMON_OPTIONS(predict_values),
};
/* clang-format on */

/* ---- pairs ---- */

static size_t point_of(const double *p, size_t n, bool median)
{
    double sum = 0;
    size_t k = 0;
    if (!median) return dis__argmax(p, n);
    while (k + 1 < n && (sum += p[k]) < .5) k++;
    return k;
}

static dis_status write_pairs(const predict_values *v, const dis_labels_view *l, const dis_names *workers)
{
    const size_t n = l->n_classes;
    char **names = calloc(3 + n, sizeof *names);
    bool fine = names && (names[0] = strdup("task")) && (names[1] = strdup("worker")) && (names[2] = strdup("label"));
    for (size_t k = 0; fine && k < n; k++) {
        const char *class = dis_names_get(l->classes, k, NULL);
        fine = (names[3 + k] = malloc(strlen(class) + 3)) != NULL;
        if (fine) sprintf(names[3 + k], "p:%s", class);
    }
    dis__table_writer *t;
    dis_status status =
        fine ? dis__table_writer_create(v->perspectives, NULL, (const char *const *)names, 3 + n, &t) : DIS_ELIMIT;
    for (size_t r = 0; status == DIS_OK && r < l->n_items; r++) {
        cli_cell_write_name(t, l->tasks, r);
        cli_cell_write_name(t, workers, r);
        cli_cell_write_name(t, l->classes, point_of(l->p + r * n, n, v->point == 1));
        for (size_t k = 0; k < n; k++) dis__table_writer_real(t, l->p[r * n + k]);
    }
    if (status == DIS_OK) status = dis__table_writer_finish(t, DIS_OK);
    for (size_t k = 0; names && k < 3 + n; k++) free(names[k]);
    free(names);
    return status;
}

/* What is known of workers whom the model has not learned from. */
static int load_workers(cli *c, const predict_values *v, dis_context *ctx, dis_model *model)
{
    dis_worker_table *table = NULL;
    int code = worker_table_input_read(c, ctx, &v->table, &table);
    if (code == 0 && table) code = cli_failed(c, dis_model_set_workers(model, table));
    dis_worker_table_destroy(table);
    return code;
}

static int predict_pairs(cli *c, const predict_values *v, dis_context *ctx, dis_model *model, const dis_items *items,
                         dis_labels **labels)
{
    dis_names *tasks = NULL, *workers = NULL;
    dis_labels *each = NULL;
    size_t unknown = 0;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    dis_status status = dis__task_worker_pairs_read(ctx, v->pairs, &tasks, &workers);
    if (status == DIS_OK) status = dis_model_predict_workers(ctx, model, items, tasks, workers, &each, &unknown);
    if (status == DIS_OK) {
        const dis_labels_view view = dis_labels_get_view(each);
        if (unknown)
            cli_print(c,
                      "%s of %s pairs have an annotator that the model does not know; they get the prediction for a "
                      "new annotator",
                      cli_count_format(unknown, number), cli_count_format(view.n_items, other));
        if (v->perspectives) status = write_pairs(v, &view, workers);
        if (status == DIS_OK) status = dis__labels_average_items(ctx, &view, labels);
    }
    dis_labels_destroy(each);
    dis_names_destroy(tasks);
    dis_names_destroy(workers);
    return cli_failed(c, status);
}

static int predict(cli *c, const predict_values *v, const char *folder, dis_context *ctx, dis_model **model,
                   dis_items **items, dis_labels **labels)
{
    if (!v->items) return cli_usage(c, "predict needs the items: --items FILE");
    if (cli_format_check(c, "format", v->format) != 0) return DIS_EUSAGE;
    if (v->perspectives && !v->pairs)
        return cli_usage(c, "--perspectives needs --pairs FILE, the annotators to predict for each item");
    if (v->table.file && !v->pairs)
        return cli_usage(c, "--worker-table needs --pairs FILE, the annotators to predict for");
    int code = cli_failed(c, dis_model_read(ctx, folder, model));
    if (code != 0) return code;
    const dis_model_view m = dis_model_get_view(*model);
    code = load_workers(c, v, ctx, *model);
    if (code != 0) return code;
    code = items_input_read(c, ctx, &v->reading, NULL, m.kind->items_kind, v->items, items);
    if (code != 0) return code;
    code = v->pairs ? predict_pairs(c, v, ctx, *model, *items, labels)
                    : cli_failed(c, dis_model_predict(ctx, *model, *items, v->head, labels));
    if (code != 0) return code;
    const dis_labels_view view = dis_labels_get_view(*labels);
    code = cli_failed(c, dis_labels_write(ctx, &view, v->output ? v->output : "-", v->format));
    char number[CLI_NUMBER], safe[CLI_SAFE];
    if (code == 0)
        cli_print(c, "%s item%s predicted by head %s of %s (%.2f s)", cli_count_format(view.n_items, number),
                  cli_plural(view.n_items), v->head ? v->head : m.head[0], cli_safe(folder, safe),
                  cli_seconds_since(&c->start));
    if (code == 0) (void)confidence_print(c, view.p, view.n_items, view.n_classes, "uncertain");
    if (code == 0 && v->output && !cli_is_dash(v->output)) {
        const char *const evaluate[] = {v->output, "--gold", "gold.csv", NULL};
        cli_next_print(c, "eval", evaluate, "evaluate the predictions, if gold labels are available");
    }
    return code;
}

static int run_predict(cli *c, const void *values, char **operands, size_t n_operands)
{
    const predict_values *v = values;
    dis_context *ctx = NULL;
    dis_model *model = NULL;
    dis_items *items = NULL;
    dis_labels *labels = NULL;
    (void)n_operands;
    int code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = predict(c, v, operands[0], ctx, &model, &items, &labels);
    dis_labels_destroy(labels);
    dis_items_destroy(items);
    dis_model_destroy(model);
    dis_context_destroy(ctx);
    return code;
}

extern const cli_command cli_cmd_predict, cli_cmd_model;
const cli_command cli_cmd_predict = {
    .name = "predict",
    .section = CLI_LEARN,
    .summary = "predict soft labels of items with a trained model",
    .operands = "MODEL",
    .text = "Reads a model that dissent train has written, and items of the same kind as in training. Writes one row "
            "per item, as dissent labels does: task,label,entropy,p:CLASS,... For a model of annotators with --pairs, "
            "the prediction of an item is the mean over these annotators.",
    .examples = "  dissent predict model --items new.csv -o predicted.csv\n"
                "  dissent predict model --items test.csv --head soft --device auto -o predicted.csv\n"
                "  dissent predict model --items new.csv --pairs asked.csv --perspectives each.csv -o predicted.csv\n",
    .basic = "items|task|text|head|pairs|output|format|perspectives|device|quiet",
    .names = CLI_NAMES_FOLDER,
    .holds = CLI_MODEL_FILES,
    .min = 1,
    .max = 1,
    .options = predict_options,
    .n_options = sizeof predict_options / sizeof *predict_options,
    .values_size = sizeof(predict_values),
    .run = run_predict,
};

/* ---- model ---- */

typedef struct {
    cli_common common;
    const char *json, *export;
} model_values;

/* clang-format off */
static const cli_option model_options[] = {
    CLI_OUTPUT_OPTION(model_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_OPTION(model_values, TEXT, export, "export", .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER,
               CLI_HELP(OUTPUT, "write a model of a pretrained encoder for transformers")),
    CLI_COMMON_OPTIONS(model_values),
};
/* clang-format on */

static void show(const dis_model_view *m)
{
    printf("%-22s %s\n%-22s %s\n%-22s %llu\n", "model", m->spec, "objective", m->objective, "seed",
           (unsigned long long)m->seed);
    printf("%-22s %zu\n%-22s %zu\n", "parameters", m->n_parameters, "trained on", m->n_examples);
    if (m->n_left_out) printf("%-22s %zu\n", "without a label", m->n_left_out);
    if (m->n_words) printf("%-22s %zu (%zu with pretrained vectors)\n", "words", m->n_words, m->n_words_in_vectors);
    printf("%-22s", "classes");
    for (size_t k = 0; k < dis_names_count(m->classes); k++) {
        char safe[CLI_SAFE];
        printf("%s %s", k ? "," : "", cli_safe(dis_names_get(m->classes, k, NULL), safe));
    }
    printf("\n%-22s", "heads");
    for (size_t h = 0; h < m->n_heads; h++) printf("%s %s", h ? "," : "", m->head[h]);
    printf("\n%-22s %zu of %zu%s%s\n", "kept epoch", m->best_epoch + 1, m->n_epochs, m->keep ? " by " : "",
           m->keep ? m->keep : "");
    printf("%-22s %.6g\n", "training loss", m->epoch[m->best_epoch].loss);
    if (m->keep) printf("%-22s %.6g\n", m->keep, m->epoch[m->best_epoch].dev);
}

static dis_status write_summary(const dis_model_view *m, const char *path)
{
    dis__json_writer *j;
    const dis_status status = cli_summary_open(path, "model", &m->seed, &j);
    if (status != DIS_OK) return status;
    cli_json_write_text(j, "model", m->spec);
    cli_json_write_text(j, "objective", m->objective);
    cli_json_write_count(j, "parameters", m->n_parameters);
    cli_json_write_count(j, "examples", m->n_examples);
    cli_json_write_count(j, "left_out", m->n_left_out);
    cli_json_write_count(j, "words", m->n_words);
    cli_json_write_names(j, "classes", m->classes);
    dis__json_writer_key(j, "heads");
    dis__json_writer_begin_array(j);
    for (size_t h = 0; h < m->n_heads; h++) dis__json_writer_text(j, m->head[h]);
    dis__json_writer_end_array(j);
    cli_json_write_count(j, "epochs", m->n_epochs);
    cli_json_write_count(j, "best_epoch", m->best_epoch);
    cli_json_write_text(j, "kept_by", m->keep);
    cli_json_write_real(j, "dev", m->epoch[m->best_epoch].dev);
    cli_json_write_real(j, "loss", m->epoch[m->best_epoch].loss);
    return cli_summary_close(j, DIS_OK);
}

static int run_model(cli *c, const void *values, char **operands, size_t n_operands)
{
    const model_values *v = values;
    dis_context *ctx = NULL;
    dis_model *model = NULL;
    (void)n_operands;
    int code = cli_failed(c, cli_context_create(c, &v->common, &ctx));
    if (code == 0) code = cli_failed(c, dis_model_read(ctx, operands[0], &model));
    if (code == 0) {
        const dis_model_view m = dis_model_get_view(model);
        if (!v->json || strcmp(v->json, "-") != 0) show(&m);
        code = v->json ? cli_failed(c, write_summary(&m, v->json)) : 0;
        if (code == 0 && v->export) code = cli_failed(c, dis_model_export(model, v->export));
        if (code == 0) code = cli_flush(c);
    }
    dis_model_destroy(model);
    dis_context_destroy(ctx);
    return code;
}

const cli_command cli_cmd_model = {
    .name = "model",
    .section = CLI_LEARN,
    .summary = "describe a trained model, or export it",
    .operands = "MODEL",
    .text = "Describes a folder that dissent train has written: model and objective, classes, heads, sizes, and the "
            "epoch that was kept. --export writes a model of a pretrained encoder in the format of transformers; of "
            "two heads, the first is written.",
    .examples = "  dissent model model\n"
                "  dissent model model --json model.json\n"
                "  dissent model model --export folder\n",
    .basic = "export|json|threads|memory|quiet|verbose",
    .names = CLI_NAMES_FOLDER,
    .holds = CLI_MODEL_FILES,
    .min = 1,
    .max = 1,
    .options = model_options,
    .n_options = sizeof model_options / sizeof *model_options,
    .values_size = sizeof(model_values),
    .run = run_model,
};
