/* tokenizer_config.json, special_tokens_map.json and config.json: names of special tokens, what older files of
 * tokenizers leave to them, and how many tokens an encoder takes. All are optional. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

dis_status dis__folder_check(const char *folder)
{
    const int fd = dis__sys_open(folder, O_RDONLY | DIS__OS_FOLDER, 0);
    if (fd >= 0) return dis__sys_close(fd) == 0 ? DIS_OK : dis__fail_io("close", folder);
    if (errno == ENOTDIR)
        return dis__fail(DIS_EIO,
                         "%s is a file; an encoder is a folder with config.json, a tokenizer and model.safetensors",
                         folder);
    if (errno != ENOENT) return dis__fail_io("open", folder);
    return dis__fail(DIS_EIO,
                     "%s: no such folder; an encoder is a folder of this machine, and nothing is downloaded: \"hf "
                     "download NAME --local-dir FOLDER\" fetches one from Hugging Face",
                     folder);
}

/* ---- fields ---- */

/* A token is a text or an object with its content. */
static const dis__json_value *content_of(const dis__json_value *v)
{
    if (v && v->kind == DIS_JSON_OBJECT) v = dis__json_member(v, "content");
    return v && v->kind == DIS_JSON_STRING && v->length ? v : NULL;
}

static dis_status parse_special_tokens(dis__tokenizer_reader *r, const dis__json_value *root)
{
    static const char *const key[][2] = {{"cls_token", "bos_token"},
                                         {"sep_token", "eos_token"},
                                         {"unk_token", "unk_token"},
                                         {"pad_token", "pad_token"},
                                         {"mask_token", "mask_token"}};
    for (size_t i = 0; i < DIS_SPECIAL_TOKENS; i++)
        for (size_t k = 0; k < 2 && !r->config.special[i]; k++) {
            const dis__json_value *v = content_of(dis__json_member(root, key[i][k]));
            if (v) DIS_TRY(dis__copy_text(&r->config.special[i], v->text, v->length));
        }
    return DIS_OK;
}

static double number_of(const dis__json_value *root, const char *key)
{
    const dis__json_value *v = dis__json_member(root, key);
    return v && v->kind == DIS_JSON_NUMBER && v->number >= 1 && v->number < 1e9 ? v->number : 0;
}

static dis_status parse_added_tokens(dis__tokenizer_reader *r, const dis__json_value *list)
{
    if (!list || list->kind != DIS_JSON_OBJECT) return DIS_OK;
    const dis__json_value *at = list + 1;
    for (uint32_t i = 0; i < list->n; i++, at += 1 + at[1].skip) {
        dis__added token = {0};
        const dis__json_value *content = content_of(at + 1);
        int32_t id = 0;
        for (uint32_t k = 0; k < at->length; k++) {
            if (at->text[k] < '0' || at->text[k] > '9' || id >= DIS_TOKEN_MAX_IDS / 10)
                return dis__json_fail(&r->json, at, "added_tokens_decoder: an id must be an integer");
            id = 10 * id + (at->text[k] - '0');
        }
        if (!content) return dis__json_fail(&r->json, at + 1, "added_tokens_decoder: content must be a text");
        DIS_TRY(dis__check_bytes(r, content, "added_tokens_decoder: content", content->length, DIS_TOKEN_ADDED));
        token = (dis__added){.text = (char *)content->text, .n = content->length, .id = id};
        DIS_TRY(dis__field_bool(r, at + 1, "single_word", false, &token.single_word));
        DIS_TRY(dis__field_bool(r, at + 1, "lstrip", false, &token.left));
        DIS_TRY(dis__field_bool(r, at + 1, "rstrip", false, &token.right));
        DIS_TRY(dis__field_bool(r, at + 1, "special", false, &token.special));
        DIS_TRY(dis__field_bool(r, at + 1, "normalized", !token.special, &token.normalised));
        DIS_TRY(dis__added_add(&r->t->added, &token));
    }
    r->config.has_added = true;
    return DIS_OK;
}

static dis_status parse_config(dis__tokenizer_reader *r, const dis__json_value *root)
{
    dis__token_config *c = &r->config;
    const dis__json_value *class = dis__json_member(root, "tokenizer_class");
    const dis__json_value *accents = dis__json_member(root, "strip_accents");
    bool basic;
    if (class && class->kind == DIS_JSON_STRING)
        snprintf(c->class, sizeof c->class, "%.*s", (int)class->length, class->text);
    DIS_TRY(dis__field_bool(r, root, "do_lower_case", true, &c->lower));
    DIS_TRY(dis__field_bool(r, root, "tokenize_chinese_chars", true, &c->chinese));
    DIS_TRY(dis__field_bool(r, root, "add_prefix_space", false, &c->prefix_space));
    DIS_TRY(dis__field_bool(r, root, "strip_accents", false, &c->accents));
    DIS_TRY(dis__field_bool(r, root, "do_basic_tokenize", true, &basic));
    c->accents_given = accents && accents->kind != DIS_JSON_NULL;
    c->max_length = number_of(root, "model_max_length");
    DIS_TRY(parse_special_tokens(r, root));
    if (r->old_files && !basic) return dis__json_fail(&r->json, root, "do_basic_tokenize false is not supported");
    return r->old_files ? parse_added_tokens(r, dis__json_member(root, "added_tokens_decoder")) : DIS_OK;
}

/* Encoders of RoBERTa's family number positions from pad_token_id + 1. */
static dis_status parse_encoder(dis__tokenizer_reader *r, const dis__json_value *root)
{
    static const char *const shifted[] = {"roberta",   "xlm-roberta", "xlm-roberta-xl",
                                          "camembert", "mpnet",       "longformer"};
    const dis__json_value *type = dis__json_member(root, "model_type"), *pad = dis__json_member(root, "pad_token_id");
    double positions = number_of(root, "max_position_embeddings");
    for (size_t i = 0; type && i < sizeof shifted / sizeof *shifted; i++)
        if (dis__json_equals(type, shifted[i]) && positions > 2)
            positions -= (pad && pad->kind == DIS_JSON_NUMBER && pad->number >= 0 ? pad->number : 1) + 1;
    r->config.positions = positions >= 1 ? positions : 0;
    return DIS_OK;
}

static dis_status read_file(dis__tokenizer_reader *r, const char *path,
                            dis_status (*parse)(dis__tokenizer_reader *r, const dis__json_value *root))
{
    dis__input in;
    const dis__json_value *root;
    const dis__json_position place = {.file = path, .line = 1, .column = 1};
    DIS_TRY(dis__input_open_regular(r->ctx, path, DIS_CONFIG_FILE, &in));
    dis_status status = dis__json_parse(&r->json, in.bytes, in.n, &place, &root);
    if (status == DIS_OK && root->kind != DIS_JSON_OBJECT) status = dis__json_fail(&r->json, root, "must be an object");
    if (status == DIS_OK) status = parse(r, root);
    return dis__input_finish(&in, status);
}

dis_status dis__token_config_read(dis__tokenizer_reader *r, const char *folder)
{
    static const struct {
        const char *name;
        dis_status (*parse)(dis__tokenizer_reader *r, const dis__json_value *root);
    } files[] = {{"tokenizer_config.json", parse_config},
                 {"special_tokens_map.json", parse_special_tokens},
                 {"config.json", parse_encoder}};
    r->config.lower = r->config.chinese = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool exists;
        char *path;
        DIS_TRY(dis__file_exists(folder, files[i].name, &exists));
        if (!exists) continue;
        DIS_TRY(dis__path_join(folder, files[i].name, &path));
        const dis_status status = read_file(r, path, files[i].parse);
        dis__free(path);
        DIS_TRY(status);
    }
    return DIS_OK;
}
