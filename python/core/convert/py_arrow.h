/* py_arrow.h: the structs of the Arrow C data and C stream interfaces, as their specification has them
 * (https://arrow.apache.org/docs/format/CDataInterface.html), and how the module holds what came through them. */
#ifndef DISSENT_PYTHON_ARROW_H
#define DISSENT_PYTHON_ARROW_H
#include "py_core.h"

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* All that came out of one object: a schema and its arrays, given back when the holder goes. */
typedef struct {
    PyObject_HEAD struct ArrowSchema schema;
    struct ArrowArray *array; /* (n) */
    size_t n, capacity;
} arrow_data;

/* Takes everything out of an object with __arrow_c_stream__ or __arrow_c_array__. NULL with an exception. */
arrow_data *arrow_import(core_state *state, PyObject *object);

#endif
