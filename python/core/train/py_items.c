/* Items: what a model learns from, made of texts or arrays of Python's. */
#include "py_core.h"

typedef struct {
    PyObject_HEAD dis_items *items;
} items_object;

static void items_dealloc(PyObject *object)
{
    dis_items_destroy(((items_object *)object)->items);
    core_free_object(object);
}

const dis_items *core_items_get(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->items)) {
        PyErr_SetString(PyExc_TypeError, "expected items");
        return NULL;
    }
    return ((items_object *)object)->items;
}

/* Copies what the view shows, without Python's lock. */
static PyObject *make(core_state *state, const dis_items_view *view)
{
    core_call call;
    if (core_begin(&call, state, 1, NULL) < 0) return NULL;
    dis_items *items = NULL;
    core_release(&call);
    const dis_status status = dis_items_create(call.ctx, view, &items);
    core_retake(&call);
    items_object *object = NULL;
    if (core_end(&call, status) == 0) object = (items_object *)PyType_GenericAlloc(state->items, 0);
    if (object)
        object->items = items;
    else
        dis_items_destroy(items);
    return (PyObject *)object;
}

/* Names of a list of texts; None: NULL. */
static int names_of(core_state *state, PyObject *list, const char *what, dis_names **out)
{
    *out = NULL;
    if (list == Py_None) return 0;
    core_texts texts;
    if (core_texts_get(list, what, &texts) < 0) return -1;
    const dis_status status = dis_names_create(texts.text, texts.n, out);
    core_texts_free(&texts);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

static PyObject *from_texts(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"texts", "n_texts", "tasks", "sentences", NULL};
    PyObject *list, *tasks = Py_None, *sentences = Py_None, *result = NULL;
    Py_ssize_t n_texts = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|nOO:items_from_texts", names, &list, &n_texts, &tasks,
                                     &sentences))
        return NULL;
    core_state *state = core_state_of_module(module);
    dis_names *texts = NULL, *ids = NULL;
    Py_buffer bounds = {0};
    const int tokens = sentences != Py_None;
    if (n_texts < 1)
        PyErr_SetString(PyExc_ValueError, "an item must have at least one text");
    else if (names_of(state, list, "texts", &texts) == 0 && texts && names_of(state, tasks, "tasks", &ids) == 0 &&
             (!tokens || core_get_buffer(sentences, "sentences", CORE_UINT64, -1, &bounds) == 0)) {
        const size_t n = dis_names_count(texts), in_sentences = tokens ? (size_t)bounds.len / sizeof(uint64_t) : 0;
        const dis_items_view view = {.size = sizeof(dis_items_view),
                                     .kind = tokens ? DIS_ITEMS_TOKENS : DIS_ITEMS_TEXT,
                                     .n_items = n / (size_t)n_texts,
                                     .tasks = ids,
                                     .n_texts = (size_t)n_texts,
                                     .texts = texts,
                                     .n_sentences = in_sentences ? in_sentences - 1 : 0,
                                     .sentence = bounds.buf};
        result = make(state, &view);
    } else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "texts must be a list of texts");
    if (bounds.obj) PyBuffer_Release(&bounds);
    dis_names_destroy(texts);
    dis_names_destroy(ids);
    return result;
}

/* (n, features), or (n, height, width, channels) as images. */
static PyObject *from_array(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"x", "shape", "tasks", NULL};
    PyObject *x, *tasks = Py_None, *shape, *result = NULL;
    Py_ssize_t n, a, b = -1, c = -1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!|O:items_from_array", names, &x, &PyTuple_Type, &shape,
                                     &tasks) ||
        !PyArg_ParseTuple(shape, "nn|nn:shape", &n, &a, &b, &c))
        return NULL;
    const int images = b >= 0;
    if (n < 0 || a < 1 || (images && (b < 1 || c < 1 || a > PY_SSIZE_T_MAX / b || a * b > PY_SSIZE_T_MAX / c)) ||
        n > PY_SSIZE_T_MAX / 4 / (images ? a * b * c : a)) {
        PyErr_SetString(PyExc_ValueError, "impossible sizes");
        return NULL;
    }
    const Py_ssize_t width = images ? a * b * c : a;
    core_state *state = core_state_of_module(module);
    dis_names *ids = NULL;
    Py_buffer numbers;
    if (core_get_buffer(x, "items", CORE_FLOAT32, n * width, &numbers) < 0) return NULL;
    if (names_of(state, tasks, "tasks", &ids) == 0) {
        const dis_items_view view = {.size = sizeof(dis_items_view),
                                     .kind = images ? DIS_ITEMS_IMAGES : DIS_ITEMS_FEATURES,
                                     .n_items = (size_t)n,
                                     .tasks = ids,
                                     .height = images ? (size_t)a : 0,
                                     .width = images ? (size_t)b : 0,
                                     .channels = images ? (size_t)c : 0,
                                     .n_features = (size_t)width,
                                     .x = numbers.buf};
        result = make(state, &view);
    }
    PyBuffer_Release(&numbers);
    dis_names_destroy(ids);
    return result;
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    static const char *const kinds[] = {[DIS_ITEMS_TEXT] = "texts",
                                        [DIS_ITEMS_TOKENS] = "tokens",
                                        [DIS_ITEMS_FEATURES] = "features",
                                        [DIS_ITEMS_IMAGES] = "images"};
    return PyUnicode_FromString(kinds[dis_items_get_view(((items_object *)object)->items).kind]);
}

static Py_ssize_t length(PyObject *object)
{
    return (Py_ssize_t)dis_items_get_view(((items_object *)object)->items).n_items;
}

static PyGetSetDef getters[] = {
    {"kind", get_kind, NULL, "texts, tokens, features or images", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, items_dealloc},
    {Py_tp_getset, getters},
    {Py_mp_length, length},
    {Py_tp_doc, "What a model learns from."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Items",
                           .basicsize = sizeof(items_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"items_from_texts", (PyCFunction)(void (*)(void))from_texts, METH_VARARGS | METH_KEYWORDS,
     "Items of one or more texts each, or tokens of sentences."},
    {"items_from_array", (PyCFunction)(void (*)(void))from_array, METH_VARARGS | METH_KEYWORDS,
     "Rows of numbers, or images, as float32."},
    {NULL, NULL, 0, NULL},
};

int core_add_items(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->items) < 0) return -1;
    return core_add_functions(module, functions);
}
