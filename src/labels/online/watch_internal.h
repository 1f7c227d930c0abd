/* watch_internal.h: the state of a watch, for the files that update and write it. */
#ifndef DIS_LABELS_WATCH_INTERNAL_H
#define DIS_LABELS_WATCH_INTERNAL_H
#include "core/names/names_internal.h"
#include "dissent/watch.h"
#include "labels/online/incremental_em.h"
#include "labels/online/retired_items.h"
#include "votes/ids/intern.h"

/* A slot of the pool. */
typedef struct {
    uint64_t hash, serial; /* serial: number of earlier items */
    char *name;            /* NULL: the slot is free */
    uint32_t n_name, n_votes, capacity;
    dis__incremental_vote *vote; /* (n_votes) */
    size_t next_free;            /* of a free slot */
} dis__open_item;

struct dis_watch {
    dis_watch_options o;
    dis__secret secret;
    uint64_t key[2];
    dis__key_table classes, workers; /* maps ids to indices */
    dis__arena texts;
    dis__name_list class_name; /* in order of first appearance, or as declared */
    size_t n_classes;
    dis__incremental_em model;

    dis__open_item *item; /* (capacity), of which n_places have been used */
    double *p;            /* (capacity, row) */
    size_t row;           /* capacity in classes, at least that of the model */
    size_t n_places, capacity, first_free, n_open;
    uint32_t *slot; /* (mask + 1) slot + 1, 0: free */
    size_t mask;
    dis__retired_items done;
    double *scratch; /* (row) */

    uint64_t n_items, votes, late, duplicates, sure, unsure, votes_sure, votes_unsure, bad_rows, na, dropped;
    size_t votes_open, since_sweep;
    uint64_t memory;       /* memory limit in bytes; 0: unknown */
    uint64_t blocks_bytes; /* bytes of names and votes, including allocator overhead */
};

/* Measured overhead of a small block: it is aligned to 64 and has a header. */
enum { DIS_WATCH_BLOCK = 176 };

/* watch_memory.c. Bytes of the state, and DIS_ELIMIT if `more` bytes would exceed the limit. */
uint64_t dis__watch_bytes(const dis_watch *w);
uint64_t dis__watch_worker_bytes(size_t n_workers, size_t row);
uint64_t dis__watch_pool_bytes(const dis_watch *w, size_t n_items, size_t row);
dis_status dis__watch_check_memory(const dis_watch *w, uint64_t more);
dis_status dis__watch_check_retired_memory(const dis_watch *w); /* one more retired item */

/* watch_items.c. A slot without an item. */
enum { DIS_WATCH_NONE = 0 };
/* The slot of an item, or the free one where it would go. */
size_t dis__watch_find_slot(const dis_watch *w, uint64_t hash, const char *name, size_t n);
/* Adds an item without votes: *out is its slot. DIS_ELIMIT. */
dis_status dis__watch_add_item(dis_watch *w, uint64_t hash, const char *name, size_t n, size_t *out);
void dis__watch_remove_item(dis_watch *w, size_t i);

/* The posterior p of an item with this many votes, tempered: q. */
void dis__watch_temper_posterior(const dis_watch *w, const double *p, size_t n_votes, double *q);

#endif
