/* Multiple choice: an item has some texts that all its choices share (a question, the two ends of a story) and then one
 * text per choice. The encoder reads what is shared and one choice as a pair, a linear layer gives it one score, and
 * the scores of an item's choices are its logits (Devlin et al. 2019, section 4.4). What is shared is in memory once
 * per item. */
#include "train/models/encoder_model.h"
#include "core/memory/memory.h"
#include <string.h>

dis_status dis__choices_check(const dis_items_view *items, size_t n)
{
    if (items->kind != DIS_ITEMS_TEXT)
        return dis__fail(DIS_EUSAGE, "choices=%zu is for items of texts, the last of which are the choices", n);
    if (n < 2) return dis__fail(DIS_EUSAGE, "choices=%zu; there must be two to choose from", n);
    if (items->n_texts < n) return dis__fail(DIS_EUSAGE, "choices=%zu and items of %zu texts", n, items->n_texts);
    return DIS_OK;
}

/* The first n texts of all items, joined by spaces; end[i]: behind those of item i. */
static dis_status join_shared(const dis_items_view *items, size_t n, char **out, size_t *end)
{
    size_t room = 1, length;
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t t = 0; t < n; t++) {
            dis_names_get(items->texts, i * items->n_texts + t, &length);
            room += length + 1;
        }
    DIS_TRY(dis__alloc_array(out, room, 1));
    char *at = *out;
    for (size_t i = 0; i < items->n_items; i++) {
        for (size_t t = 0; t < n; t++) {
            const char *text = dis_names_get(items->texts, i * items->n_texts + t, &length);
            if (t) *at++ = ' ';
            memcpy(at, text, length);
            at += length;
        }
        end[i] = (size_t)(at - *out);
    }
    return DIS_OK;
}

static void put_texts(const dis_items_view *items, size_t n, const char *shared, const size_t *end,
                      dis_token_text *texts)
{
    const size_t before = items->n_texts - n;
    for (size_t i = 0; i < items->n_items; i++) {
        const size_t first = i ? end[i - 1] : 0;
        for (size_t c = 0; c < n; c++) {
            dis_token_text *to = &texts[i * n + c];
            size_t length;
            const char *choice = dis_names_get(items->texts, i * items->n_texts + before + c, &length);
            *to = before ? (dis_token_text){shared + first, end[i] - first, choice, length}
                         : (dis_token_text){choice, length, NULL, 0};
        }
    }
}

dis_status dis__encode_choices(dis_context *ctx, const dis_tokenizer *t, const dis_items_view *items, size_t n,
                               const dis_tokenizer_options *o, dis_tokens **tokens)
{
    char *shared = NULL;
    size_t *end = NULL;
    dis_token_text *texts = NULL;
    dis_status status;
    const size_t n_texts = dis__saturating_size(items->n_items, n, 0);
    DIS_TRY_GOTO(status, dis__alloc_array(&end, items->n_items, sizeof *end), done);
    DIS_TRY_GOTO(status, dis__alloc_array(&texts, n_texts, sizeof *texts), done);
    DIS_TRY_GOTO(status, join_shared(items, items->n_texts - n, &shared, end), done);
    put_texts(items, n, shared, end, texts);
    status = dis_tokenizer_encode(ctx, t, texts, n_texts, o, tokens);
done:
    dis__free(shared);
    dis__free(end);
    dis__free(texts);
    return status;
}
