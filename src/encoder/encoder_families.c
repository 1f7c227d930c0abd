/* The families of encoders, a row each: BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and XLM-RoBERTa (Conneau
 * et al. 2020), DistilBERT (Sanh et al. 2019), ELECTRA's discriminator (Clark et al. 2020), MPNet (Song et al. 2020).
 * Names of arrays and fields, and what stands for absent fields, are those of transformers. */
#include "encoder/encoder.h"
#include <math.h>

/* The pooler, by its name beside the encoder's arrays. */
#define POOLER                                                  \
    {                                                           \
        "pooler.dense", "classifier", DIS_ACT_TANH, true, false \
    }
#define AT(member) offsetof(dis__encoder_config, member)
#define END                                      \
    {                                            \
        NULL, DIS_CONFIG_FIXED, 0, 0, NULL, NULL \
    }

/* What no family has, whatever it is set to. */
#define ABSENT                                                          \
    {"is_decoder", DIS_CONFIG_FIXED, 0, 0, "false", NULL},              \
        {"add_cross_attention", DIS_CONFIG_FIXED, 0, 0, "false", NULL}, \
        {"is_encoder_decoder", DIS_CONFIG_FIXED, 0, 0, "false", NULL},  \
        {"pruned_heads", DIS_CONFIG_FIXED, 0, 0, "{}", NULL},           \
    {                                                                   \
        "quantization_config", DIS_CONFIG_FIXED, 0, 0, "null", NULL     \
    }

#define BERT_FIELDS                                                                                \
    {"vocab_size", DIS_CONFIG_SIZE, AT(n_words), NAN, NULL, NULL},                                 \
        {"hidden_size", DIS_CONFIG_SIZE, AT(width), NAN, NULL, NULL},                              \
        {"num_hidden_layers", DIS_CONFIG_SIZE, AT(n_layers), NAN, NULL, NULL},                     \
        {"num_attention_heads", DIS_CONFIG_SIZE, AT(n_heads), NAN, NULL, NULL},                    \
        {"intermediate_size", DIS_CONFIG_SIZE, AT(feed), NAN, NULL, NULL},                         \
        {"max_position_embeddings", DIS_CONFIG_SIZE, AT(n_positions), NAN, NULL, NULL},            \
        {"hidden_act", DIS_CONFIG_ACTIVATION, AT(act), 0, NULL, NULL},                             \
        {"layer_norm_eps", DIS_CONFIG_REAL, AT(epsilon), 1e-12, NULL, NULL},                       \
        {"hidden_dropout_prob", DIS_CONFIG_REAL, AT(dropout), .1, NULL, NULL},                     \
        {"attention_probs_dropout_prob", DIS_CONFIG_REAL, AT(attention_dropout), .1, NULL, NULL},  \
        {"classifier_dropout", DIS_CONFIG_REAL, AT(top_dropout), .1, NULL, "hidden_dropout_prob"}, \
        {"position_embedding_type", DIS_CONFIG_FIXED, 0, 0, "absolute", NULL}, ABSENT

static const dis__encoder_config_field bert[] = {BERT_FIELDS,
                                                 {"type_vocab_size", DIS_CONFIG_SIZE, AT(n_types), 2, NULL, NULL},
                                                 {"pad_token_id", DIS_CONFIG_COUNT, AT(padding), 0, NULL, NULL},
                                                 END};
static const dis__encoder_config_field roberta[] = {BERT_FIELDS,
                                                    {"type_vocab_size", DIS_CONFIG_SIZE, AT(n_types), 2, NULL, NULL},
                                                    {"pad_token_id", DIS_CONFIG_COUNT, AT(padding), 1, NULL, NULL},
                                                    END};
static const dis__encoder_config_field electra[] = {BERT_FIELDS,
                                                    {"type_vocab_size", DIS_CONFIG_SIZE, AT(n_types), 2, NULL, NULL},
                                                    {"pad_token_id", DIS_CONFIG_COUNT, AT(padding), 0, NULL, NULL},
                                                    {"embedding_size", DIS_CONFIG_SIZE, AT(embedding), 128, NULL, NULL},
                                                    END};
static const dis__encoder_config_field mpnet[] = {BERT_FIELDS,
                                                  /* The code of MPNet computes with no others. */
                                                  {"relative_attention_num_buckets", DIS_CONFIG_FIXED, 0, 0, "32",
                                                   NULL},
                                                  {"pad_token_id", DIS_CONFIG_FIXED, 0, 0, "1", NULL},
                                                  END};
static const dis__encoder_config_field distilbert[] = {
    {"vocab_size", DIS_CONFIG_SIZE, AT(n_words), NAN, NULL, NULL},
    {"dim", DIS_CONFIG_SIZE, AT(width), NAN, NULL, NULL},
    {"n_layers", DIS_CONFIG_SIZE, AT(n_layers), NAN, NULL, NULL},
    {"n_heads", DIS_CONFIG_SIZE, AT(n_heads), NAN, NULL, NULL},
    {"hidden_dim", DIS_CONFIG_SIZE, AT(feed), NAN, NULL, NULL},
    {"max_position_embeddings", DIS_CONFIG_SIZE, AT(n_positions), NAN, NULL, NULL},
    {"activation", DIS_CONFIG_ACTIVATION, AT(act), 0, NULL, NULL},
    {"dropout", DIS_CONFIG_REAL, AT(dropout), .1, NULL, NULL},
    {"attention_dropout", DIS_CONFIG_REAL, AT(attention_dropout), .1, NULL, NULL},
    {"seq_classif_dropout", DIS_CONFIG_REAL, AT(top_dropout), .2, NULL, NULL},
    {"pad_token_id", DIS_CONFIG_COUNT, AT(padding), 0, NULL, NULL},
    ABSENT,
    END};

static const dis__encoder_array bert_embeddings[] = {{"embeddings.word_embeddings", "words", 0, 1, true},
                                                     {"embeddings.position_embeddings", "positions", 0, 1, true},
                                                     {"embeddings.token_type_embeddings", "types", 0, 1, true},
                                                     {"embeddings.LayerNorm", "norm", 0, 1, false},
                                                     {NULL, NULL, 0, 0, false}};
static const dis__encoder_array electra_embeddings[] = {{"embeddings.word_embeddings", "words", 0, 1, true},
                                                        {"embeddings.position_embeddings", "positions", 0, 1, true},
                                                        {"embeddings.token_type_embeddings", "types", 0, 1, true},
                                                        {"embeddings.LayerNorm", "norm", 0, 1, false},
                                                        {"embeddings_project", "project", 0, 1, false},
                                                        {NULL, NULL, 0, 0, false}};
static const dis__encoder_array plain_embeddings[] = {{"embeddings.word_embeddings", "words", 0, 1, true},
                                                      {"embeddings.position_embeddings", "positions", 0, 1, true},
                                                      {"embeddings.LayerNorm", "norm", 0, 1, false},
                                                      {NULL, NULL, 0, 0, false}};
static const dis__encoder_array mpnet_embeddings[] = {{"embeddings.word_embeddings", "words", 0, 1, true},
                                                      {"embeddings.position_embeddings", "positions", 0, 1, true},
                                                      {"embeddings.LayerNorm", "norm", 0, 1, false},
                                                      {"encoder.relative_attention_bias", "relative", 0, 1, true},
                                                      {NULL, NULL, 0, 0, false}};

static const dis__encoder_array bert_layer[] = {{"attention.self.query", "qkv", 0, 3, false},
                                                {"attention.self.key", "qkv", 1, 3, false},
                                                {"attention.self.value", "qkv", 2, 3, false},
                                                {"attention.output.dense", "proj", 0, 1, false},
                                                {"attention.output.LayerNorm", "norm1", 0, 1, false},
                                                {"intermediate.dense", "up", 0, 1, false},
                                                {"output.dense", "down", 0, 1, false},
                                                {"output.LayerNorm", "norm2", 0, 1, false},
                                                {NULL, NULL, 0, 0, false}};
static const dis__encoder_array mpnet_layer[] = {{"attention.attn.q", "qkv", 0, 3, false},
                                                 {"attention.attn.k", "qkv", 1, 3, false},
                                                 {"attention.attn.v", "qkv", 2, 3, false},
                                                 {"attention.attn.o", "proj", 0, 1, false},
                                                 {"attention.LayerNorm", "norm1", 0, 1, false},
                                                 {"intermediate.dense", "up", 0, 1, false},
                                                 {"output.dense", "down", 0, 1, false},
                                                 {"output.LayerNorm", "norm2", 0, 1, false},
                                                 {NULL, NULL, 0, 0, false}};
static const dis__encoder_array distilbert_layer[] = {{"attention.q_lin", "qkv", 0, 3, false},
                                                      {"attention.k_lin", "qkv", 1, 3, false},
                                                      {"attention.v_lin", "qkv", 2, 3, false},
                                                      {"attention.out_lin", "proj", 0, 1, false},
                                                      {"sa_layer_norm", "norm1", 0, 1, false},
                                                      {"ffn.lin1", "up", 0, 1, false},
                                                      {"ffn.lin2", "down", 0, 1, false},
                                                      {"output_layer_norm", "norm2", 0, 1, false},
                                                      {NULL, NULL, 0, 0, false}};

static const dis__encoder_family families[] = {
    {.model_type = "bert",
     .class = "Bert",
     .prefix = "bert.",
     .summary = "BERT, and MiniLM in its shape",
     .fields = bert,
     .embeddings = bert_embeddings,
     .in_layer = bert_layer,
     .layer = "encoder.layer.",
     .top = POOLER,
     .choice = POOLER,
     .types = true},
    {.model_type = "roberta",
     .class = "Roberta",
     .prefix = "roberta.",
     .summary = "RoBERTa",
     .fields = roberta,
     .embeddings = bert_embeddings,
     .in_layer = bert_layer,
     .layer = "encoder.layer.",
     .top = {"classifier.dense", "classifier.out_proj", DIS_ACT_TANH, false, true},
     .choice = POOLER,
     .shifted = true},
    {.model_type = "xlm-roberta",
     .class = "XLMRoberta",
     .prefix = "roberta.",
     .summary = "XLM-RoBERTa",
     .fields = roberta,
     .embeddings = bert_embeddings,
     .in_layer = bert_layer,
     .layer = "encoder.layer.",
     .top = {"classifier.dense", "classifier.out_proj", DIS_ACT_TANH, false, true},
     .choice = POOLER,
     .shifted = true},
    {.model_type = "distilbert",
     .class = "DistilBert",
     .prefix = "distilbert.",
     .summary = "DistilBERT",
     .fields = distilbert,
     .embeddings = plain_embeddings,
     .in_layer = distilbert_layer,
     .layer = "transformer.layer.",
     .top = {"pre_classifier", "classifier", DIS_ACT_RELU, false, false},
     .choice = {"pre_classifier", "classifier", DIS_ACT_RELU, false, false}},
    {.model_type = "electra",
     .class = "Electra",
     .prefix = "electra.",
     .summary = "ELECTRA's discriminator",
     .fields = electra,
     .embeddings = electra_embeddings,
     .in_layer = bert_layer,
     .layer = "encoder.layer.",
     .top = {"classifier.dense", "classifier.out_proj", DIS_ACT_GELU, false, true},
     .choice = {"sequence_summary.summary", "classifier", DIS_ACT_GELU, false, false},
     .types = true},
    {.model_type = "mpnet",
     .class = "MPNet",
     .prefix = "mpnet.",
     .summary = "MPNet, whose layers share biases by the distance of two tokens",
     .fields = mpnet,
     .embeddings = mpnet_embeddings,
     .in_layer = mpnet_layer,
     .layer = "encoder.layer.",
     .top = {"classifier.dense", "classifier.out_proj", DIS_ACT_TANH, false, true},
     .choice = POOLER,
     .shifted = true,
     .relative = true},
};

const dis__encoder_family *dis__encoder_family_at(size_t i)
{
    return i < sizeof families / sizeof *families ? &families[i] : NULL;
}
