/* Model folders: two bytes say how long model.json is, its bytes follow, the rest is the file "w" of numbers. A folder
 * that is taken predicts a distribution for every item that fits its encoder, or says why not. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "dissent/dissent.h"
#include "items/items_internal.h"
#include "train/model.h"
#include <math.h>

enum { ITEMS = 2, MAX_NUMBERS = 4096, MAX_TEXTS = 8 };

/* Items of the model's own kind and sizes, by way of the readers; NULL: too large to try. */
static dis_items *items_for(const dis_model *m)
{
    dis__preprocessor_info facts = {0}, *e = &facts;
    m->row->facts(m->encoder, e);
    static const char *const columns[MAX_TEXTS] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};
    static const char *const formats[] = {"csv", "csv", "f32", "npy"};
    dis_items_options o = dis_items_options_default();
    o.kind = m->row->info.items_kind;
    o.format = formats[o.kind];
    size_t n = 0;
    char text[1024] = "";
    const uint8_t *bytes = (const uint8_t *)text;
    static uint8_t numbers[256 + ITEMS * MAX_NUMBERS * sizeof(float)];
    if (o.kind == DIS_ITEMS_TEXT) {
        o.columns = columns;
        o.n_columns = e->n_texts;
        if (e->n_texts == 0 || e->n_texts > MAX_TEXTS) return NULL;
        n = (size_t)snprintf(text, sizeof text,
                             "task,t0,t1,t2,t3,t4,t5,t6,t7\na,red apple,red,x,,,,,\nb,,a b,,,,,,é\n");
    } else if (o.kind == DIS_ITEMS_TOKENS) {
        n = (size_t)snprintf(text, sizeof text, "task,sentence,token\na,0,red\nb,0,é\nc,1,x\n");
    } else if (o.kind == DIS_ITEMS_FEATURES) {
        if (e->n_features == 0 || e->n_features > MAX_NUMBERS) return NULL;
        o.width = e->n_features;
        n = ITEMS * e->n_features * sizeof(float);
        bytes = memset(numbers, 0, n);
    } else {
        const size_t max = MAX_NUMBERS;
        if (e->height == 0 || e->width == 0 || e->channels == 0 || e->height > max || e->width > max ||
            e->channels > 4 || e->height * e->width * e->channels > max)
            return NULL;
        char head[129];
        snprintf(head, sizeof head, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %zu, %zu, %zu), }", ITEMS,
                 e->height, e->width, e->channels);
        memset(numbers, 7, sizeof numbers);
        n = (size_t)snprintf((char *)numbers, sizeof numbers, "\x93NUMPY\x01_\x76_%-117s\n", head);
        numbers[7] = numbers[9] = 0;
        n += ITEMS * e->height * e->width * e->channels;
        bytes = numbers;
    }
    dis_items *items = NULL;
    return dis_items_read(NULL, fuzz_file("a", bytes, n), &o, &items) == DIS_OK ? items : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    size_t n = data[0] + ((size_t)data[1] << 8);
    if (n > size - 2) n = size - 2;
    fuzz_file("model.json", data + 2, n);
    fuzz_file("w", data + 2 + n, size - 2 - n);
    dis_context_options co = dis_context_options_default();
    co.threads = 1;
    co.memory = 16 << 20;
    dis_context *ctx;
    MUST(dis_context_create(&co, &ctx) == DIS_OK);
    dis_model *model;
    if (dis_model_read(ctx, fuzz_folder, &model) == DIS_OK) {
        const dis_model_view v = dis_model_get_view(model);
        MUST(v.n_heads > 0 && v.best_epoch < v.n_epochs && dis_names_count(v.classes) > 0);
        dis_items *items = items_for(model);
        dis_labels *labels;
        if (items && dis_model_predict(ctx, model, items, NULL, &labels) == DIS_OK) {
            const dis_labels_view l = dis_labels_get_view(labels);
            for (size_t i = 0; i < l.n_items * l.n_classes; i++) MUST(l.p[i] >= 0 && l.p[i] <= 1);
            dis_labels_destroy(labels);
        }
        dis_items_destroy(items);
        dis_model_destroy(model);
    }
    dis_context_destroy(ctx);
    return 0;
}
