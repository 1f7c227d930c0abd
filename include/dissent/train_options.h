/* train_options.h: the table of training options. The command line, the keys of experiments, the checks of the library
 * and the arguments in Python are made from these rows. Each row is X(KIND, field of dis_model_train_options, name on
 * the command line, argument, default, low, high, summary).
 *
 * KIND is COUNT (size_t), REAL (double), FLAG (bool), or a text: TEXT, FILE, FOLDER (of a pretrained encoder). The
 * default is written as a user would write it; NULL means 0 or none. In experiments and in Python, an option has the
 * name of its field. A summary ends with its default in brackets if the default is not in the row. */
#ifndef DIS_TRAIN_OPTIONS_H
#define DIS_TRAIN_OPTIONS_H

/* clang-format off */
#define DIS_TRAIN_COURSE_OPTIONS(X)                                                                                    \
    X(COUNT, epochs, "epochs", "N", NULL, 0, 1e9, "maximum number of passes over the items [set by the model]")        \
    X(COUNT, batch, "batch", "N", NULL, 0, 1e9, "items per training step [set by the model]")                          \
    X(REAL, rate, "rate", "X", NULL, 0, 1e3, "learning rate [set by the model]")                                       \
    X(TEXT, optimizer, "optimizer", "SPEC", NULL, 0, 0, "sgd, adam or adamw[:key=value,...] [set by the model]")       \
    X(TEXT, schedule, "schedule", "SPEC", NULL, 0, 0,                                                                  \
      "learning-rate schedule, e.g. constant, step:at=50/55, linear:warm-up=0.1, cosine:warm-up=200 [set by the "      \
      "model]")                                                                                                        \
    X(TEXT, keep, "keep", "METRIC", NULL, 0, 0,                                                                        \
      "keep the epoch with the best METRIC on the development set [macro_f1 with gold labels, else cross_entropy]")
#define DIS_TRAIN_STEP_OPTIONS(X)                                                                                      \
    X(COUNT, patience, "patience", "N", NULL, 0, 1e9, "stop after N epochs without improvement [never]")               \
    X(COUNT, accumulate, "accumulate", "N", "1", 1, 1e6, "number of batches per optimizer step")                       \
    X(REAL, soft_weight, "soft-weight", "X", "1", 0, 1e9, "weight of the soft loss in objectives with two heads")      \
    X(REAL, log_base, "log-base", "X", NULL, 0, 1e9, "base of the logarithm in the soft loss [e]")                     \
    X(REAL, floor, "floor", "X", "1e-6", 1e-300, .5, "minimum target probability in inverse KL")                       \
    X(FLAG, over_all, "over-all", NULL, NULL, 0, 0,                                                                    \
      "crowd objectives: average losses over items x annotators, with 0 for missing votes [over votes]")               \
    X(TEXT, order, "order", "ORDER", NULL, 0, 0,                                                                       \
      "order of the items: shuffled (every epoch), fixed (shuffled once) or file [shuffled]")                          \
    X(FLAG, keep_last, "keep-last", NULL, NULL, 0, 0, "keep the last of several equally good epochs [the first]")      \
    X(FLAG, class_weights, "class-weights", NULL, NULL, 0, 0,                                                          \
      "weight items inversely to the frequency of their class [equal weights]")
#define DIS_TRAIN_START_OPTIONS(X)                                                                                     \
    X(FILE, vectors, "vectors", "FILE", NULL, 0, 0, "initial word vectors in the text format of GloVe")                \
    X(FOLDER, encoder, "encoder", "FOLDER", NULL, 0, 0,                                                                \
      "folder of a pretrained encoder from Hugging Face")
#define DIS_TRAIN_OPTIONS(X) DIS_TRAIN_COURSE_OPTIONS(X) DIS_TRAIN_STEP_OPTIONS(X) DIS_TRAIN_START_OPTIONS(X)
/* clang-format on */

#endif
