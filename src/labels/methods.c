/* The table of label methods, in the order in which help shows them. A new method is one file and one line here. */
#include "labels/methods.h"
#include "core/options/option_spec.h"
#include <stdio.h>
#include <string.h>

/* clang-format off: one row per line */
extern const dis__method dis__method_majority;
extern const dis__method dis__method_standard;
extern const dis__method dis__method_softmax;
extern const dis__method dis__method_smoothed;
extern const dis__method dis__method_dawid_skene;
extern const dis__method dis__method_one_coin;
extern const dis__method dis__method_fast_dawid_skene;
extern const dis__method dis__method_ibcc;
extern const dis__method dis__method_ebcc;
extern const dis__method dis__method_mace;
extern const dis__method dis__method_bwa;
extern const dis__method dis__method_wawa;
extern const dis__method dis__method_zero_based_skill;
extern const dis__method dis__method_glad;
extern const dis__method dis__method_crowd;
extern const dis__method dis__method_crowdlab;
extern const dis__method dis__method_ordinal;

static const dis__method *const methods[] = {
    &dis__method_majority,
    &dis__method_standard,
    &dis__method_softmax,
    &dis__method_smoothed,
    &dis__method_dawid_skene,
    &dis__method_one_coin,
    &dis__method_fast_dawid_skene,
    &dis__method_ibcc,
    &dis__method_ebcc,
    &dis__method_mace,
    &dis__method_bwa,
    &dis__method_wawa,
    &dis__method_zero_based_skill,
    &dis__method_glad,
    &dis__method_crowd,
    &dis__method_crowdlab,
    &dis__method_ordinal,
};
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

void dis__methods_describe_devices(char *text, size_t n)
{
    text[0] = 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i]->devices) dis__text_list_append(text, n, methods[i]->info.name, strlen(methods[i]->info.name));
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
