/* The table of models: one row a file. */
#include "train/models.h"
#include <string.h>

/* clang-format off */
static const dis__model_row *const rows[] = {
    &dis__model_mlp,
    &dis__model_text,
    &dis__model_tagger,
    &dis__model_stem_cnn,
    &dis__model_resnet,
};
/* clang-format on */
enum { N_ROWS = sizeof rows / sizeof *rows };

const dis__model_row *dis__model_row_at(size_t i)
{
    return i < N_ROWS ? rows[i] : NULL;
}

const dis__model_row *dis__model_row_find(const char *name, size_t n)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strlen(rows[i]->info.name) == n && memcmp(rows[i]->info.name, name, n) == 0) return rows[i];
    return NULL;
}

const dis_model_kind *dis_model_kind_at(size_t i)
{
    return i < N_ROWS ? &rows[i]->info : NULL;
}

const dis_model_kind *dis_model_kind_find(const char *name)
{
    const dis__model_row *row = dis__model_row_find(name, strlen(name));
    return row ? &row->info : NULL;
}
