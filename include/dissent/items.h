/* items.h: items on which models are trained: texts, tokens of sentences, feature vectors, images.
 *
 *     dis_items *items;
 *     if (dis_items_read(NULL, "items.csv", NULL, &items) == DIS_OK) {
 *         printf("%zu texts\n", dis_items_get_view(items).n_items);
 *         dis_items_destroy(items);
 *     }
 *
 * Items are found by their task ids, as in votes and labels. Files of texts and tokens: CSV, TSV, JSONL, or one token
 * per line with blank lines between sentences (conll). Files of numbers: CSV, TSV, npy, raw little-endian float32.
 * Files of images: npy, CIFAR's binary records. Reading is strict, errors name the place.
 * Threads: a table may be read by any number of threads at once. */
#ifndef DIS_ITEMS_H
#define DIS_ITEMS_H
#include "dissent/context.h"
#include "dissent/names.h"
#include "dissent/votes.h"

typedef struct dis_items dis_items;

typedef enum {
    DIS_ITEMS_TEXT,     /* one or more texts per item */
    DIS_ITEMS_TOKENS,   /* an item is a token within a sentence */
    DIS_ITEMS_FEATURES, /* a row of numbers per item */
    DIS_ITEMS_IMAGES,   /* height x width x channels numbers from 0 to 1 per item */
} dis_items_kind;

typedef struct {
    size_t size; /* of this struct */
    dis_items_kind kind;
    const char
        *format;      /* "csv", "tsv", "jsonl", "npy", "f32", "cifar", "conll"; NULL: by the file's name, csv when that
                           says nothing */
    const char *task; /* column of the ids; NULL: task */
    const char *const *columns; /* texts: their columns, NULL: text. tokens: one, NULL: token (conll: the number of the
                                   field, from 1, NULL: the first). features: NULL: all columns but task */
    size_t n_columns;
    /* tokens in a table: consecutive rows with equal values here are one sentence; NULL: sentence */
    const char *sentence;
    /* npy, f32, cifar, conll: a file with one id per line; NULL: NAME.tasks.txt of an npy file if available, else 0,
     * 1, 2, ... */
    const char *tasks;
    size_t width;              /* f32: values per row */
    const dis_drop_rule *keep; /* tables: only rows whose columns hold these values */
    size_t n_keep;
    const char *const *header; /* CSV and TSV that do not begin with the names of their columns: these are the names */
    size_t n_header;
    bool row_ids; /* tables: without a column of ids; rows are numbered from 0 */
} dis_items_options;
DIS_OPTIONS_API(dis_items_options);

/* `options` NULL: the defaults. DIS_EDATA with the place, DIS_EIO, DIS_EUSAGE (options that do not go together),
 * DIS_ELIMIT. */
DIS_API dis_status dis_items_read(dis_context *ctx, const char *path, const dis_items_options *options,
                                  dis_items **out);
DIS_API void dis_items_destroy(dis_items *items);

/* The inside of a table, valid as long as the table. */
typedef struct {
    size_t size; /* of this struct */
    dis_items_kind kind;
    size_t n_items;
    const dis_names *tasks;
    size_t n_texts;                 /* an item; 0 unless TEXT or TOKENS */
    const dis_names *texts;         /* (n_items * n_texts); text t of item i is i * n_texts + t */
    size_t n_sentences;             /* TOKENS */
    const uint64_t *sentence;       /* (n_sentences + 1): items sentence[s] .. sentence[s + 1] - 1 */
    size_t height, width, channels; /* IMAGES */
    size_t n_features;              /* FEATURES, and IMAGES: their product */
    const float *x;                 /* (n_items, n_features) */
} dis_items_view;
DIS_OPTIONS_API(dis_items_view);
DIS_VIEW_API(dis_items);

/* Items that are in memory: a table with copies of what `view` shows, laid out as dis_items_get_view() gives it. Fields
 * that its kind does not use are ignored; tasks NULL: 0, 1, 2, ... DIS_EDATA: no items, an empty id, an id twice, a
 * number that is not finite, sentences that do not follow one another. DIS_EUSAGE: lists of other lengths than n_items,
 * images whose sides do not make n_features. */
DIS_API dis_status dis_items_create(dis_context *ctx, const dis_items_view *view, dis_items **out);

/* Some of the items as a table of their own, in the order of `rows`; of tokens, `rows` are sentences. DIS_EUSAGE: no
 * row, or a row out of range. */
DIS_API dis_status dis_items_gather(dis_context *ctx, const dis_items *items, const size_t *rows, size_t n,
                                    dis_items **out);

/* Texts of the items of another table: one text per name of `tasks`, several columns joined by " / ", empty where the
 * items do not have it. A task of comparisons or spans is looked up without its two things or places. *found (may be
 * NULL): how many they have. The caller destroys the list. DIS_EUSAGE: items without texts. DIS_ELIMIT. */
DIS_API dis_status dis_items_get_texts(const dis_items *items, const dis_names *tasks, dis_names **out, size_t *found);

#endif
