/* dissent._core: the module itself: its state, its exceptions, the list of its parts. */
#include "py_core.h"

/* Each part adds its own functions and types; a new part is a row here. */
/* clang-format off */
static int (*const parts[])(PyObject *module) = {
    core_add_array,
    core_add_arrow,
    core_add_arrow_out,
    core_add_column, core_add_dictionary,
    core_add_votes,
    core_add_votes_in,
    core_add_fit,
    core_add_combine,
    core_add_tables,
    core_add_evaluate,
    core_add_agreement,
    core_add_groups,
    core_add_panel,
    core_add_judge,
    core_add_plan,
    core_add_prediction_sets,
    core_add_lewidi,
    core_add_perspectives,
    core_add_scaled,
    core_add_report,
    core_add_items,
    core_add_model,
    core_add_train,
    core_add_experiment,
    core_add_tokens,
    core_add_watch,
    core_add_synth,
};
/* clang-format on */

/* The exception of each status: name, what else it is, what it means. The first one is the base of all. */
static const struct {
    dis_status status;
    const char *name;
    PyObject **also;
    const char *doc;
} errors[] = {
    {DIS_OK, "dissent.DissentError", &PyExc_Exception, "Anything that dissent itself reports."},
    {DIS_EBUG, "dissent.InternalError", &PyExc_RuntimeError, "A defect of dissent: please report it."},
    {DIS_EUSAGE, "dissent.OptionError", &PyExc_ValueError, "A wrong option or argument."},
    {DIS_EDATA, "dissent.DataError", &PyExc_ValueError, "Bad data; the message names the row and what to do."},
    {DIS_EIO, "dissent.FileError", &PyExc_OSError, "A file could not be read or written."},
    {DIS_ELIMIT, "dissent.LimitError", &PyExc_MemoryError, "A limit or the memory would be exceeded."},
    {DIS_ENOTCONVERGED, "dissent.ConvergenceError", &PyExc_RuntimeError, "A method did not converge."},
    {DIS_ECANCELLED, "dissent.CancelledError", &PyExc_RuntimeError, "The work was stopped."},
};

core_state *core_state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

core_state *core_state_of_object(PyObject *object)
{
    return PyType_GetModuleState(Py_TYPE(object));
}

int core_add_functions(PyObject *module, PyMethodDef *functions)
{
    return PyModule_AddFunctions(module, functions);
}

int core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **place)
{
    *place = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *place ? PyModule_AddType(module, *place) : -1;
}

void core_free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(type);
}

static int add_errors(PyObject *module)
{
    core_state *state = core_state_of_module(module);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        PyObject *bases = i ? PyTuple_Pack(2, state->error[0], *errors[i].also) : PyTuple_Pack(1, *errors[i].also);
        if (!bases) return -1;
        PyObject *error = PyErr_NewExceptionWithDoc(errors[i].name, errors[i].doc, bases, NULL);
        Py_DECREF(bases);
        if (!error) return -1;
        state->error[errors[i].status] = error;
        if (PyModule_AddObjectRef(module, strchr(errors[i].name, '.') + 1, error) < 0) return -1;
    }
    return 0;
}

static int fill_module(PyObject *module)
{
    if (add_errors(module) < 0) return -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0) return -1;
    return PyModule_AddStringConstant(module, "__version__", dis_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    const core_state *state = core_state_of_module(module);
    for (int i = 0; i < CORE_N_ERRORS; i++) Py_VISIT(state->error[i]);
    Py_VISIT(state->array);
    Py_VISIT(state->arrow);
    Py_VISIT(state->column);
    Py_VISIT(state->votes);
    Py_VISIT(state->fit);
    Py_VISIT(state->items);
    Py_VISIT(state->model);
    Py_VISIT(state->tokenizer);
    Py_VISIT(state->watch);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *state = core_state_of_module(module);
    for (int i = 0; i < CORE_N_ERRORS; i++) Py_CLEAR(state->error[i]);
    Py_CLEAR(state->array);
    Py_CLEAR(state->arrow);
    Py_CLEAR(state->column);
    Py_CLEAR(state->votes);
    Py_CLEAR(state->fit);
    Py_CLEAR(state->items);
    Py_CLEAR(state->model);
    Py_CLEAR(state->tokenizer);
    Py_CLEAR(state->watch);
    return 0;
}

static void release(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "dissent._core",
    .m_doc = "The C library behind dissent. Use the package; what is here may change.",
    .m_size = sizeof(core_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
