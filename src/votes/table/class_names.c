/* The order of classes, and classes that look alike. Integers of any length are compared by value; equal values ("7",
 * "07") by bytes. */
#include "votes/table/class_names.h"
#include "dissent/votes.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n;
    size_t index;
    double number;
    bool is_number;
} entry;

static bool is_integer(const char *text, size_t n)
{
    size_t i = n && (text[0] == '-' || text[0] == '+');
    if (i == n) return false;
    for (; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* Sign and digits without leading zeros; zero has no digits and no sign. */
static void split(const entry *e, bool *negative, const char **digits, size_t *n)
{
    const char *p = e->text, *end = p + e->n;
    *negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    while (p < end && *p == '0') p++;
    *digits = p;
    *n = (size_t)(end - p);
    if (*n == 0) *negative = false;
}

static int by_value(const void *a, const void *b)
{
    bool minus_x, minus_y;
    const char *x, *y;
    size_t n_x, n_y;
    split(a, &minus_x, &x, &n_x);
    split(b, &minus_y, &y, &n_y);
    if (minus_x != minus_y) return minus_x ? -1 : 1;
    int order = n_x != n_y ? (n_x < n_y ? -1 : 1) : memcmp(x, y, n_x);
    if (minus_x) order = -order;
    return order ? order : by_bytes(a, b);
}

static int by_number(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number ? 1 : by_bytes(a, b);
}

dis_status dis__classes_order(const dis__key *labels, size_t n, bool ordered, uint16_t *place)
{
    entry *sorted;
    DIS_TRY(dis__alloc_zeroed(&sorted, n, sizeof *sorted));
    bool integers = true, numbers = ordered;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (entry){.text = dis__key_text(&labels[i]), .n = labels[i].n, .index = i};
        integers = integers && is_integer(sorted[i].text, sorted[i].n);
        sorted[i].is_number = dis__parse_real(sorted[i].text, sorted[i].n, &sorted[i].number);
        numbers = numbers && sorted[i].is_number;
    }
    qsort(sorted, n, sizeof *sorted, integers ? by_value : numbers ? by_number : by_bytes);
    for (size_t i = 0; i < n; i++) place[sorted[i].index] = (uint16_t)i;
    dis__free(sorted);
    return DIS_OK;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Numbers first, by value, then texts, ignoring case. */
static int compare_names(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->is_number != y->is_number) return x->is_number ? -1 : 1;
    if (x->is_number) return x->number < y->number ? -1 : x->number > y->number;
    for (size_t i = 0; i < x->n && i < y->n; i++) {
        const char p = fold(x->text[i]), q = fold(y->text[i]);
        if (p != q) return p < q ? -1 : 1;
    }
    return x->n < y->n ? -1 : x->n > y->n;
}

dis_status dis__classes_are_similar(const dis_names *classes, bool *similar)
{
    const size_t n = dis_names_count(classes);
    entry *sorted;
    DIS_TRY(dis__alloc_array(&sorted, n, sizeof *sorted));
    for (size_t i = 0; i < n; i++) {
        entry e = {.index = i};
        e.text = dis_names_get(classes, i, &e.n);
        while (e.n && (e.text[0] == ' ' || e.text[0] == '\t')) e.text++, e.n--;
        while (e.n && (e.text[e.n - 1] == ' ' || e.text[e.n - 1] == '\t')) e.n--;
        e.is_number = dis__parse_real(e.text, e.n, &e.number);
        sorted[i] = e;
    }
    qsort(sorted, n, sizeof *sorted, compare_names);
    *similar = false;
    for (size_t i = 1; i < n; i++) *similar = *similar || compare_names(&sorted[i - 1], &sorted[i]) == 0;
    dis__free(sorted);
    return DIS_OK;
}

dis_status dis__names_in_class_order(const dis_names *names, dis_names **out)
{
    const size_t n = dis_names_count(names);
    const dis__secret secret = dis__secret_draw();
    dis__key *key = NULL;
    uint16_t *place = NULL;
    const char **text = NULL;
    dis_status status;
    if (n > DIS_MAX_CLASSES) return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", n, DIS_MAX_CLASSES);
    DIS_TRY_GOTO(status, dis__alloc_array(&key, n, sizeof *key), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&place, n, sizeof *place), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&text, n, sizeof *text), end);
    for (size_t k = 0; k < n; k++) {
        size_t length;
        const char *name = dis_names_get(names, k, &length);
        key[k] = dis__key_from_text(&secret, name, length);
    }
    DIS_TRY_GOTO(status, dis__classes_order(key, n, false, place), end);
    for (size_t k = 0; k < n; k++) text[place[k]] = dis_names_get(names, k, NULL);
    status = dis_names_create(text, n, out);
end:
    dis__free(key);
    dis__free(place);
    dis__free(text);
    return status;
}

/* ---- labels without regard to case and surrounding spaces ---- */

/* Lower case by ranges of Unicode in which upper and lower case have the same number of UTF-8 bytes: a letter keeps its
 * length, so a label never grows. */
/* Number of bytes of the space at the start of a text, 0: none. */
static size_t space_at(const char *text, size_t n)
{
    if (n && (*text == ' ' || (*text >= '\t' && *text <= '\r'))) return 1;
    if (n >= 2 && memcmp(text, "\xc2\xa0", 2) == 0) return 2; /* U+00A0 */
    return n >= 3 && (memcmp(text, "\xe3\x80\x80", 3) == 0 || memcmp(text, "\xe2\x80\xaf", 3) == 0) ? 3 : 0;
}

static size_t space_before(const char *text, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++)
        if (space_at(text + n - k, k) == k) return k;
    return 0;
}

/* For two-byte characters. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
        return c + 32;
    if (c >= 0x400 && c <= 0x40F) return c + 80;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + (c & 1);
    if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14A && c <= 0x177) || (c >= 0x460 && c <= 0x481) ||
        (c >= 0x48A && c <= 0x4BF) || (c >= 0x4D0 && c <= 0x52F))
        return c | 1;
    return c;
}

size_t dis__label_fold(const char *text, size_t n, bool fold_case, bool trim, char *out)
{
    for (size_t k; trim && (k = space_at(text, n)) > 0; n -= k) text += k;
    for (size_t k; trim && (k = space_before(text, n)) > 0;) n -= k;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        out[i] = text[i];
        if (!fold_case) continue;
        if (c >= 'A' && c <= 'Z') out[i] = (char)(c + ('a' - 'A'));
        if (c < 0xC3 || c > 0xD4 || i + 1 == n) continue;
        const uint32_t low = lower((c & 0x1Fu) << 6 | ((unsigned char)text[i + 1] & 0x3Fu));
        out[i] = (char)(0xC0u | low >> 6);
        out[++i] = (char)(0x80u | (low & 0x3Fu));
    }
    return n;
}
