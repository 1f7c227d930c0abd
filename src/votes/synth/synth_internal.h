/* synth_internal.h: shared by the files of synthetic crowds: random draws, labels and ids, item texts, exports. */
#ifndef DIS_VOTES_SYNTH_SYNTH_INTERNAL_H
#define DIS_VOTES_SYNTH_SYNTH_INTERNAL_H
#include "dissent/synth.h"
#include "core/random/random.h"
#include "io/output/output_file.h"
#include <string.h>

typedef struct {
    uint64_t index, truth;
    uint32_t ease; /* 0 .. 4, for models with hard items */
} dis__synth_item;

/* Hard items also resemble a second class, the rival; rival_share is 0 if a model has no hard items. */
typedef struct {
    uint64_t truth, rival;
    double rival_share;
} dis__synth_likeness;

/* A theme: class names, and the sentences that texts of a class consist of. */
typedef struct {
    const char *name, *question;
    uint64_t n_classes;
    const char *const *classes;
    const char *const (*sentences)[8]; /* (n_classes, 8); {p}, {n}, {d} and {c} are filled in */
    const char *const *openings, *const *closings, *const *products;
} dis__synth_theme;

const dis__synth_theme *dis__synth_theme_find(const char *name);

typedef struct dis__synth dis__synth;
typedef uint64_t (*dis__synth_vote_function)(const dis__synth *s, uint64_t w, const dis__synth_item *it,
                                             dis_random_block b);
/* Formats of votes. */
typedef enum { DIS__SYNTH_VOTES, DIS__SYNTH_LABEL_STUDIO, DIS__SYNTH_MTURK } dis__synth_format;

struct dis__synth {
    dis_synth_options o;
    dis__synth_vote_function vote;
    bool hard_items; /* the model has items that resemble two classes */
    const dis__synth_theme *theme;
    dis__synth_format format;
    uint64_t n_votes;          /* rows; judges come after the people of an item */
    int worker_bits, row_bits; /* of the permutations */
};

/* One vote. */
typedef struct {
    uint64_t item, slot; /* slot: people 0 .. votes_per_item - 1, then judges */
    uint64_t worker, label;
    bool judge, rejected; /* rejected: an export marks it as rejected or cancelled */
} dis__synth_vote;

static inline double dis__synth_unit(uint32_t word)
{
    return (double)word * 0x1p-32;
}

dis__synth_item dis__synth_item_draw(const dis__synth *s, uint64_t i);
dis__synth_likeness dis__synth_likeness_draw(const dis__synth *s, uint64_t i);
/* Slot `slot` of item i. *it is the item; the caller generates it once per item. */
dis__synth_vote dis__synth_vote_draw(const dis__synth *s, uint64_t i, uint64_t slot, const dis__synth_item *it);

/* Formatting; each returns the end of its output. */
char *dis__synth_put_number(char *out, uint64_t x);
static inline char *dis__synth_put(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}
char *dis__synth_put_label(const dis__synth *s, uint64_t label, char *out);
char *dis__synth_put_task(const dis__synth *s, uint64_t i, char *out);
/* The text of item i, at most DIS__SYNTH_MAX_TEXT bytes: ASCII without quotes, backslashes and control characters. */
enum { DIS__SYNTH_MAX_TEXT = 800 };
char *dis__synth_put_text(const dis__synth *s, uint64_t i, char *out);

/* All votes, as an export of s->format. */
dis_status dis__synth_write_label_studio(dis_context *ctx, const dis__synth *s, dis__out *out);
dis_status dis__synth_write_mturk(dis_context *ctx, const dis__synth *s, dis__out *out);

#endif
