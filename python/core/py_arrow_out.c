/* Giving tables away as Arrow streams. A table is one batch: columns of texts ("U"), of float64 ("g") and of int64
 * ("l"), copied into memory of plain malloc, so that whoever holds the stream may give it back from any thread and at
 * any time, even after Python has ended. */
#include "py_arrow.h"
#include <errno.h>
#include <stdlib.h>

/* A column's memory, until an ArrowArray takes it over. */
typedef struct {
    const char *format; /* static */
    char *name;
    void *values; /* numbers, or the offsets of texts */
    char *bytes;  /* of texts */
    const void *buffers[3];
} out_column;

typedef struct {
    out_column *column; /* (n_columns) */
    int64_t n_columns, n_rows;
    int given; /* the one batch there is */
} table;

static void free_column(out_column *c)
{
    free(c->name);
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
    free(s->private_data); /* the name */
    s->release = NULL;
}

static int make_schema(const char *format, const char *name, int64_t n_children, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){.format = format, .release = release_schema};
    char *copy = strdup(name);
    out->children = n_children ? calloc((size_t)n_children, sizeof *out->children) : NULL;
    out->private_data = copy;
    out->name = copy;
    if (!copy || (n_children && !out->children)) {
        release_schema(out);
        return ENOMEM;
    }
    out->n_children = n_children;
    return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const table *t = stream->private_data;
    struct ArrowSchema schema;
    if (make_schema("+s", "", t->n_columns, &schema)) return ENOMEM;
    for (int64_t k = 0; k < t->n_columns; k++) {
        schema.children[k] = calloc(1, sizeof *schema.children[k]);
        if (!schema.children[k] || make_schema(t->column[k].format, t->column[k].name, 0, schema.children[k])) {
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

static int give_child(out_column *from, int64_t n, struct ArrowArray *out)
{
    out_column *own = malloc(sizeof *own);
    if (!own) return ENOMEM;
    *own = *from;
    *from = (out_column){.format = own->format};
    from->name = strdup(own->name); /* the schema may still be asked for */
    own->buffers[0] = NULL;
    own->buffers[1] = own->values;
    own->buffers[2] = own->bytes;
    *out = (struct ArrowArray){.length = n,
                               .n_buffers = own->bytes ? 3 : 2,
                               .buffers = own->buffers,
                               .release = release_child,
                               .private_data = own};
    return from->name ? 0 : ENOMEM;
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

static int take_texts(PyObject *list, out_column *c, int64_t *n)
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

static int take_numbers(PyObject *array, out_column *c, int64_t *n)
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

static int take_column(PyObject *name, PyObject *values, table *t, int64_t k)
{
    out_column *c = &t->column[k];
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return -1;
    c->name = strdup(text);
    int64_t n = 0;
    if (!c->name || (PyList_Check(values) ? take_texts(values, c, &n) : take_numbers(values, c, &n)) < 0) {
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
        PyErr_SetString(PyExc_ValueError, "as many names as columns");
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
        if (take_column(PyTuple_GetItem(names, k), PyTuple_GetItem(columns, k), t, k) < 0) goto failed;
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
static int take_names(const dis_names *names, out_column *c)
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
    if (schema && array && take_names(names, &column) == 0 && make_schema("U", "", 0, schema) == 0 &&
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
     "arrow_stream(names, columns)\n\nA capsule with a table of lists of texts and arrays of float64 or int64."},
    {NULL, NULL, 0, NULL},
};

int core_add_arrow_out(PyObject *module)
{
    return core_add_functions(module, functions);
}
