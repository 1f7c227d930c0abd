/* Taggers of Fornaciari et al. (2021, multi-task learning) and Uma et al. (2020): a bidirectional LSTM over the words
 * of a sentence, taken at the token, and another over the token's characters, taken at both ends; or GRUs in their
 * position. The first concatenates the two and passes them through attention encoders that see one position; the second
 * weighs them by additive attention, or passes them through linear layers.
 *
 * In the released network of the former words and sentences end in a learned padding vector. Forward states do not
 * depend on what comes later, so padded sentences are read by two layers in one direction: words up to the sentence's
 * length, and words from the padded end. Rows that begin with the same padding share its states. Both states of the
 * characters are taken at the last position, where the backward layer has made one step.
 *
 * Words and characters are rows of tables, which recurrent layers multiply row by row where a table has fewer rows than
 * a batch has positions: always so for characters.
 *
 * Cost of a batch forward: 16 hidden (min(tokens, n_words) word_width + n_characters character_width + (tokens +
 * distinct beginnings and endings of words / 2) hidden) operations for the LSTMs (GRUs: 12); the encoders 2 tokens (2
 * c^2 + 2 c feed) per layer, c = 4 hidden, outside training 2 tokens (c^2 + 2 c feed). */
#include "nn/models/network_models.h"
#include <stdio.h>

dis__tagger_options dis__tagger_options_default(void)
{
    dis__attention_encoder encoder = dis__attention_encoder_default();
    encoder.layers = encoder.heads = 2;
    return (dis__tagger_options){
        .size = sizeof(dis__tagger_options),
        .kind = DIS_TAGGER_ENCODER,
        .cell = DIS_CELL_LSTM,
        .n_words = 1,
        .n_characters = 1,
        .word_width = 300,
        .character_width = 100,
        .hidden = 256,
        .encoder = encoder,
        .dropout = .1,
        .head_relu = true,
        .sentences = 64,
        .positions = 100,
        .tokens = 1024,
        .distinct = 1024,
        .characters = 15,
    };
}

/* tanh(W x + b) to one score for either vector, and their mean weighted by the softmax of the scores. */
static int weigh_two(dis__net *net, int word, int spelling, size_t width)
{
    const int both = dis__layer_reshape(net, dis__layer_concat(net, (int[]){word, spelling}, 2), 1, 2, width);
    const int hidden = dis__layer_linear(net, "attention.hidden", both, width, DIS_ACT_TANH);
    return dis__layer_softmax_pool(net, both, dis__layer_linear(net, "attention.score", hidden, 1, DIS_ACT_NONE),
                                   DIS_NONE);
}

/* Full blocks of rows; a step without nodes is nearly free. */
dis__tagger_sizes dis__tagger_round(const dis__net *net, dis__tagger_sizes batch)
{
    return (dis__tagger_sizes){.sentences = dis__net_round(net, batch.sentences, DIS_RECURRENT_BLOCK),
                               .positions = dis__net_round(net, batch.positions, 16),
                               .distinct = dis__net_round(net, batch.distinct, DIS_RECURRENT_BLOCK),
                               .characters = dis__net_round(net, batch.characters, 8)};
}

static int read_once(dis__net *net, const dis__tagger_options *o, const char *name, int ids, int table, int lengths,
                     bool both)
{
    return dis__layer_lookup_recurrent(net, name, o->cell, ids, table, lengths, o->hidden, both, 1, 0);
}

/* Both states of each token's position in its sentence. */
static int read_words(dis__net *net, const dis__tagger_options *o, const dis__tagger *t)
{
    const int words = dis__layer_table(net, "words", o->n_words, o->word_width);
    const int x = read_once(net, o, "context", t->word_ids, words, t->lengths, !o->padded);
    if (!o->padded) return dis__layer_gather(net, x, t->place);
    const int y = read_once(net, o, "context.reverse", t->reversed, words, DIS_NONE, false);
    return dis__layer_concat(net, (int[]){dis__layer_gather(net, x, t->place), dis__layer_gather(net, y, t->from_end)},
                             2);
}

/* Both states of each token's characters. */
static int read_characters(dis__net *net, const dis__tagger_options *o, const dis__tagger *t)
{
    const int table = dis__layer_table(net, "characters", o->n_characters, o->character_width);
    const int x = read_once(net, o, "spelling", t->character_ids, table, t->spelt, !o->last_state);
    if (!o->last_state) return dis__layer_gather(net, dis__layer_pool(net, x, t->spelt, DIS_POOL_ENDS), t->word);
    const int y = read_once(net, o, "spelling.reverse", t->last, table, DIS_NONE, false);
    const int ends[] = {dis__layer_pool(net, x, t->spelt, DIS_POOL_LAST),
                        dis__layer_pool(net, y, DIS_NONE, DIS_POOL_LAST)};
    return dis__layer_gather(net, dis__layer_concat(net, ends, 2), t->word);
}

static int together(dis__net *net, const dis__tagger_options *o, int word, int spelling)
{
    if (o->kind == DIS_TAGGER_ADDITIVE) return weigh_two(net, word, spelling, 2 * o->hidden);
    int x = dis__layer_concat(net, (int[]){word, spelling}, 2);
    if (o->kind == DIS_TAGGER_ENCODER) {
        x = dis__attention_encoder_build(net, "encoder", x, &o->encoder);
        return o->dropout_between ? dis__layer_dropout(net, x, o->dropout) : x;
    }
    for (size_t i = 0; i < o->n_linears; i++) {
        char text[DIS_NET_NAME / 2];
        snprintf(text, sizeof text, "hidden.%zu", i);
        x = dis__layer_dropout(net, dis__layer_linear(net, text, x, o->linear[i], DIS_ACT_RELU), o->dropout);
    }
    return x;
}

static void add_inputs(dis__net *net, const dis__tagger_options *o, dis__tagger *t)
{
    const dis__tagger_sizes largest =
        dis__tagger_round(net, (dis__tagger_sizes){o->sentences, o->positions, o->distinct, o->characters});
    t->sentences = dis__net_axis(net, largest.sentences);
    t->positions = dis__net_axis(net, largest.positions);
    t->tokens = dis__net_axis_packed(net, o->tokens);
    t->distinct = dis__net_axis(net, largest.distinct);
    t->characters = dis__net_axis(net, largest.characters);
    t->word_ids = dis__net_ints(net, "words", t->sentences, t->positions, 1);
    t->lengths = dis__net_ints(net, "lengths", t->sentences, DIS_NONE, 1);
    t->character_ids = dis__net_ints(net, "characters", t->distinct, t->characters, 1);
    t->spelt = dis__net_ints(net, "spelt", t->distinct, DIS_NONE, 1);
    t->place = dis__net_ints(net, "place", t->tokens, DIS_NONE, 1);
    t->word = dis__net_ints(net, "word", t->tokens, DIS_NONE, 1);
    if (o->padded) {
        t->reversed = dis__net_ints(net, "reversed", t->sentences, dis__net_axis(net, o->positions), 1);
        t->from_end = dis__net_ints(net, "from end", t->tokens, DIS_NONE, 1);
    }
    if (o->last_state) t->last = dis__net_ints(net, "last", t->distinct, dis__net_axis(net, 1), 1);
}

dis__tagger dis__tagger_build(dis__net *net, const dis__tagger_options *o)
{
    dis__tagger t = {.reversed = DIS_NONE, .from_end = DIS_NONE, .last = DIS_NONE};
    add_inputs(net, o, &t);
    const int words = read_words(net, o, &t), characters = read_characters(net, o, &t);
    t.trunk = together(net, o, words, characters);
    if (o->frozen) {
        dis__net_freeze(net, "words.");
        dis__net_freeze(net, "characters.");
    }
    return t;
}

int dis__tagger_head(dis__net *net, const dis__tagger_options *o, const dis__tagger *tagger, const char *name,
                     size_t n_classes)
{
    char text[DIS_NET_NAME / 2];
    int x = tagger->trunk;
    if (o->kind == DIS_TAGGER_ENCODER) {
        x = dis__attention_encoder_build(net, name, x, &o->encoder);
        snprintf(text, sizeof text, "%.16s.hidden", name);
        x = dis__layer_linear(net, text, x, 2 * o->hidden, o->head_relu ? DIS_ACT_RELU : DIS_ACT_NONE);
    }
    snprintf(text, sizeof text, "%.16s.out", name);
    return dis__layer_linear(net, text, x, n_classes, DIS_ACT_NONE);
}
