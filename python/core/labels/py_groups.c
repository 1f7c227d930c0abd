/* Groups of workers: tables about them, the groups of a column, agreement within and between. */
#include "measure/py_measure.h"
#include <stddef.h>
#include <string.h>

static PyObject *worker_table(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "table_id", "table_prefix", NULL};
    dis_worker_table_options o = dis_worker_table_options_default();
    const char *path;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$zz:worker_table", names, &path, &o.id_column, &o.id_prefix))
        return NULL;
    core_state *state = core_state_of_module(module);
    core_call call;
    PyObject *result = NULL;
    if (core_begin(&call, state, 1, NULL) < 0) return NULL;
    dis_worker_table *table = NULL;
    core_release(&call);
    const dis_status status = dis_worker_table_read(call.ctx, path, &o, &table);
    core_retake(&call);
    if (core_end(&call, status) == 0) {
        const dis_worker_table_view v = dis_worker_table_get_view(table);
        result = PyDict_New();
        if (result && (core_put(result, "workers", core_names_list(v.workers)) < 0 ||
                       core_put(result, "columns", core_names_list(v.columns)) < 0 ||
                       core_put(result, "cells", core_names_list(v.values)) < 0))
            Py_CLEAR(result);
    }
    dis_worker_table_destroy(table);
    return result;
}

/* The options by which groups are made, from Python's arguments. */
typedef struct {
    PyObject *values, *cuts;
    Py_ssize_t min_group;
    int hide;
    core_texts texts;
    Py_buffer cut;
} group_args;

static void group_args_free(group_args *a)
{
    core_texts_free(&a->texts);
    core_buffer_free(&a->cut);
}

static int make_groups(core_state *state, const dis_votes *votes, group_args *a, dis_worker_groups **out)
{
    dis_worker_groups_options o = dis_worker_groups_options_default();
    dis_names *value = NULL;
    if (a->min_group < 1) {
        PyErr_SetString(PyExc_ValueError, "min_group must be 1 or more");
        return -1;
    }
    if (core_texts_get(a->values, "values", &a->texts) < 0) return -1;
    if (a->cuts && a->cuts != Py_None) {
        if (core_get_buffer(a->cuts, "cuts", CORE_FLOAT64, -1, &a->cut) < 0) return -1;
        o.cuts = a->cut.buf;
        o.n_cuts = (size_t)a->cut.len / sizeof(double);
    }
    o.min_group = (size_t)a->min_group;
    o.hide_small = a->hide != 0;
    dis_status status = dis_names_create(a->texts.text, a->texts.n, &value);
    if (status == DIS_OK) status = dis_worker_groups_create(votes, value, &o, out);
    dis_names_destroy(value);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

static PyObject *group_codes(core_state *state, const dis_worker_groups_view *v)
{
    void *data;
    PyObject *array = core_array_create(state, CORE_INT32, (Py_ssize_t)v->n_workers, -1, &data);
    if (array) memcpy(data, v->group, v->n_workers * sizeof *v->group);
    return array;
}

static PyObject *groups_of(core_state *state, const dis_worker_groups_view *v)
{
    PyObject *d = PyDict_New();
    if (d &&
        (core_put(d, "names", core_names_list(v->names)) < 0 || core_put(d, "group", group_codes(state, v)) < 0 ||
         core_put(d, "workers", core_counts(state, v->workers, v->n_groups)) < 0 ||
         core_put(d, "votes", core_counts(state, v->votes, v->n_groups)) < 0 ||
         core_put(d, "min_group", core_count(v->min_group)) < 0 || core_put(d, "merged", core_count(v->n_merged)) < 0 ||
         core_put(d, "hidden", core_count(v->n_hidden)) < 0 ||
         core_put(d, "hidden_people", core_count(v->n_hidden_workers)) < 0 ||
         core_put(d, "unknown", core_count(v->n_unknown)) < 0))
        Py_CLEAR(d);
    return d;
}

static PyObject *worker_groups(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes", "values", "min_group", "hide", "cuts", NULL};
    PyObject *table, *result = NULL;
    group_args a = {.min_group = 5};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$npO:worker_groups", names, &table, &a.values, &a.min_group,
                                     &a.hide, &a.cuts))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    dis_worker_groups *groups = NULL;
    if (votes && make_groups(state, votes, &a, &groups) == 0) {
        const dis_worker_groups_view v = dis_worker_groups_get_view(groups);
        result = groups_of(state, &v);
    }
    dis_worker_groups_destroy(groups);
    group_args_free(&a);
    return result;
}

int core_groups_get(core_state *state, const dis_votes *votes, PyObject *tuple, dis_worker_groups **out)
{
    group_args a = {.min_group = 5};
    if (!PyArg_ParseTuple(tuple, "OnpO:groups", &a.values, &a.min_group, &a.hide, &a.cuts)) return -1;
    const int failed = make_groups(state, votes, &a, out);
    group_args_free(&a);
    return failed;
}

/* ---- agreement ---- */

static PyObject *agreement_of(core_state *state, const dis_group_agreement_view *v)
{
    static const core_field tests[] = {{"p_within", offsetof(dis_group_row, p_within), CORE_FIELD_REAL},
                                       {"q_within", offsetof(dis_group_row, q_within), CORE_FIELD_REAL},
                                       {"p_across", offsetof(dis_group_row, p_across), CORE_FIELD_REAL},
                                       {"q_across", offsetof(dis_group_row, q_across), CORE_FIELD_REAL},
                                       {"p_index", offsetof(dis_group_row, p_association_index), CORE_FIELD_REAL},
                                       {"q_index", offsetof(dis_group_row, q_association_index), CORE_FIELD_REAL}};
    static const core_field pairs[] = {{"a", offsetof(dis_group_pair, a), CORE_FIELD_U32},
                                       {"b", offsetof(dis_group_pair, b), CORE_FIELD_U32},
                                       {"p", offsetof(dis_group_pair, p), CORE_FIELD_REAL},
                                       {"q", offsetof(dis_group_pair, q), CORE_FIELD_REAL},
                                       {"p_difference", offsetof(dis_group_pair, p_difference), CORE_FIELD_REAL},
                                       {"q_difference", offsetof(dis_group_pair, q_difference), CORE_FIELD_REAL}};
    static const core_field items[] = {{"task", offsetof(dis_group_item, item), CORE_FIELD_SIZE},
                                       {"a", offsetof(dis_group_item, a), CORE_FIELD_U32},
                                       {"b", offsetof(dis_group_item, b), CORE_FIELD_U32},
                                       {"votes_a", offsetof(dis_group_item, votes_a), CORE_FIELD_U32},
                                       {"votes_b", offsetof(dis_group_item, votes_b), CORE_FIELD_U32},
                                       {"label_a", offsetof(dis_group_item, majority_class_a), CORE_FIELD_U32},
                                       {"label_b", offsetof(dis_group_item, majority_class_b), CORE_FIELD_U32},
                                       {"distance", offsetof(dis_group_item, distance), CORE_FIELD_REAL},
                                       {"p", offsetof(dis_group_item, p), CORE_FIELD_REAL},
                                       {"q", offsetof(dis_group_item, q), CORE_FIELD_REAL}};
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    if (core_put(d, "tests", core_fields(state, v->groups, v->n_groups, sizeof *v->groups, tests, 6)) < 0 ||
        core_put(d, "percent", CORE_METRICS(v->groups, v->n_groups, dis_group_row, percent)) < 0 ||
        core_put(d, "within", CORE_METRICS(v->groups, v->n_groups, dis_group_row, within)) < 0 ||
        core_put(d, "across", CORE_METRICS(v->groups, v->n_groups, dis_group_row, across)) < 0 ||
        core_put(d, "index", CORE_METRICS(v->groups, v->n_groups, dis_group_row, association_index)) < 0 ||
        core_put(d, "pairs", core_fields(state, v->pairs, v->n_pairs, sizeof *v->pairs, pairs, 6)) < 0 ||
        core_put(d, "pair_percent", CORE_METRICS(v->pairs, v->n_pairs, dis_group_pair, percent)) < 0 ||
        core_put(d, "pair_across", CORE_METRICS(v->pairs, v->n_pairs, dis_group_pair, across)) < 0 ||
        core_put(d, "pair_difference", CORE_METRICS(v->pairs, v->n_pairs, dis_group_pair, difference)) < 0 ||
        core_put(d, "over", core_text(dis_interval_scope_name(v->interval_scope))) < 0 ||
        core_put(d, "divided", core_fields(state, v->items, v->n_items, sizeof *v->items, items, 10)) < 0 ||
        core_put(d, "apart", core_metric(&v->separation)) < 0 || core_put(d, "p_apart", core_real(v->p_separation)) < 0)
        Py_CLEAR(d);
    return d;
}

static PyObject *group_agreement(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",        "values", "min_group", "hide",     "cuts", "ordinal", "resamples",
                            "permutations", "seed",   "threads",   "progress", "over", NULL};
    PyObject *table, *progress = NULL, *result = NULL;
    const char *over = NULL;
    group_args a = {.min_group = 5};
    dis_group_agreement_options o = dis_group_agreement_options_default();
    Py_ssize_t resamples = (Py_ssize_t)o.resamples, permutations = (Py_ssize_t)o.permutations;
    unsigned long long seed = 0;
    int ordinal = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$npOpnnKiOz:group_agreement", names, &table, &a.values,
                                     &a.min_group, &a.hide, &a.cuts, &ordinal, &resamples, &permutations, &seed,
                                     &threads, &progress, &over))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes || core_over(over, &o.interval_scope) < 0) return NULL;
    if (resamples < 0 || permutations < 0) {
        PyErr_SetString(PyExc_ValueError, "resamples and permutations must be 0 or more");
        return NULL;
    }
    o.ordinal = ordinal != 0;
    o.items = true;
    o.resamples = (size_t)resamples;
    o.permutations = (size_t)permutations;
    o.seed = seed;
    dis_worker_groups *groups = NULL;
    core_call call;
    if (make_groups(state, votes, &a, &groups) == 0 && core_begin(&call, state, threads, progress) == 0) {
        dis_group_agreement *found = NULL;
        core_release(&call);
        const dis_status status = dis_group_agreement_run(call.ctx, votes, groups, &o, &found);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_group_agreement_view v = dis_group_agreement_get_view(found);
            const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
            result = agreement_of(state, &v);
            if (result && core_put(result, "groups", groups_of(state, &g)) < 0) Py_CLEAR(result);
        }
        dis_group_agreement_destroy(found);
    }
    dis_worker_groups_destroy(groups);
    group_args_free(&a);
    return result;
}

/* ---- predictions ---- */

static PyObject *evaluation_of(core_state *state, const dis_group_evaluation_view *v)
{
    static const core_field fields[] = {{"workers", offsetof(dis_group_evaluation_row, workers), CORE_FIELD_U64},
                                        {"votes", offsetof(dis_group_evaluation_row, votes), CORE_FIELD_U64},
                                        {"items", offsetof(dis_group_evaluation_row, items), CORE_FIELD_U64},
                                        {"p", offsetof(dis_group_evaluation_row, p), CORE_FIELD_REAL},
                                        {"q", offsetof(dis_group_evaluation_row, q), CORE_FIELD_REAL}};
    PyObject *d = PyDict_New();
    if (d &&
        (core_put(d, "rows", core_fields(state, v->groups, v->n_groups, sizeof *v->groups, fields, 5)) < 0 ||
         core_put(d, "log_loss", CORE_METRICS(v->groups, v->n_groups, dis_group_evaluation_row, log_loss)) < 0 ||
         core_put(d, "agreement", CORE_METRICS(v->groups, v->n_groups, dis_group_evaluation_row, agreement)) < 0 ||
         core_put(d, "apart", CORE_METRICS(v->groups, v->n_groups, dis_group_evaluation_row, excess_log_loss)) < 0 ||
         core_put(d, "votes_left_out", core_count(v->n_votes_excluded)) < 0))
        Py_CLEAR(d);
    return d;
}

static int names_of(core_state *state, PyObject *list, const char *what, dis_names **out)
{
    core_texts texts;
    if (core_texts_get(list, what, &texts) < 0) return -1;
    const dis_status status = dis_names_create(texts.text, texts.n, out);
    core_texts_free(&texts);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

static PyObject *group_evaluation(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",        "groups", "tasks",   "classes",  "p",    "resamples",
                            "permutations", "seed",   "threads", "progress", "over", NULL};
    const char *over = NULL;
    PyObject *table, *groups, *tasks, *classes, *rows, *progress = NULL, *result = NULL;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    Py_ssize_t resamples = (Py_ssize_t)o.resamples, permutations = (Py_ssize_t)o.permutations;
    unsigned long long seed = 0;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!OOO|$nnKiOz:group_evaluation", names, &table, &PyTuple_Type,
                                     &groups, &tasks, &classes, &rows, &resamples, &permutations, &seed, &threads,
                                     &progress, &over))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes || core_over(over, &o.interval_scope) < 0) return NULL;
    o.resamples = resamples > 0 ? (size_t)resamples : 0;
    o.permutations = permutations > 0 ? (size_t)permutations : 0;
    o.seed = seed;
    dis_group_evaluation_input in = {0};
    dis_names *task_names = NULL, *class_names = NULL;
    dis_worker_groups *cells = NULL;
    Py_buffer q = {0};
    core_call call;
    if (names_of(state, tasks, "tasks", &task_names) == 0 && names_of(state, classes, "classes", &class_names) == 0 &&
        core_rows_must(rows, "p", dis_names_count(task_names), dis_names_count(class_names), &q) == 0 &&
        core_groups_get(state, votes, groups, &cells) == 0 && core_begin(&call, state, threads, progress) == 0) {
        dis_group_evaluation *found = NULL;
        in = (dis_group_evaluation_input){.n_items = dis_names_count(task_names),
                                          .n_classes = dis_names_count(class_names),
                                          .q = q.buf,
                                          .tasks = task_names,
                                          .classes = class_names};
        core_release(&call);
        const dis_status status = dis_group_evaluation_run(call.ctx, votes, cells, &in, &o, &found);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_group_evaluation_view v = dis_group_evaluation_get_view(found);
            const dis_worker_groups_view g = dis_worker_groups_get_view(cells);
            result = evaluation_of(state, &v);
            if (result && core_put(result, "groups", groups_of(state, &g)) < 0) Py_CLEAR(result);
        }
        dis_group_evaluation_destroy(found);
    }
    core_buffer_free(&q);
    dis_worker_groups_destroy(cells);
    dis_names_destroy(task_names);
    dis_names_destroy(class_names);
    return result;
}

static PyMethodDef functions[] = {
    {"group_evaluation", CORE_KEYWORDS(group_evaluation), "Predictions against the votes of each group."},
    {"worker_table", CORE_KEYWORDS(worker_table), "A table about workers from a file."},
    {"worker_groups", CORE_KEYWORDS(worker_groups), "Groups of the workers of votes by a text per worker."},
    {"group_agreement", CORE_KEYWORDS(group_agreement), "Agreement within and between groups."},
    {NULL, NULL, 0, NULL},
};

int core_add_groups(PyObject *module)
{
    return core_add_functions(module, functions);
}
