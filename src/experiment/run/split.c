/* Splits: which tasks train, choose the epoch, and are tested.
 *
 * Drawing: all tasks are shuffled by the seed, put in order of their gold label (a stable order, so within a label they
 * stay shuffled), and assigned: folds in turn, held-out tasks at equal steps along the line. Every label is thus in
 * every part in the same share, to within one task. Cost: linear. */
#include "experiment/run/dataset.h"
#include "core/memory/memory.h"
#include "items/stratified_order.h"
#include <string.h>

enum { DRAW_TEST, DRAW_DEV }; /* draws of one seed that must differ */

typedef struct {
    const dis__data *data;
    const dis__dataset *m;
    uint8_t *part;
    size_t *line; /* (m->n) */
    size_t n;     /* tasks in the line */
    uint64_t seed;
} splitting;

/* The tasks of one part, shuffled; then by label if the split is stratified. */
static dis_status line_up(splitting *s, uint8_t of, uint64_t draw, bool stratify)
{
    const dis__dataset *m = s->m;
    s->n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (s->part[i] == of) s->line[s->n++] = i;
    const int32_t *label = stratify ? m->label : NULL;
    return dis__stratified_order(s->seed, draw, label, label ? dis_names_count(m->classes) : 0, s->line, s->n);
}

/* `many` of the line, at equal steps. */
static void assign_evenly(const splitting *s, size_t many, uint8_t to)
{
    for (size_t i = 0; i < s->n; i++)
        if ((i + 1) * many / s->n > i * many / s->n) s->part[s->line[i]] = to;
}

static dis_status size_of(const splitting *s, double size, size_t *many)
{
    *many = size < 1 ? (size_t)(size * (double)s->n + .5) : (size_t)size;
    if (*many == 0 || *many >= s->n)
        return dis__fail(DIS_EDATA, "%s: holding out %g leaves the training or the held-out part of %zu items empty",
                         s->data->name, size, s->n);
    return DIS_OK;
}

static dis_status by_hold_out(splitting *s)
{
    size_t many;
    DIS_TRY(line_up(s, DIS_PART_TRAIN, DRAW_TEST, s->data->split->stratify));
    DIS_TRY(size_of(s, s->data->split->size, &many));
    assign_evenly(s, many, DIS_PART_TEST);
    return DIS_OK;
}

static dis_status by_block(splitting *s)
{
    size_t many, seen = 0;
    for (size_t i = 0; i < s->m->n; i++) s->n += s->part[i] == DIS_PART_TRAIN;
    DIS_TRY(size_of(s, s->data->split->size, &many));
    for (size_t i = 0; seen < many; i++) {
        uint8_t *part = &s->part[s->data->split->from ? i : s->m->n - 1 - i];
        if (*part != DIS_PART_TRAIN) continue;
        *part = DIS_PART_TEST;
        seen++;
    }
    return DIS_OK;
}

/* Number of positions in [0, end) that are assigned to fold f of n, in turn. */
static size_t n_assigned(size_t end, size_t f, size_t n)
{
    return (end + n - 1 - f) / n;
}

/* Fold of the i-th of `many` items in blocks, whose sizes are those of dealing positions begun, begun + 1, ... in
 * turn. */
static size_t fold_of(size_t i, size_t begun, size_t many, size_t n)
{
    size_t f = 0;
    for (size_t end = 0; f < n; f++) {
        end += n_assigned(begun + many, f, n) - n_assigned(begun, f, n);
        if (i < end) break;
    }
    return f;
}

/* Items of each label in blocks, in the order of the file; labels in the order of their first items. As the stratified
 * folds of scikit-learn without shuffling. */
static dis_status by_blocks_of_labels(splitting *s, size_t fold, size_t next)
{
    const size_t n = s->data->n_folds, k = dis_names_count(s->m->classes);
    const int32_t *label = s->data->split->stratify ? s->m->label : NULL;
    size_t *many, *begun, *seen, at = 0;
    DIS_TRY(dis__alloc_zeroed(&many, 3 * (k + 1), sizeof *many));
    begun = many + k + 1;
    seen = begun + k + 1;
#define CLASS_OF(i) (label && label[i] >= 0 ? (size_t)label[i] : k)
    for (size_t i = 0; i < s->m->n; i++) many[CLASS_OF(i)] += s->part[i] == DIS_PART_TRAIN;
    for (size_t i = 0; i < s->m->n; i++) {
        const size_t c = CLASS_OF(i);
        if (s->part[i] != DIS_PART_TRAIN) continue;
        if (seen[c] == 0) {
            begun[c] = at;
            at += many[c];
        }
        const size_t f = fold_of(seen[c]++, begun[c], many[c], n);
        if (f == fold) s->part[i] = DIS_PART_TEST;
        if (f == next && s->data->dev == DIS_DEV_NEXT) s->part[i] = DIS_PART_DEV;
    }
#undef CLASS_OF
    dis__free(many);
    return at < n ? dis__fail(DIS_EDATA, "%s: %zu items are too few for %zu folds", s->data->name, at, n) : DIS_OK;
}

static dis_status by_drawn_folds(splitting *s, size_t fold)
{
    const size_t n = s->data->n_folds, next = (fold + 1) % n;
    if (s->data->split->order) return by_blocks_of_labels(s, fold, next);
    DIS_TRY(line_up(s, DIS_PART_TRAIN, DRAW_TEST, s->data->split->stratify));
    if (s->n < n) return dis__fail(DIS_EDATA, "%s: %zu items are too few for %zu folds", s->data->name, s->n, n);
    for (size_t i = 0; i < s->n; i++) {
        if (i % n == fold) s->part[s->line[i]] = DIS_PART_TEST;
        if (i % n == next && s->data->dev == DIS_DEV_NEXT) s->part[s->line[i]] = DIS_PART_DEV;
    }
    return DIS_OK;
}

static bool is_one_of(const dis__texts *texts, const char *value)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strcmp(texts->text[i], value) == 0) return true;
    return false;
}

static uint8_t part_of_value(const dis__data *d, const char *value, size_t fold)
{
    const dis__split_part *s = d->split;
    if (s->by == DIS_SPLIT_FOLDS) {
        if (strcmp(value, d->fold[fold]) == 0) return DIS_PART_TEST;
        if (d->dev == DIS_DEV_NEXT && strcmp(value, d->fold[(fold + 1) % d->n_folds]) == 0) return DIS_PART_DEV;
        return DIS_PART_TRAIN;
    }
    if (is_one_of(&s->test, value)) return DIS_PART_TEST;
    if (is_one_of(&s->dev, value)) return d->dev == DIS_DEV_PART ? DIS_PART_DEV : DIS_PART_NONE;
    return !s->train.n || is_one_of(&s->train, value) ? DIS_PART_TRAIN : DIS_PART_NONE;
}

static void by_column(const splitting *s, size_t fold)
{
    const dis__dataset *m = s->m;
    for (size_t i = 0; i < m->n; i++) {
        if (s->part[i] == DIS_PART_NONE) continue;
        s->part[i] = m->value[i] < 0
                         ? DIS_PART_NONE
                         : part_of_value(s->data, dis_names_get(m->values, (size_t)m->value[i], NULL), fold);
    }
}

static dis_status make(splitting *s, size_t fold)
{
    const dis__dataset *m = s->m;
    for (size_t i = 0; i < m->n; i++) {
        const bool known = (m->label && m->label[i] >= 0) || (m->vote_row && m->vote_row[i] != SIZE_MAX);
        s->part[i] = known ? DIS_PART_TRAIN : DIS_PART_NONE;
    }
    const dis__split_part *split = s->data->split;
    switch ((dis__split_kind)split->by) {
    case DIS_SPLIT_NONE: break;
    case DIS_SPLIT_COLUMN: by_column(s, fold); break;
    case DIS_SPLIT_FOLDS:
        if (split->column)
            by_column(s, fold);
        else
            DIS_TRY(by_drawn_folds(s, fold));
        break;
    case DIS_SPLIT_HOLD_OUT: DIS_TRY(by_hold_out(s)); break;
    case DIS_SPLIT_BLOCK: DIS_TRY(by_block(s)); break;
    }
    if (s->data->dev != DIS_DEV_SHARE) return DIS_OK;
    size_t many;
    DIS_TRY(line_up(s, DIS_PART_TRAIN, DRAW_DEV, true));
    DIS_TRY(size_of(s, s->data->dev_share, &many));
    assign_evenly(s, many, DIS_PART_DEV);
    return DIS_OK;
}

dis_status dis__split_make(const dis__data *data, const dis__dataset *m, size_t fold, uint64_t seed, uint8_t *part)
{
    splitting s = {.data = data, .m = m, .part = part, .seed = data->seed_of_run ? seed : data->seed};
    DIS_TRY(dis__alloc_array(&s.line, m->n, sizeof *s.line));
    const dis_status status = make(&s, fold);
    dis__free(s.line);
    return status;
}
