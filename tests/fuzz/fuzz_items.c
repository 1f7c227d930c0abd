/* Item files: the first byte chooses kind and format. A table that is read has ids of its own for all items, as many
 * texts or numbers as it says, and sentences that follow one another. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "dissent/items.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        dis_items_kind kind;
        const char *format;
    } ways[] = {
        {DIS_ITEMS_TEXT, "csv"},     {DIS_ITEMS_TEXT, "jsonl"},   {DIS_ITEMS_TOKENS, "tsv"},
        {DIS_ITEMS_TOKENS, "conll"}, {DIS_ITEMS_FEATURES, "csv"}, {DIS_ITEMS_FEATURES, "npy"},
        {DIS_ITEMS_IMAGES, "npy"},   {DIS_ITEMS_FEATURES, "f32"}, {DIS_ITEMS_IMAGES, "cifar"},
    };
    if (size == 0) return 0;
    dis_items_options o = dis_items_options_default();
    o.kind = ways[data[0] % 9].kind;
    o.format = ways[data[0] % 9].format;
    o.width = 1 + data[0] / 9;
    dis_items *items;
    if (dis_items_read(NULL, fuzz_file("a", data + 1, size - 1), &o, &items) != DIS_OK) return 0;
    const dis_items_view v = dis_items_get_view(items);
    MUST(v.n_items > 0 && dis_names_count(v.tasks) == v.n_items);
    if (v.texts) MUST(dis_names_count(v.texts) == v.n_items * v.n_texts);
    if (v.kind == DIS_ITEMS_TOKENS) {
        MUST(v.sentence[0] == 0 && v.sentence[v.n_sentences] == v.n_items);
        for (size_t s = 0; s < v.n_sentences; s++) MUST(v.sentence[s] < v.sentence[s + 1]);
    }
    if (v.kind == DIS_ITEMS_IMAGES) MUST(v.height * v.width * v.channels == v.n_features);
    for (size_t i = 0; v.x && i < v.n_items * v.n_features; i++) MUST(isfinite(v.x[i]));
    dis_items_destroy(items);
    return 0;
}
