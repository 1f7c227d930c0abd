/* Older files of tokenizers: vocab.txt of BERT's family, vocab.json and merges.txt of GPT-2's and RoBERTa's. What these
 * files leave open is what transformers makes of them, by the class that tokenizer_config.json names. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/text/utf8.h"
#include "io/input/input.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

/* Classes of transformers, by the beginning of their names: which files they have, what stands between two texts. */
static const struct {
    const char *class;
    bool merges, around, twice,
        types; /* around: special tokens; twice: two between texts; types: texts distinguished */
} classes[] = {
    {"BertTokenizer", false, true, false, true},      {"DistilBertTokenizer", false, true, false, true},
    {"ElectraTokenizer", false, true, false, true},   {"MobileBertTokenizer", false, true, false, true},
    {"MPNetTokenizer", false, true, true, false},     {"RobertaTokenizer", true, true, true, false},
    {"LongformerTokenizer", true, true, true, false}, {"GPT2Tokenizer", true, false, false, false},
};

static dis_status find_class(const dis__tokenizer_reader *r, bool merges, const char *guess, size_t *out)
{
    const char *name = *r->config.class ? r->config.class : guess;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].merges == merges && strncmp(name, classes[i].class, strlen(classes[i].class)) == 0) {
            *out = i;
            return DIS_OK;
        }
    return dis__fail(DIS_EDATA,
                     "tokenizer_class %s without tokenizer.json is not supported; in Python, "
                     "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes one",
                     name);
}

static int32_t id_of(const dis_tokenizer *t, const char *name)
{
    const uint32_t id = name ? dis__trie_get(&t->model.vocabulary, name, strlen(name)) : DIS_TRIE_NONE;
    return id == DIS_TRIE_NONE ? -1 : (int32_t)id;
}

/* Texts of special tokens where no file names them. */
static dis_status name_specials(dis__tokenizer_reader *r, bool angles)
{
    static const char *const names[2][DIS_SPECIAL_TOKENS] = {{"[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"},
                                                             {"<s>", "</s>", "<unk>", "<pad>", "<mask>"}};
    for (size_t i = 0; i < DIS_SPECIAL_TOKENS; i++)
        if (!r->config.special[i])
            DIS_TRY(dis__copy_text(&r->config.special[i], names[angles][i], strlen(names[angles][i])));
    return DIS_OK;
}

static dis_status add_specials(dis__tokenizer_reader *r, size_t class)
{
    dis_tokenizer *t = r->t;
    if (classes[class].around) {
        const int32_t before = id_of(t, r->config.special[DIS_TOKEN_CLS]);
        const int32_t after = id_of(t, r->config.special[DIS_TOKEN_SEP]);
        if (before < 0 || after < 0)
            return dis__fail(DIS_EDATA, "the vocabulary has no %s",
                             r->config.special[before < 0 ? DIS_TOKEN_CLS : DIS_TOKEN_SEP]);
        t->templates = dis__templates_with(before, after, classes[class].twice, classes[class].types);
    } else {
        t->templates = dis__templates_plain();
    }
    t->templates.trim = classes[class].merges;
    t->templates.trim_prefix = classes[class].merges && r->config.prefix_space;
    for (size_t i = 0; i < DIS_SPECIAL_TOKENS && !r->config.has_added; i++) {
        char *name = r->config.special[i];
        const int32_t id = id_of(t, name);
        const bool left = i == DIS_TOKEN_MASK && classes[class].twice;
        if (id >= 0)
            DIS_TRY(dis__added_add(&t->added, &(dis__added){name, strlen(name), id, false, left, false, false, true}));
    }
    return DIS_OK;
}

static dis_status add_step(dis__tokenizer_steps *steps, dis__tokenizer_step step)
{
    DIS_TRY(dis__reserve(&steps->step, &steps->room, steps->n, steps->n + 1, sizeof *steps->step));
    steps->step[steps->n++] = step;
    return DIS_OK;
}

/* ---- lines ---- */

typedef struct {
    dis__input in;
    size_t at, line;
} lines;

/* The next line without its end; false: there is none. */
static bool next_line(lines *l, const char **text, size_t *n)
{
    if (l->at >= l->in.n) return false;
    const char *start = l->in.bytes + l->at, *end = memchr(start, '\n', l->in.n - l->at);
    *n = end ? (size_t)(end - start) : l->in.n - l->at;
    l->at += *n + 1;
    l->line++;
    if (*n && start[*n - 1] == '\r') --*n;
    *text = start;
    return true;
}

static dis_status open_lines(dis__tokenizer_reader *r, const char *path, lines *l)
{
    *l = (lines){0};
    DIS_TRY(dis__input_open_regular(r->ctx, path, DIS_TOKEN_FILE, &l->in));
    const size_t bad = dis__utf8_check(l->in.bytes, l->in.n);
    if (bad == l->in.n) return DIS_OK;
    uint64_t line = 1;
    for (size_t i = 0; i < bad; i++) line += l->in.bytes[i] == '\n';
    const dis_status status = dis__fail_at(DIS_EDATA, path, line, 0, "not UTF-8");
    dis__input_close(&l->in);
    return status;
}

/* ---- vocab.txt ---- */

static dis_status put_lines(dis__tokenizer_reader *r, lines *l)
{
    const char *text;
    size_t n, step;
    while (next_line(l, &text, &n)) {
        if (l->line > DIS_TOKEN_MAX_IDS)
            return dis__fail_at(DIS_ELIMIT, l->in.path, l->line, 0, "more than %d tokens", DIS_TOKEN_MAX_IDS);
        if (n > DIS_TOKEN_PIECE)
            return dis__fail_at(DIS_ELIMIT, l->in.path, l->line, 0, "a token of %zu bytes; at most %d are possible", n,
                                DIS_TOKEN_PIECE);
        while (n) { /* white space at the end goes, as tokenizers reads these files */
            const size_t before = dis__char_before(text, n);
            if (!(dis__kind_at(text + before, &step) & DIS_IS_SPACE)) break;
            n = before;
        }
        if (n) DIS_TRY(dis__wordpiece_put(&r->t->model, text, n, (uint32_t)(l->line - 1)));
    }
    r->t->model.n_ids = r->t->model.n_tokens = l->line;
    return DIS_OK;
}

dis_status dis__tokenizer_read_lines(dis__tokenizer_reader *r, const char *vocabulary)
{
    dis__model *m = &r->t->model;
    const dis__token_config *c = &r->config;
    size_t class = 0;
    DIS_TRY(find_class(r, false, "BertTokenizer", &class));
    m->kind = &dis__wordpiece_kind;
    m->max_chars = 100;
    m->n_prefix = 2;
    DIS_TRY(dis__copy_text(&m->prefix, "##", 2));
    lines l;
    DIS_TRY(open_lines(r, vocabulary, &l));
    DIS_TRY(dis__input_finish(&l.in, put_lines(r, &l)));
    DIS_TRY(name_specials(r, classes[class].twice));
    if (!c->special[DIS_TOKEN_UNKNOWN] || (m->unknown = id_of(r->t, c->special[DIS_TOKEN_UNKNOWN])) < 0)
        m->unknown = id_of(r->t, "[UNK]");
    if (m->unknown < 0) return dis__fail_at(DIS_EDATA, vocabulary, 0, 0, "the vocabulary has no unknown token [UNK]");
    DIS_TRY(add_step(&r->t->normalisers, (dis__tokenizer_step){.kind = dis__normaliser_find("BertNormalizer", 14),
                                                               .clean = true,
                                                               .chinese = c->chinese,
                                                               .lower = c->lower,
                                                               .accents = c->accents_given ? c->accents : c->lower}));
    DIS_TRY(add_step(&r->t->pre_tokenizers,
                     (dis__tokenizer_step){.kind = dis__pre_tokenizer_find("BertPreTokenizer", 16)}));
    return add_specials(r, class);
}

/* ---- vocab.json and merges.txt ---- */

static dis_status read_vocabulary(dis__tokenizer_reader *r, const char *path)
{
    dis__input in;
    const dis__json_value *root;
    const dis__json_position place = {.file = path, .line = 1, .column = 1};
    DIS_TRY(dis__input_open_regular(r->ctx, path, DIS_TOKEN_FILE, &in));
    dis_status status = dis__json_parse(&r->json, in.bytes, in.n, &place, &root);
    if (status == DIS_OK) status = dis__vocabulary_read(r, root, &r->t->model, NULL);
    return dis__input_finish(&in, status);
}

static uint32_t joined(const dis__trie *trie, const char *a, size_t n_a, const char *b, size_t n_b)
{
    uint32_t node = 0;
    for (size_t i = 0; i < n_a + n_b; i++)
        if (!(node = dis__trie_step(trie, node, i < n_a ? a[i] : b[i - n_a]))) return DIS_TRIE_NONE;
    return trie->value[node];
}

static dis_status put_merges(dis__model *m, lines *l)
{
    const char *text;
    size_t n, n_lines = 0;
    for (size_t i = 0; i < l->in.n; i++) n_lines += l->in.bytes[i] == '\n';
    DIS_TRY(dis__bpe_reserve(m, n_lines + 1));
    for (uint32_t rank = 0; next_line(l, &text, &n);) {
        if (n >= 8 && memcmp(text, "#version", 8) == 0) continue;
        const char *space = memchr(text, ' ', n);
        const size_t left = space ? (size_t)(space - text) : 0, right = space ? n - left - 1 : 0;
        if (!left || !right || memchr(space + 1, ' ', right))
            return dis__fail_at(DIS_EDATA, l->in.path, l->line, 1, "a merge is two tokens with one space between them");
        const uint32_t a = dis__trie_get(&m->vocabulary, text, left);
        const uint32_t b = dis__trie_get(&m->vocabulary, space + 1, right);
        const uint32_t id = joined(&m->vocabulary, text, left, space + 1, right);
        if (a == DIS_TRIE_NONE || b == DIS_TRIE_NONE || id == DIS_TRIE_NONE)
            return dis__fail_at(DIS_EDATA, l->in.path, l->line, 1,
                                "both tokens of a merge and the merged token must be in the vocabulary");
        dis__bpe_put(m, a, b, rank++, id);
    }
    return DIS_OK;
}

dis_status dis__tokenizer_read_merges(dis__tokenizer_reader *r, const char *vocabulary, const char *merges)
{
    dis__model *m = &r->t->model;
    size_t class = 0;
    m->kind = &dis__bpe_kind;
    m->byte_level = true;
    m->unknown = -1;
    DIS_TRY(read_vocabulary(r, vocabulary));
    const bool around = id_of(r->t, "<s>") >= 0 && id_of(r->t, "</s>") >= 0;
    DIS_TRY(find_class(r, true, around ? "RobertaTokenizer" : "GPT2Tokenizer", &class));
    lines l;
    DIS_TRY(open_lines(r, merges, &l));
    DIS_TRY(dis__input_finish(&l.in, put_merges(m, &l)));
    DIS_TRY(dis__bpe_finish(m));
    if (classes[class].around) DIS_TRY(name_specials(r, true));
    dis__tokenizer_step cut = {.kind = dis__pre_tokenizer_find("ByteLevel", 9),
                               .prefix_space = r->config.prefix_space,
                               .use_regex = true};
    dis__tokenizer_step_set_gpt2(&cut);
    DIS_TRY(add_step(&r->t->pre_tokenizers, cut));
    return add_specials(r, class);
}
