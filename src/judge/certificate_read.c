/* Reads what a check of later votes needs from a certificate. */
#include "judge/judge_internal.h"
#include "judge/certificate.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "io/input/input.h"
#include "io/json/json_read.h"
#include <math.h>
#include <string.h>

struct dis_certificate {
    dis_certificate_view view;
    char *judge;
    dis_names *classes;
    dis_certificate_source *sources;
    char **texts; /* (3 n_sources) */
    dis_judge_baseline *baselines;
};

static dis_certificate_view view_of(const dis_certificate *certificate)
{
    return certificate->view;
}
DIS_VIEW_DEFINE(dis_certificate, certificate, view_of(certificate))

void dis_certificate_destroy(dis_certificate *certificate)
{
    if (!certificate) return;
    dis_names_destroy(certificate->classes);
    for (size_t t = 0; certificate->texts && t < 3 * certificate->view.n_sources; t++) dis__free(certificate->texts[t]);
    dis__free(certificate->texts);
    dis__free(certificate->sources);
    dis__free(certificate->judge);
    dis__free(certificate->baselines);
    dis__free(certificate);
}

typedef struct {
    const dis__json *json;
    const dis__json_value *root;
    dis_certificate *out;
} reading;

/* ---- values ---- */

static dis_status member(const reading *r, const dis__json_value *of, const char *key, dis__json_kind kind,
                         const dis__json_value **out)
{
    static const char *const words[] = {"null", "false", "true", "a number", "a text", "a list", "an object"};
    *out = dis__json_member(of, key);
    if (!*out) return dis__json_fail(r->json, of, "the certificate has no \"%s\"; it is incomplete", key);
    if ((*out)->kind == kind) return DIS_OK;
    return dis__json_fail(r->json, *out, "\"%s\" must be %s; the certificate is damaged", key, words[kind]);
}

static dis_status read_text(const reading *r, const dis__json_value *of, const char *key, char **out)
{
    const dis__json_value *v;
    DIS_TRY(member(r, of, key, DIS_JSON_STRING, &v));
    return dis__copy_text(out, v->text, v->length);
}

static dis_status read_real(const reading *r, const dis__json_value *of, const char *key, double least, double most,
                            double *out)
{
    const dis__json_value *v;
    DIS_TRY(member(r, of, key, DIS_JSON_NUMBER, &v));
    *out = v->number;
    if (*out >= least && *out <= most) return DIS_OK;
    return dis__json_fail(r->json, v, "\"%s\" is %g; it must be from %g to %g", key, *out, least, most);
}

static dis_status read_count(const reading *r, const dis__json_value *of, const char *key, uint64_t *out)
{
    double x;
    DIS_TRY(read_real(r, of, key, 0, 0x1p53, &x));
    *out = (uint64_t)x;
    return DIS_OK;
}

static dis_status read_baseline(const reading *r, const dis__json_value *from, dis_judge_baseline *to)
{
    if (from->kind != DIS_JSON_OBJECT) return dis__json_fail(r->json, from, "a baseline must be an object");
    DIS_TRY(read_real(r, from, "mean", -1, 1, &to->mean));
    DIS_TRY(read_real(r, from, "item_variance", 0, 4, &to->item_variance));
    DIS_TRY(read_real(r, from, "variance", 0, 4, &to->variance));
    return read_count(r, from, "n", &to->n);
}

/* ---- parts ---- */

static dis_status read_classes(const reading *r)
{
    const dis__json_value *list;
    const char **texts = NULL;
    char **copies = NULL;
    DIS_TRY(member(r, r->root, "classes", DIS_JSON_ARRAY, &list));
    const size_t n = list->n;
    if (n < 2 || n > DIS_MAX_CLASSES) return dis__json_fail(r->json, list, "a certificate has at least two classes");
    dis_status status = dis__alloc_array(&texts, n, sizeof *texts);
    if (status == DIS_OK) status = dis__alloc_zeroed(&copies, n, sizeof *copies);
    const dis__json_value *at = list + 1;
    for (size_t k = 0; k < n && status == DIS_OK; k++, at += at->skip) {
        if (at->kind != DIS_JSON_STRING) status = dis__json_fail(r->json, at, "a class must be a text");
        if (status == DIS_OK) status = dis__copy_text(&copies[k], at->text, at->length);
        if (status == DIS_OK) texts[k] = copies[k];
    }
    if (status == DIS_OK) status = dis_names_create(texts, n, &r->out->classes);
    for (size_t k = 0; copies && k < n; k++) dis__free(copies[k]);
    dis__free(copies);
    dis__free(texts);
    return status;
}

static dis_status read_sources(const reading *r)
{
    const dis__json_value *list;
    dis_certificate *out = r->out;
    DIS_TRY(member(r, r->root, "sources", DIS_JSON_ARRAY, &list));
    DIS_TRY(dis__alloc_zeroed(&out->texts, 3 * (size_t)list->n, sizeof *out->texts));
    DIS_TRY(dis__alloc_zeroed(&out->sources, list->n, sizeof *out->sources));
    out->view.n_sources = list->n;
    const dis__json_value *at = list + 1;
    for (size_t s = 0; s < list->n; s++, at += at->skip) {
        char **text = out->texts + 3 * s;
        if (at->kind != DIS_JSON_OBJECT) return dis__json_fail(r->json, at, "a source must be an object");
        DIS_TRY(read_text(r, at, "role", &text[0]));
        DIS_TRY(read_text(r, at, "path", &text[1]));
        DIS_TRY(read_text(r, at, "sha256", &text[2]));
        out->sources[s] = (dis_certificate_source){.role = text[0], .path = text[1], .sha256 = text[2]};
    }
    return DIS_OK;
}

static dis_status read_baselines(const reading *r)
{
    static const char *const keys[] = {"shares", "biases"};
    const size_t n = dis_names_count(r->out->classes);
    const dis__json_value *all, *one;
    DIS_TRY(dis__alloc_array(&r->out->baselines, 2 * n, sizeof *r->out->baselines));
    DIS_TRY(member(r, r->root, "baselines", DIS_JSON_OBJECT, &all));
    DIS_TRY(member(r, all, "agreement", DIS_JSON_OBJECT, &one));
    DIS_TRY(read_baseline(r, one, &r->out->view.agreement));
    for (size_t l = 0; l < 2; l++) {
        DIS_TRY(member(r, all, keys[l], DIS_JSON_ARRAY, &one));
        if (one->n != n)
            return dis__json_fail(r->json, one, "\"%s\" has %u entries for %zu classes", keys[l], one->n, n);
        const dis__json_value *at = one + 1;
        for (size_t k = 0; k < n; k++, at += at->skip) DIS_TRY(read_baseline(r, at, &r->out->baselines[l * n + k]));
    }
    return DIS_OK;
}

static dis_status read_kappa(const reading *r)
{
    const dis__json_value *list;
    r->out->view.kappa = NAN;
    DIS_TRY(member(r, r->root, "coefficients", DIS_JSON_ARRAY, &list));
    const dis__json_value *at = list + 1;
    for (size_t c = 0; c < list->n; c++, at += at->skip) {
        const dis__json_value *name = at->kind == DIS_JSON_OBJECT ? dis__json_member(at, "name") : NULL;
        const dis__json_value *judge = name ? dis__json_member(at, "judge") : NULL;
        const dis__json_value *value = judge ? dis__json_member(judge, "value") : NULL;
        if (value && value->kind == DIS_JSON_NUMBER && name->kind == DIS_JSON_STRING && dis__json_equals(name, "kappa"))
            r->out->view.kappa = value->number;
    }
    return DIS_OK;
}

static dis_status read_all(const reading *r)
{
    dis_certificate *out = r->out;
    const dis__json_value *format = dis__json_member(r->root, "format");
    uint64_t schema;
    if (!format || format->kind != DIS_JSON_STRING || !dis__json_equals(format, DIS_CERTIFICATE_FORMAT))
        return dis__json_fail(r->json, r->root, "not a certificate of a judge; `dissent judge certify` writes one");
    DIS_TRY(read_count(r, r->root, "schema_version", &schema));
    if (schema != DIS_CERTIFICATE_SCHEMA)
        return dis__json_fail(r->json, format, "the certificate has schema version %llu; this version reads %d",
                              (unsigned long long)schema, DIS_CERTIFICATE_SCHEMA);
    DIS_TRY(read_text(r, r->root, "judge", &out->judge));
    DIS_TRY(read_classes(r));
    DIS_TRY(read_sources(r));
    DIS_TRY(read_count(r, r->root, "people", &out->view.n_people));
    DIS_TRY(read_real(r, r->root, "chance_agreement", 0, 1, &out->view.chance_agreement));
    DIS_TRY(read_kappa(r));
    DIS_TRY(read_baselines(r));
    out->view.judge = out->judge;
    out->view.classes = out->classes;
    out->view.sources = out->sources;
    out->view.shares = out->baselines;
    out->view.biases = out->baselines + dis_names_count(out->classes);
    return DIS_OK;
}

dis_status dis_certificate_read(dis_context *ctx, const char *path, dis_certificate **out)
{
    dis__input in;
    dis__json json = {0};
    const dis__json_position place = {.file = path, .line = 1, .column = 1};
    dis_certificate *certificate;
    DIS_TRY(dis__alloc_zeroed(&certificate, 1, sizeof *certificate));
    dis_status status = dis__input_open_regular(ctx, path, DIS_MODEL_FILE, &in);
    if (status != DIS_OK) {
        dis_certificate_destroy(certificate);
        return status;
    }
    reading r = {.json = &json, .out = certificate};
    status = dis__json_parse(&json, in.bytes, in.n, &place, &r.root);
    if (status == DIS_OK) status = read_all(&r);
    status = dis__input_finish(&in, status);
    dis__json_free(&json);
    if (status != DIS_OK) {
        dis_certificate_destroy(certificate);
        return status;
    }
    *out = certificate;
    return DIS_OK;
}
