/* Tokenizers from the outside: batches of texts on the threads of a context.
 *
 * A batch is cut into jobs by its number of texts; each job fills its own arrays with a borrowed workspace, and the
 * arrays are then concatenated. The cache of a workspace never changes a token. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "core/text/utf8.h"
#include <string.h>

enum { TEXTS_A_JOB = 64, MAX_JOBS = 1024, MAX_BYTES = INT32_MAX };

struct dis_tokens {
    size_t n, *start;
    int32_t *id;
    uint8_t *type;
    uint32_t *from, *to;
    size_t *first_token;
};

/* What one job has made. */
typedef struct {
    size_t n, room;
    int32_t *id;
    uint8_t *type;
    uint32_t *from, *to;
} part;

typedef struct {
    dis_tokenizer *t;
    const dis_token_text *texts; /* or words: */
    const char *const *word;
    const size_t *length, *word_start;
    dis_tokenizer_options o;
    size_t n, n_jobs, max; /* tokens per text; 0: no limit */
    part *parts;           /* (n_jobs) */
    dis_tokens *out;       /* start[i + 1]: tokens of text i; first_token: of a word, from the start of its text */
} batch;

DIS_OPTIONS_DEFAULTS(dis_tokenizer_options, .size = sizeof(dis_tokenizer_options))

/* ---- benches, borrowed ---- */

static dis_status borrow(dis_tokenizer *t, dis__encode_workspace **out)
{
    pthread_mutex_lock(&t->lock);
    dis__encode_workspace *b = t->idle;
    if (b) t->idle = b->next;
    pthread_mutex_unlock(&t->lock);
    if (!b) DIS_TRY(dis__encode_workspace_create(&b));
    *out = b;
    return DIS_OK;
}

static void give_back(dis_tokenizer *t, dis__encode_workspace *b)
{
    pthread_mutex_lock(&t->lock);
    b->next = t->idle;
    t->idle = b;
    pthread_mutex_unlock(&t->lock);
}

/* ---- one text ---- */

static dis_status part_reserve(part *p, size_t need, bool places)
{
    size_t room[4] = {p->room, p->room, p->room, p->room};
    if (need <= p->room) return DIS_OK;
    DIS_TRY(dis__reserve(&p->id, &room[0], p->n, need, sizeof *p->id));
    DIS_TRY(dis__reserve(&p->type, &room[1], p->n, need, sizeof *p->type));
    if (places) DIS_TRY(dis__reserve(&p->from, &room[2], p->n, need, sizeof *p->from));
    if (places) DIS_TRY(dis__reserve(&p->to, &room[3], p->n, need, sizeof *p->to));
    p->room = room[0]; /* all grow alike */
    return DIS_OK;
}

static void part_add(part *p, const dis__token_list *sink, size_t n, uint8_t type)
{
    if (n == 0) return;
    memcpy(p->id + p->n, sink->id, n * sizeof *p->id);
    memset(p->type + p->n, type, n);
    if (p->from) {
        memcpy(p->from + p->n, sink->from, n * sizeof *p->from);
        memcpy(p->to + p->n, sink->to, n * sizeof *p->to);
    }
    p->n += n;
}

/* How many tokens each of two texts keeps of n[] when there is room for `max`: the longer one loses first; of equally
 * long ones the second keeps the odd token. One text: n[1] is 0. */
static void keep_of_pair(size_t n[2], size_t max)
{
    if (n[0] + n[1] <= max) return;
    const bool swap = n[0] > n[1];
    size_t less = swap ? n[1] : n[0], more;
    more = less > max || max - less < less ? less : max - less;
    if (less + more > max) {
        less = max / 2;
        more = less + max % 2;
    }
    n[swap] = less;
    n[!swap] = more;
}

/* Puts the template around the tokens of b->out; *at: where the first text's tokens begin, n[0] how many it keeps. */
static dis_status assemble(const batch *w, dis__encode_workspace *b, bool pair, part *p, size_t n[2], size_t *at)
{
    const dis__template *shape = pair ? &w->t->templates.pair : &w->t->templates.single;
    const size_t special = w->o.no_special_tokens ? 0 : shape->n_special;
    n[0] = b->out[0].n;
    n[1] = pair ? b->out[1].n : 0;
    if (w->max) keep_of_pair(n, w->max - special);
    DIS_TRY(part_reserve(p, p->n + n[0] + n[1] + special, w->o.offsets));
    for (size_t i = 0; i < shape->n; i++) {
        const dis__piece *piece = &shape->piece[i];
        uint32_t zero = 0;
        int32_t id = piece->id;
        const dis__token_list one = {.id = &id, .from = &zero, .to = &zero};
        if (piece->what == DIS_PIECE_FIRST) *at = p->n;
        if (piece->what != DIS_PIECE_SPECIAL)
            part_add(p, &b->out[piece->what == DIS_PIECE_SECOND], n[piece->what == DIS_PIECE_SECOND], piece->type);
        else if (!w->o.no_special_tokens)
            part_add(p, &one, 1, piece->type);
    }
    return DIS_OK;
}

static dis_status check_text(size_t i, const char *which, const char *text, size_t n)
{
    if (n > MAX_BYTES)
        return dis__fail(DIS_ELIMIT, "%s %zu has %zu bytes; at most %d are possible", which, i + 1, n, MAX_BYTES);
    const size_t bad = dis__utf8_check(text, n);
    if (bad == n) return DIS_OK;
    return dis__fail(DIS_EDATA,
                     "%s %zu is not UTF-8: byte %zu (0x%02x) is not part of a character; convert the text first", which,
                     i + 1, bad + 1, (unsigned)(unsigned char)text[bad]);
}

static dis_status encode_text(const batch *w, dis__encode_workspace *b, size_t i, part *p)
{
    const dis_token_text *x = &w->texts[i];
    const bool pair = x->second != NULL;
    size_t n[2], at;
    DIS_TRY(check_text(i, "text", x->first, x->n_first));
    b->out[0].n = b->out[1].n = 0;
    b->limit = pair ? 0 : w->max; /* which of two loses tokens depends on how many they have */
    DIS_TRY(dis__encode_text(w->t, b, x->first, x->n_first, &b->out[0]));
    if (pair) {
        DIS_TRY(check_text(i, "the second text of pair", x->second, x->n_second));
        DIS_TRY(dis__encode_text(w->t, b, x->second, x->n_second, &b->out[1]));
    }
    return assemble(w, b, pair, p, n, &at);
}

static dis_status encode_sentence(const batch *w, dis__encode_workspace *b, size_t i, part *p)
{
    const size_t first = w->word_start[i], n_words = w->word_start[i + 1] - first, before = p->n;
    DIS_TRY(dis__reserve(&b->word_at, &b->word_room, 0, n_words + 1, sizeof *b->word_at));
    b->out[0].n = 0;
    b->limit = w->max;
    for (size_t j = 0; j < n_words; j++) {
        DIS_TRY(check_text(first + j, "word", w->word[first + j], w->length[first + j]));
        b->word_at[j] = b->out[0].n;
        DIS_TRY(dis__encode_text(w->t, b, w->word[first + j], w->length[first + j], &b->out[0]));
    }
    b->word_at[n_words] = b->out[0].n;
    size_t n[2], at;
    DIS_TRY(assemble(w, b, false, p, n, &at));
    for (size_t j = 0; j < n_words; j++) {
        const bool present = b->word_at[j] < b->word_at[j + 1] && b->word_at[j] < n[0];
        w->out->first_token[first + j] = present ? at - before + b->word_at[j] : SIZE_MAX;
    }
    return DIS_OK;
}

/* ---- batches ---- */

static dis_status job(void *arg, size_t j, int thread)
{
    const batch *w = arg;
    part *p = &w->parts[j];
    dis__encode_workspace *b;
    (void)thread;
    DIS_TRY(borrow(w->t, &b));
    b->traced = w->o.offsets;
    b->spaced = w->word != NULL && w->t->pre_tokenizers.n == 1; /* after another one, ByteLevel sees parts of words */
    dis_status status = DIS_OK;
    for (size_t i = dis__job_first(w->n, w->n_jobs, j); i < dis__job_first(w->n, w->n_jobs, j + 1); i++) {
        const size_t before = p->n;
        status = w->word ? encode_sentence(w, b, i, p) : encode_text(w, b, i, p);
        if (status != DIS_OK) break;
        w->out->start[i + 1] = p->n - before;
    }
    give_back(w->t, b);
    return status;
}

/* All parts consecutively. */
static dis_status join(const batch *w)
{
    dis_tokens *out = w->out;
    size_t total = 0;
    for (size_t j = 0; j < w->n_jobs; j++) total += w->parts[j].n;
    DIS_TRY(dis__alloc_array(&out->id, total, sizeof *out->id));
    DIS_TRY(dis__alloc_array(&out->type, total, sizeof *out->type));
    if (w->o.offsets) DIS_TRY(dis__alloc_array(&out->from, total, sizeof *out->from));
    if (w->o.offsets) DIS_TRY(dis__alloc_array(&out->to, total, sizeof *out->to));
    size_t at = 0;
    for (size_t j = 0; j < w->n_jobs; j++) {
        const part *p = &w->parts[j];
        if (p->n == 0) continue;
        memcpy(out->id + at, p->id, p->n * sizeof *p->id);
        memcpy(out->type + at, p->type, p->n);
        if (w->o.offsets) memcpy(out->from + at, p->from, p->n * sizeof *p->from);
        if (w->o.offsets) memcpy(out->to + at, p->to, p->n * sizeof *p->to);
        at += p->n;
    }
    for (size_t i = 0; i < w->n; i++) out->start[i + 1] += out->start[i];
    for (size_t i = 0; w->word && i < w->n; i++)
        for (size_t k = w->word_start[i]; k < w->word_start[i + 1]; k++)
            if (out->first_token[k] != SIZE_MAX) out->first_token[k] += out->start[i];
    return DIS_OK;
}

static dis_status run(dis_context *ctx, batch *w)
{
    DIS_TRY(dis__alloc_zeroed(&w->out->start, w->n + 1, sizeof *w->out->start));
    if (w->word) DIS_TRY(dis__alloc_array(&w->out->first_token, w->word_start[w->n], sizeof *w->out->first_token));
    DIS_TRY(dis__alloc_zeroed(&w->parts, w->n_jobs, sizeof *w->parts));
    DIS_TRY(dis__run_jobs(ctx, w->n_jobs, job, w));
    return join(w);
}

static dis_status check_options(batch *w, const dis_tokenizer_options *options)
{
    w->o = dis_tokenizer_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_tokenizer_options, &w->o, options));
    w->max = w->o.max_length ? w->o.max_length : w->t->max_length;
    size_t special = 0;
    for (size_t i = 0; i < w->n && !special; i++)
        special = w->texts && w->texts[i].second ? w->t->templates.pair.n_special : 0;
    if (special < w->t->templates.single.n_special) special = w->t->templates.single.n_special;
    if (w->max && !w->o.no_special_tokens && w->max < special)
        return dis__fail(DIS_EUSAGE, "`max_length` %zu leaves no room for %zu special tokens", w->max, special);
    return DIS_OK;
}

static dis_status encode(dis_context *ctx, batch *w, const dis_tokenizer_options *options, dis_tokens **out)
{
    DIS_TRY(check_options(w, options));
    DIS_TRY(dis__alloc_zeroed(&w->out, 1, sizeof *w->out));
    w->out->n = w->n;
    w->n_jobs = dis__n_jobs(w->n, TEXTS_A_JOB, MAX_JOBS);
    const dis_status status = run(ctx, w);
    for (size_t j = 0; w->parts && j < w->n_jobs; j++) {
        dis__free(w->parts[j].id);
        dis__free(w->parts[j].type);
        dis__free(w->parts[j].from);
        dis__free(w->parts[j].to);
    }
    dis__free(w->parts);
    if (status == DIS_OK)
        *out = w->out;
    else
        dis_tokens_destroy(w->out);
    return status;
}

/* Borrowing a workspace does not visibly change a tokenizer. */
dis_status dis_tokenizer_encode(dis_context *ctx, const dis_tokenizer *t, const dis_token_text *texts, size_t n,
                                const dis_tokenizer_options *options, dis_tokens **out)
{
    batch w = {.t = (dis_tokenizer *)t, .texts = texts, .n = n};
    return encode(ctx, &w, options, out);
}

dis_status dis_tokenizer_encode_words(dis_context *ctx, const dis_tokenizer *t, const char *const *word,
                                      const size_t *length, const size_t *start, size_t n,
                                      const dis_tokenizer_options *options, dis_tokens **out)
{
    batch w = {.t = (dis_tokenizer *)t, .word = word, .length = length, .word_start = start, .n = n};
    return encode(ctx, &w, options, out);
}

static dis_tokens_view view_of(const dis_tokens *tokens)
{
    return (dis_tokens_view){tokens->n,    tokens->start, tokens->id,         tokens->type,
                             tokens->from, tokens->to,    tokens->first_token};
}
DIS_VIEW_DEFINE(dis_tokens, tokens, view_of(tokens))

void dis_tokens_destroy(dis_tokens *tokens)
{
    if (!tokens) return;
    dis__free(tokens->start);
    dis__free(tokens->id);
    dis__free(tokens->type);
    dis__free(tokens->from);
    dis__free(tokens->to);
    dis__free(tokens->first_token);
    dis__free(tokens);
}
