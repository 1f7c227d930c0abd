/* The table of models: one row per file. */
#include "train/models.h"
#include "core/spec.h"
#include <string.h>

/* clang-format off */
static const dis__model_row *const rows[] = {
    &dis__model_mlp,
    &dis__model_text,
    &dis__model_tagger,
    &dis__model_stem_cnn,
    &dis__model_resnet,
    &dis__model_encoder,
    &dis__model_encoder_tagger,
};
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
    DIS_TRY(dis__spec_row("model", spec, name_of, &i));
    *out = rows[i];
    return DIS_OK;
}

const dis_model_kind *dis_model_kind_at(size_t i)
{
    return i < N_ROWS ? &rows[i]->info : NULL;
}

const dis_model_kind *dis_model_kind_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i]->info.name, name) == 0) return &rows[i]->info;
    return NULL;
}
