#include "glue.h"
#include <math.h>

dis_status glue_plan(SEXP methods, SEXP combine, bool workers, dis_label_plan *out)
{
    *out = dis_label_plan_default();
    const R_xlen_t n = Rf_xlength(methods);
    const char **spec = (const char **)R_alloc((size_t)n + 1, sizeof *spec);
    for (R_xlen_t i = 0; i < n; i++) spec[i] = CHAR(STRING_ELT(methods, i));
    return dis_label_plan_parse(spec, (size_t)n, Rf_isNull(combine) ? NULL : CHAR(STRING_ELT(combine, 0)), workers,
                                out);
}

/* Name, summary and source of every label method and recipe. */
SEXP dissent_r_methods(void)
{
    static const char *const columns[] = {"name", "kind", "summary", "source"};
    R_xlen_t n_methods = 0, n_recipes = 0;
    while (dis_method_get((size_t)n_methods)) n_methods++;
    while (dis_recipe_get((size_t)n_recipes)) n_recipes++;
    SEXP out = PROTECT(GLUE_LIST(columns));
    for (int c = 0; c < 4; c++) SET_VECTOR_ELT(out, c, Rf_allocVector(STRSXP, n_methods + n_recipes));
    for (R_xlen_t i = 0; i < n_methods + n_recipes; i++) {
        const dis_recipe *recipe = i < n_recipes ? dis_recipe_get((size_t)i) : NULL;
        const dis_method *method = recipe ? NULL : dis_method_get((size_t)(i - n_recipes));
        const char *const text[] = {recipe ? recipe->name : method->name, recipe ? "recipe" : "method",
                                    recipe ? recipe->summary : method->summary,
                                    recipe ? recipe->source : method->source};
        for (int c = 0; c < 4; c++)
            SET_STRING_ELT(VECTOR_ELT(out, c), i, text[c] ? Rf_mkCharCE(text[c], CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return out;
}

GLUE_FINALIZER(label_result)

/* Specs, weights, iterations and convergence of the methods, and their warnings. */
static SEXP parts_of(const dis_label_result_view *v)
{
    static const char *const columns[] = {"method", "weight", "iterations", "converged", "warning"};
    const R_xlen_t n = (R_xlen_t)v->n_views;
    SEXP out = PROTECT(GLUE_LIST(columns));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, n));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(LGLSXP, n));
    SET_VECTOR_ELT(out, 4, Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        const dis_label_result_part *part = &v->parts[i];
        const dis_fit_view fit = dis_fit_get_view(part->fit);
        const char *warning = dis_fit_get_warning(part->fit, 0);
        SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkCharCE(part->spec, CE_UTF8));
        REAL(VECTOR_ELT(out, 1))[i] = v->combination ? v->combination->weight[i] : 1;
        INTEGER(VECTOR_ELT(out, 2))[i] = fit.iterations;
        LOGICAL(VECTOR_ELT(out, 3))[i] = fit.converged;
        SET_STRING_ELT(VECTOR_ELT(out, 4), i, warning ? Rf_mkCharCE(warning, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return out;
}

SEXP dissent_r_labels(SEXP votes, SEXP methods, SEXP combine, SEXP seed, SEXP gold, SEXP threads)
{
    static const char *const names[] = {"p", "methods", "combine", "quality", "n_voted"};
    const dis_votes *table = glue_votes(votes);
    const dis_votes_view v = dis_votes_get_view(table);
    double *quality = (double *)R_alloc(v.n_workers + 1, sizeof *quality);
    uint64_t *n_voted = (uint64_t *)R_alloc(v.n_workers + 1, sizeof *n_voted);
    dis_label_plan plan = dis_label_plan_default();
    dis_label_result *labels = NULL;
    SEXP out = R_NilValue;
    glue_call call;
    dis_fit_options fit = dis_fit_options_default();
    dis_label_result_options options = dis_label_result_options_default();
    fit.seed = (uint64_t)Rf_asReal(seed);
    fit.gold = glue_gold(gold);
    options.fit = &fit;
    options.keep_fits = true;
    glue_begin(&call, threads, finalize_label_result);
    if (call.status == DIS_OK) call.status = glue_plan(methods, combine, v.n_workers > 0, &plan);
    if (call.status == DIS_OK) call.status = dis_label_result_run(call.ctx, table, &plan, &options, &labels);
    if (call.status == DIS_OK) {
        R_SetExternalPtrAddr(call.result, labels);
        if (v.n_workers)
            call.status =
                dis_votes_worker_quality(call.ctx, table, dis_label_result_get_view(labels).p, quality, n_voted);
    }
    if (call.status == DIS_OK) {
        const dis_label_result_view view = dis_label_result_get_view(labels);
        const column real = {"quality", COLUMN_DOUBLE, 0}, count = {"n_voted", COLUMN_COUNT, 0};
        out = PROTECT(GLUE_LIST(names));
        SET_VECTOR_ELT(out, 0, glue_matrix(view.p, v.n_items, v.n_classes));
        SET_VECTOR_ELT(out, 1, parts_of(&view));
        SET_VECTOR_ELT(out, 2, glue_text(view.combine));
        SET_VECTOR_ELT(out, 3, VECTOR_ELT(glue_columns(quality, v.n_workers, sizeof *quality, &real, 1), 0));
        SET_VECTOR_ELT(out, 4, VECTOR_ELT(glue_columns(n_voted, v.n_workers, sizeof *n_voted, &count, 1), 0));
        UNPROTECT(1);
    }
    return glue_end(&call, out);
}
