/* Array: memory of the library with the buffer protocol, which NumPy takes as it is: np.asarray(array) copies
 * nothing. */
#include "py_core.h"

typedef struct {
    PyObject_HEAD void *data;
    PyObject *owner;           /* NULL: data is our own, and */
    void (*give_back)(void *); /* is given back with this */
    core_kind kind;
    int n_dimensions;
    Py_ssize_t shape[2], strides[2];
} array;

static const struct {
    const char *format;
    Py_ssize_t size;
    const char *name;
} kinds[] = {
    [CORE_FLOAT64] = {"d", 8, "float64"}, [CORE_FLOAT32] = {"f", 4, "float32"}, [CORE_INT64] = {"q", 8, "int64"},
    [CORE_INT32] = {"i", 4, "int32"},     [CORE_UINT64] = {"Q", 8, "uint64"},   [CORE_UINT32] = {"I", 4, "uint32"},
    [CORE_UINT16] = {"H", 2, "uint16"},   [CORE_UINT8] = {"B", 1, "uint8"},
};

static void array_dealloc(PyObject *object)
{
    array *a = (array *)object;
    if (!a->owner) a->give_back(a->data);
    Py_XDECREF(a->owner);
    core_free_object(object);
}

static int array_buffer(PyObject *object, Py_buffer *view, int flags)
{
    array *a = (array *)object;
    if (a->owner && (flags & PyBUF_WRITABLE)) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "this array belongs to a fit or a votes table and cannot be written to");
        return -1;
    }
    view->buf = a->data;
    view->obj = Py_NewRef(object);
    view->itemsize = kinds[a->kind].size;
    view->len = a->shape[0] * (a->n_dimensions == 2 ? a->shape[1] : 1) * view->itemsize;
    view->readonly = a->owner != NULL;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)kinds[a->kind].format : NULL;
    view->ndim = a->n_dimensions;
    view->shape = flags & PyBUF_ND ? a->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void shape(array *a, void *data, core_kind kind, Py_ssize_t n_rows, Py_ssize_t n_columns)
{
    a->data = data;
    a->kind = kind;
    a->n_dimensions = n_columns < 0 ? 1 : 2;
    a->shape[0] = n_rows;
    a->shape[1] = n_columns < 0 ? 1 : n_columns;
    a->strides[0] = a->shape[1] * kinds[kind].size;
    a->strides[1] = kinds[kind].size;
}

PyObject *core_array_new(core_state *state, void *data, core_kind kind, Py_ssize_t n_rows, Py_ssize_t n_columns,
                         PyObject *owner)
{
    array *a = (array *)PyType_GenericAlloc(state->array, 0);
    if (!a) {
        if (!owner) dis_free(data);
        return NULL;
    }
    shape(a, data, kind, n_rows, n_columns);
    a->owner = Py_XNewRef(owner);
    a->give_back = dis_free;
    return (PyObject *)a;
}

PyObject *core_array_create(core_state *state, core_kind kind, Py_ssize_t n_rows, Py_ssize_t n_columns, void **data)
{
    const Py_ssize_t width = (n_columns < 0 ? 1 : n_columns) * kinds[kind].size;
    if (width && n_rows > PY_SSIZE_T_MAX / width) return PyErr_NoMemory();
    *data = PyMem_Malloc((size_t)(n_rows * width) + 1);
    if (!*data) return PyErr_NoMemory();
    array *a = (array *)PyType_GenericAlloc(state->array, 0);
    if (!a) {
        PyMem_Free(*data);
        return NULL;
    }
    shape(a, *data, kind, n_rows, n_columns);
    a->give_back = PyMem_Free;
    return (PyObject *)a;
}

/* The letters that name integers of a size differ between machines; only the size and the sign count. */
static int same_format(const char *format, Py_ssize_t size, core_kind kind)
{
    if (!format) format = "B";
    if (*format == '=' || *format == '@' || *format == '<') format++;
    if (format[0] == 0 || format[1] != 0 || size != kinds[kind].size) return 0;
    const char *letters = strchr("df", *kinds[kind].format)   ? "df"
                          : strchr("qi", *kinds[kind].format) ? "bhilqn"
                                                              : "BHILQN";
    return strchr(letters, *format) != NULL;
}

int core_get_buffer(PyObject *object, const char *what, core_kind kind, Py_ssize_t n, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        PyErr_Format(PyExc_TypeError, "%s must be a contiguous array of %s", what, kinds[kind].name);
        return -1;
    }
    if (!same_format(view->format, view->itemsize, kind)) {
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s", what, kinds[kind].name);
        PyBuffer_Release(view);
        return -1;
    }
    if (n >= 0 && view->len / view->itemsize != n) {
        PyErr_Format(PyExc_ValueError, "%s has %zd elements, not %zd", what, view->len / view->itemsize, n);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, array_dealloc},
    {Py_bf_getbuffer, array_buffer},
    {Py_tp_doc, "Memory of the library; numpy.asarray() makes an array of it without a copy."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Array",
                           .basicsize = sizeof(array),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

int core_add_array(PyObject *module)
{
    return core_add_type(module, &spec, &core_state_of_module(module)->array);
}
