/* Data sets, labels and measures of a plan: everything is looked up in the tables of the library and checked against
 * the rest of the file, so that nothing is found wrong hours later. */
#include "experiment/plan/plan_internal.h"
#include "core/numbers/decimal.h"
#include "dissent/recipe.h"
#include "io/files/file_format.h"
#include "dissent/items.h"
#include "tool/arrays.h"
#include "tables/gold_labels/gold_table.h"
#include "votes/table/class_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(p, at, ...) dis__yaml_fail(&(p)->yaml, at, __VA_ARGS__)

dis_status dis__plan_refuse(dis__plan_internal *p, const dis__yaml_node *at, const char *key, dis_status status)
{
    char message[900];
    if (status != DIS_EUSAGE && status != DIS_EDATA) return status;
    snprintf(message, sizeof message, "%s", dis_last_error());
    return FAIL(p, at, "%s: %s", key, message);
}

/* ---- labels ---- */

static dis_status check_labels(dis__plan_internal *p, const char *name, const dis__labels_part *l)
{
    const dis__yaml_node *at = l->at;
    if ((l->method != NULL) + (l->methods.n > 0) + (l->file != NULL) != 1)
        return FAIL(p, at, "labels %.100s: give one of method, methods and file", name);
    dis_label_plan choice = dis_label_plan_default();
    const dis_recipe *recipe = l->method ? dis_recipe_find(l->method) : NULL;
    if (l->combine && !l->methods.n && !recipe) return FAIL(p, at, "labels %.100s: combine needs methods", name);
    if (l->method) {
        const dis__yaml_node *method = dis__record_place(l, "method");
        DIS_TRY(dis__plan_refuse(p, method, "method", dis_label_plan_parse(&l->method, 1, NULL, true, &choice)));
    }
    for (size_t i = 0; i < l->methods.n; i++)
        DIS_TRY(dis__plan_refuse(p, l->methods.at[i], "methods", dis_method_check(l->methods.text[i])));
    if (l->methods.n > DIS_MAX_VIEWS) return FAIL(p, at, "more than %d methods", DIS_MAX_VIEWS);
    if (!l->combine) return DIS_OK;
    return dis__plan_refuse(p, dis__record_place(l, "combine"), "combine", dis_combiner_check(l->combine));
}

dis_status dis__plan_add_labels(dis__plan_internal *p)
{
    for (size_t i = 0; i < p->file.labels.n; i++)
        DIS_TRY(check_labels(p, p->file.labels.name[i], dis__part(&p->file.labels, i)));
    return DIS_OK;
}

static const char *labels_name(const void *arg, size_t i)
{
    const dis__plan_internal *p = arg;
    if (i < p->file.labels.n) return p->file.labels.name[i];
    const dis_method *method = dis_method_get(i - p->file.labels.n);
    return method ? method->name : NULL;
}

dis_status dis__plan_find_labels(dis__plan_internal *p, const dis__yaml_node *at, const char *key, const char *text,
                                 const dis__labels_part **out)
{
    for (size_t i = 0; i < p->file.labels.n; i++)
        if (strcmp(p->file.labels.name[i], text) == 0) {
            *out = dis__part(&p->file.labels, i);
            return DIS_OK;
        }
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    if (!dis_method_find(name) && !dis_recipe_find(name)) {
        const char *near = dis__name_find_nearest(text, labels_name, p);
        return FAIL(p, at, "%s: \"%.100s\" is not a name under labels and no method%s%s%s", key, text,
                    near ? "; did you mean " : "; dissent list methods shows them", near ? near : "", near ? "?" : "");
    }
    dis_label_plan choice = dis_label_plan_default();
    DIS_TRY(dis__plan_refuse(p, at, key, dis_label_plan_parse(&text, 1, NULL, true, &choice)));
    dis__labels_part *part;
    DIS_TRY(dis__plan_alloc(&p->memory, &part, 1, sizeof *part));
    part->at = at;
    part->method = text;
    *out = part;
    return DIS_OK;
}

/* ---- sources ---- */

static dis_status check_items(dis__plan_internal *p, const dis__parts *items)
{
    for (size_t i = 0; i < items->n; i++) {
        const dis__items_part *part = dis__part(items, i), *first = dis__part(items, 0);
        if (part->kind != first->kind)
            return FAIL(p, dis__record_place(part, "kind"),
                        "kind: all files of a set must have items of the same kind");
        if (part->kind == DIS_ITEMS_TOKENS && part->text.n > 1)
            return FAIL(p, part->text.at[1], "text: tokens must be in one column");
    }
    return DIS_OK;
}

static dis_status check_gold(dis__plan_internal *p, const dis__parts *gold, const dis__votes_part *votes)
{
    for (size_t i = 0; i < gold->n; i++) {
        const dis__gold_part *part = dis__part(gold, i);
        if ((part->file != NULL) + (part->method != NULL) != 1)
            return FAIL(p, part->at, "gold: give one of file and method");
        if (!part->method) continue;
        const dis__yaml_node *at = dis__record_place(part, "method");
        if (gold->n > 1) return FAIL(p, at, "method: gold labels from a method cannot be combined with other sources");
        if (!votes) return FAIL(p, at, "method: there are no votes to compute gold labels from");
        DIS_TRY(dis__plan_refuse(p, at, "method", dis_method_check(part->method)));
    }
    return DIS_OK;
}

static const char *preset_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_votes_preset_get(i) ? dis_votes_preset_get(i)->name : NULL;
}

static dis_status check_votes(dis__plan_internal *p, dis__votes_part *votes)
{
    const char *format;
    if (!votes) return DIS_OK;
    if (votes->format)
        DIS_TRY(
            dis__plan_refuse(p, dis__record_place(votes, "format"), "format",
                             dis__file_format(votes->format, votes->file.text[0], "csv|tsv|json|jsonl|npy", &format)));
    if (votes->columns.n && (votes->input != DIS_INPUT_COUNTS || votes->preset))
        return FAIL(p, dis__record_place(votes, "columns"), "columns requires input: counts");
    if (votes->columns.n && votes->file.n > 1)
        return FAIL(p, votes->file.at[1], "file: columns can be used with one file only");
    if (votes->where.n && !votes->columns.n)
        return FAIL(p, dis__record_place(votes, "where"), "where: selecting rows of votes requires named columns");
    if (!votes->preset) return DIS_OK;
    for (size_t i = 0; dis_votes_preset_get(i); i++) {
        const dis_votes_preset *preset = dis_votes_preset_get(i);
        if (strcmp(preset->name, votes->preset) != 0) continue;
        if (!dis__yaml_member(votes->at, "input")) votes->input = (int)preset->input;
        return DIS_OK;
    }
    const char *near = dis__name_find_nearest(votes->preset, preset_name, NULL);
    return FAIL(p, dis__record_place(votes, "preset"),
                "preset: no preset \"%.60s\"%s%s%s dissent list presets shows them", votes->preset,
                near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
}

/* ---- data sets ---- */

size_t dis__set_find(const dis__data_part *data, const char *name)
{
    for (size_t i = 0; i < data->sets.n; i++)
        if (strcmp(data->sets.name[i], name) == 0) return i;
    return SIZE_MAX;
}

static dis_status check_sets(dis__plan_internal *p, const dis__data_part *d)
{
    for (size_t i = 0; i < d->sets.n; i++) {
        const dis__set_part *set = dis__part(&d->sets, i);
        if (strcmp(d->sets.name[i], "test") == 0 || strcmp(d->sets.name[i], "none") == 0 ||
            strcmp(d->sets.name[i], "next") == 0 || strchr(d->sets.name[i], '.'))
            return FAIL(p, set->at, "sets: the name \"%.60s\" is reserved; choose another name", d->sets.name[i]);
        if (!d->items.n)
            return FAIL(p, set->at, "sets: the data set has no items, so no model can be trained to predict these");
        DIS_TRY(check_items(p, &set->items));
        DIS_TRY(check_gold(p, &set->gold, set->votes));
        DIS_TRY(check_votes(p, set->votes));
        const dis__items_part *own = dis__part(&d->items, 0), *its = dis__part(&set->items, 0);
        if (own->kind != its->kind)
            return FAIL(p, its->at, "items of a set must be of the same kind as those of the data set");
    }
    return DIS_OK;
}

static dis_status parse_seed(dis__plan_internal *p, dis__data *d)
{
    const dis__split_part *s = d->split;
    d->seed_of_run = s->by != DIS_SPLIT_FOLDS;
    if (!s->seed) return DIS_OK;
    char *end;
    d->seed_of_run = strcmp(s->seed, "run") == 0;
    d->seed = strtoull(s->seed, &end, 10);
    if (!d->seed_of_run && (*end || s->seed[0] < '0' || s->seed[0] > '9'))
        return FAIL(p, dis__record_place(s, "seed"), "seed: \"%.60s\" must be an integer, or run", s->seed);
    return DIS_OK;
}

/* Values of a fold column, each once, in the usual order. */
static dis_status sort_fold_names(dis__plan_internal *p, const dis_names *found, dis__data *d)
{
    const size_t n = dis_names_count(found);
    dis_names *sorted;
    if (n < 2 || n > 1000)
        return FAIL(p, dis__record_place(d->split, "column"), "column: \"%.60s\" has %zu values; folds are 2 to 1000",
                    d->split->column, n);
    DIS_TRY(dis__names_in_class_order(found, &sorted));
    dis_status status = dis__plan_alloc(&p->memory, &d->fold, n, sizeof *d->fold);
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        status = dis__plan_format_text(&p->memory, &d->fold[i], "%s", dis_names_get(sorted, i, NULL));
    d->n_folds = n;
    dis_names_destroy(sorted);
    return status;
}

static dis_status resolve_folds(dis_context *ctx, dis__plan_internal *p, dis__data *d)
{
    const dis__split_part *s = d->split;
    if ((s->column != NULL) + (s->folds > 0) != 1)
        return FAIL(p, s->at, "split: by folds needs either folds (their number) or column (the fold of each item)");
    d->n_folds = (size_t)s->folds;
    if (!s->column)
        return d->n_folds > 1 ? DIS_OK : FAIL(p, dis__record_place(s, "folds"), "folds: there must be 2 at least");
    if (dis__missing_within(&p->form, d->part->at)) {
        d->n_folds = 3; /* of a missing data set */
        return DIS_OK;
    }
    dis_gold *column;
    DIS_TRY(dis__plan_refuse(p, dis__record_place(s, "column"), "column", dis__split_column(ctx, d, &column)));
    const dis_status status = sort_fold_names(p, dis_gold_get_view(column).classes, d);
    dis_gold_destroy(column);
    return status;
}

static dis_status resolve_split(dis_context *ctx, dis__plan_internal *p, dis__data *d)
{
    static const dis__split_part none = {.by = DIS_SPLIT_NONE};
    static const struct {
        const char *key;
        unsigned kinds; /* of splits that have it */
    } uses[] = {
        {"column", 1u << DIS_SPLIT_COLUMN | 1u << DIS_SPLIT_FOLDS},
        {"file", 1u << DIS_SPLIT_COLUMN | 1u << DIS_SPLIT_FOLDS},
        {"task", 1u << DIS_SPLIT_COLUMN | 1u << DIS_SPLIT_FOLDS},
        {"train", 1u << DIS_SPLIT_COLUMN},
        {"dev", 1u << DIS_SPLIT_COLUMN},
        {"test", 1u << DIS_SPLIT_COLUMN},
        {"folds", 1u << DIS_SPLIT_FOLDS},
        {"size", 1u << DIS_SPLIT_HOLD_OUT | 1u << DIS_SPLIT_BLOCK},
        {"from", 1u << DIS_SPLIT_BLOCK},
        {"stratify", 1u << DIS_SPLIT_FOLDS | 1u << DIS_SPLIT_HOLD_OUT},
        {"seed", 1u << DIS_SPLIT_FOLDS | 1u << DIS_SPLIT_HOLD_OUT | 1u << DIS_SPLIT_NONE | 1u << DIS_SPLIT_COLUMN |
                     1u << DIS_SPLIT_BLOCK},
    };
    const dis__split_part *s = d->split = d->part->split ? d->part->split : p->file.split ? p->file.split : &none;
    d->n_folds = 1;
    DIS_TRY(parse_seed(p, d));
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const dis__yaml_node *at = dis__yaml_member(s->at, uses[i].key);
        if (at && !(uses[i].kinds >> s->by & 1))
            return FAIL(p, at, "%s cannot be used with this kind of split", uses[i].key);
    }
    if (s->by == DIS_SPLIT_FOLDS) return resolve_folds(ctx, p, d);
    if (s->by == DIS_SPLIT_COLUMN) {
        dis_gold *column;
        if (!s->column || !(s->test.n || s->train.n || s->dev.n))
            return FAIL(p, s->at, "split: by column needs the keys column and one of test, train and dev");
        if (dis__missing_within(&p->form, d->part->at)) return DIS_OK;
        DIS_TRY(dis__plan_refuse(p, dis__record_place(s, "column"), "column", dis__split_column(ctx, d, &column)));
        const dis_names *values = dis_gold_get_view(column).classes;
        dis_status status = DIS_OK;
        const dis__texts *const named[] = {&s->train, &s->dev, &s->test};
        for (size_t part = 0; part < 3; part++)
            for (size_t i = 0; i < named[part]->n && status == DIS_OK; i++)
                if (dis_names_find(values, named[part]->text[i], strlen(named[part]->text[i])) == SIZE_MAX)
                    status = FAIL(p, named[part]->at[i], "no row has \"%.60s\" in the column %.60s",
                                  named[part]->text[i], s->column);
        dis_gold_destroy(column);
        return status;
    }
    const bool sized = s->by == DIS_SPLIT_HOLD_OUT || s->by == DIS_SPLIT_BLOCK;
    if (sized && !(s->size > 0)) return FAIL(p, s->at, "split: this kind needs the key size, the number of test items");
    if (s->size >= 1 && s->size != (double)(uint64_t)s->size)
        return FAIL(p, dis__record_place(s, "size"), "size must be an integer, or a share below 1");
    return DIS_OK;
}

static dis_status resolve_dev(dis__plan_internal *p, dis__data *d)
{
    const char *dev = d->part->dev ? d->part->dev : p->file.dev;
    const dis__yaml_node *at = d->part->dev ? dis__record_place(d->part, "dev") : dis__record_place(&p->file, "dev");
    if (!dev) {
        d->dev = d->split->by == DIS_SPLIT_FOLDS ? DIS_DEV_NEXT : d->split->dev.n ? DIS_DEV_PART : DIS_DEV_NONE;
        if (d->dev == DIS_DEV_NEXT && d->n_folds < 3)
            return FAIL(p, d->split->at, "split: with 2 folds none is left for training; set dev: none, or a share");
        return DIS_OK;
    }
    d->dev_set = dis__set_find(d->part, dev);
    if (strcmp(dev, "none") == 0) {
        d->dev = DIS_DEV_NONE;
    } else if (strcmp(dev, "next") == 0) {
        d->dev = DIS_DEV_NEXT;
        if (d->split->by != DIS_SPLIT_FOLDS || d->n_folds < 3)
            return FAIL(p, at, "dev: next needs a split by 3 folds at least");
    } else if (d->dev_set != SIZE_MAX) {
        const dis__set_part *set = dis__part(&d->part->sets, d->dev_set);
        d->dev = DIS_DEV_SET;
        if (!set->gold.n && !(set->votes && d->human))
            return FAIL(p, at,
                        "dev: the set \"%.60s\" has no gold labels, nor votes and human labels to evaluate against",
                        dev);
    } else if (dis__parse_real(dev, strlen(dev), &d->dev_share) && d->dev_share > 0 && d->dev_share < 1) {
        d->dev = DIS_DEV_SHARE;
    } else {
        return FAIL(p, at, "dev: \"%.60s\" must be a set of %s, next, a share between 0 and 1, or none", dev, d->name);
    }
    return DIS_OK;
}

static dis_status resolve_data_set(dis_context *ctx, dis__plan_internal *p, dis__data *d)
{
    const dis__data_part *part = d->part;
    if (!part->items.n && !part->votes)
        return FAIL(p, part->at, "the data set %.60s has neither items nor votes", d->name);
    DIS_TRY(check_items(p, &part->items));
    DIS_TRY(check_gold(p, &part->gold, part->votes));
    DIS_TRY(check_votes(p, part->votes));
    DIS_TRY(check_sets(p, part));
    const char *human = part->human ? part->human : p->file.human;
    const dis__yaml_node *at = part->human ? dis__record_place(part, "human") : dis__record_place(&p->file, "human");
    if (human) DIS_TRY(dis__plan_find_labels(p, at, "human", human, &d->human));
    if (part->human && !part->votes && !d->human->file)
        return FAIL(p, at, "human: the data set %.60s has no votes to compute labels from", d->name);
    if (!part->votes && d->human && !d->human->file) d->human = NULL;
    DIS_TRY(resolve_split(ctx, p, d));
    return resolve_dev(p, d);
}

dis_status dis__plan_add_data(dis_context *ctx, dis__plan_internal *p)
{
    const dis__parts *parts = &p->file.data;
    DIS_TRY(dis__plan_alloc(&p->memory, &p->data, parts->n, sizeof *p->data));
    for (size_t i = 0; i < parts->n; i++) {
        p->data[i].name = parts->name[i];
        p->data[i].part = dis__part(parts, i);
        DIS_TRY(resolve_data_set(ctx, p, &p->data[i]));
    }
    return DIS_OK;
}

/* ---- measures ---- */

static const char *metric_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_evaluation_metric_get(i) ? dis_evaluation_metric_get(i)->name : NULL;
}

dis_status dis__plan_no_metric(dis__plan_internal *p, const dis__yaml_node *at, const char *key, const char *name)
{
    const char *near = dis__name_find_nearest(name, metric_name, NULL);
    return FAIL(p, at, "%s: no metric \"%.60s\"%s%s%s dissent list metrics shows them", key, name,
                near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
}

/* Whether a data set supports this measure on this set; `why` has the missing input. */
static bool can_measure(const dis__plan_internal *p, const char *set, unsigned needs, bool *known, const char **why)
{
    for (size_t i = 0; i < p->file.data.n; i++) {
        const dis__data *d = &p->data[i];
        const size_t s = dis__set_find(d->part, set);
        if (s == SIZE_MAX && strcmp(set, "test") != 0) continue;
        const dis__set_part *part = s == SIZE_MAX ? NULL : dis__part(&d->part->sets, s);
        const bool gold = part ? part->gold.n > 0 : d->part->gold.n > 0,
                   votes = part ? part->votes && !(d->human && d->human->file)
                                : d->part->votes != NULL || (d->human && d->human->file);
        *known = true;
        if ((needs & DIS_NEEDS_GOLD) && !gold)
            *why = "gold labels of the set";
        else if ((needs & DIS_NEEDS_HUMAN) && !votes)
            *why = "votes on the set";
        else if ((needs & DIS_NEEDS_WORKERS) && !(part ? part->votes != NULL : d->part->votes != NULL))
            *why = "votes on the set";
        else if ((needs & DIS_NEEDS_HUMAN) && !d->human)
            *why = "labels that stand for people: say human: standard, softmax, or other labels";
        else if (needs & DIS_NEEDS_SETS)
            *why = "predictions of sets of classes: dissent eval computes it, with the scale multi-label";
        else if ((needs & DIS_NEEDS_ORDER) && !d->part->ordinal)
            *why = "ordinal: yes for the data set";
        else
            return true;
    }
    return false;
}

static dis_status parse_metric(dis__plan_internal *p, const char *set, const dis__yaml_node *at)
{
    if (at->kind != DIS_YAML_TEXT) return FAIL(p, at, "measure: a metric must be a text");
    const dis_evaluation_metric metric = dis_evaluation_metric_find(at->text);
    if (metric == DIS_EVALUATION_METRICS) return dis__plan_no_metric(p, at, "measure", at->text);
    for (size_t i = 0; i < p->plan.n_measures; i++)
        if (p->measures[i].metric == metric && strcmp(p->measures[i].set, set) == 0)
            return FAIL(p, at, "measure: %s is repeated", at->text);
    bool known = false;
    const char *why = "";
    if (!can_measure(p, set, dis_evaluation_metric_get(metric)->needs, &known, &why))
        return known
                   ? FAIL(p, at, "measure: %s needs %s", at->text, why)
                   : FAIL(p, at, "measure: no data set has a set \"%.60s\"; test is the tested part of the split", set);
    p->measures[p->plan.n_measures++] = (dis_experiment_measure){.set = set, .metric = metric};
    return DIS_OK;
}

dis_status dis__plan_add_measures(dis__plan_internal *p)
{
    const dis__yaml_node *map = p->file.measure;
    if (map->kind != DIS_YAML_MAP || map->n == 0) return FAIL(p, map, "measure must be a map: SET: [METRIC, ...]");
    DIS_TRY(dis__plan_alloc(&p->memory, &p->measures, map->skip, sizeof *p->measures));
    const dis__yaml_node *key = map + 1;
    for (uint32_t i = 0; i < map->n; i++) {
        const dis__yaml_node *list = key + 1, *at = list->kind == DIS_YAML_LIST ? list + 1 : list;
        const uint32_t n = list->kind == DIS_YAML_LIST ? list->n : 1;
        if (n == 0) return FAIL(p, list, "measure: an empty list");
        for (uint32_t m = 0; m < n; m++, at += at->skip) DIS_TRY(parse_metric(p, key->text, at));
        key = list + list->skip;
    }
    p->plan.measure = p->measures;
    return DIS_OK;
}
