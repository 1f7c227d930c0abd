/* Opens the tokenizer of a folder: finds its files, reads them, and fixes what follows from them: the maximum length,
 * the ids of special tokens. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "io/files/folder.h"
#include <string.h>

/* Sets of files that make a tokenizer, the first that is there counts. */
static const struct {
    const char *vocabulary, *merges;
} sets[] = {{"tokenizer.json", NULL}, {"vocab.txt", NULL}, {"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}};

static dis_status refuse(const char *folder)
{
    static const char *const pieces[] = {"spm.model", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        bool exists;
        DIS_TRY(dis__file_exists(folder, pieces[i], &exists));
        if (exists)
            return dis__fail(DIS_EDATA,
                             "%s/%s: sentencepiece models are not read; in Python, "
                             "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes a tokenizer.json",
                             folder, pieces[i]);
    }
    return dis__fail(DIS_EIO,
                     "%s has no tokenizer: neither tokenizer.json, nor vocab.txt, nor vocab.json with merges.txt",
                     folder);
}

static dis_status find_set(const char *folder, size_t *out)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        bool exists;
        DIS_TRY(dis__file_exists(folder, sets[i].vocabulary, &exists));
        if (exists && sets[i].merges) DIS_TRY(dis__file_exists(folder, sets[i].merges, &exists));
        if (!exists) continue;
        *out = i;
        return DIS_OK;
    }
    return refuse(folder);
}

static dis_status refuse_added(const char *folder, const dis__tokenizer_reader *r)
{
    bool exists;
    DIS_TRY(dis__file_exists(folder, "added_tokens.json", &exists));
    if (exists && !r->config.has_added)
        return dis__fail(DIS_EDATA,
                         "%s/added_tokens.json without tokenizer.json is not supported; in Python, "
                         "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes one",
                         folder);
    return DIS_OK;
}

static dis_status read_set(dis__tokenizer_reader *r, const char *folder, size_t set)
{
    char *vocabulary = NULL, *merges = NULL;
    dis_status status = dis__path_join(folder, sets[set].vocabulary, &vocabulary);
    if (status == DIS_OK && sets[set].merges) status = dis__path_join(folder, sets[set].merges, &merges);
    if (status == DIS_OK) status = dis__copy_text(&r->t->path, vocabulary, strlen(vocabulary));
    if (status == DIS_OK && r->old_files) status = refuse_added(folder, r);
    if (status == DIS_OK)
        status = merges         ? dis__tokenizer_read_merges(r, vocabulary, merges)
                 : r->old_files ? dis__tokenizer_read_lines(r, vocabulary)
                                : dis__tokenizer_read_json(r, vocabulary);
    dis__free(vocabulary);
    dis__free(merges);
    return status;
}

/* The id of a special token: by its name in the config, else by the names in use. */
static int32_t special_id(const dis_tokenizer *t, const char *name, dis_special_token which)
{
    static const char *const usual[DIS_SPECIAL_TOKENS][2] = {
        {"[CLS]", "<s>"}, {"[SEP]", "</s>"}, {"[UNK]", "<unk>"}, {"[PAD]", "<pad>"}, {"[MASK]", "<mask>"}};
    if (name) return dis_tokenizer_find_id(t, name, strlen(name));
    const int32_t id = dis_tokenizer_find_id(t, usual[which][0], strlen(usual[which][0]));
    return id >= 0 ? id : dis_tokenizer_find_id(t, usual[which][1], strlen(usual[which][1]));
}

static dis_status finish(dis__tokenizer_reader *r)
{
    dis_tokenizer *t = r->t;
    const dis__token_config *c = &r->config;
    t->n_ids = (int32_t)t->model.n_ids;
    DIS_TRY(dis__encode_workspace_create(&t->idle));
    DIS_TRY(dis__added_finish(t, t->idle));
    const bool shorter = c->max_length > 0 && (c->max_length < c->positions || !(c->positions > 0));
    t->max_length = (size_t)(shorter ? c->max_length : c->positions);
    for (int i = 0; i < DIS_SPECIAL_TOKENS; i++) t->special[i] = special_id(t, c->special[i], (dis_special_token)i);
    return DIS_OK;
}

static dis_status read_folder(dis__tokenizer_reader *r, const char *folder)
{
    size_t set = 0;
    DIS_TRY(dis__folder_check(folder));
    DIS_TRY(find_set(folder, &set));
    r->old_files = set > 0;
    DIS_TRY(dis__token_config_read(r, folder));
    DIS_TRY(read_set(r, folder, set));
    return finish(r);
}

static void reader_free(dis__tokenizer_reader *r)
{
    dis__json_free(&r->json);
    for (size_t i = 0; i < DIS_SPECIAL_TOKENS; i++) dis__free(r->config.special[i]);
}

static dis_status create(dis_tokenizer **out)
{
    DIS_TRY(dis__alloc_zeroed(out, 1, sizeof **out));
    pthread_mutex_init(&(*out)->lock, NULL);
    (*out)->model.unknown = -1;
    return DIS_OK;
}

dis_status dis_tokenizer_read(dis_context *ctx, const char *folder, dis_tokenizer **out)
{
    dis__tokenizer_reader r = {.ctx = ctx};
    DIS_TRY(create(&r.t));
    const dis_status status = read_folder(&r, folder);
    reader_free(&r);
    if (status == DIS_OK)
        *out = r.t;
    else
        dis_tokenizer_destroy(r.t);
    return status;
}

dis_status dis__tokenizer_from_text(const char *text, size_t n, dis_tokenizer **out)
{
    dis__tokenizer_reader r = {0};
    DIS_TRY(create(&r.t));
    dis_status status = dis__tokenizer_read_text(&r, "tokenizer.json", text, n);
    if (status == DIS_OK) status = finish(&r);
    reader_free(&r);
    if (status == DIS_OK)
        *out = r.t;
    else
        dis_tokenizer_destroy(r.t);
    return status;
}

void dis__model_free(dis__model *m)
{
    dis__trie_free(&m->vocabulary);
    dis__trie_free(&m->byte_tokens);
    dis__trie_free(&m->inner);
    dis__free(m->merge);
    dis__free(m->prefix);
    dis__free(m->suffix);
    dis__free(m->score);
}

static void steps_free(dis__tokenizer_steps *steps)
{
    for (size_t i = 0; i < steps->n; i++) dis__tokenizer_step_free(&steps->step[i]);
    dis__free(steps->step);
}

void dis_tokenizer_destroy(dis_tokenizer *t)
{
    if (!t) return;
    steps_free(&t->normalisers);
    steps_free(&t->pre_tokenizers);
    dis__model_free(&t->model);
    dis__added_free(&t->added);
    dis__free(t->path);
    while (t->idle) {
        dis__encode_workspace *b = t->idle;
        t->idle = b->next;
        dis__encode_workspace_free(b);
    }
    pthread_mutex_destroy(&t->lock);
    dis__free(t);
}

static dis_tokenizer_view view_of(const dis_tokenizer *t)
{
    return (dis_tokenizer_view){.special = t->special,
                                .model = t->model.kind->name,
                                .n_ids = t->n_ids,
                                .max_length = t->max_length};
}
DIS_VIEW_DEFINE(dis_tokenizer, t, view_of(t))

int32_t dis_tokenizer_find_id(const dis_tokenizer *t, const char *token, size_t n)
{
    const uint32_t added = dis__trie_get(&t->added.by_text, token, n);
    if (added != DIS_TRIE_NONE) return t->added.token[added].id;
    const uint32_t id = dis__trie_get(&t->model.vocabulary, token, n);
    return id == DIS_TRIE_NONE ? -1 : (int32_t)id;
}
