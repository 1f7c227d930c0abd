/* Table-driven parsing of options: each row has the destination of its value, the valid range and the default. */
#include "tool/arrays.h"
#include "core/options/option_spec.h"
#include "core/numbers/decimal.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE = 1024 };

typedef struct {
    const char *what, *name; /* "method", "mace:..." */
    int name_length;
} place;

static dis_status wrong(const place *at, const dis_option *o, const char *value, const char *must)
{
    return dis__fail(DIS_EUSAGE, "%s %.*s: %s=%s: must be %s", at->what, at->name_length, at->name, o->key, value,
                     must);
}

/* Index of `value` in "a|b|c", -1 if it is missing. */
static int choice(const char *choices, const char *value)
{
    const size_t n = strlen(value);
    int index = 0;
    for (const char *c = choices; c && *c; index++) {
        const size_t length = strcspn(c, "|");
        if (length == n && memcmp(c, value, n) == 0) return index;
        c += length + (c[length] == '|');
    }
    return -1;
}

static dis_status real(const place *at, const dis_option *o, const char *value, const char *text, double *out)
{
    char must[96];
    double x;
    const char *word = o->kind == DIS_OPTION_REAL ? o->choices : NULL;
    snprintf(must, sizeof must, "a number from %g to %g%s%s", o->low, o->high, word ? ", or " : "", word ? word : "");
    if (!dis__parse_real(text, strlen(text), &x) || x < o->low || x > o->high) return wrong(at, o, value, must);
    *out = x;
    return DIS_OK;
}

static dis_status reals(const place *at, const dis_option *o, const char *value, dis_reals *out)
{
    *out = (dis_reals){.choice = choice(o->choices, value)};
    if (out->choice >= 0) return DIS_OK;
    const char *rest = value;
    for (;;) {
        char number[64];
        const size_t n = strcspn(rest, "/");
        if (n >= sizeof number || out->n == sizeof out->value / sizeof *out->value)
            return wrong(at, o, value, "at most 64 numbers with / between them");
        memcpy(number, rest, n);
        number[n] = 0;
        DIS_TRY(real(at, o, value, number, &out->value[out->n]));
        out->n++;
        if (!rest[n]) return DIS_OK;
        rest += n + 1;
    }
}

static dis_status set(const place *at, const dis_option *o, const char *value, bool given, void *values)
{
    void *field = (char *)values + o->offset;
    char *end, must[96];
    errno = 0;
    switch (o->kind) {
    case DIS_OPTION_INT: {
        const long long x = strtoll(value, &end, 10);
        snprintf(must, sizeof must, "an integer from %.0f to %.0f", o->low, o->high);
        if (end == value || *end || errno || (double)x < o->low || (double)x > o->high)
            return wrong(at, o, value, must);
        *(int64_t *)field = x;
        return DIS_OK;
    }
    case DIS_OPTION_REAL:
        if (choice(o->choices, value) == 0) {
            *(double *)field = NAN;
            return DIS_OK;
        }
        return real(at, o, value, value, field);
    case DIS_OPTION_CHOICE:
        if ((*(int *)field = choice(o->choices, value)) < 0) return wrong(at, o, value, o->choices);
        return DIS_OK;
    case DIS_OPTION_REALS: return reals(at, o, value, field);
    case DIS_OPTION_SEED: {
        const unsigned long long x = strtoull(value, &end, 10);
        if (end == value || *end || errno || *value == '-')
            return wrong(at, o, value, "an integer from 0 to 18446744073709551615");
        *(dis_seed *)field = (dis_seed){.value = x, .given = given};
        return DIS_OK;
    }
    }
    return dis__fail(DIS_EBUG, "option %s has no type", o->key);
}

static dis_status unknown(const place *at, const char *key, size_t n, const dis_option *options, size_t n_options)
{
    char list[768] = "";
    for (size_t i = 0; i < n_options; i++)
        dis__text_list_append(list, sizeof list, options[i].key, strlen(options[i].key));
    return dis__fail(DIS_EUSAGE, "%s %.*s: no option \"%.*s\"; options are: %s", at->what, at->name_length, at->name,
                     (int)(n > 64 ? 64 : n), key, n_options ? list : "none");
}

/* Whether the key at `now` occurs earlier in its list of key=value; `list` begins with ':'. */
static bool given_before(const char *list, const char *now, size_t key)
{
    for (const char *one = list + 1; one < now; one += strcspn(one, ",") + 1)
        if (strcspn(one, "=") == key && memcmp(one, now, key) == 0) return true;
    return false;
}

size_t dis__spec_name_length(const char *spec)
{
    return strcspn(spec, ":");
}

dis_status dis__spec_find_row(const char *what, const char *spec, const char *(*name)(const void *unused, size_t i),
                              size_t *row)
{
    const size_t n = dis__spec_name_length(spec);
    char list[512] = "", requested[64];
    size_t i = 0;
    for (const char *one; (one = name(NULL, i)); i++) {
        if (strlen(one) == n && memcmp(one, spec, n) == 0) {
            *row = i;
            return DIS_OK;
        }
        dis__text_list_append(list, sizeof list, one, strlen(one));
    }
    snprintf(requested, sizeof requested, "%.*s", (int)(n < sizeof requested ? n : sizeof requested), spec);
    const char *near = dis__name_find_nearest(requested, name, NULL);
    return near ? dis__fail(DIS_EUSAGE, "no %s \"%s\"; did you mean %s? There are: %s", what, requested, near, list)
                : dis__fail(DIS_EUSAGE, "no %s \"%s\"; there are: %s", what, requested, list);
}

static dis_status given(const place *at, const dis_option *options, size_t n_options, void *values)
{
    const char *const list = at->name + at->name_length, *rest = list;
    while (*rest) {
        rest++; /* ':' or ',' */
        const size_t n = strcspn(rest, ","), key = strcspn(rest, "=,");
        if (key == n)
            return dis__fail(DIS_EUSAGE, "%s %.*s: \"%.*s\" is not key=value", at->what, at->name_length, at->name,
                             (int)(n > 64 ? 64 : n), rest);
        const dis_option *o = NULL;
        for (size_t i = 0; i < n_options; i++)
            if (strlen(options[i].key) == key && memcmp(options[i].key, rest, key) == 0) o = &options[i];
        if (!o) return unknown(at, rest, key, options, n_options);
        if (given_before(list, rest, key))
            return dis__fail(DIS_EUSAGE, "%s %.*s: %s is given twice", at->what, at->name_length, at->name, o->key);
        char value[VALUE];
        if (n - key - 1 >= sizeof value) return wrong(at, o, "...", "shorter");
        memcpy(value, rest + key + 1, n - key - 1);
        value[n - key - 1] = 0;
        DIS_TRY(set(at, o, value, true, values));
        rest += n;
    }
    return DIS_OK;
}

dis_status dis__spec_parse(const char *what, const char *spec, const dis_option *options, size_t n_options,
                           void *values, size_t values_size)
{
    return dis__spec_parse_after(what, spec, dis__spec_name_length(spec), options, n_options, values, values_size);
}

dis_status dis__spec_update(const char *what, const char *spec, const dis_option *options, size_t n_options,
                            void *values)
{
    const place at = {.what = what, .name = spec, .name_length = (int)dis__spec_name_length(spec)};
    return given(&at, options, n_options, values);
}

dis_status dis__spec_parse_after(const char *what, const char *spec, size_t name_length, const dis_option *options,
                                 size_t n_options, void *values, size_t values_size)
{
    const place at = {.what = what, .name = spec, .name_length = (int)name_length};
    memset(values, 0, values_size);
    for (size_t i = 0; i < n_options; i++)
        if (options[i].default_value) DIS_TRY(set(&at, &options[i], options[i].default_value, false, values));
    return given(&at, options, n_options, values);
}
