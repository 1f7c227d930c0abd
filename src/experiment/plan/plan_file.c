/* The rows of an experiment's file: `dissent list keys` and the reference of the documentation site print them. */
#include "experiment/plan/plan_file.h"
#include "dissent/experiment.h"
#include "tool/experiments.h"

#define ROW(struct_, field_, kind_, key_, summary_) \
    .key = key_, .kind = kind_, .offset = offsetof(struct_, field_), .summary = summary_
#define N(rows) .field = rows, .n_fields = sizeof(rows) / sizeof *(rows)

#define WHERE_ROW(s)                                                                                      \
    {                                                                                                     \
        ROW(s, where, DIS_FIELD_PAIRS, "where", "only rows in which each column has one of these values") \
    }
#define HEADER_ROW(s)                                                                          \
    {                                                                                          \
        ROW(s, header, DIS_FIELD_TEXTS, "header", "column names, for a file without a header") \
    }
#define NUMBERED_ROW(s)                                                                                           \
    {                                                                                                             \
        ROW(s, numbered, DIS_FIELD_FLAG, "numbered", "item ids are row numbers, starting at 0"), .fallback = "no" \
    }
#define PREFIX_ROW(s)                                                                                     \
    {                                                                                                     \
        ROW(s, prefix, DIS_FIELD_TEXT, "prefix", "prefix of every item id, to distinguish several files") \
    }

static const dis__field items_rows[] = {
    {ROW(dis__items_part, file, DIS_FIELD_FILE, "file", "the items"), .required = true},
    {ROW(dis__items_part, kind, DIS_FIELD_CHOICE, "kind", "kind of items"), .fallback = "text",
     .choices = "text|tokens|features|images"},
    {ROW(dis__items_part, format, DIS_FIELD_TEXT, "format",
         "csv, tsv, jsonl, npy, f32, cifar or conll [by file extension]")},
    {ROW(dis__items_part, task, DIS_FIELD_TEXT, "task", "column of the item id [task]")},
    {ROW(dis__items_part, text, DIS_FIELD_TEXTS, "text", "columns of the texts, the token or the features")},
    {ROW(dis__items_part, sentence, DIS_FIELD_TEXT, "sentence", "tokens: column of the sentence id")},
    {ROW(dis__items_part, tasks, DIS_FIELD_FILE, "tasks",
         "npy, f32, cifar, conll: file with one item id per line [0, 1, ...]")},
    {ROW(dis__items_part, width, DIS_FIELD_COUNT, "width", "f32: values per row"), .high = 1e9},
    WHERE_ROW(dis__items_part),
    HEADER_ROW(dis__items_part),
    NUMBERED_ROW(dis__items_part),
    PREFIX_ROW(dis__items_part),
};
const dis__schema dis__items_schema = {.info = {.name = "file of items",
                                                .summary = "a table, an array or a binary file of items"},
                                       .size = sizeof(dis__items_part),
                                       N(items_rows),
                                       .alone = "file"};

static const dis__field votes_rows[] = {
    {ROW(dis__votes_part, file, DIS_FIELD_FILES, "file", "votes, in one or several files"), .required = true},
    {ROW(dis__votes_part, input, DIS_FIELD_CHOICE, "input", "what a row is; mace and wide: one column per annotator"),
     .fallback = "votes", .choices = "votes|counts|mace|soft|wide"},
    {ROW(dis__votes_part, preset, DIS_FIELD_TEXT, "preset", "export of a known tool (see: dissent list presets)")},
    {ROW(dis__votes_part, format, DIS_FIELD_TEXT, "format", "csv, tsv, json, jsonl or npy [by file extension]")},
    {ROW(dis__votes_part, task, DIS_FIELD_TEXT, "task", "column or JSON path of the item id")},
    {ROW(dis__votes_part, worker, DIS_FIELD_TEXT, "worker", "column or JSON path of the annotator id")},
    {ROW(dis__votes_part, label, DIS_FIELD_TEXT, "label", "column of the label")},
    {ROW(dis__votes_part, columns, DIS_FIELD_PAIRS, "columns",
         "counts in a table with other columns: class of each count column")},
    {ROW(dis__votes_part, where, DIS_FIELD_PAIRS, "where",
         "with columns: only rows in which each column has one of these values")},
    {ROW(dis__votes_part, na, DIS_FIELD_TEXTS, "na", "labels that mean that there is no vote")},
    {ROW(dis__votes_part, duplicates, DIS_FIELD_CHOICE, "duplicates",
         "rule for several votes of one annotator on one item"),
     .fallback = "error", .choices = "error|first|last|all"},
    {ROW(dis__votes_part, min_votes, DIS_FIELD_COUNT, "min_votes", "skip items with fewer votes"), .high = 1e9},
};
const dis__schema dis__votes_schema = {.info = {.name = "source of votes",
                                                .summary = "annotations, in a file of any supported format"},
                                       .size = sizeof(dis__votes_part),
                                       N(votes_rows),
                                       .alone = "file"};

static const dis__field gold_rows[] = {
    {ROW(dis__gold_part, file, DIS_FIELD_FILE, "file", "table of item ids and labels")},
    {ROW(dis__gold_part, method, DIS_FIELD_TEXT, "method",
         "instead of file: compute gold labels from the votes with this label method, without ties")},
    {ROW(dis__gold_part, format, DIS_FIELD_TEXT, "format", "csv, tsv, jsonl or cifar [by file extension]")},
    {ROW(dis__gold_part, task, DIS_FIELD_TEXT, "task", "column of the item id [task]")},
    {ROW(dis__gold_part, label, DIS_FIELD_TEXT, "label", "column of the label [label or gold]")},
    {ROW(dis__gold_part, map, DIS_FIELD_PAIRS, "map", "new name of each label; must have an entry for every label")},
    {ROW(dis__gold_part, skip_empty, DIS_FIELD_FLAG, "skip_empty", "skip rows without a label instead of failing"),
     .fallback = "no"},
    WHERE_ROW(dis__gold_part),
    {ROW(dis__gold_part, leave_out, DIS_FIELD_PAIRS, "leave_out",
         "skip rows in which a column has one of these values")},
    HEADER_ROW(dis__gold_part),
    NUMBERED_ROW(dis__gold_part),
    PREFIX_ROW(dis__gold_part),
};
const dis__schema dis__gold_schema = {.info = {.name = "source of gold labels",
                                               .summary =
                                                   "known labels: a column of a table, or labels computed by a method"},
                                      .size = sizeof(dis__gold_part),
                                      N(gold_rows),
                                      .alone = "file"};

static const dis__field split_rows[] = {
    {ROW(dis__split_part, by, DIS_FIELD_CHOICE, "by",
         "none: train on all items; column: split by the values of a column; folds: test each fold once; hold-out: "
         "test on a random sample; block: test on the last or first items"),
     .choices = "none|column|folds|hold-out|block", .required = true},
    {ROW(dis__split_part, column, DIS_FIELD_TEXT, "column", "column, folds: column with the part or fold of an item")},
    {ROW(dis__split_part, file, DIS_FIELD_FILE, "file", "table with that column [the items]")},
    {ROW(dis__split_part, task, DIS_FIELD_TEXT, "task", "column of the item id in that table [as in the items]")},
    {ROW(dis__split_part, train, DIS_FIELD_TEXTS, "train", "column: values of training items [all other values]")},
    {ROW(dis__split_part, dev, DIS_FIELD_TEXTS, "dev", "column: values of development items, which select the epoch")},
    {ROW(dis__split_part, test, DIS_FIELD_TEXTS, "test", "column: values of test items")},
    {ROW(dis__split_part, folds, DIS_FIELD_COUNT, "folds", "folds: number of folds, without column"), .high = 1000},
    {ROW(dis__split_part, size, DIS_FIELD_REAL, "size", "hold-out, block: number of test items; below 1: their share"),
     .high = 1e9},
    {ROW(dis__split_part, from, DIS_FIELD_CHOICE, "from", "block: end of the file that has the test items"),
     .fallback = "end", .choices = "end|start"},
    {ROW(dis__split_part, stratify, DIS_FIELD_FLAG, "stratify", "folds, hold-out: equal shares of each gold label"),
     .fallback = "yes"},
    {ROW(dis__split_part, order, DIS_FIELD_CHOICE, "order",
         "folds: assign items in random order, or as blocks in file order"),
     .fallback = "random", .choices = "random|file"},
    {ROW(dis__split_part, seed, DIS_FIELD_TEXT, "seed",
         "seed of the split: a number, or run for a different split per seed [folds: 0, else run]")},
};
const dis__schema dis__split_schema = {.info = {.name = "split", .summary = "training, development and test items"},
                                       .size = sizeof(dis__split_part),
                                       N(split_rows),
                                       .alone = "by"};

static const dis__field set_rows[] = {
    {ROW(dis__set_part, items, DIS_FIELD_LIST, "items", "items of the set"), .part = &dis__items_schema,
     .required = true},
    {ROW(dis__set_part, gold, DIS_FIELD_LIST, "gold", "gold labels of the items"), .part = &dis__gold_schema},
    {ROW(dis__set_part, votes, DIS_FIELD_RECORD, "votes", "annotations of the items, for metrics against people"),
     .part = &dis__votes_schema},
};
const dis__schema dis__set_schema = {.info = {.name = "set", .summary = "further items of a data set"},
                                     .size = sizeof(dis__set_part),
                                     N(set_rows)};

static const dis__field data_rows[] = {
    {ROW(dis__data_part, items, DIS_FIELD_LIST, "items", "items: one file, or a list of files"),
     .part = &dis__items_schema},
    {ROW(dis__data_part, votes, DIS_FIELD_RECORD, "votes", "annotations of the items"), .part = &dis__votes_schema},
    {ROW(dis__data_part, gold, DIS_FIELD_LIST, "gold", "gold labels: one file, or a list of files"),
     .part = &dis__gold_schema},
    {ROW(dis__data_part, classes, DIS_FIELD_TEXTS, "classes",
         "classes in order [from the data, integers by value, others by bytes]")},
    {ROW(dis__data_part, ordinal, DIS_FIELD_FLAG, "ordinal", "classes are ordered"), .fallback = "no"},
    {ROW(dis__data_part, sets, DIS_FIELD_NAMED, "sets",
         "further sets of items by name, for measurement or as development set"),
     .part = &dis__set_schema},
    {ROW(dis__data_part, split, DIS_FIELD_RECORD, "split", "training and test items"), .part = &dis__split_schema},
    {ROW(dis__data_part, dev, DIS_FIELD_TEXT, "dev",
         "development items, which select the epoch: a set, next (the fold after the test fold), a share of the "
         "training items, or none")},
    {ROW(dis__data_part, human, DIS_FIELD_TEXT, "human",
         "soft labels of people for metrics: an entry of labels, or a method")},
};
const dis__schema dis__data_schema = {.info = {.name = "data set",
                                               .summary = "items, votes and gold labels that belong together"},
                                      .size = sizeof(dis__data_part),
                                      N(data_rows)};

static const dis__field labels_rows[] = {
    {ROW(dis__labels_part, method, DIS_FIELD_TEXT, "method",
         "label method or recipe, NAME[:key=value,...] (see: dissent list methods, dissent list recipes)")},
    {ROW(dis__labels_part, methods, DIS_FIELD_TEXTS, "methods", "several methods to combine")},
    {ROW(dis__labels_part, combine, DIS_FIELD_TEXT, "combine",
         "combination, NAME[:key=value,...] (see: dissent list combiners) [set by the recipe, else centroid]")},
    {ROW(dis__labels_part, file, DIS_FIELD_FILE, "file",
         "instead of a method: file of soft labels as written by dissent labels")},
};
const dis__schema dis__labels_schema = {.info = {.name = "set of labels",
                                                 .summary = "soft labels, computed by methods or read from a file"},
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
         "name of the row; {key} is replaced by the value of that key [the values]")},
    {ROW(dis__cell_part, data, DIS_FIELD_TEXT, "data", "data set [the only one]")},
    {ROW(dis__cell_part, labels, DIS_FIELD_TEXT, "labels", "training labels: an entry of labels, or a method")},
    {ROW(dis__cell_part, objective, DIS_FIELD_TEXT, "objective",
         "objective, NAME[:key=value,...] (see: dissent list objectives); without one, nothing is trained and the labels are evaluated")},
    {ROW(dis__cell_part, votes_per_item, DIS_FIELD_COUNT, "votes_per_item",
         "compute labels from a random sample of this many votes per item; 0: all"),
     .high = 1e6},
    {ROW(dis__cell_part, random_workers, DIS_FIELD_REAL, "random_workers",
         "probability that an annotator is replaced by random votes, for labels and crowd objectives"),
     .high = 1},
    {ROW(dis__cell_part, model, DIS_FIELD_TEXT, "model", "model, NAME[:key=value,...] (see: dissent list models)")},
    DIS_TRAIN_COURSE_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, judge, DIS_FIELD_CHOICE, "judge",
         "labels of the development items that select the epoch: gold labels if available, or the labels of the cell"),
     .fallback = "gold", .choices = "gold|labels"},
    {ROW(dis__cell_part, test_by, DIS_FIELD_CHOICE, "test_by",
         "labels of the test items: gold labels, or the majority of the labels of the cell without ties"),
     .fallback = "gold", .choices = "gold|labels"},
    DIS_TRAIN_STEP_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, carry_moments, DIS_FIELD_FLAG, "carry_moments",
         "start each fold with the optimizer moments of the previous fold; a run retrains the folds before it"),
     .fallback = "no"},
    {ROW(dis__cell_part, draw, DIS_FIELD_COUNT, "draw",
         "change this number to redraw initial weights, order and dropout of every seed, with the same splits and votes"),
     .high = 1e6},
    {ROW(dis__cell_part, draw_per_fold, DIS_FIELD_FLAG, "draw_per_fold",
         "draw initial weights, order and dropout for each fold; otherwise the folds of a seed share them"),
     .fallback = "no"},
    DIS_TRAIN_START_OPTIONS(TRAIN_ROW)
    {ROW(dis__cell_part, worker_table, DIS_FIELD_FILE, "worker_table",
         "annotator metadata for the objectives annotator and annot-mix")},
    {ROW(dis__cell_part, worker_features, DIS_FIELD_TEXT, "worker_features",
         "comma-separated columns of worker_table that are used as features")},
    {ROW(dis__cell_part, baseline, DIS_FIELD_TEXT, "baseline", "cell to test against; {key} as in name")},
    {ROW(dis__cell_part, published, DIS_FIELD_NODE, "published",
         "published values: METRIC or SET.METRIC, and the number"),
     .form = "map of numbers"},
};
/* clang-format on */
const dis__schema dis__cell_schema = {.info = {.name = "cell",
                                               .summary = "a condition of the experiment: one row of the table"},
                                      .size = sizeof(dis__cell_part),
                                      N(cell_rows)};

static const dis__field significance_rows[] = {
    {ROW(dis__significance_part, resamples, DIS_FIELD_COUNT, "resamples",
         "number of resamples of the paired bootstrap"),
     .fallback = "1000", .low = 1, .high = 1e7},
    {ROW(dis__significance_part, fraction, DIS_FIELD_REAL, "fraction", "share of the items in each resample"),
     .fallback = "1", .low = 1e-6, .high = 1},
    {ROW(dis__significance_part, pool_seeds, DIS_FIELD_FLAG, "pool_seeds",
         "resample pairs of item and seed, as if seeds were independent"),
     .fallback = "no"},
};
const dis__schema dis__significance_schema = {.info = {.name = "test of significance",
                                                       .summary = "settings of the paired bootstrap"},
                                              .size = sizeof(dis__significance_part),
                                              N(significance_rows)};

static const dis__field file_rows[] = {
    {ROW(dis__file_part, name, DIS_FIELD_TEXT, "name", "name of the experiment"), .required = true},
    {ROW(dis__file_part, about, DIS_FIELD_TEXT, "about", "description for readers")},
    {ROW(dis__file_part, paper, DIS_FIELD_TEXT, "paper", "short name of the reproduced paper, for filters")},
    {ROW(dis__file_part, size, DIS_FIELD_TEXT, "size", "size for filters: small or large")},
    {ROW(dis__file_part, data, DIS_FIELD_NAMED, "data", "data sets by name"), .part = &dis__data_schema,
     .required = true},
    {ROW(dis__file_part, labels, DIS_FIELD_NAMED, "labels",
         "sets of soft labels by name; methods can be used without an entry"),
     .part = &dis__labels_schema},
    {ROW(dis__file_part, split, DIS_FIELD_RECORD, "split", "default for data sets without this key"),
     .part = &dis__split_schema},
    {ROW(dis__file_part, dev, DIS_FIELD_TEXT, "dev", "default for data sets without this key")},
    {ROW(dis__file_part, human, DIS_FIELD_TEXT, "human", "default for data sets without this key")},
    {ROW(dis__file_part, defaults, DIS_FIELD_NODE, "defaults", "default keys of the cells"), .form = "cell"},
    {ROW(dis__file_part, cells, DIS_FIELD_NODE, "cells",
         "conditions; a list instead of a value defines one cell per value"),
     .form = "list of cells", .required = true},
    {ROW(dis__file_part, seeds, DIS_FIELD_NODE, "seeds", "number of seeds (0, 1, ...), or a list of seeds [1]"),
     .form = "number or list"},
    {ROW(dis__file_part, measure, DIS_FIELD_NODE, "measure",
         "SET: [METRIC, ...] (see: dissent list metrics); test is the test part of the split"),
     .form = "map of lists", .required = true},
    {ROW(dis__file_part, published, DIS_FIELD_NODE, "published",
         "published values of cells of a grid, CELL: {METRIC: number}"),
     .form = "map of maps"},
    {ROW(dis__file_part, significance, DIS_FIELD_RECORD, "significance",
         "significance test of cells against their baseline"),
     .part = &dis__significance_schema},
    {ROW(dis__file_part, pool_folds, DIS_FIELD_FLAG, "pool_folds",
         "compute metrics against gold labels on the pooled folds of a seed instead of averaging over folds"),
     .fallback = "no"},
    {ROW(dis__file_part, keep_predictions, DIS_FIELD_FLAG, "keep_predictions",
         "store predictions with the results; comparisons need them"),
     .fallback = "yes"},
};
const dis__schema dis__file_schema = {.info = {.name = "experiment", .summary = "keys at the top level of the file"},
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
        [DIS_FIELD_TEXT] = "text",          [DIS_FIELD_TEXTS] = "text or list", [DIS_FIELD_COUNT] = "integer",
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
