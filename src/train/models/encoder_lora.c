/* LoRA on a pretrained encoder (Hu et al. 2022): its own numbers stay, and beside some matrices W of each layer B A of
 * a low rank is learnt. A model keeps all three; what predicts, and what is handed on, has W + alpha / rank B A, which
 * costs 2 rank numbers per number of W once, and nothing from then on. */
#include "train/models/encoder_model.h"
#include <stdio.h>
#include <string.h>

bool dis__encoder_lora_parse(const dis__encoder_settings *s, dis__encoder_lora *out)
{
    static const unsigned attention = DIS_LORA_QUERY | DIS_LORA_KEY | DIS_LORA_VALUE | DIS_LORA_OUTPUT;
    const unsigned targets[] = {DIS_LORA_QUERY | DIS_LORA_VALUE, DIS_LORA_QUERY | DIS_LORA_KEY | DIS_LORA_VALUE,
                                attention, DIS_LORA_UP | DIS_LORA_DOWN, attention | DIS_LORA_UP | DIS_LORA_DOWN};
    *out = (dis__encoder_lora){.rank = (size_t)s->lora,
                               .alpha = s->lora_alpha,
                               .dropout = s->lora_dropout,
                               .targets = targets[s->lora_targets],
                               .first = s->frozen > 0 ? (size_t)s->frozen : 0};
    return s->lora > 0;
}

static const float *find(const dis__model_weights *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->info[i].name, name) == 0) return w->value[i];
    return NULL;
}

/* Rows first .. first + n of W (., width) += scale B A, B (n, rank), A (rank, width); sums in double. */
static void add_product(float *w, const float *b, const float *a, size_t n, size_t rank, size_t width, double scale)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++) {
            double sum = 0;
            for (size_t r = 0; r < rank; r++) sum += (double)b[i * rank + r] * (double)a[r * width + j];
            w[i * width + j] = (float)((double)w[i * width + j] + scale * sum);
        }
}

/* "encoder.layer.3.qkv.weight" is of layer 3, "qkv"; false: of another kind. */
static bool layer_of(const char *name, size_t *layer, char what[DIS_NET_NAME])
{
    int end = 0;
    if (sscanf(name, "encoder.layer.%zu.%95[a-z0-9].weight%n", layer, what, &end) < 2 || name[end] || !end)
        return false;
    return true;
}

dis_status dis__encoder_merge_lora_weight(const dis_model *model, size_t weight, float **out)
{
    const dis__model_weights *w = &model->weights;
    const dis__param_info *info = &w->info[weight];
    const dis__pretrained_encoder *e = model->encoder;
    dis__encoder_lora lora;
    dis__low_rank_options low;
    size_t layer;
    char what[DIS_NET_NAME], name[2 * DIS_NET_NAME];
    *out = NULL;
    if (!dis__encoder_lora_parse(model->settings, &lora) || !layer_of(info->name, &layer, what) ||
        !dis__encoder_lora_select(&lora, layer, what, e->config.width, &low))
        return DIS_OK;
    snprintf(name, sizeof name, "lora.layer.%zu.%s.a", layer, what);
    const float *a = find(w, name);
    name[strlen(name) - 1] = 'b';
    const float *b = find(w, name);
    if (!a || !b) return dis__fail(DIS_EDATA, "the model's weights lack %s, or its counterpart", name);
    const size_t width = info->dim[1], n = low.n_out ? low.n_out : info->dim[0];
    float *sum;
    DIS_TRY(dis__alloc_array(&sum, info->n, sizeof *sum));
    memcpy(sum, w->value[weight], info->n * sizeof *sum);
    for (size_t p = 0; p < low.n_parts; p++)
        add_product(sum + low.first[p] * width, b + p * n * low.rank, a + p * low.rank * width, n, low.rank, width,
                    low.scale);
    *out = sum;
    return DIS_OK;
}

dis_status dis__encoder_merge_lora(const dis_model *model, dis__net *net)
{
    const dis__model_weights *w = &model->weights;
    for (size_t i = 0; i < w->n; i++) {
        float *sum;
        DIS_TRY(dis__encoder_merge_lora_weight(model, i, &sum));
        if (!sum) continue;
        const size_t param = dis__net_find_param(net, w->info[i].name);
        const dis_status status =
            param == SIZE_MAX ? DIS_OK : dis__param_put_rows(net, param, 0, w->info[i].dim[0], sum);
        dis__free(sum);
        DIS_TRY(status);
    }
    return DIS_OK;
}
