#include "glue.h"
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static SEXP column_vector(const char *at, size_t n, size_t stride, column_kind kind)
{
    const R_xlen_t length = (R_xlen_t)n;
    SEXP out;
    switch (kind) {
    case COLUMN_INDEX:
    case COLUMN_INDEX32:
    case COLUMN_CHOICE: out = Rf_allocVector(INTSXP, length); break;
    case COLUMN_FLAG: out = Rf_allocVector(LGLSXP, length); break;
    default: out = Rf_allocVector(REALSXP, length);
    }
    for (size_t i = 0; i < n; i++, at += stride) {
        switch (kind) {
        case COLUMN_COUNT: REAL(out)[i] = (double)*(const uint64_t *)at; break;
        case COLUMN_COUNT32: REAL(out)[i] = (double)*(const uint32_t *)at; break;
        case COLUMN_INDEX: {
            const size_t x = *(const size_t *)at;
            INTEGER(out)[i] = x < INT_MAX ? (int)x + 1 : NA_INTEGER;
            break;
        }
        case COLUMN_INDEX32: {
            const uint32_t x = *(const uint32_t *)at;
            INTEGER(out)[i] = x < INT_MAX ? (int)x + 1 : NA_INTEGER;
            break;
        }
        case COLUMN_FLAG: LOGICAL(out)[i] = *(const bool *)at; break;
        case COLUMN_CHOICE: INTEGER(out)[i] = *(const int *)at; break;
        default: {
            const double x = *(const double *)at;
            REAL(out)[i] = isnan(x) ? NA_REAL : x;
        }
        }
    }
    return out;
}

SEXP glue_list(const char *const *names, int n)
{
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n)), texts = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) SET_STRING_ELT(texts, i, Rf_mkCharCE(names[i], CE_UTF8));
    Rf_setAttrib(out, R_NamesSymbol, texts);
    UNPROTECT(2);
    return out;
}

/* value, low and high of metrics: NA where there is none. */
static void add_metric(SEXP out, SEXP names, int at, const char *name, const char *rows, size_t n, size_t stride)
{
    static const char *const suffix[] = {"", "_low", "_high"};
    for (int part = 0; part < 3; part++) {
        char text[128];
        SEXP vector = Rf_allocVector(REALSXP, (R_xlen_t)n);
        SET_VECTOR_ELT(out, at + part, vector);
        for (size_t i = 0; i < n; i++) {
            const dis_metric *m = (const dis_metric *)(rows + i * stride);
            double x = NA_REAL;
            if (part == 0 && !m->reason) x = m->value;
            if (part > 0 && m->has_interval) x = part == 1 ? m->ci_low : m->ci_high;
            REAL(vector)[i] = x;
        }
        snprintf(text, sizeof text, "%s%s", name, suffix[part]);
        SET_STRING_ELT(names, at + part, Rf_mkCharCE(text, CE_UTF8));
    }
}

SEXP glue_columns(const void *rows, size_t n, size_t stride, const column *columns, size_t n_columns)
{
    int n_out = 0, at = 0;
    for (size_t c = 0; c < n_columns; c++) n_out += columns[c].kind == COLUMN_METRIC ? 3 : 1;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n_out)), names = PROTECT(Rf_allocVector(STRSXP, n_out));
    for (size_t c = 0; c < n_columns; c++) {
        const char *first = rows ? (const char *)rows + columns[c].offset : NULL;
        if (columns[c].kind == COLUMN_METRIC) {
            add_metric(out, names, at, columns[c].name, first, n, stride);
            at += 3;
        } else {
            SET_STRING_ELT(names, at, Rf_mkCharCE(columns[c].name, CE_UTF8));
            SET_VECTOR_ELT(out, at++, column_vector(first, n, stride, columns[c].kind));
        }
    }
    Rf_setAttrib(out, R_NamesSymbol, names);
    UNPROTECT(2);
    return out;
}

SEXP glue_matrix(const double *p, size_t n, size_t k)
{
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n * k))), dim = PROTECT(Rf_allocVector(INTSXP, 2));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++) REAL(out)[c * n + i] = p[i * k + c];
    INTEGER(dim)[0] = (int)n;
    INTEGER(dim)[1] = (int)k;
    Rf_setAttrib(out, R_DimSymbol, dim);
    UNPROTECT(2);
    return out;
}

SEXP glue_text(const char *text)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, 1));
    SET_STRING_ELT(out, 0, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
    UNPROTECT(1);
    return out;
}

SEXP glue_texts(size_t n, glue_text_at *text, void *of)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        const char *one = text(of, i);
        SET_STRING_ELT(out, (R_xlen_t)i, one ? Rf_mkCharCE(one, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return out;
}

SEXP glue_metrics(const dis_metric *metric, const char *const *names, size_t n)
{
    static const char *const columns[] = {"measure", "value", "low", "high", "n", "degenerate", "reason"};
    SEXP out = PROTECT(GLUE_LIST(columns));
    const R_xlen_t length = (R_xlen_t)n;
    SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, length));
    for (int c = 1; c < 5; c++) SET_VECTOR_ELT(out, c, Rf_allocVector(REALSXP, length));
    SET_VECTOR_ELT(out, 5, Rf_allocVector(LGLSXP, length));
    SET_VECTOR_ELT(out, 6, Rf_allocVector(STRSXP, length));
    for (R_xlen_t i = 0; i < length; i++) {
        const dis_metric *m = &metric[i];
        const char *why = m->reason ? m->reason : dis_metric_no_interval_reason(m);
        SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkCharCE(names[i], CE_UTF8));
        REAL(VECTOR_ELT(out, 1))[i] = m->reason ? NA_REAL : m->value;
        REAL(VECTOR_ELT(out, 2))[i] = m->has_interval ? m->ci_low : NA_REAL;
        REAL(VECTOR_ELT(out, 3))[i] = m->has_interval ? m->ci_high : NA_REAL;
        REAL(VECTOR_ELT(out, 4))[i] = (double)m->n;
        LOGICAL(VECTOR_ELT(out, 5))[i] = m->degenerate;
        SET_STRING_ELT(VECTOR_ELT(out, 6), i, why ? Rf_mkCharCE(why, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return out;
}

SEXP glue_failure(dis_status status)
{
    static const char *const names[] = {"status", "message"};
    if (status == DIS_ECANCELLED) return R_NilValue;
    SEXP out = PROTECT(GLUE_LIST(names));
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger((int)status));
    SET_VECTOR_ELT(out, 1, glue_text(dis_last_error()));
    Rf_setAttrib(out, R_ClassSymbol, Rf_mkString("dissent_failure"));
    UNPROTECT(1);
    return out;
}

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

/* The library polls this between pieces of work, in the thread of R. R_ToplevelExec() catches the jump of R's interrupt,
 * so the library frees its memory before the interrupt is raised. */
static int stop_at_interrupt(void *unused)
{
    (void)unused;
    return !R_ToplevelExec(check_interrupt, NULL);
}

GLUE_FINALIZER(context)

SEXP glue_new_handle(R_CFinalizer_t finalizer)
{
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(handle, finalizer, FALSE);
    UNPROTECT(1);
    return handle;
}

void glue_release(SEXP handle, R_CFinalizer_t finalizer)
{
    finalizer(handle);
}

void glue_begin(glue_call *call, SEXP threads, R_CFinalizer_t finalizer)
{
    dis_context_options options = dis_context_options_default();
    *call = (glue_call){.finalizer = finalizer};
    call->context = PROTECT(glue_new_handle(finalize_context));
    call->result = PROTECT(glue_new_handle(finalizer));
    options.threads = Rf_asInteger(threads);
    options.stop = stop_at_interrupt;
    call->status = dis_context_create(&options, &call->ctx);
    if (call->status == DIS_OK) R_SetExternalPtrAddr(call->context, call->ctx);
}

SEXP glue_end(glue_call *call, SEXP out)
{
    if (call->status != DIS_OK) out = glue_failure(call->status);
    PROTECT(out);
    glue_release(call->result, call->finalizer);
    glue_release(call->context, finalize_context);
    UNPROTECT(3);
    return out;
}

GLUE_FINALIZER(votes)

dis_votes *glue_votes(SEXP votes)
{
    dis_votes *out = TYPEOF(votes) == EXTPTRSXP ? R_ExternalPtrAddr(votes) : NULL;
    if (!out) Rf_error("the votes are not from this session; pass the data frame");
    return out;
}

const int32_t *glue_gold(SEXP gold)
{
    return Rf_isNull(gold) ? NULL : INTEGER(gold);
}

GLUE_FINALIZER(names)

/* A list of names from a character vector in UTF-8; `handle` owns it. */
static dis_status names_from(SEXP texts, SEXP handle, dis_names **out)
{
    const R_xlen_t n = Rf_xlength(texts);
    const char **text = (const char **)R_alloc((size_t)n + 1, sizeof *text);
    for (R_xlen_t i = 0; i < n; i++) text[i] = CHAR(STRING_ELT(texts, i));
    const dis_status status = dis_names_create(text, (size_t)n, out);
    if (status == DIS_OK) R_SetExternalPtrAddr(handle, *out);
    return status;
}

/* task, worker, label: indices from 0. */
SEXP dissent_r_votes(SEXP task, SEXP worker, SEXP label, SEXP tasks, SEXP workers, SEXP classes, SEXP duplicates,
                     SEXP ordered)
{
    SEXP handle = PROTECT(glue_new_handle(finalize_votes));
    SEXP names[3];
    dis_names *list[3] = {NULL};
    const SEXP texts[3] = {tasks, workers, classes};
    const R_xlen_t n = Rf_xlength(task);
    uint16_t *narrow = (uint16_t *)R_alloc((size_t)n + 1, sizeof *narrow);
    dis_status status = DIS_OK;
    for (R_xlen_t v = 0; v < n; v++) narrow[v] = (uint16_t)INTEGER(label)[v];
    for (int i = 0; i < 3; i++) names[i] = PROTECT(glue_new_handle(finalize_names));
    for (int i = 0; i < 3 && status == DIS_OK; i++) status = names_from(texts[i], names[i], &list[i]);
    if (status == DIS_OK) {
        const dis_votes_arrays arrays = {
            .size = sizeof(dis_votes_arrays),
            .n_votes = (size_t)n,
            .n_items = (size_t)Rf_xlength(tasks),
            .n_workers = (size_t)Rf_xlength(workers),
            .n_classes = (size_t)Rf_xlength(classes),
            .task = (const uint32_t *)INTEGER(task),
            .worker = (const uint32_t *)INTEGER(worker),
            .label = narrow,
            .tasks = list[0],
            .workers = list[1],
            .classes = list[2],
            .duplicates = (dis_duplicates)Rf_asInteger(duplicates),
            .scale = Rf_asLogical(ordered) ? DIS_SCALE_ORDINAL : DIS_SCALE_NOMINAL,
        };
        dis_votes *votes;
        status = dis_votes_create_from_arrays(NULL, &arrays, &votes);
        if (status == DIS_OK) R_SetExternalPtrAddr(handle, votes);
    }
    for (int i = 0; i < 3; i++) glue_release(names[i], finalize_names);
    SEXP out = status == DIS_OK ? handle : glue_failure(status);
    UNPROTECT(4);
    return out;
}

/* counts: (n_classes, n_items) in R's order, which is (n_items, n_classes) in row order. */
SEXP dissent_r_counts(SEXP counts, SEXP tasks, SEXP classes)
{
    SEXP handle = PROTECT(glue_new_handle(finalize_votes)), names[2];
    dis_names *list[2] = {NULL};
    const SEXP texts[2] = {tasks, classes};
    dis_votes *votes;
    dis_status status = DIS_OK;
    for (int i = 0; i < 2; i++) names[i] = PROTECT(glue_new_handle(finalize_names));
    for (int i = 0; i < 2 && status == DIS_OK; i++) status = names_from(texts[i], names[i], &list[i]);
    if (status == DIS_OK)
        status = dis_votes_create_from_counts(NULL, REAL(counts), (size_t)Rf_xlength(tasks),
                                              (size_t)Rf_xlength(classes), list[0], list[1], &votes);
    if (status == DIS_OK) R_SetExternalPtrAddr(handle, votes);
    for (int i = 0; i < 2; i++) glue_release(names[i], finalize_names);
    SEXP out = status == DIS_OK ? handle : glue_failure(status);
    UNPROTECT(3);
    return out;
}

/* The column that plays a role (0 task, 1 worker, 2 label), from 1; two of them: ambiguous; none: empty. */
SEXP dissent_r_find_column(SEXP role, SEXP names)
{
    const R_xlen_t n = Rf_xlength(names);
    dis_column_name *list = (dis_column_name *)R_alloc((size_t)n + 1, sizeof *list);
    size_t found[2] = {0};
    for (R_xlen_t i = 0; i < n; i++) {
        list[i].text = CHAR(STRING_ELT(names, i));
        list[i].n = strlen(list[i].text);
    }
    const size_t n_found = dis_role_find((dis_role)Rf_asInteger(role), list, (size_t)n, found);
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n_found);
    for (size_t i = 0; i < n_found; i++) INTEGER(out)[i] = (int)found[i] + 1;
    return out;
}

SEXP dissent_r_version(void)
{
    return glue_text(dis_version());
}
