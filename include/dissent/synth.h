/* synth.h: simulates annotations with known true labels, for demos, tests and benchmarks.
 *
 * Votes are drawn for one item after the other from counter-based random numbers and written as they are made: 1e8 of
 * them need no more memory than 1e3. The same options give the same bytes on every machine.
 *
 *     dis_synth_options o = dis_synth_options_default();
 *     o.n_items = 1000;
 *     dis_status s = dis_synth_write(NULL, &o, "votes.csv", "gold.csv"); */
#ifndef DIS_SYNTH_H
#define DIS_SYNTH_H
#include "dissent/context.h"

/* A row of the table of crowd models; static. */
typedef struct {
    const char *name, *summary;
} dis_synth_model;
/* Row i, NULL past the end: dawid-skene, one-coin, spammer, difficulty, ambiguous. */
DIS_API const dis_synth_model *dis_synth_model_get(size_t i);

typedef struct {
    size_t size; /* of this struct */
    const char *model;
    uint64_t n_items, n_workers, n_classes, votes_per_item, seed;
    double accuracy;      /* mean chance that a worker is right */
    double spread;        /* how much workers differ: standard deviation of that chance */
    double spammers;      /* share of workers who answer without looking (models spammer and ambiguous) */
    bool shuffle;         /* rows in random order instead of grouped by item */
    const char *text;     /* also write texts that depend on the true class to this file (task,text); NULL: no */
    const char *features; /* also write features (npy, n_items x n_features float32) to this file; NULL: no */
    uint64_t n_features;
    const char
        *theme;     /* tickets (up to 6 classes) or reviews (up to 4): class names, and texts in English; NULL: classes
                          0, 1, ... and made-up words */
    const char *to; /* format of the votes: votes (CSV), label-studio (JSON) or mturk (CSV); NULL: votes */
    uint64_t n_judges;    /* LLM judges, at most 64, which vote on all items; adds the column kind (human or llm) */
    uint64_t human_items; /* with judges: people vote on the first ones of the items; 0: on all */
} dis_synth_options;
DIS_OPTIONS_API(dis_synth_options);

/* votes: task,worker,label, or what options->to names; gold: task,label (NULL: none). Either may be "-". An export marks one
 * vote in 50 as rejected (mturk) or cancelled (label-studio). */
DIS_API dis_status dis_synth_write(dis_context *ctx, const dis_synth_options *options, const char *votes,
                                   const char *gold);

#endif
