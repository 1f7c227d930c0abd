/* Label files: the first byte chooses the format. A table that is read has finite rows that sum to 1 and different
 * tasks, and what is written of it reads back equal. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "dissent/labels.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"csv", "tsv", "jsonl"};
    if (size == 0) return 0;
    dis_labels_read_options o = dis_labels_read_options_default();
    o.format = formats[data[0] % 3];
    o.renormalise = data[0] & 4;
    dis_labels *a, *b;
    if (dis_labels_read(NULL, fuzz_file("a", data + 1, size - 1), &o, &a) != DIS_OK) return 0;
    const dis_labels_view v = dis_labels_get_view(a);
    MUST(v.n_items > 0 && v.n_classes > 0);
    for (size_t i = 0; i < v.n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < v.n_classes; k++) {
            MUST(v.p[i * v.n_classes + k] >= 0);
            sum += v.p[i * v.n_classes + k];
        }
        MUST(fabs(sum - 1) <= 1.1e-6);
    }
    const char *path = fuzz_path("b");
    MUST(dis_labels_write(NULL, &v, path, o.format) == DIS_OK);
    o.renormalise = false;
    MUST(dis_labels_read(NULL, path, &o, &b) == DIS_OK);
    const dis_labels_view w = dis_labels_get_view(b);
    MUST(w.n_items == v.n_items && w.n_classes == v.n_classes);
    MUST(memcmp(v.p, w.p, v.n_items * v.n_classes * sizeof *v.p) == 0 || o.renormalise);
    dis_labels *c;
    MUST(dis_labels_align(NULL, b, v.tasks, v.classes, &c) == DIS_OK);
    dis_labels_destroy(a);
    dis_labels_destroy(b);
    dis_labels_destroy(c);
    return 0;
}
