/* model.h: what a model is: internal interface.
 *
 * One model per file: its settings, its table of options and its row, which models.c lists. A row knows how to learn
 * what it needs of the training items (words, ranges of features: the encoder), how to turn items into numbers once
 * (encoded), how to build the network (inputs), and how to put a batch into it. Encoder, encoded items and inputs are
 * structs of the model's own file; training, prediction and files pass them around and only know what is declared here.
 *
 * A batch is made of units: an item, or for tokens a sentence; a unit has one row of the heads for each of its
 * items. */
#ifndef DIS_TRAIN_MODEL_H
#define DIS_TRAIN_MODEL_H
#include "dissent/train.h"
#include "tool/json_writer.h"
#include "core/memory/memory.h"
#include "core/text/sha256.h"
#include "io/input/input.h"
#include "nn/net.h"
#include "train/files/model_json.h"
#include "train/objectives/objective.h"
#include "train/workers/worker_features.h"

/* Files that a model may learn from besides the items; NULL: none. */
typedef struct {
    const char *vectors; /* word vectors */
    const char *encoder; /* the folder of a pretrained encoder */
} dis__preprocessor_files;

/* Items as numbers: each model's own struct begins with this. */
typedef struct {
    size_t n_items, n_units;
    const uint64_t *unit;   /* (n_units + 1): the items of each; NULL: a unit is an item */
    const uint32_t *length; /* (n_units): what units of a batch should have alike, unless packed; NULL: all do */
    bool packed;            /* units of a batch lie consecutively: lengths need not be alike */
    bool lasting;           /* they stay as they are while a network takes batches of them: devices may keep them */
    const int32_t *worker;  /* (n_units): the annotator to predict, -1: none, -2 and below: those told of since; NULL:
                               the model does not use them. Of whoever had the items encoded */
} dis__encoded_items;

/* How large a batch may become. */
typedef struct {
    size_t units, items;
    size_t longest; /* of the units' lengths, at least 1 */
    size_t total;   /* of the lengths of all units of a batch: those of the longest units; at least 1 */
    bool predicts;  /* the network never trains */
} dis__batch_limits;

/* What building leaves for putting batches: each model's own struct begins with this. */
typedef struct {
    int trunk; /* the value that heads start from */
} dis__model_inputs;

/* Units that go through the network together. */
typedef struct {
    const uint32_t *unit;
    size_t n;
    bool training;         /* trained on, or predicted */
    uint64_t seed, number; /* what randomness in laying it out is keyed by */
} dis__unit_batch;

/* Properties of an encoder; 0: does not apply. */
typedef struct {
    size_t n_texts, n_features, height, width, channels; /* of the items that it takes */
    size_t n_words, n_words_in_vectors;
} dis__preprocessor_info;

/* encoder, encoded and inputs below are the model's own structs. Each is allocated zeroed by its size before it is
 * filled, and freed by its function (NULL: it holds nothing) whether filling failed or not. */
typedef struct {
    dis_model_kind info;
    size_t settings_size, encoder_size, encoded_size, inputs_size;
    bool pretrained;      /* starts from the folder of a pretrained encoder */
    size_t predict_total; /* lengths of units that are predicted at once, in all; 0: as many items as are usual */

    dis_status (*learn)(dis_context *ctx, const void *settings, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder);
    void (*free_encoder)(void *encoder);
    void (*facts)(const void *encoder, dis__preprocessor_info *out);
    /* Members of the object "encoder" of model.json; further files go to the model's folder. */
    dis_status (*save)(const void *encoder, dis__json_writer *json, const char *folder);
    dis_status (*load)(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder);

    /* Adds all that the network's numbers would mean something else without: words in their order, sizes. */
    void (*hash_meaning)(const void *encoder, dis__sha256 *sha);

    dis_status (*encode)(dis_context *ctx, const void *settings, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *out);
    void (*free_encoded)(dis__encoded_items *encoded);
    /* Adds all that training depends on, for the key of a run. */
    void (*hash_encoded)(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha);
    void (*hash_encoder)(const void *encoder, dis__sha256 *sha); /* NULL: encoded items say it all */
    /* Called before these: finds out what only a key needs, since few runs have one; NULL: nothing. */
    dis_status (*identify)(void *encoder);

    /* DIS_EUSAGE: the settings do not go with so many classes; NULL: all do. */
    dis_status (*fits)(const void *settings, size_t n_classes);
    /* Adds inputs and layers up to in->trunk. */
    dis_status (*build)(dis__net *net, const void *settings, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *in);
    void (*free_inputs)(dis__model_inputs *in);
    /* The logits of one head, from layers of that name; NULL: a linear layer on the trunk. */
    int (*head)(dis__net *net, const void *settings, const dis__model_inputs *in, const char *name, size_t n_classes);
    /* Sets axes and inputs to these units. Room was made when building. */
    dis_status (*put)(dis__net *net, dis__model_inputs *in, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch);
    /* Starts of parameters that are not random (word vectors), after planning; NULL: none. */
    dis_status (*start)(dis_context *ctx, dis__net *net, const void *encoder);
    /* The model's numbers are in a network that never trains: what they have to become for that; NULL: nothing. */
    dis_status (*merge)(const dis_model *model, dis__net *net);
    /* Writes a folder that other software loads; NULL: there is none for this model. */
    dis_status (*export)(const dis_model *model, const char *folder);
    /* Frees what only `start` needed of the encoder; NULL: nothing. */
    void (*forget)(void *encoder);
} dis__model_row;

/* What every row has: the structs and functions of these names in the model's file. */
#define DIS_MODEL_MEMBERS(encoder_)                                                                             \
    .settings_size = sizeof(settings), .encoder_size = sizeof(encoder_), .encoded_size = sizeof(encoded_items), \
    .inputs_size = sizeof(inputs), .learn = learn, .free_encoder = free_encoder, .facts = facts, .save = save,  \
    .load = load, .hash_meaning = hash_meaning, .encode = encode, .free_encoded = free_encoded,                 \
    .hash_encoded = hash_encoded, .build = build, .put = put

/* The row that NAME[:key=value,...] asks for; DIS_EUSAGE when there is none. */
dis_status dis__model_row_find(const char *spec, const dis__model_row **out);
/* Its settings: the defaults, those of the recipe, then what the spec says. */
dis_status dis__model_settings_parse(const dis__model_row *row, const char *spec, void *settings);

/* Numbers of a network by name, apart from any network. */
typedef struct {
    size_t n;
    dis__param_info *info; /* (n) */
    float **value;         /* (n); never written to where they are a file's */
    dis__input file;       /* that they are in, mapped; map NULL: each is memory of its own */
    char *path;            /* of the file, for messages */
} dis__model_weights;
dis_status dis__model_weights_get(const dis__net *net, dis__model_weights *weights); /* replaces what it has */
/* A network that never trains may use them where they lie. DIS_EDATA: the network has a parameter that is not among
 * them, or one of another shape. */
dis_status dis__model_weights_set(const dis__model_weights *weights, dis__net *net);
void dis__model_weights_free(dis__model_weights *weights);

enum { DIS_MAX_HEADS = 2 };

/* The network of a model, with all it needs to be run, and the numbers of its heads; DIS_NONE: a head that it lacks. */
typedef struct {
    dis__net *net;
    const dis__model_row *row;
    const dis__device *device;
    dis__model_inputs *in; /* the model's own */
    int head[DIS_MAX_HEADS];
    struct dis__worker_net *worker_net; /* who is asked (worker_net.h); NULL: the model does not use them */
} dis__model_net;

struct dis_model {
    const dis__model_row *row;
    void *settings;
    char *spec, *objective, *keep; /* keep NULL: no development set */
    uint64_t seed;
    const dis__device *device; /* where its networks run */
    dis_names *classes;
    dis_names *workers; /* the known workers; NULL: not an annotator model */
    bool confuses;      /* dis__objective_row */
    dis__objective_settings of_objective;
    dis__worker_features features; /* of workers */
    void *encoder;                 /* the model's own */
    size_t n_heads;
    const char *head[DIS_MAX_HEADS]; /* names, static */
    dis_epoch *epoch;
    size_t n_epochs, epochs_room, best_epoch;
    size_t n_examples, n_left_out, n_parameters;
    dis__model_weights weights;
    dis__model_net ready; /* of the last prediction, which the next one may use; network NULL: none */
    dis__batch_limits ready_limits;
    char sums_by[200]; /* what added up the gradients of several ranks; "": there was one */
};

/* A model of that spec without encoder and weights: row, settings, spec, objective, heads; on the CPU. */
dis_status dis__model_create(const char *spec, const char *objective, dis_model **out);

/* All heads; for training `add_heads` adds them to the logits where it is not NULL. */
dis_status dis__model_net_build(const dis_model *model, const dis__batch_limits *limits, uint64_t seed,
                                dis_status (*add_heads)(void *arg, dis__model_net *r, const int *logits), void *arg,
                                dis__model_net *r);
void dis__model_net_free(dis__model_net *r);
/* Puts a batch of units: what the model reads of them and, where it is told, who is asked. */
dis_status dis__model_net_set_batch(const dis_model *model, dis__model_net *r, const dis__encoded_items *encoded,
                                    const dis__unit_batch *batch);

/* model->ready predicts this head, in batches of these limits and less. */
dis_status dis__model_prepare_prediction(dis_context *ctx, dis_model *model, const dis__batch_limits *limits,
                                         size_t head);

/* q of one head for all items of `encoded`, (n_items, n_classes), in batches of at most the limits. */
dis_status dis__model_net_predict(dis__model_net *r, const dis_model *model, const dis__encoded_items *encoded,
                                  size_t head, const dis__batch_limits *limits, double *q);

/* Items encoded by a row; *out is NULL after a failure. */
dis_status dis__encode_items(dis_context *ctx, const dis_model *model, const dis_items_view *items,
                             dis__encoded_items **out);
void dis__encoded_items_free(const dis_model *model, dis__encoded_items *encoded); /* NULL: nothing */

/* Limits for batches of about `batch` items of these. */
dis__batch_limits dis__batch_limits_compute(const dis__encoded_items *encoded, size_t batch);

#endif
