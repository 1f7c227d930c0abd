/* Crowds whose truth is known, as files. */
#include "py_core.h"

static PyObject *synth(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *const names[] = {"votes",     "gold",           "model",       "n_items",  "n_workers",
                                  "n_classes", "votes_per_item", "seed",        "accuracy", "spread",
                                  "spammers",  "shuffle",        "text",        "features", "n_features",
                                  "theme",     "n_judges",       "human_items", NULL};
    dis_synth_options o = dis_synth_options_default();
    const char *votes, *gold;
    unsigned long long items, workers, classes, per_item, seed, n_features, judges, human_items;
    int shuffle;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "ss$sKKKKKdddpzzKzKK:synth", (char **)names, &votes, &gold,
                                     &o.model, &items, &workers, &classes, &per_item, &seed, &o.accuracy, &o.spread,
                                     &o.spammers, &shuffle, &o.text, &o.features, &n_features, &o.theme, &judges,
                                     &human_items))
        return NULL;
    o.n_items = items;
    o.n_workers = workers;
    o.n_classes = classes;
    o.votes_per_item = per_item;
    o.seed = seed;
    o.shuffle = shuffle;
    o.n_features = n_features;
    o.n_judges = judges;
    o.human_items = human_items;
    core_state *state = core_state_of_module(module);
    core_call call;
    if (core_begin(&call, state, 1, NULL) < 0) return NULL;
    core_release(&call);
    const dis_status status = dis_synth_write(call.ctx, &o, votes, gold);
    core_retake(&call);
    if (core_end(&call, status) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"synth", (PyCFunction)(void (*)(void))synth, METH_VARARGS | METH_KEYWORDS,
     "synth(votes, gold, *, model, ...)\n\nVotes of a crowd and their true classes, as files."},
    {NULL, NULL, 0, NULL},
};

int core_add_synth(PyObject *module)
{
    return core_add_functions(module, functions);
}
