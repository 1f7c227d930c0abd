/* Labels, gold and votes brought into the order of the items, by name. Cost: a lookup per item and source. */
#include "tool/arrays.h"
#include "train/objectives/targets.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "items/items_internal.h"
#include "tables/labels/label_table.h"
#include "votes/table/class_names.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

float dis__label_weight(const dis__targets *t, size_t item)
{
    const float of_class = t->of_class ? t->of_class[t->label[item]] : 1;
    return t->of_item ? of_class * t->of_item[item] : of_class;
}

double dis__target_weight(const dis__targets *t, const dis__objective_row *objective, size_t head, bool over_all,
                          size_t item)
{
    const size_t main = objective->main != DIS_MAIN_NONE, soft = objective->soft >= 0, crowd = objective->crowd >= 0;
    if ((main && head == 0) || head == main + soft + crowd)
        return t->label[item] < 0 ? 0 : (double)dis__label_weight(t, item);
    if (soft && head == main) return (double)t->weight[item];
    return over_all ? (double)t->n_workers : (double)(t->first[item + 1] - t->first[item]);
}

void dis__targets_free(dis__targets *t)
{
    dis__free(t->label);
    dis__free(t->human);
    dis__free(t->target);
    dis__free(t->weight);
    dis__free(t->of_class);
    dis__free(t->of_item);
    dis__free(t->first);
    dis__free(t->worker);
    dis__free(t->vote);
    dis__free(t->used);
    *t = (dis__targets){0};
}

/* How many items each class has: whole ones by label, shares by soft label. */
static double count_classes(const dis__targets *t, double *count)
{
    double n = 0;
    for (size_t i = 0; i < t->n_items; i++) {
        const bool soft = !t->label && t->weight[i] > 0;
        if (t->label && t->label[i] >= 0) count[t->label[i]]++;
        for (size_t k = 0; soft && k < t->n_classes; k++) count[k] += t->human[i * t->n_classes + k];
        n += soft || (t->label && t->label[i] >= 0);
    }
    return n;
}

dis_status dis__targets_set_class_weights(dis__targets *t, const dis__objective_row *objective)
{
    const size_t k = t->n_classes;
    double *count;
    if (objective->annotator || objective->crowd >= 0)
        return dis__fail(DIS_EUSAGE, "`class_weights` is for gold, silver and soft labels; %s is trained on votes",
                         objective->info.name);
    DIS_TRY(dis__alloc_array(&t->of_class, k, sizeof *t->of_class));
    DIS_TRY(dis__alloc_zeroed(&count, k, sizeof *count));
    const double n = count_classes(t, count);
    for (size_t c = 0; c < k; c++) t->of_class[c] = count[c] > 0 ? (float)(n / ((double)k * count[c])) : 0;
    dis__free(count);
    for (size_t i = 0; t->weight && i < t->n_items; i++) {
        double weight = 0;
        for (size_t c = 0; c < k; c++) weight += (double)t->of_class[c] * t->human[i * k + c];
        t->weight[i] *= (float)weight;
    }
    return DIS_OK;
}

dis_status dis__targets_set_item_weights(dis__targets *t, const dis__objective_row *objective, const double *weights)
{
    if (objective->crowd >= 0)
        return dis__fail(DIS_EUSAGE, "weights of items are for gold, silver and soft labels; %s is trained on votes",
                         objective->info.name);
    for (size_t i = 0; i < t->n_items; i++)
        if (!(weights[i] >= 0 && weights[i] <= (double)FLT_MAX))
            return dis__fail(DIS_EDATA,
                             "the weight of item %zu (counted from 0) is %g; it must be finite and 0 or more", i,
                             weights[i]);
    DIS_TRY(dis__alloc_array(&t->of_item, t->n_items, sizeof *t->of_item));
    for (size_t i = 0; i < t->n_items; i++) {
        t->of_item[i] = (float)weights[i];
        if (t->weight) t->weight[i] *= t->of_item[i];
        if (t->of_item[i] > 0 || !t->used[i]) continue;
        t->used[i] = false;
        t->n_used--;
    }
    if (t->n_used == 0)
        return dis__fail(DIS_EDATA,
                         "the weights of all items with a label are zero; give one of them a weight above 0");
    return DIS_OK;
}

dis_status dis__examples_get_classes(const dis_examples *examples, dis_names **out)
{
    if (examples->labels) return dis__names_copy(dis_labels_get_view(examples->labels).classes, out);
    if (examples->votes) return dis__names_copy(dis_votes_get_view(examples->votes).classes, out);
    if (examples->gold) return dis__names_in_class_order(dis_gold_get_view(examples->gold).classes, out);
    return dis__fail(DIS_EUSAGE, "nothing to train on: pass labels, gold or votes");
}

/* place[k]: which of `classes` the source's class k is. */
static dis_status match_classes(const dis_names *from, const dis_names *classes, const char *what, size_t **place)
{
    const size_t n = dis_names_count(from);
    DIS_TRY(dis__alloc_array(place, n, sizeof **place));
    for (size_t k = 0; k < n; k++) {
        size_t length;
        const char *name = dis_names_get(from, k, &length);
        (*place)[k] = dis_names_find(classes, name, length);
        if ((*place)[k] == SIZE_MAX)
            return dis__fail(DIS_EDATA,
                             "the class \"%.100s\" of the %s is not a class of the model; declare it (`classes`), or "
                             "add a column to the soft labels",
                             name, what);
    }
    return DIS_OK;
}

/* row[i]: where item i is in a source's tasks, SIZE_MAX: not there. */
static dis_status match_items(const dis_names *items, const dis_names *tasks, size_t **row)
{
    DIS_TRY(dis__alloc_array(row, dis_names_count(items), sizeof **row));
    return dis__names_match(tasks, items, *row, NULL);
}

typedef struct {
    dis__targets *t;
    const dis_items *table;
    const dis_names *items, *classes;
    size_t *row, *place;
} matching;

/* DIS_EDATA of `n` items that lack something, the first of which is `i`. */
static dis_status lacks(const matching *m, size_t i, size_t n, const char *what, const char *path)
{
    char others[64] = "";
    if (n > 1) snprintf(others, sizeof others, ", nor %s %zu other%s", n > 2 ? "have" : "has", n - 1, n > 2 ? "s" : "");
    return dis__items_fail(m->table, i, "the item \"%.100s\" has no %s%s%.200s%s; `lenient` leaves such items out",
                           dis_names_get(m->items, i, NULL), what, path ? " in " : "", path ? path : "", others);
}

static dis_status no_match(const matching *m, const char *path)
{
    const bool counted = m->table && m->table->path && !m->table->line; /* arrays have no column of ids */
    return dis__items_fail(m->table, 0,
                           "none of the %zu items has a label%s%.200s; do the ids (\"%.100s\", ...) match?%s",
                           m->t->n_items, path ? " in " : "", path ? path : "", dis_names_get(m->items, 0, NULL),
                           counted ? " A file of them, one per line, is given with `tasks`" : "");
}

static dis_status match(matching *m, const dis_names *tasks, const dis_names *classes, const char *what)
{
    dis__free(m->row);
    dis__free(m->place);
    m->row = m->place = NULL;
    DIS_TRY(match_classes(classes, m->classes, what, &m->place));
    return match_items(m->items, tasks, &m->row);
}

static dis_status add_soft(matching *m, const dis_labels *labels, bool lenient)
{
    dis__targets *t = m->t;
    const dis_labels_view v = dis_labels_get_view(labels);
    const size_t k = t->n_classes;
    DIS_TRY(match(m, v.tasks, v.classes, "labels"));
    DIS_TRY(dis__alloc_zeroed(&t->human, dis__saturating_size(t->n_items, k, 0), sizeof *t->human));
    DIS_TRY(dis__alloc_zeroed(&t->target, dis__saturating_size(t->n_items, k, 0), sizeof *t->target));
    DIS_TRY(dis__alloc_zeroed(&t->weight, t->n_items, sizeof *t->weight));
    size_t n_lacking = 0, lacking = SIZE_MAX;
    for (size_t i = t->n_items; i-- > 0;)
        if (m->row[i] == SIZE_MAX) {
            lacking = i;
            n_lacking++;
        }
    if (n_lacking == t->n_items) return no_match(m, labels->path);
    if (n_lacking && !lenient) return lacks(m, lacking, n_lacking, "soft label", labels->path);
    for (size_t i = 0; i < t->n_items; i++) {
        if (m->row[i] == SIZE_MAX) continue;
        for (size_t c = 0; c < v.n_classes; c++) t->human[i * k + m->place[c]] = v.p[m->row[i] * v.n_classes + c];
        for (size_t c = 0; c < k; c++) t->target[i * k + c] = (float)t->human[i * k + c];
        t->weight[i] = 1;
    }
    return DIS_OK;
}

static dis_status no_labels(dis__targets *t)
{
    if (!t->label) DIS_TRY(dis__alloc_array(&t->label, t->n_items, sizeof *t->label));
    for (size_t i = 0; i < t->n_items; i++) t->label[i] = -1;
    return DIS_OK;
}

static dis_status add_gold(matching *m, const dis_gold *gold)
{
    dis__targets *t = m->t;
    const dis_gold_view v = dis_gold_get_view(gold);
    DIS_TRY(match(m, v.tasks, v.classes, "gold labels"));
    DIS_TRY(no_labels(t));
    for (size_t i = 0; i < t->n_items; i++)
        if (m->row[i] != SIZE_MAX) t->label[i] = (int32_t)m->place[v.label[m->row[i]]];
    return DIS_OK;
}

/* The most probable class. Where two share that position: the first, or none, and then no soft label either, so that
 * one head and two learn from the same items. */
static dis_status add_silver(matching *m, const dis__objective_settings *settings)
{
    dis__targets *t = m->t;
    const size_t k = t->n_classes;
    DIS_TRY(no_labels(t));
    for (size_t i = 0; i < t->n_items; i++) {
        if (t->weight[i] == 0) continue;
        const double *p = t->human + i * k;
        const size_t best = dis__argmax(p, k);
        bool tie = false;
        for (size_t c = best + 1; c < k; c++) tie |= p[c] == p[best];
        if (!tie || (settings && settings->ties == DIS_TIES_FIRST))
            t->label[i] = (int32_t)best;
        else if (settings)
            t->weight[i] = 0;
    }
    return DIS_OK;
}

static dis_status add_votes(matching *m, const dis_votes *votes)
{
    dis__targets *t = m->t;
    const dis_votes_view v = dis_votes_get_view(votes);
    if (!v.start)
        return dis__fail(DIS_EDATA, "this input has no annotator ids; crowd objectives need one row per vote");
    DIS_TRY(match(m, v.tasks, v.classes, "votes"));
    DIS_TRY(dis__alloc_array(&t->first, t->n_items + 1, sizeof *t->first));
    DIS_TRY(dis__alloc_array(&t->worker, v.n_votes, sizeof *t->worker));
    DIS_TRY(dis__alloc_array(&t->vote, v.n_votes, sizeof *t->vote));
    t->n_workers = v.n_workers;
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_items; i++) {
        t->first[i] = n;
        for (uint64_t w = m->row[i] == SIZE_MAX ? 0 : v.start[m->row[i]];
             m->row[i] != SIZE_MAX && w < v.start[m->row[i] + 1]; w++, n++) {
            t->worker[n] = (int32_t)v.worker[w];
            t->vote[n] = (int32_t)m->place[v.label8 ? v.label8[w] : v.label16[w]];
        }
    }
    t->first[t->n_items] = n;
    return DIS_OK;
}

/* The class with the most votes, none where two share that position. Cost: O(votes + items x classes). */
static dis_status add_majority(matching *m)
{
    dis__targets *t = m->t;
    const size_t k = t->n_classes;
    double *count;
    DIS_TRY(no_labels(t));
    DIS_TRY(dis__alloc_array(&count, k, sizeof *count));
    for (size_t i = 0; i < t->n_items; i++) {
        memset(count, 0, k * sizeof *count);
        for (uint64_t v = t->first[i]; v < t->first[i + 1]; v++) count[t->vote[v]]++;
        const size_t best = dis__argmax(count, k);
        bool tie = count[best] == 0;
        for (size_t c = best + 1; c < k; c++) tie |= count[c] == count[best];
        if (!tie) t->label[i] = (int32_t)best;
    }
    dis__free(count);
    return DIS_OK;
}

static dis_status mark_used(matching *m, bool lenient)
{
    dis__targets *t = m->t;
    DIS_TRY(dis__alloc_zeroed(&t->used, t->n_items, sizeof *t->used));
    size_t lacking = SIZE_MAX;
    for (size_t i = 0; i < t->n_items; i++) {
        t->used[i] = (t->label && t->label[i] >= 0) || (t->weight && t->weight[i] > 0) ||
                     (t->first && t->first[i] < t->first[i + 1]);
        t->n_used += t->used[i];
        if (!t->used[i] && lacking == SIZE_MAX) lacking = i;
    }
    if (t->n_used == 0) return no_match(m, NULL);
    if (lacking != SIZE_MAX && !lenient) return lacks(m, lacking, t->n_items - t->n_used, "label", NULL);
    return DIS_OK;
}

static dis_status make(matching *m, const dis_examples *e, const dis__objective_row *o,
                       const dis__objective_settings *settings, bool lenient)
{
    dis__targets *t = m->t;
    if (o && o->info.needs_gold && !e->gold)
        return dis__fail(DIS_EUSAGE, "the objective %s needs gold labels; give them with `gold`", o->info.name);
    if (o && o->info.needs_labels && !e->labels)
        return dis__fail(DIS_EUSAGE, "the objective %s needs soft labels; give them with `labels`", o->info.name);
    if (o && o->info.needs_votes && !e->votes)
        return dis__fail(DIS_EUSAGE, "the objective %s needs votes; give them with `votes`", o->info.name);
    const bool soft = o ? o->soft >= 0 || o->main == DIS_MAIN_SILVER : e->labels != NULL;
    if (soft) DIS_TRY(add_soft(m, e->labels, lenient));
    if (o ? o->main == DIS_MAIN_GOLD : e->gold != NULL)
        DIS_TRY(add_gold(m, e->gold));
    else if (o ? o->main == DIS_MAIN_SILVER : e->labels != NULL)
        DIS_TRY(add_silver(m, settings));
    if (o && o->crowd >= 0) DIS_TRY(add_votes(m, e->votes));
    if (o && settings->warm_up) DIS_TRY(add_majority(m));
    if (o && o->soft < 0 && t->weight) /* soft labels were there for silver ones alone */
        memset(t->weight, 0, t->n_items * sizeof *t->weight);
    return mark_used(m, lenient || (o && o->main == DIS_MAIN_SILVER));
}

dis_status dis__targets_init(dis_context *ctx, const dis_examples *examples, const dis__objective_row *objective,
                             const dis__objective_settings *settings, const dis_names *classes, bool lenient,
                             dis__targets *out)
{
    DIS_TRY(dis__check_stop(ctx));
    const dis_items_view items = dis_items_get_view(examples->items);
    *out = (dis__targets){.n_items = items.n_items, .n_classes = dis_names_count(classes)};
    matching m = {.t = out, .table = examples->items, .items = items.tasks, .classes = classes};
    const dis_status status = make(&m, examples, objective, settings, lenient);
    dis__free(m.row);
    dis__free(m.place);
    if (status != DIS_OK) dis__targets_free(out);
    return status;
}
