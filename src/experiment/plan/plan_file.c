/* The rows of an experiment's file: `dissent list keys` and the reference of the documentation site print them. */
#include "experiment/plan/plan_file.h"
#include "dissent/experiment.h"
#include "tool/experiments.h"

#define ROW(struct_, field_, kind_, key_, summary_) \
    .key = key_, .kind = kind_, .offset = offsetof(struct_, field_), .summary = summary_
#define N(rows) .field = rows, .n_fields = sizeof(rows) / sizeof *(rows)

#define WHERE_ROW(s)                                                                         \
    {                                                                                        \
        ROW(s, where, DIS_FIELD_PAIRS, "where", "only rows whose columns hold these values") \
    }
#define HEADER_ROW(s)                                                                                               \
    {                                                                                                               \
        ROW(s, header, DIS_FIELD_TEXTS, "header", "names of the columns, for a file that does not begin with them") \
    }
#define NUMBERED_ROW(s)                                                                                      \
    {                                                                                                        \
        ROW(s, numbered, DIS_FIELD_FLAG, "numbered", "tasks are the rows' numbers from 0"), .fallback = "no" \
    }
#define PREFIX_ROW(s)                                                                                           \
    {                                                                                                           \
        ROW(s, prefix, DIS_FIELD_TEXT, "prefix", "put before every task, to tell those of several files apart") \
    }

static const dis__field items_rows[] = {
    {ROW(dis__items_part, file, DIS_FIELD_FILE, "file", "the items"), .required = true},
    {ROW(dis__items_part, kind, DIS_FIELD_CHOICE, "kind", "what an item is"), .fallback = "text",
     .choices = "text|tokens|features|images"},
    {ROW(dis__items_part, format, DIS_FIELD_TEXT, "format",
         "csv, tsv, jsonl, npy, f32, cifar or conll; else by the name")},
    {ROW(dis__items_part, task, DIS_FIELD_TEXT, "task", "column of the ids; task when nothing is said")},
    {ROW(dis__items_part, text, DIS_FIELD_TEXTS, "text", "columns of texts, of the token, or of the features")},
    {ROW(dis__items_part, sentence, DIS_FIELD_TEXT, "sentence", "tokens: column of the sentence they stand in")},
    {ROW(dis__items_part, tasks, DIS_FIELD_FILE, "tasks",
         "npy, f32, cifar, conll: a file with one id per line; else 0, 1, ...")},
    {ROW(dis__items_part, width, DIS_FIELD_COUNT, "width", "f32: values per row"), .high = 1e9},
    WHERE_ROW(dis__items_part),
    HEADER_ROW(dis__items_part),
    NUMBERED_ROW(dis__items_part),
    PREFIX_ROW(dis__items_part),
};
const dis__schema dis__items_schema = {.info = {.name = "file of items",
                                                .summary = "a table, array or binary file of items"},
                                       .size = sizeof(dis__items_part),
                                       N(items_rows),
                                       .alone = "file"};

static const dis__field votes_rows[] = {
    {ROW(dis__votes_part, file, DIS_FIELD_FILES, "file", "the votes, in one or several files"), .required = true},
    {ROW(dis__votes_part, input, DIS_FIELD_CHOICE, "input", "shape of the input, as for labels"), .fallback = "votes",
     .choices = "votes|counts|mace|soft|wide"},
    {ROW(dis__votes_part, preset, DIS_FIELD_TEXT, "preset", "a source that dissent knows: dissent list presets")},
    {ROW(dis__votes_part, format, DIS_FIELD_TEXT, "format", "csv, tsv, json, jsonl or npy; else by the name")},
    {ROW(dis__votes_part, task, DIS_FIELD_TEXT, "task", "column, or path, of the tasks")},
    {ROW(dis__votes_part, worker, DIS_FIELD_TEXT, "worker", "column, or path, of the workers")},
    {ROW(dis__votes_part, label, DIS_FIELD_TEXT, "label", "column of the labels")},
    {ROW(dis__votes_part, columns, DIS_FIELD_PAIRS, "columns",
         "counts in a table with other columns: which columns are counts, and of which class each is")},
    {ROW(dis__votes_part, where, DIS_FIELD_PAIRS, "where", "with columns: only rows whose columns hold these values")},
    {ROW(dis__votes_part, na, DIS_FIELD_TEXTS, "na", "labels that mean \"no vote\"")},
    {ROW(dis__votes_part, duplicates, DIS_FIELD_CHOICE, "duplicates",
         "what to do when a worker voted on an item twice"),
     .fallback = "error", .choices = "error|first|last|all"},
    {ROW(dis__votes_part, min_votes, DIS_FIELD_COUNT, "min_votes", "items with fewer votes are left out"), .high = 1e9},
};
const dis__schema dis__votes_schema = {.info = {.name = "source of votes",
                                                .summary = "what people said, in one of several shapes"},
                                       .size = sizeof(dis__votes_part),
                                       N(votes_rows),
                                       .alone = "file"};

static const dis__field gold_rows[] = {
    {ROW(dis__gold_part, file, DIS_FIELD_FILE, "file", "a table with tasks and their labels")},
    {ROW(dis__gold_part, method, DIS_FIELD_TEXT, "method",
         "in place of a file: gold labels are computed from the votes by this label method, ties left out")},
    {ROW(dis__gold_part, format, DIS_FIELD_TEXT, "format", "csv, tsv, jsonl or cifar; else by the name")},
    {ROW(dis__gold_part, task, DIS_FIELD_TEXT, "task", "column of the tasks; task when nothing is said")},
    {ROW(dis__gold_part, label, DIS_FIELD_TEXT, "label", "column of the labels; label or gold when nothing is said")},
    {ROW(dis__gold_part, map, DIS_FIELD_PAIRS, "map", "other names for labels; every label that occurs must be there")},
    {ROW(dis__gold_part, skip_empty, DIS_FIELD_FLAG, "skip_empty",
         "rows without a label are skipped; otherwise an error"),
     .fallback = "no"},
    WHERE_ROW(dis__gold_part),
    {ROW(dis__gold_part, leave_out, DIS_FIELD_PAIRS, "leave_out", "no rows whose columns hold one of these values")},
    HEADER_ROW(dis__gold_part),
    NUMBERED_ROW(dis__gold_part),
    PREFIX_ROW(dis__gold_part),
};
const dis__schema dis__gold_schema = {.info = {.name = "source of gold labels",
                                               .summary =
                                                   "known labels: a column of a table, or the labels of a method"},
                                      .size = sizeof(dis__gold_part),
                                      N(gold_rows),
                                      .alone = "file"};

static const dis__field split_rows[] = {
    {ROW(dis__split_part, by, DIS_FIELD_CHOICE, "by",
         "none: all items train. column: as a column says. folds: each fold is tested once. hold-out: some are drawn. "
         "block: the last ones, or the first"),
     .choices = "none|column|folds|hold-out|block", .required = true},
    {ROW(dis__split_part, column, DIS_FIELD_TEXT, "column",
         "column, folds: the column that says where an item belongs")},
    {ROW(dis__split_part, file, DIS_FIELD_FILE, "file", "the table with that column; else that of the items")},
    {ROW(dis__split_part, task, DIS_FIELD_TEXT, "task", "column of its tasks; else as for the items")},
    {ROW(dis__split_part, train, DIS_FIELD_TEXTS, "train", "column: values of items to train on; else all the others")},
    {ROW(dis__split_part, dev, DIS_FIELD_TEXTS, "dev", "column: values of items to choose the epoch by")},
    {ROW(dis__split_part, test, DIS_FIELD_TEXTS, "test", "column: values of items to test on")},
    {ROW(dis__split_part, folds, DIS_FIELD_COUNT, "folds", "folds: how many, where no column says it"), .high = 1000},
    {ROW(dis__split_part, size, DIS_FIELD_REAL, "size", "hold-out, block: items to test on; below 1, their share"),
     .high = 1e9},
    {ROW(dis__split_part, from, DIS_FIELD_CHOICE, "from", "block: at which end the tested items lie"),
     .fallback = "end", .choices = "end|start"},
    {ROW(dis__split_part, stratify, DIS_FIELD_FLAG, "stratify", "folds, hold-out: every gold label in the same share"),
     .fallback = "yes"},
    {ROW(dis__split_part, order, DIS_FIELD_CHOICE, "order",
         "folds: items are assigned in random order, or in blocks in the order of the file"),
     .fallback = "random", .choices = "random|file"},
    {ROW(dis__split_part, seed, DIS_FIELD_TEXT, "seed",
         "a number, or run: another draw for each seed. Without it, 0 for folds, run for hold-out and shares")},
};
const dis__schema dis__split_schema = {.info = {.name = "split",
                                                .summary =
                                                    "which items train, which choose the epoch, which are tested"},
                                       .size = sizeof(dis__split_part),
                                       N(split_rows),
                                       .alone = "by"};

static const dis__field set_rows[] = {
    {ROW(dis__set_part, items, DIS_FIELD_LIST, "items", "its items"), .part = &dis__items_schema, .required = true},
    {ROW(dis__set_part, gold, DIS_FIELD_LIST, "gold", "their gold labels"), .part = &dis__gold_schema},
    {ROW(dis__set_part, votes, DIS_FIELD_RECORD, "votes", "what people said of them, for measures against people"),
     .part = &dis__votes_schema},
};
const dis__schema dis__set_schema = {.info = {.name = "set", .summary = "further items of a data set"},
                                     .size = sizeof(dis__set_part),
                                     N(set_rows)};

static const dis__field data_rows[] = {
    {ROW(dis__data_part, items, DIS_FIELD_LIST, "items", "what models read: one file, or a list of them"),
     .part = &dis__items_schema},
    {ROW(dis__data_part, votes, DIS_FIELD_RECORD, "votes", "what people said"), .part = &dis__votes_schema},
    {ROW(dis__data_part, gold, DIS_FIELD_LIST, "gold", "known labels: one file, or a list of them"),
     .part = &dis__gold_schema},
    {ROW(dis__data_part, classes, DIS_FIELD_TEXTS, "classes",
         "in their order; else those found, integers by value, others by bytes")},
    {ROW(dis__data_part, ordinal, DIS_FIELD_FLAG, "ordinal", "the order of the classes means something"),
     .fallback = "no"},
    {ROW(dis__data_part, sets, DIS_FIELD_NAMED, "sets",
         "further items by name, to measure on or to choose the epoch by"),
     .part = &dis__set_schema},
    {ROW(dis__data_part, split, DIS_FIELD_RECORD, "split", "which items train and which are tested"),
     .part = &dis__split_schema},
    {ROW(dis__data_part, dev, DIS_FIELD_TEXT, "dev",
         "the items that choose the epoch: a set, next (the fold after the tested one), a share of those to train on, "
         "or none")},
    {ROW(dis__data_part, human, DIS_FIELD_TEXT, "human",
         "labels that stand for people in measures: a name of labels, or a method")},
};
const dis__schema dis__data_schema = {.info = {.name = "data set",
                                               .summary = "items, votes and gold labels that belong together"},
                                      .size = sizeof(dis__data_part),
                                      N(data_rows)};

static const dis__field labels_rows[] = {
    {ROW(dis__labels_part, method, DIS_FIELD_TEXT, "method",
         "NAME[:key=value,...]: dissent list methods; or a recipe: dissent list recipes")},
    {ROW(dis__labels_part, methods, DIS_FIELD_TEXTS, "methods", "several methods, to be combined")},
    {ROW(dis__labels_part, combine, DIS_FIELD_TEXT, "combine",
         "NAME[:key=value,...]: dissent list combiners; else that of the recipe, or centroid")},
    {ROW(dis__labels_part, file, DIS_FIELD_FILE, "file", "in place of a method: labels as dissent labels writes them")},
};
const dis__schema dis__labels_schema = {.info = {.name = "set of labels",
                                                 .summary = "soft labels by methods, or from a file"},
                                        .size = sizeof(dis__labels_part),
                                        N(labels_rows),
                                        .alone = "method"};

/* Rows of dissent/train_options.h, under the names of their fields. */
#define TRAIN_ROW(kind_, field_, name_, argument_, fallback_, low_, high_, summary_)                              \
    {ROW(dis__cell_part, train.field_, DIS_FIELD_##kind_, #field_, summary_), .fallback = fallback_, .low = low_, \
     .high = high_},
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts of training are read as 64 bits");

/* clang-format off */
static const dis__field cell_rows[] = {
    {ROW(dis__cell_part, name, DIS_FIELD_TEXT, "name",
         "its row's name; {key} stands for the value of a key. Else its values")},
    {ROW(dis__cell_part, data, DIS_FIELD_TEXT, "data", "the data set; the only one when nothing is said")},
    {ROW(dis__cell_part, labels, DIS_FIELD_TEXT, "labels", "a name of labels, or a method: what to train towards")},
    {ROW(dis__cell_part, objective, DIS_FIELD_TEXT, "objective",
         "NAME[:key=value,...]: dissent list objectives; without one nothing is trained and the labels themselves are "
         "measured")},
    {ROW(dis__cell_part, votes_per_item, DIS_FIELD_COUNT, "votes_per_item",
         "labels from so many votes per item, drawn by the seed; 0: all"),
     .high = 1e6},
    {ROW(dis__cell_part, random_workers, DIS_FIELD_REAL, "random_workers",
         "each worker with this chance, drawn by the seed, votes at random: for labels and crowd objectives"),
     .high = 1},
    {ROW(dis__cell_part, model, DIS_FIELD_TEXT, "model", "NAME[:key=value,...]: dissent list models")},
    DIS_TRAIN_COURSE_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, judge, DIS_FIELD_CHOICE, "judge",
         "what chooses the epoch: gold labels where there are some, or the cell's own labels"),
     .fallback = "gold", .choices = "gold|labels"},
    {ROW(dis__cell_part, test_by, DIS_FIELD_CHOICE, "test_by",
         "what the tested part of the split is measured by: gold labels, or the majority of the cell's own labels "
         "without ties"),
     .fallback = "gold", .choices = "gold|labels"},
    DIS_TRAIN_STEP_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, carry_moments, DIS_FIELD_FLAG, "carry_moments",
         "each fold starts with the optimizer's moments of the fold before; folds are retrained for that"),
     .fallback = "no"},
    {ROW(dis__cell_part, draw, DIS_FIELD_COUNT, "draw",
         "another number: starts, order and dropout of every seed are drawn again; splits and votes stay"),
     .high = 1e6},
    {ROW(dis__cell_part, draw_per_fold, DIS_FIELD_FLAG, "draw_per_fold",
         "starts, order and dropout are drawn for each fold; otherwise all folds of a seed share them"),
     .fallback = "no"},
    DIS_TRAIN_START_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, worker_table, DIS_FIELD_FILE, "worker_table",
         "what is known of the workers, for the objectives annotator and annot-mix")},
    {ROW(dis__cell_part, worker_features, DIS_FIELD_TEXT, "worker_features",
         "columns of worker_table to learn from, with commas between them")},
    {ROW(dis__cell_part, baseline, DIS_FIELD_TEXT, "baseline", "the cell to test against; {key} as in name")},
    {ROW(dis__cell_part, published, DIS_FIELD_NODE, "published",
         "what a paper reports: METRIC or SET.METRIC, and the number"),
     .form = "map of numbers"},
};
/* clang-format on */
const dis__schema dis__cell_schema = {.info = {.name = "cell", .summary = "one condition: a row of the table"},
                                      .size = sizeof(dis__cell_part),
                                      N(cell_rows)};

static const dis__field significance_rows[] = {
    {ROW(dis__significance_part, resamples, DIS_FIELD_COUNT, "resamples", "of the paired bootstrap"),
     .fallback = "1000", .low = 1, .high = 1e7},
    {ROW(dis__significance_part, fraction, DIS_FIELD_REAL, "fraction", "of the items drawn for a resample"),
     .fallback = "1", .low = 1e-6, .high = 1},
    {ROW(dis__significance_part, pool_seeds, DIS_FIELD_FLAG, "pool_seeds",
         "resample (item, seed) pairs, as if seeds were independent"),
     .fallback = "no"},
};
const dis__schema dis__significance_schema = {.info = {.name = "test of significance",
                                                       .summary = "the paired bootstrap"},
                                              .size = sizeof(dis__significance_part),
                                              N(significance_rows)};

static const dis__field file_rows[] = {
    {ROW(dis__file_part, name, DIS_FIELD_TEXT, "name", "of the experiment"), .required = true},
    {ROW(dis__file_part, about, DIS_FIELD_TEXT, "about", "what it is for, for people")},
    {ROW(dis__file_part, paper, DIS_FIELD_TEXT, "paper", "the paper that it repeats, in a word that filters name")},
    {ROW(dis__file_part, size, DIS_FIELD_TEXT, "size", "how much it takes, in a word that filters name: small, large")},
    {ROW(dis__file_part, data, DIS_FIELD_NAMED, "data", "data sets by name"), .part = &dis__data_schema,
     .required = true},
    {ROW(dis__file_part, labels, DIS_FIELD_NAMED, "labels", "sets of labels by name, in addition to the methods"),
     .part = &dis__labels_schema},
    {ROW(dis__file_part, split, DIS_FIELD_RECORD, "split", "for data sets that have none of their own"),
     .part = &dis__split_schema},
    {ROW(dis__file_part, dev, DIS_FIELD_TEXT, "dev", "for data sets that have none of their own")},
    {ROW(dis__file_part, human, DIS_FIELD_TEXT, "human", "for data sets that have none of their own")},
    {ROW(dis__file_part, defaults, DIS_FIELD_NODE, "defaults", "keys of cells, for those that do not say otherwise"),
     .form = "cell"},
    {ROW(dis__file_part, cells, DIS_FIELD_NODE, "cells",
         "the conditions; a list in place of a value makes a cell of each"),
     .form = "list of cells", .required = true},
    {ROW(dis__file_part, seeds, DIS_FIELD_NODE, "seeds",
         "how many (0, 1, ...), or a list of them; 1 when nothing is said"),
     .form = "number or list"},
    {ROW(dis__file_part, measure, DIS_FIELD_NODE, "measure",
         "SET: [METRIC, ...]: dissent list metrics; test is the tested part of the split"),
     .form = "map of lists", .required = true},
    {ROW(dis__file_part, published, DIS_FIELD_NODE, "published", "CELL: {METRIC: number}, for cells of a grid"),
     .form = "map of maps"},
    {ROW(dis__file_part, significance, DIS_FIELD_RECORD, "significance", "how cells are tested against their baseline"),
     .part = &dis__significance_schema},
    {ROW(dis__file_part, pool_folds, DIS_FIELD_FLAG, "pool_folds",
         "metrics of gold labels are computed on the predictions of all folds of a seed together; otherwise averaged "
         "over folds"),
     .fallback = "no"},
    {ROW(dis__file_part, keep_predictions, DIS_FIELD_FLAG, "keep_predictions",
         "store them with the results: comparisons need them"),
     .fallback = "yes"},
};
const dis__schema dis__file_schema = {.info = {.name = "experiment", .summary = "the file itself"},
                                      .size = sizeof(dis__file_part),
                                      N(file_rows)};

/* ---- the reference ---- */

static const dis__schema *const schemas[] = {&dis__file_schema,        &dis__data_schema,   &dis__items_schema,
                                             &dis__votes_schema,       &dis__gold_schema,   &dis__split_schema,
                                             &dis__set_schema,         &dis__labels_schema, &dis__cell_schema,
                                             &dis__significance_schema};
enum { N_SCHEMAS = sizeof schemas / sizeof *schemas };

static const char *form_of(const dis__field *field)
{
    static const char *const forms[] = {
        [DIS_FIELD_TEXT] = "text",          [DIS_FIELD_TEXTS] = "text or list", [DIS_FIELD_COUNT] = "whole number",
        [DIS_FIELD_REAL] = "number",        [DIS_FIELD_FLAG] = "yes or no",     [DIS_FIELD_FILE] = "file",
        [DIS_FIELD_FILES] = "file or list", [DIS_FIELD_FOLDER] = "folder",      [DIS_FIELD_PAIRS] = "map of texts",
    };
    if (field->form) return field->form;
    if (field->kind == DIS_FIELD_CHOICE) return field->choices;
    return field->part ? field->part->info.name : forms[field->kind];
}

const dis_experiment_part *dis__experiment_part_get(size_t i)
{
    return i < N_SCHEMAS ? &schemas[i]->info : NULL;
}

bool dis__experiment_key_get(size_t part, size_t i, dis_experiment_key *out)
{
    if (part >= N_SCHEMAS || i >= schemas[part]->n_fields) return false;
    const dis__field *field = &schemas[part]->field[i];
    *out = (dis_experiment_key){.key = field->key,
                                .form = form_of(field),
                                .default_value = field->fallback,
                                .summary = field->summary,
                                .required = field->required,
                                .is_list = field->kind == DIS_FIELD_NAMED || field->kind == DIS_FIELD_LIST,
                                .is_map = field->kind == DIS_FIELD_NAMED};
    return true;
}
