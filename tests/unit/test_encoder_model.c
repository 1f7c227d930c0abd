/* Models of pretrained encoders: frozen layers stay, the folder stands alone, what is exported is what was trained.
 * Threads, checkpoints, faults and devices are tested with all other models (train_support.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "support/train_support.h"
#include "dissent/embed.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"

static const float *weight(const dis_model *m, const char *name, size_t *n)
{
    for (size_t i = 0; i < m->weights.n; i++)
        if (strcmp(m->weights.info[i].name, name) == 0) {
            *n = m->weights.info[i].n;
            return m->weights.value[i];
        }
    fail_msg("no weight %s", name);
    return NULL;
}

static dis_model *trained(const crowd *c, const char *spec, const char *objective, const dis_items *items)
{
    dis_model_train_options o = quick(spec, objective);
    const dis_examples e = {
        .size = sizeof(dis_examples), .items = items, .labels = c->soft, .gold = c->gold, .votes = c->votes};
    o.rate = .01;
    return train(&e, NULL, &o, 1);
}

static void frozen(void **state)
{
    (void)state;
    crowd c = read_crowd();
    dis_model *all = trained(&c, "encoder", "kl", c.texts), *none = trained(&c, "encoder:frozen=1", "kl", c.texts);
    static const char *const below[] = {"encoder.words.weight", "encoder.layer.0.qkv.weight"};
    dis__safetensors file;
    dis__input in;
    const char *path = DIS_SOURCE_DIR "/tests/parity/fixtures/encoders/bert_vocabulary/model.safetensors";
    assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
    assert_int_equal(dis__safetensors_open(path, in.bytes, in.n, &file), DIS_OK);
    const dis__tensor *words = dis__safetensors_find(&file, "bert.embeddings.word_embeddings.weight");
    size_t n, m;
    const float *moved = weight(all, below[1], &n), *stayed = weight(none, below[1], &m);
    assert_int_equal(n, m);
    assert_memory_not_equal(moved, stayed, n * sizeof *moved);
    moved = weight(all, below[0], &n);
    stayed = weight(none, below[0], &m);
    assert_int_equal(words->n, n);
    assert_memory_equal(stayed, words->data, n * sizeof *stayed);
    assert_memory_not_equal(moved, words->data, n * sizeof *moved);
    dis__safetensors_close(&file);
    dis__input_close(&in);
    dis_model_destroy(all);
    dis_model_destroy(none);
    free_crowd(&c);
}

static void exported(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const struct {
        const char *spec, *class;
        const dis_items *items;
    } cases[] = {{"encoder", "BertForSequenceClassification", c.pairs},
                 {"encoder-tagger", "BertForTokenClassification", c.tokens}};
    for (size_t i = 0; i < 2; i++) {
        dis_model *m = trained(&c, cases[i].spec, "gold+kl", cases[i].items);
        assert_int_equal(dis_model_export(m, in_folder("exported")), DIS_OK);
        dis__input in;
        dis__safetensors file;
        const char *path = in_folder("exported/model.safetensors");
        assert_int_equal(dis__input_open(NULL, path, &in), DIS_OK);
        assert_int_equal(dis__safetensors_open(path, in.bytes, in.n, &file), DIS_OK);
        size_t n = 0;
        const float *out = weight(m, "out.weight", &n), *qkv = weight(m, "encoder.layer.0.qkv.weight", &n);
        const dis__tensor *classifier = dis__safetensors_find(&file, "classifier.weight");
        const dis__tensor *key = dis__safetensors_find(&file, "bert.encoder.layer.0.attention.self.key.weight");
        assert_non_null(classifier);
        assert_non_null(key);
        assert_memory_equal(classifier->data, out, classifier->n * sizeof *out);
        assert_int_equal(key->n, n / 3);
        assert_memory_equal(key->data, qkv + n / 3, key->n * sizeof *qkv);
        assert_int_equal(dis__safetensors_find(&file, "bert.pooler.dense.weight") != NULL, i == 0);
        dis__safetensors_close(&file);
        dis__input_close(&in);
        assert_int_equal(dis__input_open(NULL, in_folder("exported/config.json"), &in), DIS_OK);
        assert_non_null(memmem(in.bytes, in.n, cases[i].class, strlen(cases[i].class)));
        dis__input_close(&in);
        dis_encoder *e;
        assert_int_equal(dis_encoder_read(NULL, in_folder("exported"), &e), DIS_OK);
        dis_encoder_destroy(e);
        dis_model_destroy(m);
    }
    dis_model *other = trained(&c, "mlp:hidden=4", "kl", c.features);
    assert_int_equal(dis_model_export(other, in_folder("exported")), DIS_EUSAGE);
    dis_model_destroy(other);
    free_crowd(&c);
}

/* Sentences of up to 20 words in pieces of at most 6 tokens, read as one or cut by hand: the same predictions, and
 * words of one sentence are not all judged alike. */
static void long_sentences(void **state)
{
    (void)state;
    crowd c = read_crowd();
    FILE *all_sentences = begin("whole.csv"), *cut = begin("cut.csv");
    fprintf(all_sentences, "task,sentence,token\n");
    fprintf(cut, "task,sentence,token\n");
    for (int i = 0; i < N; i++) { /* each letter is a token; 10 words, room for 4: pieces of 4, 4 and 2 */
        fprintf(all_sentences, "i%d,%d,%c\n", i, i / 10, 'a' + i % 7);
        fprintf(cut, "i%d,%d,%c\n", i, i / 10 * 3 + i % 10 / 4, 'a' + i % 7);
    }
    fclose(all_sentences);
    fclose(cut);
    dis_items_options how = dis_items_options_default();
    how.kind = DIS_ITEMS_TOKENS;
    dis_items *items[2];
    assert_int_equal(dis_items_read(NULL, in_folder("whole.csv"), &how, &items[0]), DIS_OK);
    assert_int_equal(dis_items_read(NULL, in_folder("cut.csv"), &how, &items[1]), DIS_OK);
    dis_labels *p[2];
    for (size_t i = 0; i < 2; i++) {
        dis_model *m = trained(&c, "encoder-tagger:max-length=6,dropout=none", "kl", items[i]);
        assert_int_equal(dis_model_predict(NULL, m, items[0], NULL, &p[i]), DIS_OK);
        dis_model_destroy(m);
    }
    const double *q = dis_labels_get_view(p[0]).p;
    assert_memory_equal(q, dis_labels_get_view(p[1]).p, N * K * sizeof *q);
    assert_memory_not_equal(q + 8 * K, q + 9 * K, K * sizeof *q);
    for (size_t i = 0; i < 2; i++) {
        dis_labels_destroy(p[i]);
        dis_items_destroy(items[i]);
    }
    free_crowd(&c);
}

static void usage(void **state)
{
    (void)state;
    crowd c = read_crowd();
    const dis_examples e = {.size = sizeof(dis_examples), .items = c.texts, .labels = c.soft};
    dis_model *m = NULL;
    dis_model_train_options o = quick("encoder", "kl");
    o.encoder = NULL;
    assert_int_equal(dis_model_train(NULL, &e, NULL, &o, &m), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "`encoder`"));
    o = quick("encoder:max-length=1000", "kl");
    assert_int_equal(dis_model_train(NULL, &e, NULL, &o, &m), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "positions"));
    assert_null(m);
    free_crowd(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frozen), cmocka_unit_test(exported),
                                       cmocka_unit_test(long_sentences), cmocka_unit_test(usage)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
