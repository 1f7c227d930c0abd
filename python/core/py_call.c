/* Calls into the library: without Python's lock, stopped by Ctrl-C, watched by a callback; its failures as exceptions;
 * and lists of texts on the way in and out. Signals are looked at, and progress is told, ten times per second at most:
 * each time the lock has to be taken again. Both only ever happen in the thread that made the call. */
#include "py_core.h"
#include <time.h>
#include <stdio.h>
#include <string.h>

enum { EVERY_MS = 100 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int stop(void *user)
{
    core_call *call = user;
    if (call->raised) return 1;
    const int64_t now = now_ms();
    if (now - call->checked_at < EVERY_MS || !call->thread) return 0;
    call->checked_at = now;
    core_retake(call);
    call->raised = PyErr_CheckSignals() < 0;
    core_release(call);
    return call->raised;
}

void core_show(void *user, const char *what, double done)
{
    core_call *call = user;
    const int64_t now = now_ms();
    if (call->raised || !call->thread || !call->progress || (now - call->shown < EVERY_MS && done < 1)) return;
    call->shown = now;
    core_retake(call);
    PyObject *result = PyObject_CallFunction(call->progress, "sd", what, done);
    call->raised = result == NULL;
    Py_XDECREF(result);
    core_release(call);
}

static int parse_precision(const char *text, dis_precision *out)
{
    static const char *const words[] = {"auto", "float32", "bf16"};
    for (int i = 0; text && i < 3; i++)
        if (strcmp(words[i], text) == 0) {
            *out = (dis_precision)i;
            return 0;
        }
    if (!text) return 0;
    PyErr_Format(PyExc_ValueError, "precision must be auto, float32 or bf16, not %s", text);
    return -1;
}

int core_begin(core_call *call, core_state *state, int threads, PyObject *progress)
{
    return core_begin_on(call, state, threads, progress, NULL, NULL);
}

int core_begin_on(core_call *call, core_state *state, int threads, PyObject *progress, const char *device,
                  const char *precision)
{
    *call = (core_call){.state = state};
    call->checked_at = call->shown = now_ms();
    if (progress && progress != Py_None) {
        if (!PyCallable_Check(progress)) {
            PyErr_SetString(PyExc_TypeError, "progress must be a function of a text and a number, or None");
            return -1;
        }
        call->progress = progress;
    }
    dis_context_options options = dis_context_options_default();
    options.threads = threads;
    options.device = device;
    if (parse_precision(precision, &options.precision) < 0) return -1;
    options.stop = stop;
    options.user = call;
    if (call->progress) options.progress = core_show;
    const dis_status status = dis_context_create(&options, &call->ctx);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

void core_release(core_call *call)
{
    call->thread = PyEval_SaveThread();
}

void core_retake(core_call *call)
{
    PyEval_RestoreThread(call->thread);
    call->thread = NULL;
}

/* Fields that are arguments of another name here, or that are not single texts. */
static const struct {
    const char *field, *argument;
    enum { TEXT, LIST, FLAG } kind;
} arguments[] = {
    {"columns", "text", LIST},
    {"no_header", "header", TEXT},
    {"data_folder", "data", TEXT},
    {"na", "na", LIST},
    {"multiple_labels", "several", TEXT},
    {"id_column", "table_id", TEXT},
    {"id_prefix", "table_prefix", TEXT},
    {"n_remembered", "remember", TEXT},
    {"dis_gold_options", "task and label", TEXT},
    {"item_weights", "sample_weight", TEXT},
    {"classes", "classes", LIST},
    {"lenient", "lenient", FLAG},
    {"renormalise", "renormalise", FLAG},
};
enum { N_ARGUMENTS = sizeof arguments / sizeof *arguments, MESSAGE = 4096 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

/* The length of a name between backquotes at p; 0: there is none. */
static size_t name_at(const char *message, const char *p)
{
    if (p[0] != '`' || (p > message && p[-1] != ' ' && p[-1] != '(')) return 0;
    const size_t n = strspn(p + 1, letters);
    return p[1 + n] == '`' ? n : 0;
}

/* After "say", a word that follows a field is its value: its length with the space before it, else 0. */
static size_t value_at(const char *message, const char *p, const char *rest)
{
    if (p - message < 4 || strncmp(p - 4, "say ", 4) != 0 || rest[0] != ' ' || !rest[1]) return 0;
    if (rest[1] == '"' || rest[1] == '\'') {
        const char *end = strchr(rest[2] ? rest + 2 : "", rest[1]);
        return end ? (size_t)(end - rest) + 1 : 0;
    }
    return 1 + strcspn(rest + 1, " ,;:)");
}

/* One field as an argument: NAME, NAME=True, NAME="value" or NAME=["value"]. Returns how many characters of the message
 * it stands for. */
static size_t name_argument(const char *message, const char *p, char *out, size_t size)
{
    const size_t n = name_at(message, p);
    const char *name = p + 1, *rest = name + n + 1;
    unsigned kind = TEXT;
    char argument[64];
    snprintf(argument, sizeof argument, "%.*s", (int)n, name);
    for (size_t i = 0; i < N_ARGUMENTS; i++)
        if (strcmp(argument, arguments[i].field) == 0) {
            snprintf(argument, sizeof argument, "%s", arguments[i].argument);
            kind = arguments[i].kind;
        }
    const size_t n_value = kind == FLAG ? 0 : value_at(message, p, rest);
    const char *mark = rest[0] && (rest[1] == '"' || rest[1] == '\'') ? "" : "\"";
    if (kind == FLAG)
        snprintf(out, size, "%s=True", argument);
    else if (n_value)
        snprintf(out, size, kind == LIST ? "%s=[%s%.*s%s]" : "%s=%s%.*s%s", argument, mark, (int)n_value - 1, rest + 1,
                 mark);
    else
        snprintf(out, size, "%s", argument);
    return (size_t)(rest - p) + n_value;
}

void core_name_arguments(const char *message, char *out, size_t size)
{
    bool quoted = false;
    size_t n = 0;
    for (const char *p = message; *p && n + 1 < size;) {
        quoted ^= *p == '"';
        if (!quoted && name_at(message, p)) {
            p += name_argument(message, p, out + n, size - n);
            n += strlen(out + n);
        } else {
            out[n++] = *p++;
        }
    }
    out[n] = 0;
}

/* A line of suggestions, `task` "x" `no_header`, as arguments: task="x", header=False. Returns where it ends. */
static const char *put_advice(const char *p, char *out, size_t size, size_t *used)
{
    bool first = true;
    for (; *p && *p != '\n'; first = false) {
        const char *name = strchr(p, '`');
        if (!name) return p + strlen(p);
        const size_t length = strcspn(++name, "`");
        const char *value = name + length + (name[length] == '`');
        const bool flag = strncmp(value, " \"", 2) != 0, bare = strncmp(name, "no_header", length) == 0;
        const char *end = flag ? value : value + 2;
        while (!flag && *end && *end != '"') end += *end == '\\' && end[1] ? 2 : 1;
        end += !flag && *end == '"';
        const int number = length == 4 && strncmp(name, "skip", 4) == 0; /* without quotes */
        const bool list = length == 2 && strncmp(name, "na", 2) == 0;
        if (*used >= size) return end;
        *used += (size_t)snprintf(out + *used, size - *used, "%s%.*s=%s%.*s%s", first ? "" : ", ",
                                  bare ? 6 : (int)length, bare ? "header" : name, list ? "[" : "",
                                  flag ? 0 : (int)(end - value - 1) - 2 * number, flag ? "" : value + 1 + number,
                                  bare   ? "False"
                                  : flag ? "True"
                                  : list ? "]"
                                         : "");
        p = end;
    }
    return p;
}

/* Suggestions after a message, a line each. */
static void put_suggestions(const char *lines, char *out, size_t size)
{
    size_t used = strlen(out);
    while (*lines == '\n' && used + 4 < size) {
        used += (size_t)snprintf(out + used, size - used, "\n  ");
        lines = put_advice(lines + 1, out, size, &used);
    }
}

int core_fail(core_state *state, dis_status status)
{
    PyObject *error = status > DIS_OK && (int)status < CORE_N_ERRORS ? state->error[status] : NULL;
    char message[MESSAGE];
    const char *message_text = dis_last_error();
    const size_t n = strcspn(message_text, "\n");
    char first[4096];
    snprintf(first, sizeof first, "%.*s", (int)n, message_text);
    core_name_arguments(*first ? first : dis_status_meaning(status), message, sizeof message);
    put_suggestions(message_text + n, message, sizeof message);
    PyErr_SetString(error ? error : state->error[0], message);
    return -1;
}

int core_end(core_call *call, dis_status status)
{
    dis_context_destroy(call->ctx);
    call->ctx = NULL;
    if (call->raised) return -1;
    return status == DIS_OK ? 0 : core_fail(call->state, status);
}

int core_texts_get(PyObject *object, const char *what, core_texts *texts)
{
    *texts = (core_texts){0};
    if (!object || object == Py_None) return 0;
    if (PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a list of texts, not one text", what);
        return -1;
    }
    texts->keep = PySequence_List(object);
    if (!texts->keep) return -1;
    const Py_ssize_t n = PyList_Size(texts->keep);
    texts->text = PyMem_Calloc((size_t)n + 1, sizeof *texts->text);
    if (!texts->text) {
        core_texts_free(texts);
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyList_GetItem(texts->keep, i);
        Py_ssize_t length = 0;
        const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        if (!text || strlen(text) != (size_t)length) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "%s must be texts without NUL characters; element %zd is %R", what, i,
                             item);
            core_texts_free(texts);
            return -1;
        }
        texts->text[i] = text;
    }
    texts->n = (size_t)n;
    return 0;
}

void core_texts_free(core_texts *texts)
{
    PyMem_Free(texts->text);
    Py_XDECREF(texts->keep);
    *texts = (core_texts){0};
}

PyObject *core_names_list(const dis_names *names)
{
    const size_t n = dis_names_count(names);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        size_t length;
        const char *text = dis_names_get(names, i, &length);
        PyObject *item = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}
