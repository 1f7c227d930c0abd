/* objective.h: what a model is trained towards: internal interface. */
#ifndef DIS_TRAIN_OBJECTIVE_H
#define DIS_TRAIN_OBJECTIVE_H
#include "dissent/train.h"
#include "nn/ops.h"

typedef enum { DIS_MAIN_NONE, DIS_MAIN_GOLD, DIS_MAIN_SILVER } dis__main_labels;

typedef struct {
    dis_objective info;
    dis__main_labels main; /* a head of its own on one label per item */
    int soft;              /* dis__loss of the soft head, -1: there is none */
    int crowd;             /* dis__crowd of the crowd head, -1: there is none */
    bool annotator;        /* a row per vote: the model receives the annotator */
    bool confuses;         /* the worker says what becomes of the class (annot-mix); otherwise is part of the item */
} dis__objective_row;

/* What follows NAME: in the spec of an objective. */
typedef struct {
    int ties;        /* dis__ties: of silver labels */
    int on;          /* dis__crowd_on: what workers' maps read */
    int64_t warm_up; /* epochs on majority labels before the crowd head takes over */
    /* Of objectives with annotators: */
    int64_t hidden;  /* units of a layer behind item and worker; 0: none */
    int64_t width;   /* of workers' vectors, where they stand beside the item */
    double unknown;  /* share of votes that are learned without saying whose they are */
    double norm;     /* weight of the mean length of workers' vectors in the loss */
    double contrast; /* of the term that pulls those together who agree */
    double alpha;    /* of mixup; 0: none */
    double eta;      /* how often a worker says the class, before the data say so */
} dis__objective_settings;
typedef enum { DIS_TIES_DROP, DIS_TIES_FIRST } dis__ties;
typedef enum { DIS_CROWD_ON_LOGITS, DIS_CROWD_ON_PROBABILITIES } dis__crowd_on;

/* The row that a spec NAME[:key=value,...] names, its settings not looked at; NULL: there is none. */
const dis__objective_row *dis__objective_row_find(const char *spec);
/* Row and settings. DIS_EUSAGE: no such objective, or a setting that it does not have. */
dis_status dis__objective_parse(const char *spec, const dis__objective_row **row, dis__objective_settings *settings);
/* The spec with every setting written out, so that equal objectives have equal texts. out: DIS__OBJECTIVE_TEXT_SIZE. */
enum { DIS__OBJECTIVE_TEXT_SIZE = 160 };
dis_status dis__objective_format(const char *spec, char *out);

#endif
