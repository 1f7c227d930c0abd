/* incremental_internal.h: the parts of a growing state, for the files that write, open and use one (incremental_write.c
 * has the format). */
#ifndef DIS_LABELS_INCREMENTAL_INTERNAL_H
#define DIS_LABELS_INCREMENTAL_INTERNAL_H
#include "dissent/incremental.h"
#include "io/input/input.h"
#include "io/tensors/checked_tensors.h"
#include "labels/online/incremental_em.h"
#include <string.h>

#define DIS_INCREMENTAL_FORMAT  "dissent-growing"
#define DIS_INCREMENTAL_VERSION "2"

/* In the order in which they are written: wide types first, so that all are aligned. */
enum {
    DIS_INCREMENTAL_KEY,
    DIS_INCREMENTAL_START,
    DIS_INCREMENTAL_TASK_START,
    DIS_INCREMENTAL_WORKER_START,
    DIS_INCREMENTAL_CLASS_START,
    DIS_INCREMENTAL_COUNTS,
    DIS_INCREMENTAL_CLASS_SUM,
    DIS_INCREMENTAL_WORKER,
    DIS_INCREMENTAL_INDEX,
    DIS_INCREMENTAL_LABEL,
    DIS_INCREMENTAL_TASKS,
    DIS_INCREMENTAL_WORKERS,
    DIS_INCREMENTAL_CLASSES,
    DIS_INCREMENTAL_TENSORS
};
extern const struct dis__incremental_tensor {
    const char *name, *type;
} dis__incremental_tensors[DIS_INCREMENTAL_TENSORS];

struct dis_incremental {
    dis__input input;
    char *path;
    dis__safetensors file;
    dis__tensor_check check;
    const dis__tensor *part[DIS_INCREMENTAL_TENSORS];
    dis_names *workers, *classes;
    size_t n_items, n_workers, n_classes;
};

/* Values of a mapped tensor, which need not be aligned. */
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

/* Name i of a list: *n bytes. False: the file is damaged. */
bool dis__incremental_name_at(const dis__tensor *start, const dis__tensor *bytes, size_t i, const char **name,
                              size_t *n);
/* Verifies values [first, first + n) of a part before their use. DIS_EDATA: their checksums do not match, or the part
 * is shorter. */
dis_status dis__incremental_check_values(const dis_incremental *g, int part, uint64_t first, uint64_t n);
/* DIS_EDATA: what is damaged. */
dis_status dis__incremental_fail(const dis_incremental *g, const char *reason);

/* New votes to be added to a state. */
typedef struct {
    const dis_incremental *g;
    const dis_votes_view *more;
    size_t *worker;              /* (more->n_workers) in the model */
    size_t *item;                /* (more->n_items) in the state, SIZE_MAX: it is new */
    uint64_t *start;             /* (more->n_items + 1) votes on each, old ones first */
    dis__incremental_vote *vote; /* (start[n]) */
    double *p, *next;            /* (more->n_items, K), (K) */
    dis__incremental_em model;
    dis_incremental_notes notes;
} dis__incremental_update;

/* DIS_EDATA: votes without annotator ids, or with other classes. */
dis_status dis__incremental_check_votes(const dis__incremental_update *a);
/* Fills worker, item, start and the counts of new entries. The caller frees them. */
dis_status dis__incremental_match_votes(dis__incremental_update *a);

#endif
