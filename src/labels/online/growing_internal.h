/* growing_internal.h: what a growing state is made of; for the files that write, open and use one (growing_write.c has
 * the format). */
#ifndef DIS_LABELS_GROWING_INSIDE_H
#define DIS_LABELS_GROWING_INSIDE_H
#include "dissent/growing.h"
#include "io/input/input.h"
#include "io/tensors/checked_tensors.h"
#include "labels/online/incremental_em.h"
#include <string.h>

#define DIS_GROWING_FORMAT  "dissent-growing"
#define DIS_GROWING_VERSION "2"

/* In the order in which they are written: wide numbers first, so that all are aligned. */
enum {
    DIS_GROWING_KEY,
    DIS_GROWING_START,
    DIS_GROWING_TASK_START,
    DIS_GROWING_WORKER_START,
    DIS_GROWING_CLASS_START,
    DIS_GROWING_COUNTS,
    DIS_GROWING_CLASS_SUM,
    DIS_GROWING_WORKER,
    DIS_GROWING_INDEX,
    DIS_GROWING_LABEL,
    DIS_GROWING_TASKS,
    DIS_GROWING_WORKERS,
    DIS_GROWING_CLASSES,
    DIS_GROWING_TENSORS
};
extern const struct dis__growing_tensor {
    const char *name, *type;
} dis__growing_tensors[DIS_GROWING_TENSORS];

struct dis_growing {
    dis__input input;
    char *path;
    dis__safetensors file;
    dis__tensor_check check;
    const dis__tensor *part[DIS_GROWING_TENSORS];
    dis_names *workers, *classes;
    size_t n_items, n_workers, n_classes;
};

/* Numbers of a mapped tensor, which need not be aligned. */
static inline uint64_t dis__u64_at(const dis__tensor *t, size_t i)
{
    uint64_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static inline uint32_t dis__u32_at(const dis__tensor *t, size_t i)
{
    uint32_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static inline uint16_t dis__u16_at(const dis__tensor *t, size_t i)
{
    uint16_t x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

/* Name i of a list: *n bytes. False: the file is damaged there. */
bool dis__growing_name_at(const dis__tensor *start, const dis__tensor *bytes, size_t i, const char **name, size_t *n);
/* Values [first, first + n) of a part before they are used. DIS_EDATA: their checksums do not match, or the part has no
 * such values. */
dis_status dis__growing_check_values(const dis_growing *g, int part, uint64_t first, uint64_t n);
/* DIS_EDATA: what is damaged. */
dis_status dis__growing_fail(const dis_growing *g, const char *reason);

/* New votes beside a state. */
typedef struct {
    const dis_growing *g;
    const dis_votes_view *more;
    size_t *worker;              /* (more->n_workers) in the model */
    size_t *item;                /* (more->n_items) in the state, SIZE_MAX: it is new */
    uint64_t *start;             /* (more->n_items + 1) votes on each, old ones first */
    dis__incremental_vote *vote; /* (start[n]) */
    double *p, *next;            /* (more->n_items, K), (K) */
    dis__incremental_em model;
    dis_growing_notes notes;
} dis__growing_update;

/* DIS_EDATA: votes of nobody known, or of other classes. */
dis_status dis__growing_check_votes(const dis__growing_update *a);
/* Fills worker, item, start and the counts of what is new. The caller frees them. */
dis_status dis__growing_match_votes(dis__growing_update *a);

#endif
