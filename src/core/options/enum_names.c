/* The public enumerations whose constants have names, listed once. */
#include "core/options/enum_names.h"
#include <string.h>

/* The library of web/ has no training. */
#ifdef DIS_WITHOUT_TRAINING
#define TRAINING_ENUMS(X)
#else
#define TRAINING_ENUMS(X) X(dis_run_state)
#endif

#define ENUMS(X)               \
    X(dis_chance)              \
    X(dis_coverage_kind)       \
    X(dis_interval_scope)      \
    X(dis_requirement_kind)    \
    X(dis_requirement_outcome) \
    X(dis_review_verdict)      \
    X(dis_set_score)           \
    TRAINING_ENUMS(X)          \
    X(dis_watch_reason)

#define DECLARE(type) extern const dis__enum_row dis__row_of_##type;
ENUMS(DECLARE)

#define ROW(type) &dis__row_of_##type,
static const dis__enum_row *const rows[] = {ENUMS(ROW)};

const char *dis_enum_name(const char *type, unsigned value)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i]->type, type) == 0) return value < rows[i]->n ? rows[i]->names[value] : NULL;
    return NULL;
}
