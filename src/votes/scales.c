/* The table of scales, in the order of dis_scale, and what reading asks of it. A new scale is a row here, with what its
 * label cells may hold (src/votes/scales.h) and the names of a label method and of measures of agreement. */
#include "votes/scales.h"
#include "core/error.h"
#include "core/number.h"
#include <string.h>

static const dis__scale scales[] = {
    {.info = {.name = "nominal",
              .summary = "classes without an order",
              .label = "the name of a class",
              .columns = "task,label,entropy,p:CLASS,..."}},
    {.info = {.name = "ordinal",
              .summary = "classes in an order: numbers, or as --classes gives them",
              .label = "the name of a class",
              .method = "ordinal",
              .headline = "alpha_ordinal cohen_quadratic gwet_ac2_ordinal",
              .columns = "task,label,entropy,p:CLASS,...",
              .ordered = true}},
};

const dis__scale *dis__scale_of(dis_scale scale)
{
    return (size_t)scale < sizeof scales / sizeof *scales ? &scales[scale] : NULL;
}

const dis_scale_row *dis_scale_at(size_t i)
{
    return i < sizeof scales / sizeof *scales ? &scales[i].info : NULL;
}

const dis_scale_row *dis_scale_find(const char *name)
{
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (strcmp(scales[i].info.name, name) == 0) return &scales[i].info;
    return NULL;
}

/* Of classes that were found: all numbers, so that they stand in order. Declared ones stand as they were declared. */
dis_status dis__scale_check_classes(const dis__scale *scale, const dis_names *classes, bool declared)
{
    double before = 0;
    for (size_t k = 0; scale->info.ordered && !declared && k < dis_names_count(classes); k++) {
        size_t n;
        double x;
        const char *text = dis_names_get(classes, k, &n);
        if (!dis__parse_real(text, n, &x))
            return dis__fail(DIS_EUSAGE,
                             "scale %s: the class \"%.200s\" is no number; give the classes in their order with "
                             "`classes`",
                             scale->info.name, text);
        if (k && x < before)
            return dis__fail(DIS_EUSAGE,
                             "scale %s: the class \"%.200s\" does not come in order; give the classes in their order "
                             "with `classes`",
                             scale->info.name, text);
        before = x;
    }
    return DIS_OK;
}
