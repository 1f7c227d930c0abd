/* option.h: tables of options, from which parsers, help and documentation are generated.
 *
 * Methods, combinations and models are asked for as NAME[:key=value,...]. What the keys are stands in a static table
 * of these rows, in the row of the method itself. */
#ifndef DIS_OPTION_H
#define DIS_OPTION_H
#include "dissent/status.h"

typedef enum {
    DIS_OPTION_INT,    /* int64_t */
    DIS_OPTION_REAL,   /* double; NaN if the value is the word in `choices` ("auto") */
    DIS_OPTION_CHOICE, /* int: index into `choices`, which reads "vb|em" */
    DIS_OPTION_REALS,  /* dis_reals: ".2/.3/.5" */
    DIS_OPTION_SEED,   /* dis_seed: uint64_t, and whether it was given */
} dis_option_kind;

/* Numbers given as ".2/.3/.5". `word` is set instead when the value is one of the row's `choices` ("auto"). */
typedef struct {
    size_t n;
    double value[64];
    int choice; /* index into `choices`, -1: none */
} dis_reals;

typedef struct {
    uint64_t value;
    bool given;
} dis_seed;

typedef struct {
    const char *key;
    dis_option_kind kind;
    size_t offset; /* of the field in the struct that the values are parsed into */
    const char *
        default_value; /* the default, as a user would write it; NULL: unset (zero bytes; for DIS_OPTION_REALS n = 0) */
    double low, high;  /* inclusive bounds for numbers */
    const char *choices; /* "a|b|c" for DIS_OPTION_CHOICE; words accepted instead of numbers for the other kinds */
    const char *summary; /* one line: what it does */
} dis_option;

#endif
