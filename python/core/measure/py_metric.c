/* Metrics, columns and tables on their way between the library and Python. */
#include "measure/py_measure.h"
#include <math.h>
#include <string.h>

int core_put(PyObject *dict, const char *key, PyObject *value)
{
    const int failed = !value || PyDict_SetItemString(dict, key, value) < 0;
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

PyObject *core_real(double x)
{
    return isnan(x) ? Py_NewRef(Py_None) : PyFloat_FromDouble(x);
}

PyObject *core_count(uint64_t n)
{
    return PyLong_FromUnsignedLongLong(n);
}

PyObject *core_text(const char *text)
{
    return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
}

PyObject *core_metric(const dis_metric *m)
{
    return Py_BuildValue("{sNsNsNsNsNsOsN}", "value", core_real(m->reason ? NAN : m->value), "ci_low",
                         core_real(m->has_interval ? m->ci_low : NAN), "ci_high",
                         core_real(m->has_interval ? m->ci_high : NAN), "n", core_count(m->n), "reason",
                         core_text(m->reason), "degenerate", m->degenerate ? Py_True : Py_False, "no_interval",
                         core_text(dis_metric_no_interval_reason(m)));
}

int core_over(const char *text, dis_interval_scope *over)
{
    for (int i = DIS_INTERVAL_ANNOTATORS; text && i <= DIS_INTERVAL_ITEMS; i++)
        if (strcmp(text, dis_interval_scope_name((dis_interval_scope)i)) == 0) {
            *over = (dis_interval_scope)i;
            return 0;
        }
    if (!text) return 0;
    PyErr_Format(PyExc_ValueError, "over must be \"annotators\" or \"items\", not \"%s\"", text);
    return -1;
}

static int64_t integer_field(const char *field, core_field_kind kind)
{
    switch (kind) {
    case CORE_FIELD_U64: return (int64_t) * (const uint64_t *)(const void *)field;
    case CORE_FIELD_U32: return (int64_t) * (const uint32_t *)(const void *)field;
    default: return (int64_t) * (const size_t *)(const void *)field;
    }
}

static PyObject *one_field(core_state *state, const char *rows, size_t n, size_t stride, const core_field *f)
{
    const core_kind kind = f->kind == CORE_FIELD_REAL   ? CORE_FLOAT64
                           : f->kind == CORE_FIELD_BOOL ? CORE_UINT8
                                                        : CORE_INT64;
    void *data;
    PyObject *array = core_array_create(state, kind, (Py_ssize_t)n, -1, &data);
    for (size_t i = 0; array && i < n; i++) {
        const char *field = rows + i * stride + f->offset;
        if (kind == CORE_FLOAT64)
            ((double *)data)[i] = *(const double *)(const void *)field;
        else if (kind == CORE_UINT8)
            ((uint8_t *)data)[i] = *(const bool *)(const void *)field;
        else
            ((int64_t *)data)[i] = integer_field(field, f->kind);
    }
    return array;
}

PyObject *core_fields(core_state *state, const void *rows, size_t n, size_t stride, const core_field *fields,
                      size_t n_fields)
{
    PyObject *dict = PyDict_New();
    for (size_t f = 0; dict && f < n_fields; f++)
        if (core_put(dict, fields[f].name, one_field(state, rows, n, stride, &fields[f])) < 0) Py_CLEAR(dict);
    return dict;
}

PyObject *core_metrics(const void *rows, size_t n, size_t stride, size_t offset)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++)
        if (PyList_SetItem(list, (Py_ssize_t)i,
                           core_metric((const dis_metric *)((const char *)rows + i * stride + offset))) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject *core_reals(core_state *state, const double *x, size_t n)
{
    if (!x) return Py_NewRef(Py_None);
    void *data;
    PyObject *array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)n, -1, &data);
    if (array && n) memcpy(data, x, n * sizeof *x);
    return array;
}

PyObject *core_counts(core_state *state, const uint64_t *x, size_t n)
{
    if (!x) return Py_NewRef(Py_None);
    void *data;
    PyObject *array = core_array_create(state, CORE_INT64, (Py_ssize_t)n, -1, &data);
    if (array && n) memcpy(data, x, n * sizeof *x);
    return array;
}

int core_gold_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view)
{
    if (!object || object == Py_None) return 0;
    if (core_get_buffer(object, what, CORE_INT32, (Py_ssize_t)n_items, view) < 0) {
        view->obj = NULL;
        return -1;
    }
    const int32_t *label = view->buf;
    for (size_t i = 0; i < n_items; i++)
        if (label[i] < -1 || label[i] >= (int64_t)n_classes) {
            PyErr_Format(PyExc_ValueError, "%s: element %zu is not a class", what, i);
            core_buffer_free(view);
            return -1;
        }
    return 0;
}

int core_rows_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view)
{
    if (!object || object == Py_None) return 0;
    if (core_get_buffer(object, what, CORE_FLOAT64, (Py_ssize_t)(n_items * n_classes), view) < 0) {
        view->obj = NULL;
        return -1;
    }
    const double *p = view->buf;
    for (size_t i = 0; i < n_items; i++) {
        double sum = 0;
        bool fine = true;
        for (size_t k = 0; k < n_classes; k++) {
            fine = fine && p[i * n_classes + k] >= 0;
            sum += p[i * n_classes + k];
        }
        if (!fine || !(fabs(sum - 1) <= 1e-6)) {
            PyErr_Format(PyExc_ValueError, "%s: row %zu is not a distribution", what, i);
            core_buffer_free(view);
            return -1;
        }
    }
    return 0;
}

int core_shares_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view)
{
    if (!object || object == Py_None) return 0;
    if (core_get_buffer(object, what, CORE_FLOAT64, (Py_ssize_t)(n_items * n_classes), view) < 0) {
        view->obj = NULL;
        return -1;
    }
    for (size_t i = 0; i < n_items * n_classes; i++)
        if (!(((const double *)view->buf)[i] >= 0 && ((const double *)view->buf)[i] <= 1)) {
            PyErr_Format(PyExc_ValueError, "%s: row %zu has a value that is not a probability", what, i / n_classes);
            core_buffer_free(view);
            return -1;
        }
    return 0;
}

int core_gold_must(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view)
{
    if (object != Py_None) return core_gold_get(object, what, n_items, n_classes, view);
    PyErr_Format(PyExc_TypeError, "%s must be an array", what);
    return -1;
}

int core_rows_must(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view)
{
    if (object != Py_None) return core_rows_get(object, what, n_items, n_classes, view);
    PyErr_Format(PyExc_TypeError, "%s must be an array", what);
    return -1;
}

void core_buffer_free(Py_buffer *view)
{
    if (view->obj) PyBuffer_Release(view);
    view->obj = NULL;
    view->buf = NULL;
}

int core_sizes_ok(Py_ssize_t n_items, Py_ssize_t n_classes)
{
    if (n_items >= 0 && n_classes >= 1 && n_items <= PY_SSIZE_T_MAX / 8 / n_classes) return 1;
    PyErr_SetString(PyExc_ValueError, "impossible sizes");
    return 0;
}
