/* The table of models: one row per file. */
#include "train/model.h"
#include "core/options/option_spec.h"
#include <stdio.h>
#include <string.h>

/* clang-format off: one model per line */
#define MODELS(X) \
    X(mlp)        \
    X(text)       \
    X(tagger)     \
    X(stem_cnn)   \
    X(resnet)     \
    X(encoder)    \
    X(encoder_tagger)

#define DECLARE(name) extern const dis__model_row dis__model_##name;
MODELS(DECLARE)

static const dis__model_row *const rows[] = {
#define ROW(name) &dis__model_##name,
    MODELS(ROW)};
/* clang-format on */
enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *name_of(const void *unused, size_t i)
{
    (void)unused;
    return i < N_ROWS ? rows[i]->info.name : NULL;
}

dis_status dis__model_row_find(const char *spec, const dis__model_row **out)
{
    size_t i;
    DIS_TRY(dis__spec_find_row("model", spec, name_of, &i));
    *out = rows[i];
    return DIS_OK;
}

/* Which recipe the settings ask for. */
static const dis_model_recipe *recipe_of(const dis_model_kind *kind, const void *settings)
{
    for (size_t i = 0; kind->n_recipes && i < kind->n_options; i++)
        if (strcmp(kind->options[i].key, "recipe") == 0)
            return &kind->recipes[*(const int *)((const char *)settings + kind->options[i].offset)];
    return NULL;
}

dis_status dis__model_settings_parse(const dis__model_row *row, const char *spec, void *settings)
{
    const dis_model_kind *k = &row->info;
    char text[512];
    DIS_TRY(dis__spec_parse("model", spec, k->options, k->n_options, settings, row->settings_size));
    const dis_model_recipe *recipe = recipe_of(k, settings);
    if (!recipe || !*recipe->options) return DIS_OK;
    snprintf(text, sizeof text, "%s:%s", k->name, recipe->options);
    DIS_TRY(dis__spec_update("model", text, k->options, k->n_options, settings));
    return dis__spec_update("model", spec, k->options, k->n_options, settings);
}

const dis_model_kind *dis_model_kind_get(size_t i)
{
    return i < N_ROWS ? &rows[i]->info : NULL;
}

const dis_model_kind *dis_model_kind_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i]->info.name, name) == 0) return &rows[i]->info;
    return NULL;
}
