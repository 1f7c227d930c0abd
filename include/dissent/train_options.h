/* train_options.h: the options of training in one place: the command line, the keys of experiments, the checks of the
 * library and Python are made from these rows. Each is X(KIND, field of dis_model_train_options, name on the command
 * line, argument, default, low, high, summary).
 *
 * KIND is COUNT (size_t), REAL (double), FLAG (bool), or a text: TEXT, FILE, FOLDER (of a pretrained encoder). A
 * default is written as a user would write it; NULL: 0, or none. In experiments and in Python an option has its field's
 * name. */
#ifndef DIS_TRAIN_OPTIONS_H
#define DIS_TRAIN_OPTIONS_H

/* clang-format off */
#define DIS_TRAIN_COURSE_OPTIONS(X)                                                                                     \
    X(COUNT, epochs, "epochs", "N", NULL, 0, 1e9, "passes over the items; 0: the model's own number")                   \
    X(COUNT, batch, "batch", "N", NULL, 0, 1e9, "items per step; 0: the model's own number")                            \
    X(REAL, rate, "rate", "X", NULL, 0, 1e3, "learning rate; 0: the model's own")                                       \
    X(TEXT, optimizer, "optimizer", "SPEC", NULL, 0, 0,                                                                 \
      "sgd, adam or adamw[:key=value,...]; without it, the model's own")                                                \
    X(TEXT, schedule, "schedule", "SPEC", NULL, 0, 0,                                                                   \
      "constant, step:at=50/55, linear:warm-up=0.1 (steps, below 1 their share) or cosine:warm-up=200; without it, "    \
      "the model's own")                                                                                                \
    X(TEXT, keep, "keep", "METRIC", NULL, 0, 0,                                                                         \
      "keep the epoch that is best by this on the development set; without it, macro_f1 with gold, else cross_entropy")
#define DIS_TRAIN_STEP_OPTIONS(X)                                                                                       \
    X(COUNT, patience, "patience", "N", NULL, 0, 1e9, "stop after so many epochs without a better one; 0: never")       \
    X(COUNT, accumulate, "accumulate", "N", "1", 1, 1e6, "batches whose gradients make one step")                       \
    X(REAL, soft_weight, "soft-weight", "X", "1", 0, 1e9, "of the soft head beside a gold or silver one")               \
    X(REAL, base, "base", "X", NULL, 0, 1e9, "of the logarithms of the soft head, such as 2; 0: e")                     \
    X(REAL, floor, "floor", "X", "1e-6", 1e-300, .5, "smallest target probability, for inverse KL")                     \
    X(FLAG, over_all, "over-all", NULL, NULL, 0, 0,                                                                     \
      "crowd objectives: losses are means over items x workers, missing votes counting as 0; otherwise over votes")       \
    X(TEXT, order, "order", "ORDER", NULL, 0, 0,                                                                        \
      "order of the items: shuffled every epoch, fixed (shuffled once, the same batches in every epoch) or file; "        \
      "default shuffled")                                                                                               \
    X(FLAG, keep_last, "keep-last", NULL, NULL, 0, 0,                                                                   \
      "keep the last of several best epochs; otherwise the first")                                                      \
    X(FLAG, class_weights, "class-weights", NULL, NULL, 0, 0,                                                           \
      "weight each item by items / (classes x items of its class); otherwise all items have weight 1")
#define DIS_TRAIN_START_OPTIONS(X)                                                                                      \
    X(FILE, vectors, "vectors", "FILE", NULL, 0, 0, "word vectors to start from, in GloVe's text format")               \
    X(FOLDER, encoder, "encoder", "FOLDER", NULL, 0, 0,                                                                 \
      "the pretrained encoder of the models encoder and encoder-tagger, as Hugging Face lays it out")
#define DIS_TRAIN_OPTIONS(X) DIS_TRAIN_COURSE_OPTIONS(X) DIS_TRAIN_STEP_OPTIONS(X) DIS_TRAIN_START_OPTIONS(X)
/* clang-format on */

#endif
