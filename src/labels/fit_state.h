/* fit_state.h: parameters of an earlier fit, looked up by the names of workers, items and classes. */
#ifndef DIS_LABELS_STATE_H
#define DIS_LABELS_STATE_H
#include "dissent/fit.h"

/* Fills `values`, laid out as `axes` says (letters as in dis_parameter) with the sizes of `votes`, with what the state
 * holds for method/name where it knows the worker, item and classes by name; every other cell keeps what it holds.
 * *found: whether the state has that parameter at all. */
dis_status dis__state_get(const dis_state *state, const char *method, const char *name, const char *axes,
                          const dis_votes_view *votes, double *values, bool *found);
/* The same where an axis is g, of n_groups. DIS_EDATA: the state has another number of groups. */
dis_status dis__state_get_groups(const dis_state *state, const char *method, const char *name, const char *axes,
                                 const dis_votes_view *votes, size_t n_groups, double *values, bool *found);

/* Whether the state holds parameters of that method. */
bool dis__state_has_method(const dis_state *state, const char *method);
/* "a, b": the methods of which it holds parameters. */
void dis__state_describe_methods(const dis_state *state, char *out, size_t size);

#endif
