/* Taggers of Fornaciari et al. (2021, multi-task learning) and Uma et al. (2020): a bidirectional LSTM over the words
 * of a sentence, taken at the token, and another over the token's characters, taken at both ends; or GRUs in their
 * place. The first puts the two side by side through attention encoders that see one position; the second weighs them
 * by additive attention.
 *
 * Words and characters are rows of tables, which recurrent layers multiply row by row where a table has fewer rows than
 * a batch has places: always so for characters.
 *
 * Cost of a batch forward: 16 hidden (min(tokens, n_words) word_width + n_characters character_width + (tokens +
 * different beginnings and endings of words / 2) hidden) operations for the LSTMs (GRUs: 12); the encoders 2 tokens (2
 * c^2 + 2 c feed) per layer, c = 4 hidden, outside training 2 tokens (c^2 + 2 c feed). */
#include "nn/models/nets.h"
#include <stdio.h>

dis__tagger_options dis__tagger_options_default(void)
{
    return (dis__tagger_options){
        .size = sizeof(dis__tagger_options),
        .kind = DIS_TAGGER_ENCODER,
        .cell = DIS_CELL_LSTM,
        .n_words = 1,
        .n_characters = 1,
        .word_width = 300,
        .character_width = 100,
        .hidden = 256,
        .encoder_layers = 2,
        .encoder_heads = 2,
        .feed = 2048,
        .dropout = .1,
        .sentences = 64,
        .positions = 100,
        .tokens = 1024,
        .distinct = 1024,
        .characters = 15,
    };
}

static int encode(dis__net *net, const dis__tagger_options *o, const char *name, int x)
{
    for (size_t i = 0; i < o->encoder_layers; i++) {
        char text[DIS_NET_NAME / 2];
        snprintf(text, sizeof text, "%.16s.%zu", name, i);
        x = dis__layer_encoder(net, text, x, DIS_NONE, o->encoder_heads, o->feed, DIS_ACT_RELU, o->dropout, true);
    }
    return x;
}

/* tanh(W x + b) to one score for either vector, and their mean weighted by the softmax of the scores. */
static int weigh_two(dis__net *net, int word, int spelling, size_t width)
{
    const int both = dis__layer_reshape(net, dis__layer_concat(net, (int[]){word, spelling}, 2), 1, 2, width);
    const int hidden = dis__layer_linear(net, "attention.hidden", both, width, DIS_ACT_TANH);
    return dis__layer_weigh(net, both, dis__layer_linear(net, "attention.score", hidden, 1, DIS_ACT_NONE), DIS_NONE);
}

/* Whole blocks of rows; a step without nodes costs next to nothing. */
dis__tagger_sizes dis__tagger_round(const dis__net *net, dis__tagger_sizes batch)
{
    return (dis__tagger_sizes){.sentences = dis__net_round(net, batch.sentences, DIS_RECURRENT_BLOCK),
                               .positions = dis__net_round(net, batch.positions, 16),
                               .distinct = dis__net_round(net, batch.distinct, DIS_RECURRENT_BLOCK),
                               .characters = dis__net_round(net, batch.characters, 8)};
}

dis__tagger dis__tagger_build(dis__net *net, const dis__tagger_options *o)
{
    dis__tagger t;
    const dis__tagger_sizes largest =
        dis__tagger_round(net, (dis__tagger_sizes){o->sentences, o->positions, o->distinct, o->characters});
    t.sentences = dis__net_axis(net, largest.sentences);
    t.positions = dis__net_axis(net, largest.positions);
    t.tokens = dis__net_axis_packed(net, o->tokens);
    t.distinct = dis__net_axis(net, largest.distinct);
    t.characters = dis__net_axis(net, largest.characters);
    t.word_ids = dis__net_ints(net, "words", t.sentences, t.positions, 1);
    t.lengths = dis__net_ints(net, "lengths", t.sentences, DIS_NONE, 1);
    t.character_ids = dis__net_ints(net, "characters", t.distinct, t.characters, 1);
    t.spelt = dis__net_ints(net, "spelt", t.distinct, DIS_NONE, 1);
    t.place = dis__net_ints(net, "place", t.tokens, DIS_NONE, 1);
    t.word = dis__net_ints(net, "word", t.tokens, DIS_NONE, 1);

    const int words = dis__layer_table(net, "words", o->n_words, o->word_width);
    int x = dis__layer_lookup_recurrent(net, "context", o->cell, t.word_ids, words, t.lengths, o->hidden, true, 1, 0);
    x = dis__layer_gather(net, x, t.place);
    const int letters = dis__layer_table(net, "characters", o->n_characters, o->character_width);
    int y =
        dis__layer_lookup_recurrent(net, "spelling", o->cell, t.character_ids, letters, t.spelt, o->hidden, true, 1, 0);
    y = dis__layer_gather(net, dis__layer_pool(net, y, t.spelt, DIS_POOL_ENDS), t.word);

    t.trunk = o->kind == DIS_TAGGER_ENCODER ? encode(net, o, "encoder", dis__layer_concat(net, (int[]){x, y}, 2))
                                            : weigh_two(net, x, y, 2 * o->hidden);
    return t;
}

int dis__tagger_head(dis__net *net, const dis__tagger_options *o, const dis__tagger *tagger, const char *name,
                     size_t n_classes)
{
    char text[DIS_NET_NAME / 2];
    int x = tagger->trunk;
    if (o->kind == DIS_TAGGER_ENCODER) {
        x = encode(net, o, name, x);
        snprintf(text, sizeof text, "%.16s.hidden", name);
        x = dis__layer_linear(net, text, x, 2 * o->hidden, DIS_ACT_RELU);
    }
    snprintf(text, sizeof text, "%.16s.out", name);
    return dis__layer_linear(net, text, x, n_classes, DIS_ACT_NONE);
}
