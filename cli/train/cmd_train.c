/* dissent train: trains a model on items and their labels.
 *
 * Everything is read once. One call of the library trains the models of --runs and --folds. train_output.c prints the
 * result. */
#include "tool/arrays.h"
#include "tool/rank_calls.h"
#include "tool/method_checks.h"
#include "os/process.h"
#include "train/cmd_train.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows of dissent/train_options.h. */
#define OF_COUNT  .kind = CLI_COUNT
#define OF_REAL   .kind = CLI_REAL
#define OF_FLAG   .kind = CLI_FLAG
#define OF_TEXT   .kind = CLI_TEXT
#define OF_FILE   .kind = CLI_TEXT, .names = CLI_NAMES_FILE
#define OF_FOLDER .kind = CLI_TEXT, .names = CLI_NAMES_FOLDER, .holds = CLI_ENCODER_FILES
#define TRAIN_OPTION(kind_, field, name_, argument_, fallback_, low_, high_, summary_) \
    {.name = name_,                                                                    \
     OF_##kind_,                                                                       \
     .offset = offsetof(train_values, train.field),                                    \
     .argument = argument_,                                                            \
     .fallback = fallback_,                                                            \
     .low = low_,                                                                      \
     .high = high_,                                                                    \
     CLI_HELP(TRAINING, summary_)},
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts of training are read as 64 bits");

#define OPTION(kind, field, name, ...) CLI_OPTION(train_values, kind, field, name, __VA_ARGS__)

/* clang-format off */
static const cli_option options[] = {
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FOLDER", .names = CLI_NAMES_OUTPUT_FOLDER,
           .holds = CLI_MODEL_FILES, CLI_HELP(OUTPUT, "write the model to FOLDER")),
    OPTION(TEXT, model, "model", .argument = "SPEC", .fallback = "text",
           CLI_HELP(TRAINING, "model, NAME[:key=value,...] (see: dissent list models)")),
    OPTION(TEXT, objective, "objective", .argument = "SPEC", .fallback = "kl",
           CLI_HELP(TRAINING, "objective, NAME[:key=value,...] (see: dissent list objectives)")),
    OPTION(TEXT, items, "items", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, labels, "labels", .argument = "FILE", .names = CLI_NAMES_FILE),
    OPTION(TEXT, gold, "gold", .argument = "FILE", .names = CLI_NAMES_FILE),
    CLI_GOLD_COLUMNS_OPTION(train_values, gold_columns),
    OPTION(TEXT, votes, "votes", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "annotations, for the objectives crowd:..., annotator and annot-mix")),
    OPTION(TEXT, preset, "preset", .argument = "NAME", .names = CLI_NAMES_PRESET),
    OPTION(TEXT, votes_label, "label", .argument = "COLUMN"),
    CLI_WORKER_TABLE_OPTIONS(train_values, table),
    OPTION(TEXT, worker_features, "worker-features", .argument = "COLUMN,...",
           CLI_HELP(GROUPS, "annotator features from --worker-table, for the objectives annotator and annot-mix")),
    OPTION(TEXT, classes, "classes", .argument = "LIST|FILE", .names = CLI_NAMES_FILE),
    OPTION(REAL, dev, "dev", .argument = "X", .fallback = "0", .low = 0, .high = .9,
           CLI_HELP(DEVELOPMENT, "hold out this share of the items as development set")),
    OPTION(TEXT, dev_items, "dev-items", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(DEVELOPMENT, "items of a separate development set")),
    OPTION(LIST, dev_where, "dev-where", .argument = "COLUMN=VALUE",
           CLI_HELP(DEVELOPMENT, "use items in which COLUMN is VALUE as development set")),
    OPTION(TEXT, dev_labels, "dev-labels", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(DEVELOPMENT, "soft labels of the development set [those of --labels]")),
    OPTION(TEXT, dev_gold, "dev-gold", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(DEVELOPMENT, "gold labels of the development set [those of --gold]")),
    DIS_TRAIN_OPTIONS(TRAIN_OPTION)
    OPTION(COUNT, runs, "runs", .argument = "N", .fallback = "1", .low = 1, .high = 100000,
           CLI_HELP(TRAINING, "train N models with the seeds --seed, --seed + 1, ...")),
    OPTION(COUNT, jobs, "jobs", .argument = "N", .fallback = "1", .none = "auto", .low = 1, .high = 1024),
    OPTION(COUNT, folds, "folds", .argument = "N", .fallback = "0", .high = 10000,
           CLI_HELP(TRAINING, "train a model without each of N folds and predict that fold (--out-of-fold) [off]")),
    CLI_OUTPUT_OPTION(train_values, out_of_fold, "out-of-fold", CLI_LABEL_FORMATS,
                      CLI_HELP(OUTPUT, "with --folds: write the predictions of all folds")),
    OPTION(FLAG, fold_case, "fold-case", CLI_SHARED_HELP),
    OPTION(FLAG, trim, "trim", CLI_SHARED_HELP),
    OPTION(FLAG, allow_many_classes, "allow-many-classes", CLI_SHARED_HELP),
    OPTION(FLAG, resume, "resume", CLI_HELP(TRAINING, "continue from the checkpoints in the output folder")),
    CLI_OUTPUT_OPTION(train_values, curves, "curves", CLI_TABLE_FORMATS,
                      CLI_HELP(OUTPUT, "write loss and development metric of every epoch")),
    CLI_OUTPUT_OPTION(train_values, json, "json", "json", CLI_SHARED_HELP),
    OPTION(FLAG, lenient, "lenient", CLI_SHARED_HELP),
    OPTION(FLAG, renormalise, "renormalise", CLI_SHARED_HELP),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0", .high = 1e19),
    CLI_DEVICE_OPTION(train_values),
    CLI_PRECISION_OPTION(train_values),
    CLI_ITEMS_OPTIONS(train_values, reading),
    CLI_COMMON_OPTIONS(train_values),
};
/* clang-format on */

/* ---- reading ---- */

static int check(train_command *job)
{
    cli *c = job->c;
    const train_values *v = job->v;
    if (!v->items) return cli_usage(c, "train needs the items: --items FILE");
    if (!v->output && !v->folds) return cli_usage(c, "train needs an output folder: -o FOLDER");
    if ((v->preset || v->votes_label) && !v->votes)
        return cli_usage(c, "--%s applies to votes, and no votes are given; add --votes FILE",
                         v->preset ? "preset" : "label");
    if ((v->table.file != NULL) != (v->worker_features != NULL))
        return cli_usage(
            c, "--worker-table and --worker-features need each other: a table, and its columns used as features");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(v->model, ":"), v->model);
    job->kind = dis_model_kind_find(name);
    if (!job->kind) return cli_usage(c, "no model \"%s\"; dissent list models shows them", name);
    if (!dis_objective_find(v->objective))
        return cli_usage(c, "no objective \"%s\"; dissent list objectives shows them", v->objective);
    const int devs = (v->dev > 0) + (v->dev_items != NULL) + (v->dev_where.n > 0);
    if (devs > 1)
        return cli_usage(c, "--dev, --dev-items and --dev-where all define the development set; use one of them");
    if (v->dev_items && !v->dev_labels && !v->dev_gold)
        return cli_usage(c, "--dev-items needs labels: --dev-gold, --dev-labels or both");
    if (devs == 0 && (v->dev_labels || v->dev_gold || v->train.keep || v->train.patience))
        return cli_usage(c, "no development set is given; add --dev, --dev-items or --dev-where");
    return train_folds_check(job);
}

static int read_labels(train_command *job, const char *path, dis_labels **out)
{
    dis_labels_read_options o = dis_labels_read_options_default();
    o.renormalise = job->v->renormalise;
    const int code = cli_failed(job->c, dis_labels_read(job->ctx, path, &o, out));
    if (code == 0 && dis_labels_n_renormalised(*out)) {
        char safe[CLI_SAFE];
        cli_warn(job->c, "%s: %llu rows that did not sum to 1 were rescaled", cli_safe(path, safe),
                 (unsigned long long)dis_labels_n_renormalised(*out));
    }
    return code;
}

/* Holds out a share of the items (of sentences), by the seed: the same for all runs. */
static int hold_out(train_command *job)
{
    const dis_items_view v = dis_items_get_view(job->all);
    const size_t n = v.sentence ? v.n_sentences : v.n_items, n_dev = (size_t)((double)n * job->v->dev + .5);
    if (n_dev == 0 || n_dev == n)
        return cli_error(job->c, DIS_EDATA, "--dev leaves the training or the development set of %zu items empty", n);
    size_t *row = malloc(n * sizeof *row);
    if (!row) return cli_error(job->c, DIS_ELIMIT, "no memory for a split of %zu items", n);
    dis__shuffle(job->v->seed, n, row);
    dis_status status = dis_items_gather(job->ctx, job->all, row, n_dev, &job->dev_items);
    if (status == DIS_OK) status = dis_items_gather(job->ctx, job->all, row + n_dev, n - n_dev, &job->items);
    free(row);
    return cli_failed(job->c, status);
}

/* All of them on every rank, which has parts of batches, not of votes. */
static int read_votes(train_command *job, const dis_votes_options *how)
{
    dis_context *alone;
    dis_status status = cli_context_create_local(job->c, &job->v->common, &alone);
    if (status == DIS_OK) {
        status = dis_votes_read(alone, &job->v->votes, 1, how, &job->votes);
        dis_context_destroy(alone);
    }
    return cli_failed(job->c, status);
}

static int read_gold(train_command *job, const char *path, dis_gold **out)
{
    gold_input how;
    int code = gold_input_init(job->c, job->v->gold_columns, job->v->fold_case, job->v->trim, &how);
    if (code == 0) code = cli_failed(job->c, dis_gold_read(job->ctx, path, &how.o, out));
    gold_input_free(&how);
    return code;
}

static int read_all(train_command *job)
{
    cli *c = job->c;
    const train_values *v = job->v;
    const dis_items_kind kind = job->kind->items_kind;
    int code = items_input_read(c, job->ctx, &v->reading, NULL, kind, v->items, v->dev > 0 ? &job->all : &job->items);
    if (code == 0 && v->dev > 0) code = hold_out(job);
    if (code == 0 && (v->dev_items || v->dev_where.n))
        code = items_input_read(c, job->ctx, &v->reading, v->dev_where.n ? &v->dev_where : NULL, kind,
                                v->dev_items ? v->dev_items : v->items, &job->dev_items);
    if (code == 0 && v->labels) code = read_labels(job, v->labels, &job->labels);
    if (code == 0 && v->dev_labels) code = read_labels(job, v->dev_labels, &job->dev_labels);
    if (code == 0 && v->gold) code = read_gold(job, v->gold, &job->gold);
    if (code == 0 && v->dev_gold) code = read_gold(job, v->dev_gold, &job->dev_gold);
    if (code == 0 && v->votes) {
        dis_votes_options how = dis_votes_options_default();
        how.preset = v->preset;
        how.label = v->votes_label;
        how.classes = job->classes.name;
        how.n_classes = job->classes.n;
        how.allow_many_classes = v->allow_many_classes;
        how.fold_case = v->fold_case;
        how.trim = v->trim;
        code = read_votes(job, &how);
    }
    return code == 0 ? worker_table_input_read(c, job->ctx, &v->table, &job->table) : code;
}

/* Ranks train one model together; of several models each rank trains some. */
static bool is_split_over_ranks(const train_values *v)
{
    return cli_ranks_count() > 1 && (v->folds || v->runs > 1);
}

static int check_ranks(const train_command *job)
{
    if (dis_context_n_ranks(job->ctx) == 1 || is_split_over_ranks(job->v) || job->v->jobs <= 1) return 0;
    return cli_usage(job->c, "--jobs applies to several models, but MPI ranks train one model together; leave it out");
}

/* All ranks have come as far, or the first that has not tells why and ends the others. */
static int agree(train_command *job, int code)
{
    const int rank = dis_context_rank(job->ctx);
    const int agreed = (int)dis__context_reduce_status(job->ctx, (dis_status)code);
    job->c->silent = false;
    if (agreed != 0 && agreed == code && rank > 0)
        cli_error(job->c, (dis_status)code, "rank %d: %s", rank, dis_last_error());
    return agreed;
}

/* One process per folder: the lock ends with the process, however that ends. */
static int claim_folder(train_command *job)
{
    const char *folder = job->v->output;
    char path[4096], safe[CLI_SAFE];
    const int code = cli_create_folder(job->c, folder);
    if (code != 0) return code;
    if ((size_t)snprintf(path, sizeof path, "%s/lock", folder) >= sizeof path)
        return cli_error(job->c, DIS_EUSAGE, "-o: the path is too long");
    const bool locked = cli_process_lock(path, &job->lock);
    if (job->lock < 0)
        return cli_error(job->c, DIS_EIO, "cannot write to the folder %s: %s", cli_safe(folder, safe), strerror(errno));
    if (!locked)
        return cli_error(job->c, DIS_EIO, "another run is writing to %s; wait for it, or use another folder",
                         cli_safe(folder, safe));
    return cli_failed(job->c, dis__model_check_folder(job->ctx, folder));
}

/* ---- training ---- */

static dis_model_train_options train_options(const train_command *job)
{
    const train_values *v = job->v;
    dis_model_train_options o = v->train;
    o.size = sizeof o;
    o.model = v->model;
    o.objective = v->objective;
    o.seed = v->seed;
    o.lenient = v->lenient;
    o.folder = v->output;
    o.resume = v->resume;
    o.classes = job->declared;
    o.worker_table = job->table;
    o.worker_features = v->worker_features;
    return o;
}

static int train_models(train_command *job)
{
    const train_values *v = job->v;
    const dis_model_train_options o = train_options(job);
    const dis_examples train = {.size = sizeof(dis_examples),
                                .items = job->items,
                                .labels = job->labels,
                                .gold = job->gold,
                                .votes = job->votes};
    /* Items of another file may have the same ids as other items of the first file. */
    const bool own = v->dev_items != NULL;
    const dis_examples dev = {.size = sizeof(dis_examples),
                              .items = job->dev_items,
                              .labels = job->dev_labels || own ? job->dev_labels : job->labels,
                              .gold = job->dev_gold || own ? job->dev_gold : job->gold};
    dis_train_runs_options several = dis_train_runs_options_default();
    several.n_runs = v->output ? (size_t)v->runs : 0;
    several.jobs = (size_t)v->jobs;
    several.folds = job->folds;
    several.folds_dev = own ? &dev : NULL;
    const dis_status status =
        dis_model_train_runs(job->ctx, &train, job->dev_items ? &dev : NULL, &o, &several, &job->runs);
    if (status == DIS_OK) job->trained = dis_train_runs_get_view(job->runs);
    return cli_failed(job->c, status);
}

/* ---- all of it ---- */

static int work(train_command *job)
{
    int code = check(job);
    if (code == 0) code = class_list_read(job->c, job->v->classes, &job->classes);
    if (code == 0 && job->classes.n)
        code = cli_failed(job->c, dis_names_create(job->classes.name, job->classes.n, &job->declared));
    job->c->replicates_data = is_split_over_ranks(job->v);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &job->v->common, &job->ctx));
    const int rank = dis_context_rank(job->ctx);
    job->c->silent = rank > 0;
    if (code == 0) code = check_ranks(job);
    if (code == 0) code = read_all(job);
    if (code == 0) code = train_folds_draw(job);
    if (code == 0 && job->v->output && rank == 0) code = claim_folder(job);
    if (job->ctx) code = agree(job, code);
    if (code != 0) return code;
    code = train_models(job);
    if (code == 0 && job->folds && rank == 0) code = train_folds_write(job);
    if (!job->v->output || rank > 0) return code;
    if (code == 0 && job->v->curves) code = cli_failed(job->c, train_curves_write(job));
    if (code == 0 && job->v->json) code = cli_failed(job->c, train_json_write(job));
    if (code == 0) train_result_print(job);
    return code;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    train_command job = {.c = c, .v = values, .lock = -1};
    (void)operands;
    (void)n_operands;
    const int code = work(&job);
    if (code != 0) dis__context_abort(job.ctx, code);
    dis_train_runs_destroy(job.runs);
    dis_folds_destroy(job.folds);
    dis_items_destroy(job.all);
    dis_items_destroy(job.items);
    dis_items_destroy(job.dev_items);
    dis_labels_destroy(job.labels);
    dis_labels_destroy(job.dev_labels);
    dis_gold_destroy(job.gold);
    dis_gold_destroy(job.dev_gold);
    dis_votes_destroy(job.votes);
    dis_worker_table_destroy(job.table);
    dis_names_destroy(job.declared);
    class_list_free(&job.classes);
    dis_context_destroy(job.ctx);
    if (job.lock >= 0) close(job.lock);
    return code;
}

extern const cli_command cli_cmd_train;
const cli_command cli_cmd_train = {
    .name = "train",
    .section = CLI_LEARN,
    .summary = "train a model on soft labels, gold labels or votes",
    .operands = "",
    .text = "Trains a model on items (texts, tokens, features or images) with their soft labels, gold labels, both, or "
            "the votes of single annotators. All files are matched by task id. The epoch that is best on the "
            "development set is kept.\n\n"
            "The same data, options and seed give the same model, for any number of threads. --resume continues a "
            "stopped run and gives the same model as an uninterrupted run.\n\n"
            "With --folds N, items are split into N folds with equal class shares. A model is trained without each "
            "fold and predicts it; --out-of-fold writes these predictions. They can be combined with the votes: "
            "dissent labels --predictions. With -o, a final model is trained on all items.",
    .examples = "  dissent train --items items.csv --labels labels.csv --dev .1 -o model\n"
                "  dissent train --items items.csv --gold gold.csv --objective gold --dev .1 -o hard-model\n"
                "  dissent train --items items.csv --labels labels.csv --folds 10 --out-of-fold predictions.csv\n"
                "  dissent train --items items.csv --votes votes.csv --objective crowd:mw -o model\n"
                "  dissent train --model mlp --items x.f32 --width 512 --labels labels.csv --runs 10 -o models\n",
    .basic = "items|labels|gold|model|objective|encoder|epochs|dev|output|quiet",
    .ranks = true,
    .min = 0,
    .max = 0,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(train_values),
    .run = run,
};
