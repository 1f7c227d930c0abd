/* Taking Arrow data out of a Python object: polars, pyarrow, DuckDB, pandas, ... all speak the PyCapsule protocol
 * (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html). The structs are moved out of their
 * capsules: whoever made the capsule sees an empty one, as the protocol wants it, and a capsule that was used before is
 * seen to be empty here. Nothing of the data is copied. */
#include "convert/py_arrow.h"

static void arrow_dealloc(PyObject *object)
{
    arrow_data *a = (arrow_data *)object;
    for (size_t i = 0; i < a->n; i++)
        if (a->array[i].release) a->array[i].release(&a->array[i]);
    if (a->schema.release) a->schema.release(&a->schema);
    PyMem_Free(a->array);
    core_free_object(object);
}

static int add_array(arrow_data *a, const struct ArrowArray *array)
{
    if (a->n == a->capacity) {
        const size_t capacity = a->capacity ? 2 * a->capacity : 4;
        struct ArrowArray *more = PyMem_Realloc(a->array, capacity * sizeof *more);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        a->array = more;
        a->capacity = capacity;
    }
    a->array[a->n++] = *array;
    return 0;
}

/* The struct in a capsule; a capsule of another name, or one that was used, is refused. */
static void *inside(PyObject *capsule, const char *name)
{
    if (!PyCapsule_IsValid(capsule, name)) {
        PyErr_Format(PyExc_TypeError, "expected a capsule called %s", name);
        return NULL;
    }
    return PyCapsule_GetPointer(capsule, name);
}

static int fail_stream(struct ArrowArrayStream *stream, int code)
{
    const char *message = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", message ? message : strerror(code));
    return -1;
}

/* The producer may run a query for each batch, and may want Python's lock for itself. */
static int drain(arrow_data *a, struct ArrowArrayStream *stream)
{
    int code;
    PyThreadState *thread = PyEval_SaveThread();
    code = stream->get_schema(stream, &a->schema);
    PyEval_RestoreThread(thread);
    if (code || PyErr_Occurred()) return fail_stream(stream, code);
    for (;;) {
        struct ArrowArray array = {0};
        thread = PyEval_SaveThread();
        code = stream->get_next(stream, &array);
        PyEval_RestoreThread(thread);
        if (code || PyErr_Occurred()) return fail_stream(stream, code);
        if (!array.release) return 0;
        if (add_array(a, &array) < 0) {
            array.release(&array);
            return -1;
        }
        if (PyErr_CheckSignals() < 0) return -1;
    }
}

static int import_stream(arrow_data *a, PyObject *object)
{
    PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
    if (!capsule) return -1;
    struct ArrowArrayStream *inner = inside(capsule, "arrow_array_stream"), stream = {0};
    int result = -1;
    if (inner && !inner->release) {
        PyErr_SetString(PyExc_ValueError, "this Arrow stream was used before");
    } else if (inner) {
        stream = *inner;
        inner->release = NULL;
        result = drain(a, &stream);
        stream.release(&stream);
    }
    Py_DECREF(capsule);
    return result;
}

static int import_array(arrow_data *a, PyObject *object)
{
    PyObject *pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
    if (!pair) return -1;
    int result = -1;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ must give two capsules");
    } else {
        struct ArrowSchema *schema = inside(PyTuple_GetItem(pair, 0), "arrow_schema");
        struct ArrowArray *array = schema ? inside(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
        if (array && (!schema->release || !array->release)) {
            PyErr_SetString(PyExc_ValueError, "this Arrow array was used before");
        } else if (array && add_array(a, array) == 0) {
            a->schema = *schema;
            schema->release = NULL;
            array->release = NULL;
            result = 0;
        }
    }
    Py_DECREF(pair);
    return result;
}

arrow_data *arrow_import(core_state *state, PyObject *object)
{
    arrow_data *a = (arrow_data *)PyType_GenericAlloc(state->arrow, 0);
    if (!a) return NULL;
    int result = -1;
    if (PyObject_HasAttrString(object, "__arrow_c_stream__"))
        result = import_stream(a, object);
    else if (PyObject_HasAttrString(object, "__arrow_c_array__"))
        result = import_array(a, object);
    else
        PyErr_Format(PyExc_TypeError, "%R does not speak the Arrow capsule protocol", (PyObject *)Py_TYPE(object));
    if (result == 0 && (!a->schema.release || !a->schema.format)) {
        PyErr_SetString(PyExc_ValueError, "Arrow data without a schema");
        result = -1;
    }
    if (result < 0) {
        Py_DECREF(a);
        return NULL;
    }
    return a;
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, arrow_dealloc},
    {Py_tp_doc, "Arrow data that columns lie in."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.ArrowData",
                           .basicsize = sizeof(arrow_data),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

int core_add_arrow(PyObject *module)
{
    return core_add_type(module, &spec, &core_state_of_module(module)->arrow);
}
