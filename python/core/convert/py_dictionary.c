/* The values of a column's dictionary as Python objects: the classes that an ordered Arrow dictionary or a polars Enum
 * declares. */
#include "py_core.h"

static PyObject *text_at(const dis_cells *c, size_t i)
{
    size_t start, end;
    if (c->kind == DIS_CELLS_STRING) {
        const int32_t *offset = (const int32_t *)c->values + i;
        start = (size_t)offset[0], end = (size_t)offset[1];
    } else {
        const int64_t *offset = (const int64_t *)c->values + i;
        start = (size_t)offset[0], end = (size_t)offset[1];
    }
    if (end < start || end > PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array is damaged: offsets of a dictionary decrease");
        return NULL;
    }
    return PyUnicode_FromStringAndSize(end > start ? c->bytes + start : "", (Py_ssize_t)(end - start));
}

/* 16 bytes: the length, then the text itself when it has at most 12 bytes, else a prefix, a buffer and an offset. */
static PyObject *view_at(const dis_cells *c, size_t i)
{
    const char *view = (const char *)c->values + 16 * i;
    int32_t length, buffer, offset;
    memcpy(&length, view, 4);
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    if (length >= 0 && length <= 12) return PyUnicode_FromStringAndSize(view + 4, length);
    if (length < 0 || buffer < 0 || (size_t)buffer >= c->n_buffers || offset < 0 ||
        offset > c->buffer_size[buffer] - length) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array is damaged: a text is outside its buffer");
        return NULL;
    }
    return PyUnicode_FromStringAndSize((const char *)c->buffers[buffer] + offset, length);
}

static PyObject *value_at(const dis_cells *c, size_t i)
{
    i += c->offset;
    if (c->valid && !(c->valid[i / 8] >> i % 8 & 1)) Py_RETURN_NONE;
    switch (c->kind) {
    case DIS_CELLS_TEXTS: {
        const dis_text *t = (const dis_text *)c->values + i;
        if (!t->bytes) Py_RETURN_NONE;
        return PyUnicode_FromStringAndSize(t->bytes, (Py_ssize_t)t->n);
    }
    case DIS_CELLS_STRING:
    case DIS_CELLS_LARGE_STRING: return text_at(c, i);
    case DIS_CELLS_STRING_VIEW: return view_at(c, i);
    case DIS_CELLS_INT8: return PyLong_FromLong(((const int8_t *)c->values)[i]);
    case DIS_CELLS_INT16: return PyLong_FromLong(((const int16_t *)c->values)[i]);
    case DIS_CELLS_INT32: return PyLong_FromLong(((const int32_t *)c->values)[i]);
    case DIS_CELLS_INT64: return PyLong_FromLongLong(((const int64_t *)c->values)[i]);
    case DIS_CELLS_UINT8: return PyLong_FromLong(((const uint8_t *)c->values)[i]);
    case DIS_CELLS_UINT16: return PyLong_FromLong(((const uint16_t *)c->values)[i]);
    case DIS_CELLS_UINT32: return PyLong_FromUnsignedLong(((const uint32_t *)c->values)[i]);
    case DIS_CELLS_UINT64: return PyLong_FromUnsignedLongLong(((const uint64_t *)c->values)[i]);
    case DIS_CELLS_FLOAT: return PyFloat_FromDouble((double)((const float *)c->values)[i]);
    case DIS_CELLS_DOUBLE: return PyFloat_FromDouble(((const double *)c->values)[i]);
    case DIS_CELLS_BOOL: return PyBool_FromLong(((const uint8_t *)c->values)[i / 8] >> i % 8 & 1);
    }
    Py_RETURN_NONE;
}

static PyObject *values_of(const dis_cells *c)
{
    PyObject *list = PyList_New((Py_ssize_t)c->n);
    for (size_t i = 0; list && i < c->n; i++) {
        PyObject *value = value_at(c, i);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0) Py_CLEAR(list);
    }
    return list;
}

/* A list of values for each different dictionary; neighbouring pieces mostly share one. */
static PyObject *dictionaries(PyObject *module, PyObject *object)
{
    dis_column column;
    if (core_column_get(core_state_of_module(module), object, "column", &column) < 0) return NULL;
    PyObject *all = PyList_New(0);
    const dis_cells *before = NULL;
    for (size_t k = 0; all && k < column.n_pieces; k++) {
        const dis_cells *c = column.piece[k].dictionary;
        if (!c || (before && before->values == c->values && before->offset == c->offset && before->n == c->n)) continue;
        PyObject *list = values_of(c);
        if (!list || PyList_Append(all, list) < 0) Py_CLEAR(all);
        Py_XDECREF(list);
        before = c;
    }
    return all;
}

static PyMethodDef functions[] = {
    {"dictionaries", dictionaries, METH_O,
     "dictionaries(column)\n\nThe values of each different dictionary of a column, in order."},
    {NULL, NULL, 0, NULL},
};

int core_add_dictionary(PyObject *module)
{
    return core_add_functions(module, functions);
}
