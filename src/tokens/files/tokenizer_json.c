/* Reads tokenizer.json. Every object is looked up in the tables by its type, and has no field that its row does not
 * name: unknown fields are errors, never ignored. The blocks truncation, padding and decoder do not concern
 * encoding here and are ignored. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "io/input/input.h"
#include <string.h>

static int clip(const dis__json_value *v)
{
    return (int)(v->length < 80 ? v->length : 80);
}

dis_status dis__fail_unknown_type(dis__tokenizer_reader *r, const dis__json_value *v, const char *what)
{
    const dis__json_value *type = dis__json_member(v, "type");
    if (!type || type->kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, v, "%s must be an object with a type", what);
    return dis__json_fail(&r->json, type, "%s: the type %.*s is not supported", what, clip(type), type->text);
}

static bool among(const char *fields, const dis__json_value *key)
{
    for (const char *at = fields; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == key->length && memcmp(at, key->text, n) == 0) return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

dis_status dis__check_fields(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, const char *fields)
{
    if (v->kind != DIS_JSON_OBJECT) return dis__json_fail(&r->json, v, "%s must be an object", what);
    const dis__json_value *at = v + 1;
    for (uint32_t i = 0; i < v->n; i++, at += 1 + at[1].skip)
        if (!dis__json_equals(at, "type") && !among(fields, at))
            return dis__json_fail(&r->json, at, "%s: the field %.*s is not supported", what, clip(at), at->text);
    return DIS_OK;
}

dis_status dis__check_bytes(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, size_t n, size_t max)
{
    if (n <= max) return DIS_OK;
    (void)dis__json_fail(&r->json, v, "%s has %zu bytes; at most %zu are possible", what, n, max);
    return DIS_ELIMIT;
}

dis_status dis__field_bool(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, bool fallback,
                           bool *out)
{
    const dis__json_value *x = dis__json_member(v, key);
    *out = x && x->kind != DIS_JSON_NULL ? x->kind == DIS_JSON_TRUE : fallback;
    if (x && x->kind != DIS_JSON_NULL && x->kind != DIS_JSON_TRUE && x->kind != DIS_JSON_FALSE)
        return dis__json_fail(&r->json, x, "%s must be true or false", key);
    return DIS_OK;
}

dis_status dis__field_text(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, bool needed, char **out,
                           size_t *n)
{
    const dis__json_value *x = dis__json_member(v, key);
    if ((!x || x->kind == DIS_JSON_NULL) && !needed) {
        *n = 0;
        return DIS_OK;
    }
    if (!x || x->kind != DIS_JSON_STRING) return dis__json_fail(&r->json, x ? x : v, "%s must be a text", key);
    DIS_TRY(dis__copy_text(out, x->text, x->length));
    *n = x->length;
    return DIS_OK;
}

dis_status dis__field_id(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, int32_t *out)
{
    const double x = v->kind == DIS_JSON_NUMBER ? v->number : -1;
    if (!(x >= 0 && x < DIS_TOKEN_MAX_IDS) || x != (double)(int32_t)x)
        return dis__json_fail(&r->json, v, "%s must be an integer from 0 to %d", what, DIS_TOKEN_MAX_IDS - 1);
    *out = (int32_t)x;
    return DIS_OK;
}

dis_status dis__field_split(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const dis__json_value *x = dis__json_member(v, "behavior");
    for (size_t i = 0; x && i < sizeof names / sizeof *names; i++)
        if (dis__json_equals(x, names[i])) {
            s->behaviour = (dis__split_behaviour)i;
            return DIS_OK;
        }
    return dis__json_fail(&r->json, x ? x : v,
                          "behavior must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void dis__tokenizer_step_free(dis__tokenizer_step *s)
{
    dis__free(s->pattern.text);
    dis__free(s->text);
    dis__free(s->map);
}

/* ---- steps ---- */

typedef struct {
    const char *what, *list; /* "normalizer", "normalizers" */
    const dis__tokenizer_step_kind *(*find)(const char *name, size_t n);
} family;

static const family normalisers = {"normalizer", "normalizers", dis__normaliser_find};
static const family pre_tokenizers = {"pre_tokenizer", "pretokenizers", dis__pre_tokenizer_find};

static dis_status read_steps(dis__tokenizer_reader *r, const family *f, const dis__json_value *v,
                             dis__tokenizer_steps *steps)
{
    if (!v || v->kind == DIS_JSON_NULL) return DIS_OK;
    const dis__json_value *type = dis__json_member(v, "type");
    if (!type || type->kind != DIS_JSON_STRING) return dis__fail_unknown_type(r, v, f->what);
    if (dis__json_equals(type, "Sequence")) {
        const dis__json_value *list = dis__json_member(v, f->list);
        DIS_TRY(dis__check_fields(r, v, f->what, f->list));
        if (!list || list->kind != DIS_JSON_ARRAY) return dis__json_fail(&r->json, v, "%s must be a list", f->list);
        const dis__json_value *at = list + 1;
        for (uint32_t i = 0; i < list->n; i++, at += at->skip) DIS_TRY(read_steps(r, f, at, steps));
        return DIS_OK;
    }
    const dis__tokenizer_step_kind *kind = f->find(type->text, type->length);
    if (!kind) return dis__fail_unknown_type(r, v, f->what);
    DIS_TRY(dis__check_fields(r, v, f->what, kind->fields));
    if (steps->n == DIS_TOKEN_STEPS) {
        (void)dis__json_fail(&r->json, v, "%s has more than %d steps", f->what, DIS_TOKEN_STEPS);
        return DIS_ELIMIT;
    }
    DIS_TRY(dis__reserve(&steps->step, &steps->room, steps->n, steps->n + 1, sizeof *steps->step));
    dis__tokenizer_step *step = &steps->step[steps->n++];
    *step = (dis__tokenizer_step){.kind = kind};
    return kind->read ? kind->read(r, v, step) : DIS_OK;
}

/* Whether words are bytes: the last pre-tokenizer is ByteLevel, and no other is. */
static dis_status check_byte_level(dis__tokenizer_reader *r, const dis__json_value *v)
{
    const dis__tokenizer_steps *s = &r->t->pre_tokenizers;
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->step[i].kind->name, "ByteLevel") != 0) continue;
        if (i + 1 < s->n)
            return dis__json_fail(&r->json, v, "pre_tokenizer: ByteLevel is supported as the last one only");
        r->t->model.byte_level = true;
    }
    return DIS_OK;
}

/* ---- models ---- */

dis_status dis__vocabulary_read(dis__tokenizer_reader *r, const dis__json_value *vocab, dis__model *m,
                                dis_status (*also)(dis__model *m, const char *token, size_t n, uint32_t id))
{
    if (vocab->kind != DIS_JSON_OBJECT)
        return dis__json_fail(&r->json, vocab, "the vocabulary must be an object of tokens and ids");
    const dis__json_value *at = vocab + 1;
    for (uint32_t i = 0; i < vocab->n; i++, at += 1 + at[1].skip) {
        int32_t id = 0;
        DIS_TRY(dis__field_id(r, at + 1, "the id of a token", &id));
        if (at->length == 0) continue; /* nothing is ever the empty text */
        if (m->kind == &dis__wordpiece_kind)
            DIS_TRY(dis__check_bytes(r, at, "model.vocab: a token", at->length, DIS_TOKEN_PIECE));
        DIS_TRY(dis__trie_put(&m->vocabulary, at->text, at->length, (uint32_t)id));
        if (also) DIS_TRY(also(m, at->text, at->length, (uint32_t)id));
        if ((size_t)id >= m->n_ids) m->n_ids = (size_t)id + 1;
    }
    m->n_tokens = vocab->n;
    return DIS_OK;
}

dis_status dis__unknown_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m, bool needed)
{
    const dis__json_value *x = dis__json_member(v, "unk_token");
    const bool given = x && x->kind != DIS_JSON_NULL;
    if (!given && !needed) return DIS_OK;
    if (!given || x->kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, x ? x : v, "model.unk_token must name a token");
    const uint32_t id = dis__trie_get(&m->vocabulary, x->text, x->length);
    if (id != DIS_TRIE_NONE) m->unknown = (int32_t)id;
    if (id == DIS_TRIE_NONE && (needed || !m->byte_level))
        return dis__json_fail(&r->json, x, "model.unk_token is not in the vocabulary");
    return DIS_OK;
}

static const dis__model_kind *const models[] = {&dis__bpe_kind, &dis__wordpiece_kind, &dis__unigram_kind};

const dis__model_kind *dis__model_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strlen(models[i]->name) == n && memcmp(models[i]->name, name, n) == 0) return models[i];
    return NULL;
}

/* Old files name no type: merges are BPE's, a list of scores Unigram's, a prefix of continuations WordPiece's. */
static const dis__model_kind *guess_model(const dis__json_value *v)
{
    const dis__json_value *vocab = dis__json_member(v, "vocab");
    if (dis__json_member(v, "merges")) return &dis__bpe_kind;
    if (vocab && vocab->kind == DIS_JSON_ARRAY) return &dis__unigram_kind;
    return dis__json_member(v, "max_input_chars_per_word") ? &dis__wordpiece_kind : NULL;
}

static dis_status read_model(dis__tokenizer_reader *r, const dis__json_value *v)
{
    dis__model *m = &r->t->model;
    const dis__json_value *type = dis__json_member(v, "type");
    if (type && type->kind == DIS_JSON_STRING)
        m->kind = dis__model_find(type->text, type->length);
    else
        m->kind = guess_model(v);
    if (!m->kind) return dis__fail_unknown_type(r, v, "model");
    if (m->byte_level && m->kind != &dis__bpe_kind)
        return dis__json_fail(&r->json, v, "pre_tokenizer: ByteLevel is supported with BPE only");
    DIS_TRY(dis__check_fields(r, v, "model", m->kind->fields));
    m->unknown = -1;
    DIS_TRY(m->kind->read(r, v, m));
    if (m->byte_level && m->byte_fallback)
        return dis__json_fail(&r->json, v, "model.byte_fallback is not supported together with ByteLevel");
    m->cached = r->t->pre_tokenizers.n > 0;
    return DIS_OK;
}

/* ---- added tokens ---- */

static dis_status read_added(dis__tokenizer_reader *r, const dis__json_value *v, uint32_t *next)
{
    dis__added token = {0};
    const dis__json_value *content = dis__json_member(v, "content");
    DIS_TRY(dis__check_fields(r, v, "added_tokens", "id content single_word lstrip rstrip normalized special"));
    if (!content || content->kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, v, "added_tokens: content must be a text");
    DIS_TRY(dis__field_bool(r, v, "single_word", false, &token.single_word));
    DIS_TRY(dis__field_bool(r, v, "lstrip", false, &token.left));
    DIS_TRY(dis__field_bool(r, v, "rstrip", false, &token.right));
    DIS_TRY(dis__field_bool(r, v, "special", false, &token.special));
    DIS_TRY(dis__field_bool(r, v, "normalized", !token.special, &token.normalised));
    DIS_TRY(dis__check_bytes(r, content, "added_tokens: content", content->length, DIS_TOKEN_ADDED));
    token.text = (char *)content->text; /* copied when it is added */
    token.n = content->length;
    const uint32_t known = dis__trie_get(&r->t->model.vocabulary, content->text, content->length);
    token.id = known != DIS_TRIE_NONE ? (int32_t)known : (int32_t)*next;
    const uint32_t same = dis__trie_get(&r->t->added.by_text, token.text, token.n);
    if (known == DIS_TRIE_NONE && same != DIS_TRIE_NONE) token.id = r->t->added.token[same].id;
    *next += token.id == (int32_t)*next && token.n;
    return dis__added_add(&r->t->added, &token);
}

static dis_status read_all_added(dis__tokenizer_reader *r, const dis__json_value *list)
{
    if (!list || list->kind == DIS_JSON_NULL) return DIS_OK;
    if (list->kind != DIS_JSON_ARRAY) return dis__json_fail(&r->json, list, "added_tokens must be a list");
    uint32_t next = (uint32_t)r->t->model.n_tokens; /* as tokenizers numbers those that the vocabulary does not have */
    const dis__json_value *at = list + 1;
    for (uint32_t i = 0; i < list->n; i++, at += at->skip) DIS_TRY(read_added(r, at, &next));
    return DIS_OK;
}

/* ---- the file ---- */

static dis_status read_root(dis__tokenizer_reader *r, const dis__json_value *root)
{
    const dis__json_value *model = dis__json_member(root, "model"), *version = dis__json_member(root, "version");
    DIS_TRY(dis__check_fields(r, root, "the tokenizer",
                              "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder "
                              "model"));
    if (version && !dis__json_equals(version, "1.0")) return dis__json_fail(&r->json, version, "version must be 1.0");
    if (!model || model->kind != DIS_JSON_OBJECT) return dis__json_fail(&r->json, root, "model must be an object");
    const dis__json_value *words = dis__json_member(root, "pre_tokenizer");
    DIS_TRY(read_steps(r, &normalisers, dis__json_member(root, "normalizer"), &r->t->normalisers));
    DIS_TRY(read_steps(r, &pre_tokenizers, words, &r->t->pre_tokenizers));
    DIS_TRY(check_byte_level(r, words ? words : root));
    DIS_TRY(read_model(r, model));
    DIS_TRY(read_all_added(r, dis__json_member(root, "added_tokens")));
    return dis__templates_read(r, dis__json_member(root, "post_processor"), &r->t->templates);
}

dis_status dis__tokenizer_read_text(dis__tokenizer_reader *r, const char *file, const char *text, size_t n)
{
    const dis__json_position place = {.file = file, .line = 1, .column = 1};
    const dis__json_value *root;
    DIS_TRY(dis__json_parse(&r->json, text, n, &place, &root));
    return read_root(r, root);
}

dis_status dis__tokenizer_read_json(dis__tokenizer_reader *r, const char *path)
{
    dis__input in;
    DIS_TRY(dis__input_open_regular(r->ctx, path, DIS_TOKEN_FILE, &in));
    const dis_status status = dis__tokenizer_read_text(r, path, in.bytes, in.n);
    return dis__input_finish(&in, status);
}
