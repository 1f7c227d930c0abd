/* How many labels are confident and how many items should be labelled again. */
#include "output/confidence_output.h"
#include <math.h>

/* A label is confident from CONFIDENT on; below RELABEL, the item should be labelled again. */
#define CONFIDENT .9
#define RELABEL   .7

size_t confidence_print(cli *c, const double *p, size_t n_items, size_t n_classes, const char *uncertain)
{
    size_t n_confident = 0, n_relabel = 0;
    char items[CLI_NUMBER], number[CLI_NUMBER];
    if (c->quiet) return 0;
    for (size_t i = 0; i < n_items; i++) {
        double highest = 0;
        for (size_t k = 0; k < n_classes; k++) highest = fmax(highest, p[i * n_classes + k]);
        n_confident += highest >= CONFIDENT;
        n_relabel += highest < RELABEL;
    }
    cli_count_format(n_items, items);
    cli_print(c, "  %-18s %s of %s labels have a probability of at least %g", "confident",
              cli_count_format(n_confident, number), items, CONFIDENT);
    cli_print(c, "  %-18s %s of %s labels have a probability below %g", uncertain, cli_count_format(n_relabel, number),
              items, RELABEL);
    return n_relabel;
}
