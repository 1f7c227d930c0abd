/* The table of label methods, in the order of the help. A new method is one file and one line here. */
#include "labels/methods.h"
#include "core/options/option_spec.h"
#include <stdio.h>
#include <string.h>

/* clang-format off: one method per line */
#define METHODS(X)      \
    X(majority)         \
    X(standard)         \
    X(softmax)          \
    X(smoothed)         \
    X(dawid_skene)      \
    X(one_coin)         \
    X(fast_dawid_skene) \
    X(ibcc)             \
    X(ebcc)             \
    X(mace)             \
    X(bwa)              \
    X(wawa)             \
    X(zero_based_skill) \
    X(glad)             \
    X(kos)              \
    X(mmsr)             \
    X(crowd)            \
    X(crowdlab)         \
    X(ordinal)

#define DECLARE(name) extern const dis__method dis__method_##name;
METHODS(DECLARE)

static const dis__method *const methods[] = {
#define ROW(name) &dis__method_##name,
    METHODS(ROW)};
/* clang-format on */

static const char *name_of(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof methods / sizeof *methods ? methods[i]->info.name : NULL;
}

dis_status dis__method_find(const char *spec, const dis__method **out)
{
    size_t i;
    DIS_TRY(dis__spec_find_row("method", spec, name_of, &i));
    *out = methods[i];
    return DIS_OK;
}

const dis_method *dis_method_get(size_t i)
{
    return i < sizeof methods / sizeof *methods ? &methods[i]->info : NULL;
}

const dis_method *dis_method_find(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i]->info.name, name) == 0) return &methods[i]->info;
    return NULL;
}
