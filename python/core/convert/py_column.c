/* Column: cells of ids in memory, as dis_votes_create_from_columns() takes them, with what keeps the memory. Sources:
 * Arrow data (a column of its own, or of a table by name), arrays with the buffer protocol, lists of texts. A column is
 * as good as what it was made from stays unchanged: Arrow data never changes, lists are copied (their texts are not),
 * and arrays must not be written to while votes are made of them. */
#include "convert/py_arrow.h"

typedef struct {
    PyObject_HEAD dis_cells *piece; /* (n_pieces), then their dictionaries */
    size_t n_pieces, n;
    PyObject *owner;  /* ArrowData, list, or another Column; NULL: none */
    PyObject *second; /* the column that a dictionary is in */
    Py_buffer view;   /* of an array: view.obj is not NULL */
    dis_text *texts;  /* of a list */
    uint8_t *bits;    /* of an array of bool */
    const char *kind; /* "text", "int", "float", "bool" */
    bool ordered;     /* its dictionary declares an order */
    bool is_enum;     /* a polars Enum */
} column;

static void column_dealloc(PyObject *object)
{
    column *c = (column *)object;
    PyMem_Free(c->piece);
    PyMem_Free(c->texts);
    PyMem_Free(c->bits);
    if (c->view.obj) PyBuffer_Release(&c->view);
    Py_XDECREF(c->owner);
    Py_XDECREF(c->second);
    core_free_object(object);
}

static column *column_new(core_state *state, size_t n_pieces, size_t n_dictionaries)
{
    column *c = (column *)PyType_GenericAlloc(state->column, 0);
    if (!c) return NULL;
    c->piece = PyMem_Calloc(n_pieces + n_dictionaries + 1, sizeof *c->piece);
    if (!c->piece) {
        Py_DECREF(c);
        PyErr_NoMemory();
        return NULL;
    }
    c->n_pieces = n_pieces;
    return c;
}

/* ---- from Arrow ---- */

/* What an Arrow format is to us. */
enum { DICTIONARY_ORDERED = 1 }; /* a flag of ArrowSchema */
static const struct {
    const char *format;
    dis_cells_kind cells;
    int n_buffers;
    const char *kind;
} formats[] = {
    {"u", DIS_CELLS_STRING, 3, "text"},       {"U", DIS_CELLS_LARGE_STRING, 3, "text"},
    {"vu", DIS_CELLS_STRING_VIEW, 3, "text"}, {"c", DIS_CELLS_INT8, 2, "int"},
    {"C", DIS_CELLS_UINT8, 2, "int"},         {"s", DIS_CELLS_INT16, 2, "int"},
    {"S", DIS_CELLS_UINT16, 2, "int"},        {"i", DIS_CELLS_INT32, 2, "int"},
    {"I", DIS_CELLS_UINT32, 2, "int"},        {"l", DIS_CELLS_INT64, 2, "int"},
    {"L", DIS_CELLS_UINT64, 2, "int"},        {"f", DIS_CELLS_FLOAT, 2, "float"},
    {"g", DIS_CELLS_DOUBLE, 2, "float"},      {"b", DIS_CELLS_BOOL, 2, "bool"},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static int format_of(const char *name, const char *format)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (strcmp(format, formats[i].format) == 0) return i;
    PyErr_Format(
        PyExc_TypeError,
        "column \"%.100s\": Arrow type \"%.20s\" contains no ids; cast it to text, integers or a dictionary of them",
        name, format);
    return -1;
}

static int damaged(const char *name, const char *why)
{
    PyErr_Format(PyExc_ValueError, "column \"%.100s\": the Arrow array is damaged: %s", name, why);
    return -1;
}

/* One Arrow array as cells; `dictionary` has room for its dictionary. */
static int fill_cells(const char *name, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      dis_cells *cells, dis_cells *dictionary)
{
    const int f = format_of(name, schema->format);
    if (f < 0) return -1;
    if (!array || !array->buffers || array->length < 0 || array->offset < 0)
        return damaged(name, "negative or missing sizes");
    if (array->n_buffers < formats[f].n_buffers) return damaged(name, "buffers are missing");
    *cells = (dis_cells){.kind = formats[f].cells,
                         .n = (size_t)array->length,
                         .offset = (size_t)array->offset,
                         .values = array->buffers[1]};
    if (array->length && !cells->values) return damaged(name, "a buffer is missing");
    if (array->null_count != 0) cells->valid = array->buffers[0];
    if (cells->kind == DIS_CELLS_STRING || cells->kind == DIS_CELLS_LARGE_STRING) cells->bytes = array->buffers[2];
    if (cells->kind == DIS_CELLS_STRING_VIEW) {
        cells->n_buffers = (size_t)(array->n_buffers - 3);
        cells->buffers = array->buffers + 2;
        cells->buffer_size = array->buffers[array->n_buffers - 1];
        if (cells->n_buffers && !cells->buffer_size) return damaged(name, "sizes of buffers are missing");
    }
    if (!schema->dictionary) return 0;
    if (!array->dictionary) return damaged(name, "its dictionary is missing");
    if (schema->dictionary->dictionary) return damaged(name, "a dictionary of dictionaries");
    cells->dictionary = dictionary;
    return fill_cells(name, schema->dictionary, array->dictionary, dictionary, NULL);
}

/* Whether the metadata of a field (Arrow's encoding: a count, then lengths and bytes of keys and values) has a key that
 * begins so. */
static bool has_key(const char *metadata, const char *key)
{
    int32_t n = 0, length;
    if (metadata) memcpy(&n, metadata, sizeof n);
    const char *p = metadata + sizeof n;
    for (int32_t i = 0; i < 2 * n; i++) { /* keys are the even ones */
        memcpy(&length, p, sizeof length);
        p += sizeof length;
        if (i % 2 == 0 && (size_t)length >= strlen(key) && memcmp(p, key, strlen(key)) == 0) return true;
        p += length;
    }
    return false;
}

/* Child k of all arrays (k < 0: the arrays themselves) as a column. */
static column *column_of_arrow(core_state *state, arrow_data *data, int64_t k)
{
    const struct ArrowSchema *schema = k < 0 ? &data->schema : data->schema.children[k];
    const char *name = schema->name ? schema->name : "";
    column *c = column_new(state, data->n, data->n);
    if (!c) return NULL;
    c->owner = Py_NewRef((PyObject *)data);
    for (size_t i = 0; i < data->n; i++) {
        const struct ArrowArray *array = &data->array[i];
        int64_t offset = 0, length = array->length;
        if (k >= 0) {
            if (array->n_children != data->schema.n_children || !array->children || !array->children[k]) {
                damaged(name, "a child is missing");
                goto failed;
            }
            offset = array->offset;
            array = array->children[k];
            if (offset < 0 || length < 0 || array->length - offset < length) {
                damaged(name, "children of different lengths");
                goto failed;
            }
        }
        dis_cells *cells = &c->piece[i];
        if (fill_cells(name, schema, array, cells, &c->piece[data->n + i]) < 0) goto failed;
        cells->offset += (size_t)offset; /* of the table within its columns */
        cells->n = (size_t)length;
        c->n += cells->n;
    }
    const int f = format_of(name, schema->dictionary ? schema->dictionary->format : schema->format);
    if (f < 0) goto failed;
    c->kind = formats[f].kind;
    c->is_enum = schema->dictionary && has_key(schema->metadata, "_PL_ENUM_VALUES");
    c->ordered = c->is_enum || (schema->dictionary && schema->flags & DICTIONARY_ORDERED);
    return c;
failed:
    Py_DECREF(c);
    return NULL;
}

/* The child that one of the names (a str or a tuple of str) fits; -1 with KeyError((names, all names there)) if there
 * is none, or more than one. */
static int64_t find_child(const struct ArrowSchema *schema, PyObject *names)
{
    core_texts wanted = {0};
    PyObject *one = PyUnicode_Check(names) ? PyTuple_Pack(1, names) : Py_NewRef(names);
    if (!one || core_texts_get(one, "column names", &wanted) < 0) {
        Py_XDECREF(one);
        return -1;
    }
    int64_t found = -1, n_found = 0;
    for (size_t w = 0; w < wanted.n && found < 0; w++)
        for (int64_t k = 0; k < schema->n_children; k++)
            if (schema->children[k]->name && strcmp(schema->children[k]->name, wanted.text[w]) == 0) {
                found = k;
                n_found++;
            }
    if (n_found != 1) {
        found = -1;
        PyObject *field_names = PyList_New(0);
        for (int64_t k = 0; field_names && k < schema->n_children; k++) {
            PyObject *name = PyUnicode_FromString(schema->children[k]->name ? schema->children[k]->name : "");
            if (!name || PyList_Append(field_names, name) < 0) Py_CLEAR(field_names);
            Py_XDECREF(name);
        }
        PyObject *pair = field_names ? PyTuple_Pack(2, names, field_names) : NULL;
        if (pair) PyErr_SetObject(PyExc_KeyError, pair);
        Py_XDECREF(pair);
        Py_XDECREF(field_names);
    }
    core_texts_free(&wanted);
    Py_DECREF(one);
    return found;
}

static PyObject *columns(PyObject *module, PyObject *args)
{
    PyObject *object, *roles, *list = NULL;
    if (!PyArg_ParseTuple(args, "OO!:columns", &object, &PyTuple_Type, &roles)) return NULL;
    core_state *state = core_state_of_module(module);
    arrow_data *data = arrow_import(state, object);
    if (!data) return NULL;
    if (strcmp(data->schema.format, "+s") != 0) {
        PyErr_SetString(PyExc_TypeError, "this is one column; votes are a table of tasks, workers and labels");
        goto done;
    }
    const Py_ssize_t n = PyTuple_Size(roles);
    list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        const int64_t k = find_child(&data->schema, PyTuple_GetItem(roles, i));
        column *c = k < 0 ? NULL : column_of_arrow(state, data, k);
        if (!c || PyList_SetItem(list, i, (PyObject *)c) < 0) Py_CLEAR(list);
    }
done:
    Py_DECREF(data);
    return list;
}

/* ---- from arrays and lists ---- */

/* What a letter of the buffer protocol is to us; integers by size and sign. */
static int array_kind(const Py_buffer *view, dis_cells_kind *cells, const char **kind)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (format[0] == 0 || format[1] != 0) return -1;
    const int at = view->itemsize == 1   ? 0
                   : view->itemsize == 2 ? 1
                   : view->itemsize == 4 ? 2
                   : view->itemsize == 8 ? 3
                                         : -1;
    if (at < 0) return -1;
    *kind = "int";
    if (strchr("bhilqn", *format)) {
        *cells = (dis_cells_kind)(DIS_CELLS_INT8 + at);
    } else if (strchr("BHILQN", *format)) {
        *cells = (dis_cells_kind)(DIS_CELLS_UINT8 + at);
    } else if (strchr("fd", *format) && at >= 2) {
        *cells = at == 3 ? DIS_CELLS_DOUBLE : DIS_CELLS_FLOAT;
        *kind = "float";
    } else if (*format == '?') {
        *cells = DIS_CELLS_BOOL;
        *kind = "bool";
    } else {
        return -1;
    }
    return 0;
}

static column *column_of_array(core_state *state, PyObject *object)
{
    column *c = column_new(state, 1, 0);
    if (!c) return NULL;
    if (PyObject_GetBuffer(object, &c->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        Py_DECREF(c);
        return NULL;
    }
    dis_cells *cells = c->piece;
    if (c->view.ndim != 1 || array_kind(&c->view, &cells->kind, &c->kind) < 0) {
        PyErr_Format(
            PyExc_TypeError,
            "ids must be one-dimensional arrays of integers, numbers or bool, not of \"%.20s\" in %d dimensions",
            c->view.format ? c->view.format : "B", c->view.ndim);
        Py_DECREF(c);
        return NULL;
    }
    cells->n = c->n = (size_t)(c->view.len / c->view.itemsize);
    cells->values = c->view.buf;
    if (cells->kind != DIS_CELLS_BOOL) return c;
    c->bits = PyMem_Calloc(c->n / 8 + 1, 1);
    if (!c->bits) {
        Py_DECREF(c);
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < c->n; i++)
        if (((const char *)c->view.buf)[i]) c->bits[i / 8] |= (uint8_t)(1u << i % 8);
    cells->values = c->bits;
    return c;
}

static column *column_of_list(core_state *state, PyObject *object)
{
    column *c = column_new(state, 1, 0);
    if (!c) return NULL;
    c->owner = PySequence_List(object);
    if (!c->owner) goto failed;
    const Py_ssize_t n = PyList_Size(c->owner);
    c->texts = PyMem_Malloc((size_t)(n + 1) * sizeof *c->texts);
    if (!c->texts) {
        PyErr_NoMemory();
        goto failed;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyList_GetItem(c->owner, i);
        Py_ssize_t length = 0;
        c->texts[i] = (dis_text){0};
        if (item == Py_None) continue;
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "element %zd is %R; a list of ids must consist of texts", i, item);
            goto failed;
        }
        c->texts[i].bytes = PyUnicode_AsUTF8AndSize(item, &length);
        if (!c->texts[i].bytes) goto failed;
        c->texts[i].n = (size_t)length;
    }
    c->n = (size_t)n;
    c->kind = "text";
    *c->piece = (dis_cells){.kind = DIS_CELLS_TEXTS, .n = c->n, .values = c->texts};
    return c;
failed:
    Py_DECREF(c);
    return NULL;
}

static PyObject *column_from(PyObject *module, PyObject *object)
{
    core_state *state = core_state_of_module(module);
    if (PyList_Check(object) || PyTuple_Check(object)) return (PyObject *)column_of_list(state, object);
    if (PyObject_HasAttrString(object, "__arrow_c_stream__") || PyObject_HasAttrString(object, "__arrow_c_array__")) {
        arrow_data *data = arrow_import(state, object);
        if (!data) return NULL;
        column *c = column_of_arrow(state, data, -1);
        Py_DECREF(data);
        return (PyObject *)c;
    }
    if (PyObject_CheckBuffer(object)) return (PyObject *)column_of_array(state, object);
    PyErr_Format(PyExc_TypeError, "%R contains no ids: pass Arrow data, a NumPy array or a list of texts",
                 (PyObject *)Py_TYPE(object));
    return NULL;
}

static PyObject *dictionary_column(PyObject *module, PyObject *args)
{
    PyObject *codes, *values;
    core_state *state = core_state_of_module(module);
    if (!PyArg_ParseTuple(args, "OO!:dictionary_column", &codes, state->column, &values)) return NULL;
    const column *dictionary = (column *)values;
    if (dictionary->n_pieces != 1 || dictionary->piece->dictionary) {
        PyErr_SetString(PyExc_ValueError, "the values of a dictionary must be contiguous");
        return NULL;
    }
    column *c = column_of_array(state, codes);
    if (!c) return NULL;
    if (strcmp(c->kind, "int") != 0) {
        PyErr_SetString(PyExc_TypeError, "the codes of a dictionary must be integers");
        Py_DECREF(c);
        return NULL;
    }
    c->piece->dictionary = dictionary->piece;
    c->second = Py_NewRef(values);
    c->kind = dictionary->kind;
    return (PyObject *)c;
}

int core_column_get(core_state *state, PyObject *object, const char *what, dis_column *out)
{
    if (!PyObject_TypeCheck(object, state->column)) {
        PyErr_Format(PyExc_TypeError, "%s must be a Column", what);
        return -1;
    }
    const column *c = (column *)object;
    *out = (dis_column){.piece = c->piece, .n_pieces = c->n_pieces};
    return 0;
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((column *)object)->kind);
}

static PyObject *get_ordered(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((column *)object)->ordered);
}

static PyObject *get_is_enum(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((column *)object)->is_enum);
}

static Py_ssize_t column_length(PyObject *object)
{
    return (Py_ssize_t)((column *)object)->n;
}

static PyGetSetDef getters[] = {
    {"kind", get_kind, NULL, "What ids were: \"text\", \"int\", \"float\" or \"bool\".", NULL},
    {"ordered", get_ordered, NULL, "Whether Arrow says that the order of its dictionary has a meaning.", NULL},
    {"is_enum", get_is_enum, NULL, "Whether it is a polars Enum.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_getset, getters},
    {Py_sq_length, column_length},
    {Py_tp_doc, "A column of ids in memory."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Column",
                           .basicsize = sizeof(column),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"column", column_from, METH_O, "column(source)\n\nA Column of Arrow data, an array or a list of texts."},
    {"columns", columns, METH_VARARGS,
     "columns(table, names)\n\nA Column for each name, or tuple of names of which the first that is there counts."},
    {"dictionary_column", dictionary_column, METH_VARARGS,
     "dictionary_column(codes, values)\n\nA Column of the values that codes count."},
    {NULL, NULL, 0, NULL},
};

int core_add_column(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->column) < 0) return -1;
    return core_add_functions(module, functions);
}
