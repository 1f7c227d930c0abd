/* Plans of studies. */
#include "measure/py_measure.h"
#include <stddef.h>

enum { MAX_LIST = 64 };

typedef struct {
    dis_study_options o;
    size_t items[MAX_LIST], annotators[MAX_LIST], votes_per_item[MAX_LIST];
    Py_buffer person, gold;
} request;

static int parse_list(PyObject *values, const char *name, size_t list[MAX_LIST], const size_t **out, size_t *n)
{
    const Py_ssize_t count = PyTuple_Size(values);
    if (count < 0) return -1;
    if (count > MAX_LIST) {
        PyErr_Format(PyExc_ValueError, "%s: at most %d numbers are possible", name, MAX_LIST);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        list[i] = PyLong_AsSize_t(PyTuple_GetItem(values, i));
        if (list[i] == (size_t)-1 && PyErr_Occurred()) return -1;
    }
    *out = list;
    *n = (size_t)count;
    return 0;
}

/* numbers: a dictionary; a number that is missing keeps its default. */
static int parse_numbers(PyObject *numbers, dis_study_options *o)
{
    const struct {
        const char *name;
        double *to;
    } fields[] = {{"value", &o->figures.value},
                  {"kappa", &o->figures.kappa},
                  {"spread", &o->figures.spread},
                  {"discordant", &o->figures.discordant},
                  {"judge_kappa", &o->figures.judge_kappa},
                  {"effect", &o->effect},
                  {"power", &o->power},
                  {"half_width", &o->half_width},
                  {"min_accuracy", &o->min_accuracy},
                  {"budget", &o->budget},
                  {"vote_cost", &o->vote_cost},
                  {"item_cost", &o->item_cost},
                  {"annotator_cost", &o->annotator_cost},
                  {"judge_cost", &o->judge_cost}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        PyObject *x = PyDict_GetItemString(numbers, fields[f].name);
        if (!x) continue;
        *fields[f].to = PyFloat_AsDouble(x);
        if (*fields[f].to == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

static int put_parts(PyObject *d, const dis_study_plan *p)
{
    const dis_study_variances *v = &p->variances;
    return core_put(d, "value", core_real(p->value)) < 0 || core_put(d, "n_items", core_count(p->n_items)) < 0 ||
                   core_put(d, "n_annotators", core_count(p->n_annotators)) < 0 ||
                   core_put(d, "n_votes", core_count(p->n_votes)) < 0 ||
                   core_put(d, "effective_annotators", core_real(p->effective_annotators)) < 0 ||
                   core_put(d, "items", core_real(v->items)) < 0 ||
                   core_put(d, "annotators", core_real(v->annotators)) < 0 ||
                   core_put(d, "votes", core_real(v->votes + v->pairs)) < 0 ||
                   core_put(d, "reason", core_text(p->reason ? p->reason : "")) < 0 ||
                   core_put(d, "items_low", core_real(p->items_low)) < 0 ||
                   core_put(d, "items_high", core_real(p->items_high)) < 0
               ? -1
               : 0;
}

static PyObject *plan_of(core_state *state, const dis_study_design *rows, size_t n, const dis_study_plan *p)
{
    static const core_field fields[] = {CORE_FIELD(dis_study_design, items, CORE_FIELD_SIZE),
                                        CORE_FIELD(dis_study_design, annotators, CORE_FIELD_SIZE),
                                        CORE_FIELD(dis_study_design, votes_per_item, CORE_FIELD_SIZE),
                                        CORE_FIELD(dis_study_design, value, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_study_design, half_width, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_study_design, power, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_study_design, cost, CORE_FIELD_REAL)};
    static const core_field split[] = {{"people_items", offsetof(dis_study_split, n_people), CORE_FIELD_SIZE},
                                       {"judge_items", offsetof(dis_study_split, n_judge), CORE_FIELD_SIZE},
                                       CORE_FIELD(dis_study_split, votes_per_item, CORE_FIELD_SIZE),
                                       CORE_FIELD(dis_study_split, half_width, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_study_split, cost, CORE_FIELD_REAL),
                                       {"people_items_only", offsetof(dis_study_split, n_people_only), CORE_FIELD_SIZE},
                                       CORE_FIELD(dis_study_split, half_width_people, CORE_FIELD_REAL)};
    PyObject *d = PyDict_New();
    if (d && (put_parts(d, p) < 0 || core_put(d, "designs", CORE_FIELDS(state, rows, n, fields)) < 0 ||
              (p->has_best && core_put(d, "answer", CORE_FIELDS(state, &p->best, 1, fields)) < 0) ||
              (p->has_split && core_put(d, "split", CORE_FIELDS(state, &p->split, 1, split)) < 0)))
        Py_CLEAR(d);
    return d;
}

static PyObject *compute(core_state *state, request *q, const char *page)
{
    const size_t n = q->o.n_items * q->o.n_annotators * q->o.n_votes_per_item;
    dis_study_design *rows = PyMem_Calloc(n ? n : 1, sizeof *rows);
    dis_study_plan summary = dis_study_plan_default();
    PyObject *result = NULL;
    if (!rows) return PyErr_NoMemory();
    dis_status status = dis_study_predict(&q->o, rows, &summary);
    if (status == DIS_OK && page) status = dis_study_write_page(&q->o, rows, &summary, page);
    if (status == DIS_OK)
        result = plan_of(state, rows, n, &summary);
    else
        core_fail(state, status);
    PyMem_Free(rows);
    return result;
}

static PyObject *plan(PyObject *module, PyObject *args)
{
    PyObject *table, *who, *gold, *numbers, *items, *annotators, *votes_per_item, *result = NULL;
    const char *page;
    unsigned long long seed, n_classes, max_items;
    request q = {.o = dis_study_options_default()};
    if (!PyArg_ParseTuple(args, "OOOszzzO!O!O!O!KKKz:plan", &table, &who, &gold, &q.o.metric, &q.o.judge,
                          &q.o.second_judge, &q.o.class_name, &PyDict_Type, &numbers, &PyTuple_Type, &items,
                          &PyTuple_Type, &annotators, &PyTuple_Type, &votes_per_item, &n_classes, &max_items, &seed,
                          &page))
        return NULL;
    core_state *state = core_state_of_module(module);
    q.o.figures.n_classes = (size_t)n_classes;
    q.o.max_items = (size_t)max_items;
    q.o.seed = seed;
    if (parse_numbers(numbers, &q.o) < 0 || parse_list(items, "items", q.items, &q.o.items, &q.o.n_items) < 0 ||
        parse_list(annotators, "annotators", q.annotators, &q.o.annotators, &q.o.n_annotators) < 0 ||
        parse_list(votes_per_item, "votes_per_item", q.votes_per_item, &q.o.votes_per_item, &q.o.n_votes_per_item) < 0)
        return NULL;
    if (table == Py_None) return compute(state, &q, page);
    q.o.votes = core_votes_get(state, table);
    if (!q.o.votes) return NULL;
    const dis_votes_view v = dis_votes_get_view(q.o.votes);
    if (core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)v.n_workers, &q.person) == 0 &&
        (gold == Py_None || core_get_buffer(gold, "gold", CORE_INT32, (Py_ssize_t)v.n_items, &q.gold) == 0)) {
        q.o.people = q.person.buf;
        q.o.gold = q.gold.buf;
        result = compute(state, &q, page);
    }
    core_buffer_free(&q.person);
    core_buffer_free(&q.gold);
    return result;
}

static PyMethodDef functions[] = {
    {"plan", plan, METH_VARARGS,
     "plan(votes, person, gold, metric, judge, second_judge, class_name, numbers, items, annotators, votes_per_item, "
     "n_classes, max_items, seed, page)\n\nDesigns of a study."},
    {NULL, NULL, 0, NULL},
};

int core_add_plan(PyObject *module)
{
    return core_add_functions(module, functions);
}
