/* Texts packed one after the other, with an array of their start offsets. */
#include "core/names/names_internal.h"
#include "core/memory/memory.h"
#include <string.h>

dis_status dis__names_from_buffers(char *bytes, uint64_t *start, size_t n, dis_names **out)
{
    dis_names *names;
    DIS_TRY(dis__alloc_array(&names, 1, sizeof *names));
    *names = (dis_names){.n = n, .start = start, .bytes = bytes};
    *out = names;
    return DIS_OK;
}

/* A list with memory for n names of n_bytes in total, to be filled. */
static dis_status allocate(size_t n, size_t n_bytes, dis_names **out)
{
    char *bytes = NULL;
    uint64_t *start = NULL;
    dis_status status = dis__alloc_array(&bytes, n_bytes, 1);
    if (status == DIS_OK) status = dis__alloc_array(&start, n + 1, sizeof *start);
    if (status == DIS_OK) status = dis__names_from_buffers(bytes, start, n, out);
    if (status == DIS_OK) return DIS_OK;
    dis__free(bytes);
    dis__free(start);
    return status;
}

dis_status dis_names_create(const char *const *texts, size_t n, dis_names **out)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) total += strlen(texts[i]) + 1;
    dis_names *names;
    DIS_TRY(allocate(n, total, &names));
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(texts[i]) + 1;
        memcpy(names->bytes + at, texts[i], length);
        names->start[i] = at;
        at += length;
    }
    names->start[n] = at;
    *out = names;
    return DIS_OK;
}

dis_status dis__names_from_numbers(size_t n, dis_names **out)
{
    dis_names *names;
    DIS_TRY(allocate(n, dis__saturating_size(n, 21, 1), &names));
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        char digits[20];
        size_t d = sizeof digits, x = i;
        do digits[--d] = (char)('0' + x % 10);
        while (x /= 10);
        names->start[i] = at;
        memcpy(names->bytes + at, digits + d, sizeof digits - d);
        at += sizeof digits - d;
        names->bytes[at++] = 0;
    }
    names->start[n] = at;
    *out = names;
    return DIS_OK;
}

dis_status dis__names_copy(const dis_names *names, dis_names **out)
{
    const size_t total = (size_t)names->start[names->n];
    dis_names *copy;
    DIS_TRY(allocate(names->n, total, &copy));
    if (total) memcpy(copy->bytes, names->bytes, total);
    memcpy(copy->start, names->start, (names->n + 1) * sizeof *copy->start);
    *out = copy;
    return DIS_OK;
}

bool dis__names_equal(const dis_names *a, const dis_names *b)
{
    if (a == b) return true;
    return a->n == b->n && memcmp(a->start, b->start, (a->n + 1) * sizeof *a->start) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->start[a->n]) == 0;
}

void dis_names_destroy(dis_names *names)
{
    if (!names) return;
    dis__free(names->bytes);
    dis__free(names->start);
    dis__free(names);
}

size_t dis_names_count(const dis_names *names)
{
    return names->n;
}

const char *dis_names_get(const dis_names *names, size_t i, size_t *length)
{
    if (length) *length = (size_t)(names->start[i + 1] - names->start[i] - 1);
    return names->bytes + names->start[i];
}

size_t dis_names_find(const dis_names *names, const char *text, size_t length)
{
    for (size_t i = 0; i < names->n; i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        if (n == length && memcmp(name, text, n) == 0) return i;
    }
    return SIZE_MAX;
}

dis_status dis__name_list_add(dis__name_list *list, const char *text, size_t n)
{
    DIS_TRY(dis__reserve(&list->bytes, &list->capacity, list->used, dis__saturating_size(n, 1, list->used + 1), 1));
    DIS_TRY(dis__reserve(&list->start, &list->start_capacity, list->n + 1, list->n + 2, sizeof *list->start));
    if (n) memcpy(list->bytes + list->used, text, n);
    list->bytes[list->used + n] = 0;
    list->start[list->n++] = list->used;
    list->used += n + 1;
    list->start[list->n] = list->used;
    return DIS_OK;
}

dis_status dis__name_list_move(dis__name_list *list, dis_names **out)
{
    DIS_TRY(dis__names_from_buffers(list->bytes, list->start, list->n, out));
    *list = (dis__name_list){0};
    return DIS_OK;
}

void dis__name_list_free(dis__name_list *list)
{
    dis__free(list->bytes);
    dis__free(list->start);
}
