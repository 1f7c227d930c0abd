/* method_checks.h: checks of methods and models before any work starts. Not part of the public interface. */
#ifndef DIS_TOOL_METHOD_CHECKS_H
#define DIS_TOOL_METHOD_CHECKS_H
#include "dissent/combine.h"
#include "dissent/fit.h"
#include "dissent/recipe.h"
#include "dissent/scaled.h"
#include "dissent/train.h"

/* Checks whether all these methods can be fitted in sequence with the labels of each kept. Reports the errors of
 * dis_fit_run without fitting. */
dis_status dis__fit_check(dis_context *ctx, const dis_votes *votes, const char *const *specs, size_t n_specs);
/* True if the spec asks for weights=auto or weights=votes, which dis_views_combine cannot choose without the methods:
 * use dis_label_result_run, or pass the weights of dis_views_auto_weights or dis_views_vote_weights. */
bool dis__combiner_wants_auto_weights(const char *spec);
/* The choice that dis_label_result_run() follows if so many labels are known: the recipe's for known labels, or the one
 * without. Methods named one by one and a combination that the caller named stay as they are. */
dis_label_plan dis__label_plan_for_gold(const dis_label_plan *choice, size_t n_gold);
/* The model of a scale; NULL: label methods are used. */
const dis_scaled_model *dis__scaled_model_find(dis_scale scale);
/* Before a long training: whether dis_model_write() would replace a model.json that dissent did not write (DIS_EUSAGE). */
dis_status dis__model_check_folder(dis_context *ctx, const char *folder);
/* Row i, NULL past the end. */
const dis_train_option *dis__train_option_get(size_t i);

#endif
