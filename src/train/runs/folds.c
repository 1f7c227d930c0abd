/* Predictions out of fold: items are lined up at random and by label (items/stratified_order.h) and dealt to the folds
 * in turn; each fold is predicted by a model that was trained on all others. Tokens are assigned by whole sentences,
 * without regard to labels.
 *
 * The label that an item is lined up by is the most probable one of its soft label, else its gold label, else the one
 * that most voted for.
 *
 * Cost: n_folds trainings, and a copy of the items for each that is at work. */
#include "train/runs/train_runs_internal.h"
#include "tool/arrays.h"
#include "items/stratified_order.h"
#include "core/error.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include <string.h>

struct dis_folds {
    dis_examples all;
    dis_folds_options o;
    size_t n_rows;  /* items; of tokens, sentences */
    uint16_t *fold; /* (n_rows) */
};

enum { MAX_FOLDS = 10000 };

DIS_OPTIONS_DEFAULTS(dis_folds_options, .size = sizeof(dis_folds_options), .n_folds = 10, .jobs = 1)

/* ---- dealing ---- */

static int32_t most_voted(const dis_votes_view *v, size_t i, double *count)
{
    double max = 0;
    int32_t best = -1;
    memset(count, 0, v->n_classes * sizeof *count);
    for (size_t k = 0; v->counts && k < v->n_classes; k++) count[k] = v->counts[i * v->n_classes + k];
    for (uint64_t j = v->start ? v->start[i] : 0; v->start && j < v->start[i + 1]; j++)
        count[v->label8 ? v->label8[j] : v->label16[j]]++;
    for (size_t k = 0; k < v->n_classes; k++)
        if (count[k] > max) {
            max = count[k];
            best = (int32_t)k;
        }
    return best;
}

/* Where labels come from: one of the three tables. */
typedef struct {
    dis_labels_view labels;
    dis_gold_view gold;
    dis_votes_view votes;
    const dis_names *tasks;
    size_t n_classes;
    double *count;
} label_source;

static label_source source_of(const dis_examples *all)
{
    label_source s = {0};
    if (all->labels) {
        s.labels = dis_labels_get_view(all->labels);
        s.tasks = s.labels.tasks;
        s.n_classes = s.labels.n_classes;
    } else if (all->gold) {
        s.gold = dis_gold_get_view(all->gold);
        s.tasks = s.gold.tasks;
        s.n_classes = dis_names_count(s.gold.classes);
    } else if (all->votes) {
        s.votes = dis_votes_get_view(all->votes);
        s.tasks = s.votes.tasks;
        s.n_classes = s.votes.n_classes;
    }
    return s;
}

static int32_t label_at(const label_source *s, size_t row)
{
    if (s->labels.p) return (int32_t)dis__argmax(s->labels.p + row * s->n_classes, s->n_classes);
    return s->gold.label ? s->gold.label[row] : most_voted(&s->votes, row, s->count);
}

static dis_status fill_labels(const label_source *s, const dis_items_view *items, int32_t *label)
{
    size_t *row;
    DIS_TRY(dis__names_match_alloc(s->tasks, items->tasks, &row, NULL));
    for (size_t i = 0; i < items->n_items; i++) label[i] = row[i] == SIZE_MAX ? -1 : label_at(s, row[i]);
    dis__free(row);
    return DIS_OK;
}

static dis_status assign(dis_folds *folds, const dis_items_view *items, uint64_t seed, int32_t *label, size_t *line)
{
    label_source s = source_of(&folds->all);
    const bool by_label = s.tasks && !items->sentence;
    if (by_label) {
        DIS_TRY(dis__alloc_array(&s.count, s.n_classes, sizeof *s.count));
        const dis_status status = fill_labels(&s, items, label);
        dis__free(s.count);
        DIS_TRY(status);
    }
    for (size_t r = 0; r < folds->n_rows; r++) line[r] = r;
    DIS_TRY(dis__stratified_order(seed, 0, by_label ? label : NULL, s.n_classes, line, folds->n_rows));
    for (size_t r = 0; r < folds->n_rows; r++) folds->fold[line[r]] = (uint16_t)(r % folds->o.n_folds);
    return DIS_OK;
}

static dis_status check(const dis_folds_options *o, const dis_items_view *items, size_t n_rows)
{
    if (o->n_folds < 2 || o->n_folds > MAX_FOLDS)
        return dis__fail(DIS_EUSAGE, "%zu folds; 2 to %d are possible", o->n_folds, MAX_FOLDS);
    if (!(o->dev >= 0 && o->dev < 1))
        return dis__fail(DIS_EUSAGE, "a development share of %g; 0 to .9 is possible", o->dev);
    if (n_rows < o->n_folds)
        return dis__fail(DIS_EDATA, "%zu %s are too few for %zu folds", n_rows, items->sentence ? "sentences" : "items",
                         o->n_folds);
    return DIS_OK;
}

dis_status dis_folds_create(dis_context *ctx, const dis_examples *all, const dis_folds_options *options, uint64_t seed,
                            dis_folds **out)
{
    dis_folds_options o = dis_folds_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_folds_options, &o, options));
    dis_examples examples = dis_examples_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_examples, &examples, all));
    const dis_items_view items = dis_items_get_view(examples.items);
    const size_t n_rows = items.sentence ? items.n_sentences : items.n_items;
    DIS_TRY(check(&o, &items, n_rows));
    DIS_TRY(dis__check_stop(ctx));
    dis_folds *folds;
    int32_t *label = NULL;
    size_t *line = NULL;
    dis_status status;
    DIS_TRY(dis__alloc_zeroed(&folds, 1, sizeof *folds));
    *folds = (dis_folds){.all = examples, .o = o, .n_rows = n_rows};
    DIS_TRY_GOTO(status, dis__alloc_array(&folds->fold, n_rows, sizeof *folds->fold), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&label, items.n_items, sizeof *label), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&line, n_rows, sizeof *line), end);
    status = assign(folds, &items, seed, label, line);
end:
    dis__free(label);
    dis__free(line);
    if (status == DIS_OK)
        *out = folds;
    else
        dis_folds_destroy(folds);
    return status;
}

size_t dis__folds_count(const dis_folds *folds)
{
    return folds->o.n_folds;
}

void dis_folds_destroy(dis_folds *folds)
{
    if (!folds) return;
    dis__free(folds->fold);
    dis__free(folds);
}

/* ---- one fold ---- */

/* The items of a fold: those to predict, to choose the epoch by (or NULL), and to train on. */
typedef struct {
    dis_items *test, *dev, *train;
} parts;

static void free_parts(parts *p)
{
    dis_items_destroy(p->test);
    dis_items_destroy(p->dev);
    dis_items_destroy(p->train);
}

/* rows and order: room for n_rows each. */
static dis_status cut(dis_context *ctx, const dis_folds *folds, size_t f, uint64_t seed, size_t *rows, size_t *order,
                      parts *p)
{
    const dis_items *items = folds->all.items;
    size_t n = 0, rest = 0;
    for (size_t r = 0; r < folds->n_rows; r++)
        if (folds->fold[r] == f) rows[n++] = r;
    DIS_TRY(dis_items_gather(ctx, items, rows, n, &p->test));
    for (size_t r = 0; r < folds->n_rows; r++)
        if (folds->fold[r] != f) rows[rest++] = r;
    if (folds->o.dev == 0) return dis_items_gather(ctx, items, rows, rest, &p->train);
    const size_t n_dev = (size_t)((double)rest * folds->o.dev + .5);
    if (n_dev == 0 || n_dev == rest)
        return dis__fail(DIS_EDATA,
                         "a development share of %g leaves the training or the development set of %zu items empty",
                         folds->o.dev, rest);
    dis__shuffle(seed, rest, order);
    for (size_t r = 0; r < rest; r++) order[r] = rows[order[r]];
    DIS_TRY(dis_items_gather(ctx, items, order, n_dev, &p->dev));
    return dis_items_gather(ctx, items, order + n_dev, rest - n_dev, &p->train);
}

/* Weights of the items of a fold, found by their names. */
static dis_status gather_weights(const dis_folds *folds, const dis_items *train, const double *all, double **out)
{
    const dis_items_view from = dis_items_get_view(folds->all.items), to = dis_items_get_view(train);
    size_t *row;
    DIS_TRY(dis__names_match_alloc(from.tasks, to.tasks, &row, NULL));
    const dis_status status = dis__alloc_array(out, to.n_items, sizeof **out);
    for (size_t i = 0; status == DIS_OK && i < to.n_items; i++) (*out)[i] = all[row[i]];
    dis__free(row);
    return status;
}

static dis_status train_and_predict(dis_context *ctx, const dis_folds *folds, const parts *p, const dis_examples *dev,
                                    const dis_model_train_options *o, dis_labels **out)
{
    const dis_examples *all = &folds->all;
    const dis_examples train = {
        .size = sizeof(dis_examples), .items = p->train, .labels = all->labels, .gold = all->gold, .votes = all->votes};
    const dis_examples own = {.size = sizeof(dis_examples), .items = p->dev, .labels = all->labels, .gold = all->gold};
    dis_model_train_options of_fold = *o;
    double *weights = NULL;
    if (o->item_weights) DIS_TRY(gather_weights(folds, p->train, o->item_weights, &weights));
    of_fold.item_weights = weights;
    dis_model *model;
    dis_status status = dis_model_train(ctx, &train, p->dev ? &own : dev, &of_fold, &model);
    dis__free(weights);
    DIS_TRY(status);
    status = dis_model_predict(ctx, model, p->test, folds->o.head, out);
    dis_model_destroy(model);
    return status;
}

dis_status dis__folds_train(dis_context *ctx, const dis_folds *folds, size_t f, const dis_examples *dev,
                            const dis_model_train_options *options, dis_labels **out)
{
    dis_model_train_options o = dis_model_train_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_model_train_options, &o, options));
    if (f >= folds->o.n_folds) return dis__fail(DIS_EUSAGE, "fold %zu is outside of %zu folds", f, folds->o.n_folds);
    if (dev && folds->o.dev > 0)
        return dis__fail(DIS_EUSAGE, "a development set and a share to hold out; use one of them");
    parts p = {0};
    size_t *rows = NULL, *order = NULL;
    dis_status status = dis__alloc_array(&rows, folds->n_rows, sizeof *rows);
    if (status == DIS_OK) status = dis__alloc_array(&order, folds->n_rows, sizeof *order);
    if (status == DIS_OK) status = cut(ctx, folds, f, o.seed, rows, order, &p);
    dis__free(rows);
    dis__free(order);
    if (status == DIS_OK) status = train_and_predict(ctx, folds, &p, dev, &o, out);
    free_parts(&p);
    return status;
}

/* ---- all of them ---- */

/* Items of a fold come in their own order, so the rows of each part are taken consecutively. */
static void join(const dis_folds *folds, dis_labels *const *part, const dis_items_view *items, size_t *next, double *p)
{
    const size_t K = dis_labels_get_view(part[0]).n_classes;
    for (size_t r = 0, i = 0; r < folds->n_rows; r++) {
        const size_t f = folds->fold[r], end = items->sentence ? (size_t)items->sentence[r + 1] : r + 1;
        for (; i < end; i++) memcpy(p + i * K, dis_labels_get_view(part[f]).p + next[f]++ * K, K * sizeof *p);
    }
}

dis_status dis__folds_join(dis_context *ctx, const dis_folds *folds, dis_labels *const *part, dis_labels **out)
{
    const dis_items_view items = dis_items_get_view(folds->all.items);
    const dis_labels_view first = dis_labels_get_view(part[0]);
    size_t n = 0, *next = NULL;
    for (size_t f = 0; f < folds->o.n_folds; f++) n += dis_labels_get_view(part[f]).n_items;
    if (n != items.n_items)
        return dis__fail(DIS_EUSAGE, "predictions for %zu items, and there are %zu", n, items.n_items);
    double *p = NULL;
    dis_status status = dis__alloc_array(&p, dis__saturating_size(items.n_items, first.n_classes, 0), sizeof *p);
    if (status == DIS_OK) status = dis__alloc_zeroed(&next, folds->o.n_folds, sizeof *next);
    if (status == DIS_OK) {
        join(folds, part, &items, next, p);
        const dis_labels_view all = {.size = sizeof(dis_labels_view),
                                     .n_items = items.n_items,
                                     .n_classes = first.n_classes,
                                     .p = p,
                                     .tasks = items.tasks,
                                     .classes = first.classes};
        status = dis_labels_create(ctx, &all, out);
    }
    dis__free(p);
    dis__free(next);
    return status;
}

dis_status dis_folds_predict(dis_context *ctx, const dis_examples *all, const dis_examples *dev,
                             const dis_model_train_options *options, const dis_folds_options *folds, dis_labels **out)
{
    dis_model_train_options o = dis_model_train_options_default();
    dis_train_runs_options several = dis_train_runs_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_model_train_options, &o, options));
    dis_folds *drawn;
    dis_train_runs *runs;
    DIS_TRY(dis_folds_create(ctx, all, folds, o.seed, &drawn));
    several.n_runs = 0;
    several.jobs = drawn->o.jobs;
    several.folds = drawn;
    several.folds_dev = dev;
    const dis_status status = dis_model_train_runs(ctx, NULL, NULL, &o, &several, &runs);
    if (status == DIS_OK) {
        *out = runs->out_of_fold;
        runs->out_of_fold = NULL;
        dis_train_runs_destroy(runs);
    }
    dis_folds_destroy(drawn);
    return status;
}
