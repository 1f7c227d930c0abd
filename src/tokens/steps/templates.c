/* Post-processors of tokenizer.json: the special tokens around one text and around two. All of them are represented by
 * two templates and a rule for positions. */
#include "tokens/tokenizer_internal.h"
#include <string.h>

dis__templates dis__templates_plain(void)
{
    const dis__piece a = {.what = DIS_PIECE_FIRST}, b = {.what = DIS_PIECE_SECOND, .type = 1};
    return (dis__templates){.single = {.piece = {a}, .n = 1}, .pair = {.piece = {a, b}, .n = 2}};
}

dis__templates dis__templates_with(int32_t before, int32_t after, bool twice, bool types)
{
    const uint8_t type = types;
    const dis__piece cls = {.what = DIS_PIECE_SPECIAL, .id = before}, sep = {.what = DIS_PIECE_SPECIAL, .id = after};
    const dis__piece a = {.what = DIS_PIECE_FIRST}, b = {.what = DIS_PIECE_SECOND, .type = type};
    const dis__piece last = {.what = DIS_PIECE_SPECIAL, .id = after, .type = type};
    dis__templates t = {.single = {.piece = {cls, a, sep}, .n = 3, .n_special = 2}};
    t.pair = twice ? (dis__template){.piece = {cls, a, sep, sep, b, last}, .n = 6, .n_special = 4}
                   : (dis__template){.piece = {cls, a, sep, b, last}, .n = 5, .n_special = 3};
    return t;
}

/* ["</s>", 2] */
static dis_status read_named(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, int32_t *id)
{
    const dis__json_value *pair = dis__json_member(v, key);
    if (!pair || pair->kind != DIS_JSON_ARRAY || pair->n != 2 || pair[1].kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, pair ? pair : v, "post_processor.%s must be [token, id]", key);
    return dis__field_id(r, pair + 2, key, id);
}

static dis_status read_bert(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out)
{
    int32_t sep, cls;
    DIS_TRY(read_named(r, v, "sep", &sep));
    DIS_TRY(read_named(r, v, "cls", &cls));
    const dis__templates t = dis__templates_with(cls, sep, false, true);
    out->single = t.single;
    out->pair = t.pair;
    return DIS_OK;
}

static dis_status read_trim(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out)
{
    bool trim, prefix;
    DIS_TRY(dis__field_bool(r, v, "trim_offsets", true, &trim));
    DIS_TRY(dis__field_bool(r, v, "add_prefix_space", true, &prefix));
    out->trim |= trim;
    out->trim_prefix |= trim && prefix;
    return DIS_OK;
}

static dis_status read_roberta(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out)
{
    int32_t sep, cls;
    DIS_TRY(read_named(r, v, "sep", &sep));
    DIS_TRY(read_named(r, v, "cls", &cls));
    DIS_TRY(read_trim(r, v, out));
    const dis__templates t = dis__templates_with(cls, sep, true, false);
    out->single = t.single;
    out->pair = t.pair;
    return DIS_OK;
}

/* ---- TemplateProcessing ---- */

static dis_status add_piece(dis__tokenizer_reader *r, const dis__json_value *v, dis__piece piece, dis__template *out)
{
    if (out->n == DIS_MAX_PIECES)
        return dis__json_fail(&r->json, v, "post_processor: a template of more than %d tokens", DIS_MAX_PIECES);
    out->n_special += piece.what == DIS_PIECE_SPECIAL;
    out->piece[out->n++] = piece;
    return DIS_OK;
}

/* The ids of a special token of the template, by its name. */
static dis_status add_special(dis__tokenizer_reader *r, const dis__json_value *tokens, const dis__json_value *name,
                              uint8_t type, dis__template *out)
{
    const dis__json_value *token = NULL, *at = tokens + 1;
    for (uint32_t i = 0; i < tokens->n; i++, at += 1 + at[1].skip)
        if (at->length == name->length && memcmp(at->text, name->text, at->length) == 0) token = at + 1;
    const dis__json_value *ids = dis__field(token, "ids");
    if (!ids || ids->kind != DIS_JSON_ARRAY)
        return dis__json_fail(&r->json, name, "post_processor.special_tokens has no ids for this token");
    at = ids + 1;
    for (uint32_t i = 0; i < ids->n; i++, at += at->skip) {
        dis__piece piece = {.what = DIS_PIECE_SPECIAL, .type = type};
        DIS_TRY(dis__field_id(r, at, "post_processor.special_tokens.ids", &piece.id));
        DIS_TRY(add_piece(r, at, piece, out));
    }
    return DIS_OK;
}

static dis_status read_piece(dis__tokenizer_reader *r, const dis__json_value *v, const dis__json_value *tokens,
                             dis__template *out)
{
    const dis__json_value *sequence = dis__json_member(v, "Sequence"), *special = dis__json_member(v, "SpecialToken");
    const dis__json_value *what = sequence ? sequence : special;
    const dis__json_value *id = dis__field(what, "id"), *type = dis__field(what, "type_id");
    int32_t number = 0;
    if (!id || id->kind != DIS_JSON_STRING || !type)
        return dis__json_fail(&r->json, v, "post_processor: a piece is Sequence or SpecialToken with id and type_id");
    DIS_TRY(dis__field_id(r, type, "type_id", &number));
    if (number > UINT8_MAX) return dis__json_fail(&r->json, type, "type_id must be below 256");
    if (special) return add_special(r, tokens, id, (uint8_t)number, out);
    const bool second = dis__json_equals(id, "B");
    if (!second && !dis__json_equals(id, "A")) return dis__json_fail(&r->json, id, "a Sequence is A or B");
    return add_piece(r, v, (dis__piece){second ? DIS_PIECE_SECOND : DIS_PIECE_FIRST, 0, (uint8_t)number}, out);
}

static dis_status read_one(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, dis__template *out)
{
    const dis__json_value *list = dis__json_member(v, key), *tokens = dis__json_member(v, "special_tokens");
    if (!list || list->kind != DIS_JSON_ARRAY)
        return dis__json_fail(&r->json, list ? list : v, "post_processor.%s must be a list", key);
    if (!tokens || tokens->kind != DIS_JSON_OBJECT)
        return dis__json_fail(&r->json, tokens ? tokens : v, "post_processor.special_tokens must be an object");
    if (list->n > DIS_MAX_PIECES)
        return dis__json_fail(&r->json, list, "post_processor.%s has more than %d pieces", key, DIS_MAX_PIECES);
    *out = (dis__template){0};
    const dis__json_value *at = list + 1;
    for (uint32_t i = 0; i < list->n; i++, at += at->skip) DIS_TRY(read_piece(r, at, tokens, out));
    size_t count[3] = {0};
    for (size_t i = 0; i < out->n; i++) count[out->piece[i].what]++;
    const size_t seconds = strcmp(key, "pair") == 0;
    if (count[DIS_PIECE_FIRST] != 1 || count[DIS_PIECE_SECOND] != seconds)
        return dis__json_fail(&r->json, list, "post_processor.%s must have the text%s once", key,
                              seconds ? "s A and B" : " A");
    return DIS_OK;
}

static dis_status read_template(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out)
{
    dis__template single, pair;
    DIS_TRY(read_one(r, v, "single", &single));
    DIS_TRY(read_one(r, v, "pair", &pair));
    out->single = single;
    out->pair = pair;
    return DIS_OK;
}

static const struct {
    const char *name, *fields;
    bool shapes; /* puts special tokens around */
    dis_status (*read)(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out);
} kinds[] = {
    {"BertProcessing", "sep cls", true, read_bert},
    {"RobertaProcessing", "sep cls trim_offsets add_prefix_space", true, read_roberta},
    {"TemplateProcessing", "single pair special_tokens", true, read_template},
    {"ByteLevel", "add_prefix_space trim_offsets use_regex", false, read_trim},
};

static dis_status read_any(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out, bool *shaped)
{
    const dis__json_value *type = dis__json_member(v, "type"), *list = dis__json_member(v, "processors");
    if (!type || type->kind != DIS_JSON_STRING) return dis__fail_unknown_type(r, v, "post_processor");
    if (dis__json_equals(type, "Sequence") && list && list->kind == DIS_JSON_ARRAY) {
        DIS_TRY(dis__check_fields(r, v, "post_processor", "processors"));
        const dis__json_value *at = list + 1;
        for (uint32_t i = 0; i < list->n; i++, at += at->skip) DIS_TRY(read_any(r, at, out, shaped));
        return DIS_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!dis__json_equals(type, kinds[i].name)) continue;
        DIS_TRY(dis__check_fields(r, v, "post_processor", kinds[i].fields));
        if (kinds[i].shapes && *shaped)
            return dis__json_fail(&r->json, v, "post_processor: a second one that adds tokens is not supported");
        *shaped |= kinds[i].shapes;
        return kinds[i].read(r, v, out);
    }
    return dis__fail_unknown_type(r, v, "post_processor");
}

dis_status dis__templates_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out)
{
    bool shaped = false;
    *out = dis__templates_plain();
    return v && v->kind != DIS_JSON_NULL ? read_any(r, v, out, &shaped) : DIS_OK;
}
