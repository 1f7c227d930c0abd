/* The table of recipes, in the order in which help shows them; the first is the default. A new recipe is a list of
 * views and a row here:
 *
 *     static const char *const views[] = {"standard", "ibcc"};
 *     {.name = "mine", .summary = "...", .source = "...", .view = views, .n_views = 2, COUNTS, .combine = "average"}
 *
 * Views are specs as on the command line: recipes with permanent results set every option that matters. */
#include "dissent/recipe.h"
#include "tool/method_checks.h"
#include "core/error.h"
#include "core/options/sized_structs.h"
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_label_plan, .size = sizeof(dis_label_plan))

static const char *const models[] = {"dawid-skene", "crowd", "standard"};
static const char *const of_gold[] = {"dawid-skene", "crowd", "standard", "ebcc:restarts=2,groups=4,tolerance=1e-4",
                                      "mace",        "glad"};
static const char *const papers[] = {"standard", "softmax", "dawid-skene:smoothing=0", "mace"};
static const char *const with_model[] = {"dawid-skene:smoothing=.5,diagonal=2", "ibcc"};
static const char *const shares[] = {"standard", "softmax"};

#define VIEWS(list)  .views = (list), .n_views = sizeof(list) / sizeof *(list)
#define COUNTS(list) .views_for_counts = (list), .n_views_for_counts = sizeof(list) / sizeof *(list)

static const dis_recipe recipes[] = {
    {.name = "default",
     .summary = "dawid-skene with smoothing, crowd and vote shares; calibrated on real crowds and by known labels",
     .source = "chosen by cross-validation over real crowds (docs/concepts/default-labels.md)",
     VIEWS(models),
     COUNTS(shares),
     .combine = "calibrated:weights=votes",
     .combine_for_counts = "centroid",
     .views_for_gold = of_gold,
     .n_views_for_gold = sizeof of_gold / sizeof *of_gold,
     .combine_for_gold = "calibrated:weights=votes,gold=choose"},
    {.name = "papers",
     .summary = "centroid of the four label sets of the papers: standard, softmax, dawid-skene without smoothing, mace",
     .source = "Wright & Augenstein 2022",
     VIEWS(papers),
     COUNTS(shares),
     .combine = "centroid",
     .combine_for_counts = "centroid"},
    {.name = "with-model",
     .summary = "votes and predictions of a model: dawid-skene and ibcc, calibrated",
     .source = "docs/guides/labels-and-model.md",
     VIEWS(with_model),
     COUNTS(shares),
     .combine = "calibrated",
     .combine_for_counts = "centroid"},
};

const dis_recipe *dis_recipe_get(size_t i)
{
    return i < sizeof recipes / sizeof *recipes ? &recipes[i] : NULL;
}

const dis_recipe *dis_recipe_find(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i].name, name) == 0) return &recipes[i];
    return NULL;
}

/* The recipe that a spec names, NULL: none. */
static const dis_recipe *recipe_of(const char *spec)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        const size_t n = strlen(recipes[i].name);
        if (strncmp(spec, recipes[i].name, n) == 0 && (spec[n] == 0 || spec[n] == ':')) return &recipes[i];
    }
    return NULL;
}

static dis_status set_methods(const char *const *specs, size_t n, dis_label_plan *c)
{
    if (n > DIS_MAX_VIEWS) return dis__fail(DIS_EUSAGE, "%zu methods; %d are possible", n, DIS_MAX_VIEWS);
    for (size_t m = 0; m < n; m++) {
        const dis_recipe *r = recipe_of(specs[m]);
        if (r)
            return dis__fail(
                DIS_EUSAGE,
                "%s is a recipe of %zu methods and cannot be combined with others; name its methods instead", r->name,
                r->n_views);
        DIS_TRY(dis_method_check(specs[m]));
        c->views[c->n_views++] = specs[m];
    }
    return DIS_OK;
}

static void set_recipe(const dis_recipe *r, bool workers, dis_label_plan *c)
{
    const char *const *view = workers ? r->views : r->views_for_counts;
    c->recipe = r;
    c->n_views = workers ? r->n_views : r->n_views_for_counts;
    memcpy(c->views, view, c->n_views * sizeof *view);
}

static const char *recipe_combine(const dis_recipe *r, bool workers)
{
    return workers ? r->combine : r->combine_for_counts;
}

dis_label_plan dis__label_plan_for_gold(const dis_label_plan *choice, size_t n_gold)
{
    const dis_recipe *r = choice->recipe;
    dis_label_plan c = *choice;
    if (!r || !r->combine_for_gold || (c.combine != r->combine && c.combine != r->combine_for_gold)) return c;
    const bool chooses = n_gold >= DIS_MIN_GOLD;
    const char *const *view = chooses ? r->views_for_gold : r->views;
    c.n_views = chooses ? r->n_views_for_gold : r->n_views;
    memcpy(c.views, view, c.n_views * sizeof *view);
    c.combine = chooses ? r->combine_for_gold : r->combine;
    return c;
}

dis_status dis_label_plan_parse(const char *const *specs, size_t n_specs, const char *combine, bool workers,
                                dis_label_plan *out)
{
    dis_label_plan c = dis_label_plan_default();
    const dis_recipe *r = n_specs == 0 ? &recipes[0] : n_specs == 1 ? recipe_of(specs[0]) : NULL;
    if (r && n_specs && strcmp(specs[0], r->name) != 0)
        return dis__fail(DIS_EUSAGE, "%s is a recipe and has no options; name its methods instead", r->name);
    if (r)
        set_recipe(r, workers, &c);
    else
        DIS_TRY(set_methods(specs, n_specs, &c));
    if (combine) DIS_TRY(dis_combiner_check(combine));
    if (combine && c.n_views == 1)
        return dis__fail(DIS_EUSAGE, "a combination needs several label sets and only one method is given; add "
                                     "another, or leave the combination out");
    if (c.n_views > 1) c.combine = combine ? combine : r ? recipe_combine(r, workers) : "centroid";
    return DIS_STRUCT_WRITE(dis_label_plan, out, &c);
}
