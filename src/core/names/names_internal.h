/* names_internal.h: internals of a list of names, for code that builds one. */
#ifndef DIS_CORE_NAMES_NAMES_INTERNAL_H
#define DIS_CORE_NAMES_NAMES_INTERNAL_H
#include "dissent/names.h"

struct dis_names {
    size_t n;
    uint64_t *start; /* (n + 1): name i is bytes[start[i]] .. bytes[start[i + 1] - 2], followed by a NUL */
    char *bytes;
};

/* A list that takes ownership of these arrays (on failure the caller keeps them). */
dis_status dis__names_from_buffers(char *bytes, uint64_t *start, size_t n, dis_names **out);
/* "0", "1", ... */
dis_status dis__names_from_numbers(size_t n, dis_names **out);
dis_status dis__names_copy(const dis_names *names, dis_names **out);
/* Whether two lists have the same names in the same order. */
bool dis__names_equal(const dis_names *a, const dis_names *b);

/* A growing list: {0} is an empty one. */
typedef struct {
    char *bytes;
    size_t used, capacity;
    uint64_t *start; /* (n + 1) unless it is empty */
    size_t n, start_capacity;
} dis__name_list;

dis_status dis__name_list_add(dis__name_list *list, const char *text, size_t n);
/* Moves the list into names; it is empty afterwards. On failure it is unchanged. */
dis_status dis__name_list_move(dis__name_list *list, dis_names **out);
void dis__name_list_free(dis__name_list *list);

#endif
