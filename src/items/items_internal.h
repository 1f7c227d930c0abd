/* items_internal.h: internals of a table of items, for code that builds one. */
#ifndef DIS_ITEMS_ITEMS_INTERNAL_H
#define DIS_ITEMS_ITEMS_INTERNAL_H
#include "dissent/items.h"
#include "core/error.h"

struct dis_items {
    dis_items_kind kind;
    size_t n_items, n_texts, n_sentences, height, width, channels, n_features;
    dis_names *tasks, *texts;
    uint64_t *sentence;
    float *x;
    char *path;     /* source file, for messages; NULL: none, or several */
    uint64_t *line; /* (n_items) line in that file; NULL: not a table */
};

/* One reader per format; `items` is zeroed except for its kind; the caller destroys it on failure. */
typedef dis_status dis__items_reader(dis_context *ctx, const char *path, const char *format,
                                     const dis_items_options *options, dis_items *items);
dis__items_reader dis__items_read_table, dis__items_read_npy, dis__items_read_f32, dis__items_read_cifar,
    dis__items_read_conll;

/* The ids of n items: from options->tasks, from the list next to an npy, or numbers. */
dis_status dis__items_set_tasks(dis_context *ctx, const char *path, const dis_items_options *options, size_t n,
                                dis_items *items);

/* DIS_EDATA with the file and the line of item i, as far as they are known. */
dis_status dis__items_fail(const dis_items *items, size_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* DIS_EDATA: a repeated id. */
dis_status dis__items_check_duplicates(const dis_items *items);

/* Concatenates tables (n > 0); prefix[i], which may be NULL, is put before the ids of table i. DIS_EDATA: tables of
 * different kinds or columns, a repeated id. */
dis_status dis__items_concat(dis_context *ctx, dis_items *const *parts, const char *const *prefix, size_t n,
                             dis_items **out);

#endif
