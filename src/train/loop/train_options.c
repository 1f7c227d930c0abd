/* The table of training options (dissent/train_options.h) as rows, and the check of numbers against it. */
#include "core/error.h"
#include "tool/method_checks.h"
#include "train/loop/training.h"
#include <string.h>

#define ROW(kind_, field_, name_, argument_, fallback_, low_, high_, summary_) \
    {.name = name_,                                                            \
     .field = #field_,                                                         \
     .kind = DIS_TRAIN_##kind_,                                                \
     .offset = offsetof(dis_model_train_options, field_),                      \
     .argument = argument_,                                                    \
     .default_value = fallback_,                                               \
     .low = low_,                                                              \
     .high = high_,                                                            \
     .summary = summary_},
static const dis_train_option rows[] = {DIS_TRAIN_OPTIONS(ROW)};
enum { N_ROWS = sizeof rows / sizeof *rows };

const dis_train_option *dis__train_option_get(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

dis_status dis__train_options_check(const dis_model_train_options *o)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const dis_train_option *row = &rows[i];
        const void *at = (const char *)o + row->offset;
        if (row->kind != DIS_TRAIN_COUNT && row->kind != DIS_TRAIN_REAL) continue;
        const double x = row->kind == DIS_TRAIN_COUNT ? (double)*(const size_t *)at : *(const double *)at;
        if (!(x >= row->low && x <= row->high))
            return dis__fail(DIS_EUSAGE, "`%s` is %g; it must be between %g and %g", row->field, x, row->low,
                             row->high);
    }
    return DIS_OK;
}
