/* The library's tables of methods and combinations as Python dictionaries: signatures are checked against them and
 * docstrings come from them. */
#include "py_core.h"

static const char *const kinds[] = {[DIS_OPTION_INT] = "int",
                                    [DIS_OPTION_REAL] = "float",
                                    [DIS_OPTION_CHOICE] = "choice",
                                    [DIS_OPTION_REALS] = "floats",
                                    [DIS_OPTION_SEED] = "seed"};

PyObject *core_options_list(const dis_option *options, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        const dis_option *o = &options[i];
        PyObject *row = Py_BuildValue("{sssssssdsdszss}", "key", o->key, "kind", kinds[o->kind], "default",
                                      o->default_value ? o->default_value : "", "low", o->low, "high", o->high,
                                      "choices", o->choices, "summary", o->summary);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *append(PyObject *list, PyObject *row)
{
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
    return list;
}

static PyObject *methods(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    static const char *const uses[] = {"unused", "prior", "needed"};
    PyObject *list = PyList_New(0);
    const dis_method *m;
    for (size_t i = 0; list && (m = dis_method_get(i)); i++) {
        PyObject *options = core_options_list(m->options, m->n_options);
        if (!options) {
            Py_DECREF(list);
            return NULL;
        }
        list = append(list,
                      Py_BuildValue("{sssssssssOsssN}", "name", m->name, "summary", m->summary, "source", m->source,
                                    "objective", m->objective, "needs_workers", m->needs_workers ? Py_True : Py_False,
                                    "predictions", uses[m->predictions], "options", options));
    }
    return list;
}

static PyObject *combiners(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const dis_combiner *c;
    for (size_t i = 0; list && (c = dis_combiner_get(i)); i++) {
        PyObject *options = core_options_list(c->options, c->n_options);
        if (!options) {
            Py_DECREF(list);
            return NULL;
        }
        list = append(list, Py_BuildValue("{sssssssN}", "name", c->name, "summary", c->summary, "source", c->source,
                                          "options", options));
    }
    return list;
}

static PyObject *version_parts(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *part;
    for (size_t i = 0; list && (part = dis_version_part(i)); i++) list = append(list, PyUnicode_FromString(part));
    return list;
}

static PyMethodDef functions[] = {
    {"methods", methods, METH_NOARGS, "methods()\n\nThe rows of the table of label methods."},
    {"combiners", combiners, METH_NOARGS, "combiners()\n\nThe rows of the table of combinations."},
    {"version_parts", version_parts, METH_NOARGS, "version_parts()\n\nWhat the library was built with."},
    {NULL, NULL, 0, NULL},
};

int core_add_tables(PyObject *module)
{
    return core_add_functions(module, functions);
}
