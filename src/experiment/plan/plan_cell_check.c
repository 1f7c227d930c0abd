/* Whether a cell makes sense before anything is run: its data, its labels, what its objective needs, its model and how
 * epochs are judged. Messages stand at the key that is wrong, in the entry or in the defaults. */
#include "experiment/plan/plan_internal.h"
#include "dissent/fit.h"
#include "dissent/train.h"
#include "tool/arrays.h"
#include "encoder/encoder_folder.h"
#include "train/model.h"
#include "train/objectives/objective.h"
#include "train/loop/optimizer_spec.h"
#include <stdio.h>
#include <string.h>

#define FAIL(p, at, ...) dis__yaml_fail(&(p)->yaml, at, __VA_ARGS__)

const dis__yaml_node *dis__plan_cell_place(const dis__plan_internal *p, const dis__cell_part *part, const char *key)
{
    const dis__yaml_node *own = dis__yaml_member(part->at, key), *usual = dis__yaml_member(p->file.defaults, key);
    return own ? own : usual ? usual : part->at;
}

static dis_status find_data(dis__plan_internal *p, dis__cell_internal *c)
{
    if (!c->part.data && p->file.data.n > 1)
        return FAIL(p, c->part.at, "there are several data sets; a cell needs the key data");
    for (size_t i = 0; i < p->file.data.n; i++)
        if (!c->part.data || strcmp(p->data[i].name, c->part.data) == 0) {
            c->data = i;
            return DIS_OK;
        }
    return FAIL(p, dis__plan_cell_place(p, &c->part, "data"), "data: no data set \"%.60s\" in this file", c->part.data);
}

static const char *objective_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_objective_get(i) ? dis_objective_get(i)->name : NULL;
}

static dis_status check_needs(dis__plan_internal *p, const dis__cell_internal *c, const dis_objective *o)
{
    const dis__data *d = &p->data[c->data];
    const dis__yaml_node *at = dis__plan_cell_place(p, &c->part, "objective");
    if (o->needs_labels && !c->labels)
        return FAIL(p, at, "objective: %s needs the key labels, the training targets", o->name);
    if (o->needs_gold && !d->part->gold.n)
        return FAIL(p, at, "objective: %s needs gold labels, which %s lacks", o->name, d->name);
    if (o->needs_votes &&
        (!d->part->votes || d->part->votes->input == DIS_INPUT_COUNTS || d->part->votes->input == DIS_INPUT_SOFT))
        return FAIL(p, at, "objective: %s needs annotator ids, which %s does not have", o->name, d->name);
    if (!d->part->items.n) return FAIL(p, at, "objective: the data set %s has no items to train on", d->name);
    return DIS_OK;
}

/* The items that select the epoch need labels, and the metric its inputs. */
static dis_status check_judging(dis__plan_internal *p, const dis__cell_internal *c)
{
    const dis__cell_part *part = &c->part;
    const dis__data *d = &p->data[c->data];
    const bool own = part->judge == DIS_JUDGE_LABELS;
    if (part->train.keep && dis_evaluation_metric_find(part->train.keep) == DIS_EVALUATION_METRICS)
        return dis__plan_no_metric(p, dis__plan_cell_place(p, part, "keep"), "keep", part->train.keep);
    if (own && (!c->labels || d->dev == DIS_DEV_SET))
        return FAIL(p, dis__plan_cell_place(p, part, "judge"), "judge: %s",
                    c->labels ? "dev is a separate set without labels of this cell"
                              : "the cell has no labels to select by");
    if (part->test_by == DIS_JUDGE_LABELS && !c->labels)
        return FAIL(p, dis__plan_cell_place(p, part, "test_by"), "test_by: the cell has no labels to evaluate against");
    if (d->dev == DIS_DEV_NONE) {
        if (!part->train.keep && !part->train.patience) return DIS_OK;
        return FAIL(p, dis__plan_cell_place(p, part, part->train.keep ? "keep" : "patience"),
                    "%s needs a development set: the data set %s has no dev", part->train.keep ? "keep" : "patience",
                    d->name);
    }
    const dis__set_part *set = d->dev == DIS_DEV_SET ? dis__part(&d->part->sets, d->dev_set) : NULL;
    const bool labels = set ? set->votes && d->human && !d->human->file : c->labels || d->human;
    const bool gold = !own && (set ? set->gold.n : d->part->gold.n) > 0;
    if (!gold && !labels)
        return FAIL(
            p, part->at,
            "no epoch can be chosen: dev of %s has neither gold labels nor labels of people; set human, or dev: none",
            d->name);
    if (part->train.keep &&
        (dis_evaluation_metric_get(dis_evaluation_metric_find(part->train.keep))->needs & DIS_NEEDS_HUMAN) && !labels)
        return FAIL(p, dis__plan_cell_place(p, part, "keep"), "keep: %s needs labels of people for dev; set human",
                    part->train.keep);
    return DIS_OK;
}

/* The folder of a pretrained model exists and can be read, or the model needs none. */
static dis_status check_encoder(dis__plan_internal *p, const dis__cell_part *part, bool missing,
                                const dis__yaml_node *at, const dis_model_kind *kind)
{
    const dis__model_row *row;
    DIS_TRY(dis__model_row_find(kind->name, &row));
    if (row->pretrained && !part->train.encoder)
        return FAIL(p, at, "model: %s needs the key encoder, the folder of a pretrained encoder", kind->name);
    if (!row->pretrained && part->train.encoder)
        return FAIL(p, dis__plan_cell_place(p, part, "encoder"),
                    "encoder is for models of pretrained encoders, which %s is not; leave it out, or choose the model "
                    "encoder or encoder-tagger",
                    kind->name);
    if (!part->train.encoder || missing) return DIS_OK;
    return dis__plan_refuse(p, dis__plan_cell_place(p, part, "encoder"), "encoder",
                            dis__encoder_folder_check(NULL, part->train.encoder));
}

/* A worker table, its feature columns, and an objective that uses workers. */
static dis_status check_features(dis__plan_internal *p, const dis__cell_part *part)
{
    const char *given = part->worker_table ? "worker_table" : "worker_features";
    if (!part->worker_table && !part->worker_features) return DIS_OK;
    if (!part->worker_table || !part->worker_features)
        return FAIL(p, dis__plan_cell_place(p, part, given),
                    "%s: worker_table and worker_features must be used together", given);
    if (dis__objective_row_find(part->objective)->annotator) return DIS_OK;
    return FAIL(p, dis__plan_cell_place(p, part, given), "%s is for the objectives annotator and annot-mix", given);
}

static dis_status check_training(dis__plan_internal *p, const dis__cell_internal *c)
{
    const dis__cell_part *part = &c->part;
    const dis__data *d = &p->data[c->data];
    const dis_objective *o = dis_objective_find(part->objective);
    if (!o) {
        const char *near = dis__name_find_nearest(part->objective, objective_name, NULL);
        return FAIL(p, dis__plan_cell_place(p, part, "objective"),
                    "objective: no objective \"%.60s\"%s%s%s dissent list objectives shows them", part->objective,
                    near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
    }
    char text[DIS__OBJECTIVE_TEXT_SIZE];
    DIS_TRY(dis__plan_refuse(p, dis__plan_cell_place(p, part, "objective"), "objective",
                             dis__objective_format(part->objective, text)));
    DIS_TRY(check_needs(p, c, o));
    DIS_TRY(check_features(p, part));
    if (!part->model) return FAIL(p, part->at, "a cell with an objective needs the key model");
    dis_model *model;
    const dis__yaml_node *at = dis__plan_cell_place(p, part, "model");
    DIS_TRY(dis__plan_refuse(p, at, "model", dis__model_create(part->model, part->objective, &model)));
    const dis_model_kind *kind = dis_model_get_view(model).kind;
    dis_model_destroy(model);
    static const char *const kinds[] = {"text", "tokens", "features", "images"};
    const dis__items_part *items = dis__part(&d->part->items, 0);
    if ((int)kind->items_kind != items->kind)
        return FAIL(p, at, "model: %s reads %s, and the items of %s are %s", kind->name, kinds[kind->items_kind],
                    d->name, kinds[items->kind]);
    DIS_TRY(check_encoder(p, part, c->missing != NULL, at, kind));
    dis__optimizer_options optimizer;
    dis__schedule schedule;
    if (part->train.optimizer)
        DIS_TRY(dis__plan_refuse(p, dis__plan_cell_place(p, part, "optimizer"), "optimizer",
                                 dis__optimizer_parse(part->train.optimizer, &optimizer)));
    if (part->train.schedule)
        DIS_TRY(dis__plan_refuse(p, dis__plan_cell_place(p, part, "schedule"), "schedule",
                                 dis__schedule_parse(part->train.schedule, 1, 1, 1, &schedule)));
    return check_judging(p, c);
}

/* Subsampling of votes requires votes, and random workers require worker ids. */
static dis_status check_draw(dis__plan_internal *p, const dis__cell_internal *c, const dis_objective *o)
{
    static const char *const keys[] = {"votes_per_item", "random_workers"};
    const bool drawn[] = {c->part.votes_per_item > 0, c->part.random_workers > 0};
    const dis__votes_part *votes = p->data[c->data].part->votes;
    const bool none = (!c->labels || c->labels->file) && !(o && o->needs_votes);
    for (size_t i = 0; i < 2; i++)
        if (drawn[i] && none)
            return FAIL(p, dis__plan_cell_place(p, &c->part, keys[i]), "%s: the cell has no labels computed from votes",
                        keys[i]);
    if (drawn[1] && (votes->input == DIS_INPUT_COUNTS || votes->input == DIS_INPUT_SOFT))
        return FAIL(p, dis__plan_cell_place(p, &c->part, keys[1]), "%s: %s has no annotator ids", keys[1],
                    p->data[c->data].name);
    return DIS_OK;
}

dis_status dis__plan_check_cell(dis__plan_internal *p, dis__cell_internal *c)
{
    DIS_TRY(find_data(p, c));
    const dis__data *d = &p->data[c->data];
    const dis__yaml_node *at = dis__plan_cell_place(p, &c->part, "labels");
    if (c->part.labels) {
        DIS_TRY(dis__plan_find_labels(p, at, "labels", c->part.labels, &c->labels));
        if (!d->part->votes && !c->labels->file)
            return FAIL(p, at, "labels: the data set %s has no votes to compute labels from", d->name);
        const dis_method *method;
        for (size_t i = 0; i < (c->labels->method ? 1 : c->labels->methods.n); i++) {
            const char *spec = c->labels->method ? c->labels->method : c->labels->methods.text[i];
            char name[80];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
            method = dis_method_find(name);
            if (method && method->needs_workers &&
                (d->part->votes->input == DIS_INPUT_COUNTS || d->part->votes->input == DIS_INPUT_SOFT))
                return FAIL(p, at, "labels: %s needs annotator ids, which %s does not have", name, d->name);
        }
    }
    const dis_objective *o = c->part.objective ? dis_objective_find(c->part.objective) : NULL;
    DIS_TRY(check_draw(p, c, o));
    if (c->part.objective) return check_training(p, c);
    return c->labels ? DIS_OK : FAIL(p, c->part.at, "a cell needs an objective to train towards, or labels to measure");
}
