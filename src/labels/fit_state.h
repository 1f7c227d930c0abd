/* fit_state.h: parameters of an earlier fit, looked up by the names of workers, items and classes. */
#ifndef DIS_LABELS_FIT_STATE_H
#define DIS_LABELS_FIT_STATE_H
#include "dissent/fit.h"

/* Fills `values`, laid out as `axes` says (letters as in dis_parameter) with the sizes of `votes`, with the values of
 * method/name for workers, items and classes that the state contains by name; other cells are unchanged. *found:
 * whether the state has that parameter. */
dis_status dis__state_get(const dis_state *state, const char *method, const char *name, const char *axes,
                          const dis_votes_view *votes, double *values, bool *found);
/* The same for an axis g, of n_groups. DIS_EDATA: the state has another number of groups. */
dis_status dis__state_get_groups(const dis_state *state, const char *method, const char *name, const char *axes,
                                 const dis_votes_view *votes, size_t n_groups, double *values, bool *found);

/* Whether the state contains parameters of that method. */
bool dis__state_has_method(const dis_state *state, const char *method);
/* "a, b": the methods with parameters in the state. */
void dis__state_describe_methods(const dis_state *state, char *out, size_t size);

#endif
