/* Exports tables as Arrow streams. A table is one batch: columns of texts ("U"), of float64 ("g"), of int64 ("l") and
 * of int32 indices ("i") into a dictionary of any of these. Columns are copied into memory of plain malloc, so that the
 * consumer may release the stream from any thread and at any time, even after Python has ended. */
#include "convert/py_arrow.h"
#include <errno.h>
#include <stdlib.h>

/* A column: what its schema needs, and its memory until an ArrowArray owns it. */
typedef struct out_column out_column;
struct out_column {
    const char *format; /* static */
    char *name;
    char *metadata; /* key-value pairs in Arrow's encoding, or NULL */
    size_t n_metadata;
    bool ordered;           /* the order of the dictionary has a meaning */
    int64_t n_dictionary;   /* values in the dictionary */
    out_column *dictionary; /* NULL: none */
    uint8_t *valid;         /* one bit per value; NULL: no value is missing */
    int64_t n_missing;
    void *values; /* numbers, indices, or the offsets of texts */
    char *bytes;  /* of texts */
    const void *buffers[3];
};

typedef struct {
    out_column *column; /* (n_columns) */
    int64_t n_columns, n_rows;
    int given; /* the one batch there is */
} table;

static void free_column(out_column *c)
{
    if (c->dictionary) free_column(c->dictionary);
    free(c->dictionary);
    free(c->name);
    free(c->metadata);
    free(c->valid);
    free(c->values);
    free(c->bytes);
    *c = (out_column){0};
}

static void free_table(table *t)
{
    if (!t) return;
    for (int64_t k = 0; t->column && k < t->n_columns; k++) free_column(&t->column[k]);
    free(t->column);
    free(t);
}

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t k = 0; k < s->n_children; k++) {
        if (s->children[k] && s->children[k]->release) s->children[k]->release(s->children[k]);
        free(s->children[k]);
    }
    free(s->children);
    if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
    free(s->dictionary);
    free(s->private_data); /* the metadata and the name */
    s->release = NULL;
}

static int make_schema(const out_column *c, int64_t n_children, struct ArrowSchema *out)
{
    enum { DICTIONARY_ORDERED = 1, NULLABLE = 2 };
    *out = (struct ArrowSchema){.format = c->format, .flags = c->dictionary ? NULLABLE : 0, .release = release_schema};
    const size_t n_name = strlen(c->name) + 1;
    char *copy = malloc(c->n_metadata + n_name);
    out->private_data = copy;
    out->children = n_children ? calloc((size_t)n_children, sizeof *out->children) : NULL;
    out->dictionary = c->dictionary ? calloc(1, sizeof *out->dictionary) : NULL;
    if (!copy || (n_children && !out->children) || (c->dictionary && !out->dictionary) ||
        (c->dictionary && make_schema(c->dictionary, 0, out->dictionary))) {
        release_schema(out);
        return ENOMEM;
    }
    if (c->ordered) out->flags |= DICTIONARY_ORDERED;
    if (c->n_metadata) out->metadata = memcpy(copy, c->metadata, c->n_metadata);
    out->name = memcpy(copy + c->n_metadata, c->name, n_name);
    out->n_children = n_children;
    return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const table *t = stream->private_data;
    struct ArrowSchema schema;
    const out_column all = {.format = "+s", .name = (char[]){""}};
    if (make_schema(&all, t->n_columns, &schema)) return ENOMEM;
    for (int64_t k = 0; k < t->n_columns; k++) {
        schema.children[k] = calloc(1, sizeof *schema.children[k]);
        if (!schema.children[k] || make_schema(&t->column[k], 0, schema.children[k])) {
            release_schema(&schema);
            return ENOMEM;
        }
    }
    *out = schema;
    return 0;
}

/* ---- arrays ---- */

static void release_child(struct ArrowArray *a)
{
    if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
    free(a->dictionary);
    free_column(a->private_data);
    free(a->private_data);
    a->release = NULL;
}

static void release_batch(struct ArrowArray *a)
{
    for (int64_t k = 0; k < a->n_children; k++) {
        if (a->children[k] && a->children[k]->release) a->children[k]->release(a->children[k]);
        free(a->children[k]);
    }
    free(a->children);
    free(a->private_data);
    a->release = NULL;
}

/* Moves the values of a column out; what its schema needs stays, for the consumer may request the schema later. */
static int give_child(out_column *from, int64_t n, struct ArrowArray *out)
{
    out_column *own = calloc(1, sizeof *own);
    struct ArrowArray *dictionary = from->dictionary ? calloc(1, sizeof *dictionary) : NULL;
    if (!own || (from->dictionary && (!dictionary || give_child(from->dictionary, from->n_dictionary, dictionary)))) {
        free(own);
        free(dictionary);
        return ENOMEM;
    }
    own->values = from->values;
    own->bytes = from->bytes;
    own->valid = from->valid;
    from->values = from->bytes = NULL;
    from->valid = NULL;
    own->buffers[0] = own->valid;
    own->buffers[1] = own->values;
    own->buffers[2] = own->bytes;
    *out = (struct ArrowArray){.length = n,
                               .null_count = from->n_missing,
                               .n_buffers = own->bytes ? 3 : 2,
                               .buffers = own->buffers,
                               .dictionary = dictionary,
                               .release = release_child,
                               .private_data = own};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    table *t = stream->private_data;
    *out = (struct ArrowArray){0};
    if (t->given) return 0;
    struct ArrowArray batch = {.length = t->n_rows,
                               .n_buffers = 1,
                               .n_children = t->n_columns,
                               .release = release_batch};
    const void **none = calloc(1, sizeof *none);
    batch.buffers = none;
    batch.private_data = (void *)none;
    batch.children = calloc((size_t)t->n_columns + 1, sizeof *batch.children);
    int code = none && batch.children ? 0 : ENOMEM;
    for (int64_t k = 0; k < t->n_columns && code == 0; k++) {
        batch.children[k] = calloc(1, sizeof *batch.children[k]);
        code = batch.children[k] ? give_child(&t->column[k], t->n_rows, batch.children[k]) : ENOMEM;
    }
    t->given = 1;
    if (code) {
        if (!batch.children) batch.n_children = 0;
        release_batch(&batch);
        return code;
    }
    *out = batch;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "no memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free_table(stream->private_data);
    stream->release = NULL;
}

static void capsule_gone(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream && stream->release) stream->release(stream);
    free(stream);
}

/* ---- filling ---- */

static int convert_texts(PyObject *list, out_column *c, int64_t *n)
{
    const Py_ssize_t count = PyList_Size(list);
    int64_t *offset = malloc(((size_t)count + 1) * sizeof *offset);
    c->values = offset;
    c->format = "U";
    if (!offset) return -1;
    offset[0] = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t length;
        if (!PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), &length)) return -1;
        offset[i + 1] = offset[i] + length;
    }
    c->bytes = malloc((size_t)offset[count] + 1);
    if (!c->bytes) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!text) return -1;
        memcpy(c->bytes + offset[i], text, (size_t)(offset[i + 1] - offset[i]));
    }
    *n = count;
    return 0;
}

static int convert_numbers(PyObject *array, out_column *c, int64_t *n)
{
    Py_buffer view;
    c->format = "g";
    if (core_get_buffer(array, "a column", CORE_FLOAT64, -1, &view) < 0) {
        PyErr_Clear();
        c->format = "l";
        if (core_get_buffer(array, "a column", CORE_INT64, -1, &view) < 0) return -1;
    }
    c->values = malloc((size_t)view.len + 1);
    if (c->values) memcpy(c->values, view.buf, (size_t)view.len);
    *n = view.len / 8;
    PyBuffer_Release(&view);
    return c->values ? 0 : -1;
}

static int convert_plain(PyObject *values, out_column *c, int64_t *n)
{
    return PyList_Check(values) ? convert_texts(values, c, n) : convert_numbers(values, c, n);
}

/* Indices as a column; a negative one is a missing value. */
static int copy_indices(const int32_t *from, out_column *c, int64_t n)
{
    int32_t *index = malloc(((size_t)n + 1) * sizeof *index);
    c->values = index;
    c->valid = calloc((size_t)n / 8 + 1, 1);
    if (!index || !c->valid) return -1;
    for (int64_t i = 0; i < n; i++) {
        if (from[i] >= c->n_dictionary) {
            PyErr_SetString(PyExc_ValueError, "an index is beyond its dictionary");
            return -1;
        }
        index[i] = from[i] < 0 ? 0 : from[i];
        if (from[i] < 0) c->n_missing++;
        if (from[i] >= 0) c->valid[i / 8] |= (uint8_t)(1u << i % 8);
    }
    return 0;
}

/* (indices, values, ordered, metadata): a column with a dictionary. */
static int convert_dictionary(PyObject *tuple, out_column *c, int64_t *n)
{
    PyObject *indices, *values;
    int ordered;
    const char *metadata;
    Py_ssize_t n_metadata;
    Py_buffer view;
    if (!PyArg_ParseTuple(tuple, "OOpy#:dictionary", &indices, &values, &ordered, &metadata, &n_metadata)) return -1;
    c->format = "i";
    c->ordered = ordered != 0;
    c->dictionary = calloc(1, sizeof *c->dictionary);
    c->metadata = malloc((size_t)n_metadata + 1);
    if (!c->dictionary || !c->metadata) return -1;
    memcpy(c->metadata, metadata, (size_t)n_metadata);
    c->n_metadata = (size_t)n_metadata;
    c->dictionary->name = strdup("");
    if (!c->dictionary->name || convert_plain(values, c->dictionary, &c->n_dictionary) < 0) return -1;
    if (core_get_buffer(indices, "indices", CORE_INT32, -1, &view) < 0) return -1;
    *n = view.len / 4;
    const int result = copy_indices(view.buf, c, *n);
    PyBuffer_Release(&view);
    return result;
}

static int convert_column(PyObject *name, PyObject *values, table *t, int64_t k)
{
    out_column *c = &t->column[k];
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return -1;
    c->name = strdup(text);
    int64_t n = 0;
    if (!c->name || (PyTuple_Check(values) ? convert_dictionary(values, c, &n) : convert_plain(values, c, &n)) < 0) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return -1;
    }
    if (k && n != t->n_rows) {
        PyErr_SetString(PyExc_ValueError, "columns of different lengths");
        return -1;
    }
    t->n_rows = n;
    return 0;
}

static PyObject *arrow_stream(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *names, *columns;
    if (!PyArg_ParseTuple(args, "O!O!:arrow_stream", &PyTuple_Type, &names, &PyTuple_Type, &columns)) return NULL;
    const Py_ssize_t n = PyTuple_Size(names);
    if (PyTuple_Size(columns) != n) {
        PyErr_SetString(PyExc_ValueError, "the number of names must equal the number of columns");
        return NULL;
    }
    table *t = calloc(1, sizeof *t);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (t) t->column = calloc((size_t)n + 1, sizeof *t->column);
    if (!t || !stream || !t->column) {
        PyErr_NoMemory();
        goto failed;
    }
    t->n_columns = n;
    for (Py_ssize_t k = 0; k < n; k++)
        if (convert_column(PyTuple_GetItem(names, k), PyTuple_GetItem(columns, k), t, k) < 0) goto failed;
    *stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                        .get_next = get_next,
                                        .get_last_error = get_last_error,
                                        .release = release_stream,
                                        .private_data = t};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", capsule_gone);
    if (!capsule) goto failed;
    return capsule;
failed:
    free_table(t);
    free(stream);
    return NULL;
}

/* ---- names ---- */

static void schema_gone(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema && schema->release) schema->release(schema);
    free(schema);
}

static void array_gone(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array && array->release) array->release(array);
    free(array);
}

/* The texts of a list of names; ENOMEM. */
static int convert_names(const dis_names *names, out_column *c)
{
    const size_t n = dis_names_count(names);
    size_t length, total = 0;
    int64_t *offset = malloc((n + 1) * sizeof *offset);
    c->format = "U";
    c->values = offset;
    for (size_t i = 0; i < n; i++) {
        dis_names_get(names, i, &length);
        total += length;
    }
    c->bytes = malloc(total + 1);
    c->name = strdup("");
    if (!offset || !c->bytes || !c->name) return ENOMEM;
    offset[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = dis_names_get(names, i, &length);
        memcpy(c->bytes + offset[i], text, length);
        offset[i + 1] = offset[i] + (int64_t)length;
    }
    return 0;
}

static PyObject *arrow_names(PyObject *module, PyObject *args)
{
    PyObject *table_object, *axis;
    if (!PyArg_ParseTuple(args, "OO:arrow_names", &table_object, &axis)) return NULL;
    const dis_names *names = core_votes_names(core_state_of_module(module), table_object, axis);
    if (!names) return NULL;
    out_column column = {0};
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    struct ArrowArray *array = calloc(1, sizeof *array);
    PyObject *schema_capsule = NULL, *array_capsule = NULL, *pair = NULL;
    if (schema && array && convert_names(names, &column) == 0 && make_schema(&column, 0, schema) == 0 &&
        give_child(&column, (int64_t)dis_names_count(names), array) == 0) {
        schema_capsule = PyCapsule_New(schema, "arrow_schema", schema_gone);
        array_capsule = PyCapsule_New(array, "arrow_array", array_gone);
        if (schema_capsule && array_capsule) pair = PyTuple_Pack(2, schema_capsule, array_capsule);
    } else {
        PyErr_NoMemory();
    }
    free_column(&column);
    if (!schema_capsule) {
        if (schema && schema->release) schema->release(schema);
        free(schema);
    }
    if (!array_capsule) {
        if (array && array->release) array->release(array);
        free(array);
    }
    Py_XDECREF(schema_capsule);
    Py_XDECREF(array_capsule);
    return pair;
}

static PyMethodDef functions[] = {
    {"arrow_names", arrow_names, METH_VARARGS,
     "arrow_names(votes, axis)\n\nCapsules of a schema and an array with the names of \"task\", \"worker\" or "
     "\"label\"."},
    {"arrow_stream", arrow_stream, METH_VARARGS,
     "arrow_stream(names, columns)\n\nA capsule with a table. A column is a list of texts, an array of float64 or "
     "int64, "
     "or a tuple (int32 indices, values, ordered, metadata); a negative index is a missing value."},
    {NULL, NULL, 0, NULL},
};

int core_add_arrow_out(PyObject *module)
{
    return core_add_functions(module, functions);
}
