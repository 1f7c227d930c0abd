#include "glue.h"
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, n)           \
    {                            \
#name, (DL_FUNC)&name, n \
    }

static const R_CallMethodDef entries[] = {
    ENTRY(dissent_r_votes, 8),       ENTRY(dissent_r_counts, 3),
    ENTRY(dissent_r_find_column, 2), ENTRY(dissent_r_methods, 0),
    ENTRY(dissent_r_version, 0),     ENTRY(dissent_r_labels, 6),
    ENTRY(dissent_r_agreement, 7),   ENTRY(dissent_r_review, 8),
    ENTRY(dissent_r_panel, 5),       {NULL, NULL, 0},
};

void attribute_visible R_init_dissent(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
