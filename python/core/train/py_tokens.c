/* Tokenizers and encoders: lists of Python's texts in, arrays of ids or of vectors out. */
#include "py_core.h"
#include <stdlib.h>

typedef struct {
    PyObject_HEAD dis_tokenizer *t;
} tokenizer_object;

static void tokenizer_dealloc(PyObject *object)
{
    dis_tokenizer_destroy(((tokenizer_object *)object)->t);
    core_free_object(object);
}

static PyObject *tokenizer_open(PyObject *module, PyObject *args)
{
    PyObject *bytes;
    if (!PyArg_ParseTuple(args, "O&:tokenizer_open", PyUnicode_FSConverter, &bytes)) return NULL;
    core_state *state = core_state_of_module(module);
    core_call call;
    if (core_begin(&call, state, 1, NULL) < 0) {
        Py_DECREF(bytes);
        return NULL;
    }
    const char *folder = PyBytes_AsString(bytes);
    dis_tokenizer *t = NULL;
    core_release(&call);
    const dis_status status = dis_tokenizer_read(call.ctx, folder, &t);
    core_retake(&call);
    Py_DECREF(bytes);
    tokenizer_object *object = NULL;
    if (core_end(&call, status) == 0) object = (tokenizer_object *)PyType_GenericAlloc(state->tokenizer, 0);
    if (object)
        object->t = t;
    else
        dis_tokenizer_destroy(t);
    return (PyObject *)object;
}

/* ---- texts ---- */

/* UTF-8 of the texts of a list, owned by these; text i has length[i] bytes. */
typedef struct {
    const char **text;
    size_t *length, n;
} utf8_list;

static void utf8_free(utf8_list *list)
{
    PyMem_Free(list->text);
    PyMem_Free(list->length);
}

static int utf8_get(PyObject *object, const char *what, utf8_list *list)
{
    *list = (utf8_list){0};
    if (!PyList_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a list of texts", what);
        return -1;
    }
    list->n = (size_t)PyList_Size(object);
    list->text = PyMem_Calloc(list->n + 1, sizeof *list->text);
    list->length = PyMem_Calloc(list->n + 1, sizeof *list->length);
    if (!list->text || !list->length) {
        utf8_free(list);
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < list->n; i++) {
        PyObject *item = PyList_GetItem(object, (Py_ssize_t)i);
        Py_ssize_t length = 0;
        const char *text = item && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        if (!text) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: number %zu is not a text", what, i + 1);
            utf8_free(list);
            return -1;
        }
        list->text[i] = text;
        list->length[i] = (size_t)length;
    }
    return 0;
}

/* ---- results ---- */

static PyObject *copied(core_state *state, core_kind kind, const void *from, size_t n, size_t size)
{
    void *data;
    PyObject *array = core_array_create(state, kind, (Py_ssize_t)n, -1, &data);
    if (array && n) memcpy(data, from, n * size);
    return array;
}

/* {"start", "id", "type"}, with positions {"from", "to"}, of words {"first_token"}. */
static PyObject *result_of(core_state *state, const dis_tokens *tokens, size_t n_words)
{
    const dis_tokens_view v = dis_tokens_get_view(tokens);
    const size_t n = v.text_start[v.n_texts];
    PyObject *none = Py_None;
    PyObject *from = v.start_byte ? copied(state, CORE_UINT32, v.start_byte, n, sizeof *v.start_byte) : Py_NewRef(none);
    PyObject *to = v.end_byte ? copied(state, CORE_UINT32, v.end_byte, n, sizeof *v.end_byte) : Py_NewRef(none);
    PyObject *first =
        v.first_token ? copied(state, CORE_UINT64, v.first_token, n_words, sizeof *v.first_token) : Py_NewRef(none);
    return Py_BuildValue("{sNsNsNsNsNsN}", "start",
                         copied(state, CORE_UINT64, v.text_start, v.n_texts + 1, sizeof *v.text_start), "id",
                         copied(state, CORE_INT32, v.id, n, sizeof *v.id), "type",
                         copied(state, CORE_UINT8, v.type, n, sizeof *v.type), "from", from, "to", to, "first_token",
                         first);
}

static dis_tokenizer_options options_of(Py_ssize_t max_length, int special, int places)
{
    dis_tokenizer_options o = dis_tokenizer_options_default();
    o.max_length = (size_t)max_length;
    o.no_special_tokens = !special;
    o.offsets = places;
    return o;
}

static dis_token_text *texts_of(const utf8_list *first, const utf8_list *second)
{
    dis_token_text *texts = PyMem_Calloc(first->n + 1, sizeof *texts);
    for (size_t i = 0; texts && i < first->n; i++) {
        texts[i] = (dis_token_text){.first = first->text[i], .n_first = first->length[i]};
        if (!second->text) continue;
        texts[i].second = second->text[i];
        texts[i].n_second = second->length[i];
    }
    if (!texts) PyErr_NoMemory();
    return texts;
}

static PyObject *run_texts(PyObject *object, const utf8_list *first, const utf8_list *second,
                           const dis_tokenizer_options *o, int threads)
{
    core_state *state = core_state_of_object(object);
    core_call call;
    dis_tokens *tokens = NULL;
    PyObject *result = NULL;
    dis_token_text *texts = texts_of(first, second);
    if (texts && core_begin(&call, state, threads, NULL) == 0) {
        core_release(&call);
        const dis_status status =
            dis_tokenizer_encode(call.ctx, ((tokenizer_object *)object)->t, texts, first->n, o, &tokens);
        core_retake(&call);
        if (core_end(&call, status) == 0) result = result_of(state, tokens, 0);
    }
    dis_tokens_destroy(tokens);
    PyMem_Free(texts);
    return result;
}

static PyObject *encode(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"first", "second", "max_length", "special", "places", "threads", NULL};
    PyObject *first_list, *second_list = Py_None, *result = NULL;
    Py_ssize_t max_length = 0;
    int special = 1, places = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Onppi:encode", names, &first_list, &second_list, &max_length,
                                     &special, &places, &threads))
        return NULL;
    const dis_tokenizer_options o = options_of(max_length, special, places);
    utf8_list first, second = {0};
    if (utf8_get(first_list, "texts", &first) < 0) return NULL;
    if (second_list == Py_None || utf8_get(second_list, "pairs", &second) == 0) {
        if (second.text && second.n != first.n)
            PyErr_Format(PyExc_ValueError, "%zu texts and %zu second ones", first.n, second.n);
        else
            result = run_texts(object, &first, &second, &o, threads);
    }
    utf8_free(&second);
    utf8_free(&first);
    return result;
}

static PyObject *encode_words(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"words", "start", "max_length", "special", "places", "threads", NULL};
    PyObject *list, *bounds, *result = NULL;
    Py_ssize_t max_length = 0;
    int special = 1, places = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|nppi:encode_words", names, &list, &bounds, &max_length,
                                     &special, &places, &threads))
        return NULL;
    core_state *state = core_state_of_object(object);
    const dis_tokenizer_options o = options_of(max_length, special, places);
    utf8_list words;
    Py_buffer start;
    core_call call;
    dis_tokens *tokens = NULL;
    if (core_get_buffer(bounds, "start", CORE_UINT64, -1, &start) < 0) return NULL;
    const size_t n = (size_t)start.len / sizeof(uint64_t);
    const uint64_t *at = start.buf;
    if (utf8_get(list, "words", &words) < 0) {
        PyBuffer_Release(&start);
        return NULL;
    }
    int fine = n > 0 && at[0] == 0 && at[n - 1] == words.n;
    for (size_t i = 0; fine && i + 1 < n; i++) fine = at[i] <= at[i + 1];
    if (!fine) {
        PyErr_SetString(PyExc_ValueError, "start must go from 0 to the number of words");
    } else if (core_begin(&call, state, threads, NULL) == 0) {
        core_release(&call);
        const dis_status status = dis_tokenizer_encode_words(call.ctx, ((tokenizer_object *)object)->t, words.text,
                                                             words.length, (const size_t *)at, n - 1, &o, &tokens);
        core_retake(&call);
        if (core_end(&call, status) == 0) result = result_of(state, tokens, words.n);
    }
    dis_tokens_destroy(tokens);
    utf8_free(&words);
    PyBuffer_Release(&start);
    return result;
}

/* ---- vectors ---- */

static dis_status embed_texts(core_call *call, const char *folder, const dis_token_text *texts, size_t n,
                              const dis_embed_options *o, float **x, size_t *width)
{
    dis_encoder *encoder;
    dis_status status = dis_encoder_read(call->ctx, folder, &encoder);
    if (status != DIS_OK) return status;
    *width = dis_encoder_get_view(encoder).width;
    *x = calloc(n * *width + 1, sizeof **x);
    status = *x ? dis_encoder_embed(call->ctx, encoder, texts, n, o, *x) : DIS_ELIMIT;
    dis_encoder_destroy(encoder);
    return status;
}

/* How a call is run. */
typedef struct {
    int threads;
    PyObject *progress;
    const char *device, *precision;
} running;

static PyObject *run_embed(core_state *state, const char *folder, const utf8_list *first, const utf8_list *second,
                           const dis_embed_options *o, const running *how)
{
    core_call call;
    float *x = NULL;
    size_t width = 0;
    PyObject *result = NULL;
    dis_token_text *texts = texts_of(first, second);
    if (texts && core_begin_on(&call, state, how->threads, how->progress, how->device, how->precision) == 0) {
        core_release(&call);
        const dis_status status = embed_texts(&call, folder, texts, first->n, o, &x, &width);
        core_retake(&call);
        void *data;
        if (core_end(&call, status) == 0)
            result = core_array_create(state, CORE_FLOAT32, (Py_ssize_t)first->n, (Py_ssize_t)width, &data);
        if (result) memcpy(data, x, first->n * width * sizeof *x);
    }
    free(x);
    PyMem_Free(texts);
    return result;
}

static PyObject *embed(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"folder",  "first",    "second", "pool",      "normalise", "max_length",
                            "threads", "progress", "device", "precision", NULL};
    PyObject *folder, *first_list, *second_list = Py_None, *result = NULL;
    Py_ssize_t max_length = 0;
    int pool = 0, normalise = 0;
    running how = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O|OipniOzz:embed", names, PyUnicode_FSConverter, &folder,
                                     &first_list, &second_list, &pool, &normalise, &max_length, &how.threads,
                                     &how.progress, &how.device, &how.precision))
        return NULL;
    dis_embed_options o = dis_embed_options_default();
    o.pooling = (dis_embed_pooling)pool;
    o.normalise = normalise;
    o.max_length = (size_t)max_length;
    utf8_list first, second = {0};
    if (utf8_get(first_list, "texts", &first) == 0) {
        if (second_list == Py_None || utf8_get(second_list, "pairs", &second) == 0) {
            if (second.text && second.n != first.n)
                PyErr_Format(PyExc_ValueError, "%zu texts and %zu second ones", first.n, second.n);
            else
                result = run_embed(core_state_of_module(module), PyBytes_AsString(folder), &first, &second, &o, &how);
        }
        utf8_free(&second);
        utf8_free(&first);
    }
    Py_DECREF(folder);
    return result;
}

static PyObject *get_info(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_tokenizer_view v = dis_tokenizer_get_view(((tokenizer_object *)object)->t);
    return Py_BuildValue("{sssisnsisisisisi}", "model", v.model, "n_ids", (int)v.n_ids, "max_length",
                         (Py_ssize_t)v.max_length, "before", (int)v.special[DIS_TOKEN_CLS], "after",
                         (int)v.special[DIS_TOKEN_SEP], "unknown", (int)v.special[DIS_TOKEN_UNKNOWN], "padding",
                         (int)v.special[DIS_TOKEN_PADDING], "mask", (int)v.special[DIS_TOKEN_MASK]);
}

static PyObject *token_id(PyObject *object, PyObject *args)
{
    const char *text;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "s#:token_id", &text, &n)) return NULL;
    return PyLong_FromLong(dis_tokenizer_find_id(((tokenizer_object *)object)->t, text, (size_t)n));
}

static PyMethodDef methods[] = {
    {"encode", (PyCFunction)(void (*)(void))encode, METH_VARARGS | METH_KEYWORDS, "Ids of texts or pairs of texts."},
    {"encode_words", (PyCFunction)(void (*)(void))encode_words, METH_VARARGS | METH_KEYWORDS,
     "Ids of sentences that are split into words."},
    {"view", get_info, METH_NOARGS, "Model, number of ids, maximum length, special ids."},
    {"token_id", token_id, METH_VARARGS, "The id of a token, -1 without one."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, tokenizer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "The tokenizer of a pretrained encoder."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Tokenizer",
                           .basicsize = sizeof(tokenizer_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"tokenizer_open", tokenizer_open, METH_VARARGS, "The tokenizer of an encoder's folder."},
    {"embed", (PyCFunction)(void (*)(void))embed, METH_VARARGS | METH_KEYWORDS, "Vectors of texts by an encoder."},
    {NULL, NULL, 0, NULL},
};

int core_add_tokens(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->tokenizer) < 0) return -1;
    return core_add_functions(module, functions);
}
