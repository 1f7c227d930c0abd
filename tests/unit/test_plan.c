/* Plans: every kind of malformed file with its exact message, grids, names, keys, and the reference in the manual. */
#include "experiment/plan/plan.h"
#include "dissent/dissent.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/plan_cases.h"

#define DATA         "data: {d: {items: items.csv, votes: votes.csv, gold: gold.csv, human: standard}}\n"
#define HEAD         "name: t\n" DATA
#define TAIL         "measure: {test: accuracy}\ncells: [{objective: gold, model: text}]\n"
#define CELLS(cells) HEAD "measure: {test: accuracy}\ncells:\n" cells
#define SPLIT(split) "name: t\ndata: {d: {items: items.csv, gold: gold.csv}}\nsplit: " split "\n" TAIL

static const struct {
    const char *text, *message;
} malformed[] = {
#include "support/plan_malformed.h"
};

static dis_status read_text(const char *text, dis__plan **plan)
{
    return dis__plan_read(NULL, put_text("e.yaml", text), folder, plan);
}

static void test_malformed(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        dis__plan *plan = NULL;
        const dis_status status = read_text(malformed[i].text, &plan);
        const char *message = dis_last_error(), *at = strstr(message, "e.yaml:");
        char message_text[2048];
        snprintf(message_text, sizeof message_text, "%s", at ? at + 7 : message);
        for (char *f; (f = strstr(message_text, folder));)
            memmove(f, f + strlen(folder), strlen(f + strlen(folder)) + 1);
        /* What the tables of the library have more of some day is not compared. */
        const char *expected = malformed[i].message, *rest = strstr(expected, "...");
        const size_t n = rest && !rest[3] ? (size_t)(rest - expected) : strlen(message_text) + 1;
        if (status == DIS_OK || strncmp(message_text, expected, n) != 0) {
            printf("--- case %zu (status %d)\n%s\n--> %s\n    %s\n", i, (int)status, malformed[i].text, message_text,
                   malformed[i].message);
            wrong++;
        }
        assert_true(plan == NULL || status == DIS_OK);
        if (status == DIS_OK) dis__plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
}

/* ---- cells ---- */

static dis__plan *plan_of(const char *text)
{
    dis__plan *plan = NULL;
    if (read_text(text, &plan) != DIS_OK) fail_msg("%s", dis_last_error());
    return plan;
}

static void test_grid(void **state)
{
    (void)state;
    dis__plan *plan = plan_of(
        "name: t\nabout: words\n"
        "data:\n"
        "  d: {items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, split: {by: folds, column: fold}}\n"
        "  e: {votes: votes.csv, gold: gold.csv}\n"
        "labels: {both: {methods: [standard, softmax]}}\n"
        "defaults: {data: d, model: \"text:width=4\", epochs: [1, 2], baseline: \"gold {epochs}\"}\n"
        "seeds: [7, 3]\n"
        "measure: {test: [accuracy, kl]}\n"
        "published: {\"labels on e\": {kl: .25}}\n"
        "significance: {resamples: 50, fraction: .33, pool_seeds: yes}\n"
        "keep_predictions: no\n"
        "cells:\n"
        "  - {name: \"gold {epochs}\", objective: gold}\n"
        "  - {objective: [kl, soft-ce], labels: [both, mace], published: {test.accuracy: .5}}\n"
        "  - {name: labels on e, data: e, labels: both, epochs: 1, baseline: labels on e}\n");
    static const char *const names[] = {
        "gold 1",
        "gold 2",
        "kl, both, epochs=1",
        "kl, both, epochs=2",
        "kl, mace, epochs=1",
        "kl, mace, epochs=2",
        "soft-ce, both, epochs=1",
        "soft-ce, both, epochs=2",
        "soft-ce, mace, epochs=1",
        "soft-ce, mace, epochs=2",
        "labels on e",
    };
    assert_int_equal(plan->n_cells, 11);
    for (size_t c = 0; c < 11; c++) assert_string_equal(plan->cell[c].name, names[c]);
    assert_true(plan->cell[0].baseline == SIZE_MAX && plan->cell[10].baseline == SIZE_MAX);
    assert_true(plan->cell[4].baseline == 0 && plan->cell[9].baseline == 1);
    assert_true(isnan(plan->cell[0].published[0]) && plan->cell[5].published[0] == .5 &&
                plan->cell[10].published[1] == .25 && isnan(plan->cell[10].published[0]));
    assert_string_equal(plan->cell[10].data, "e");
    assert_int_equal(plan->cell[2].n_settings, 5);
    assert_string_equal(plan->cell[2].setting[0].key, "objective");
    assert_string_equal(plan->cell[2].setting[4].value, "1");
    /* Ten cells that train on four folds with two seeds, and one that trains nothing and has no split. */
    assert_int_equal(plan->n_runs, 10 * 4 * 2 + 1);
    assert_true(plan->run[0].seed == 7 && plan->run[1].seed == 3 && plan->run[2].fold == 1 && plan->run[80].cell == 10);
    /* They are done seed by seed: the first seed of all cells, with the one that has no other, then the second. */
    bool met[81] = {false};
    for (size_t i = 0; i < plan->n_runs; i++) {
        const size_t r = plan->order[i];
        assert_true(r < plan->n_runs && !met[r]);
        met[r] = true;
        assert_int_equal(plan->run[r].seed, i < 41 ? 7 : 3);
        if (i > 0 && i != 41) assert_true(r > plan->order[i - 1]);
    }
    assert_true(plan->resamples == 50 && plan->fraction == .33 && plan->pool_seeds && !plan->keep_predictions);
    assert_string_equal(plan->about, "words");
    for (size_t r = 0; r < plan->n_runs; r++)
        for (size_t q = 0; q < r; q++) assert_string_not_equal(plan->run[r].key, plan->run[q].key);
    dis__plan_destroy(plan);
}

/* ---- keys ---- */

#define ONE(data, top, cell) \
    "name: t\ndata: {d: {" data "}}\n" top "measure: {test: [accuracy, kl], s: accuracy}\ncells: [{" cell "}]\n"
#define SOURCES                                                                                                     \
    "items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, size: 9}, " \
    "sets: {s: {items: dev.csv, gold: dev_gold.csv}}"

static void key_of(const char *text, char key[65])
{
    dis__plan *plan = plan_of(text);
    strcpy(key, plan->run[0].key);
    dis__plan_destroy(plan);
}

static void test_keys(void **state)
{
    static const char *const same[] = {
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text"),
        "# a comment\nname: other\nabout: words\nseeds: 5\nkeep_predictions: no\n"
        "cells:\n"
        "  - {model: text, labels: soft, objective: kl, name: a, baseline: b, published: {accuracy: 1}}\n"
        "  - {objective: gold, model: text, name: b}\n"
        "measure: {test: [accuracy, kl], s: [accuracy]}\n"
        "labels: {soft: {method: softmax}, unused: mace}\n"
        "data:\n"
        "  renamed:\n"
        "    sets: {unused: {items: items.csv}, s: {gold: dev_gold.csv, items: {kind: text, file: dev.csv}}}\n"
        "    gold: {file: gold.csv}\n"
        "    votes: votes.csv\n"
        "    items: items.csv\n"
        "human: standard\ndev: s\n"
        "split: {size: 9, by: hold-out, stratify: yes}\n",
        ONE(SOURCES, "defaults: {labels: softmax, model: text}\n", "objective: kl, epochs: 0"),
    };
    static const char *const other[] = {
        ONE(SOURCES, "", "objective: soft-ce, labels: softmax, model: text"),
        ONE(SOURCES, "", "objective: kl, labels: standard, model: text"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: \"text:width=9\""),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, epochs: 4"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, batch: 4"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, rate: .1"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, rate: .2"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, optimizer: sgd"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, schedule: cosine"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, keep: accuracy"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, patience: 2"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, soft_weight: 2"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, log_base: 2"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, floor: 1e-3"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, over_all: yes"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, accumulate: 2"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: .1, split: {by: hold-out, size: "
            "9}, "
            "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text, judge: labels"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, votes_per_item: 2"),
        ONE(SOURCES, "", "objective: kl, labels: softmax, model: text, vectors: gold.csv"),
        ONE(SOURCES, "labels: {b: {methods: [softmax, mace]}}\n", "objective: kl, labels: b, model: text"),
        ONE(SOURCES, "labels: {b: {methods: [softmax, mace], combine: average}}\n",
            "objective: kl, labels: b, model: text"),
        ONE(SOURCES, "seeds: [1]\n", "objective: kl, labels: softmax, model: text"),
        ONE("items: {file: items.csv, text: more}, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: "
            "{by: "
            "hold-out, size: 9}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: {file: votes.csv, min_votes: 5}, gold: gold.csv, human: standard, dev: s, split: "
            "{by: "
            "hold-out, size: 9}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: dev_gold.csv, human: standard, dev: s, split: {by: hold-out, "
            "size: "
            "9}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: softmax, dev: s, split: {by: hold-out, size: "
            "9}, "
            "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: .1, split: {by: hold-out, size: "
            "9}, "
            "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: .2, split: {by: hold-out, size: "
            "9}, "
            "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, size: "
            "8}, "
            "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, size: "
            "9, "
            "stratify: no}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, size: "
            "9, "
            "seed: 0}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, classes: [z, y, x], split: "
            "{by: "
            "hold-out, size: 9}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
        ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, size: "
            "9}, "
            "sets: {s: {items: items.csv, gold: dev_gold.csv}}",
            "", "objective: kl, labels: softmax, model: text"),
    };
    enum { N_OTHER = sizeof other / sizeof *other };
    char key[65], again[65], seen[N_OTHER][65];
    (void)state;
    key_of(same[0], key);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++) {
        key_of(same[i], again);
        assert_string_equal(again, key);
    }
    for (size_t i = 0; i < N_OTHER; i++) {
        key_of(other[i], seen[i]);
        assert_string_not_equal(seen[i], key);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(seen[i], seen[j]);
    }
    /* What a file holds counts, not what it is called. */
    size_t n;
    char *bytes = contents(in_folder("votes.csv"), &n);
    put_file("copy.csv", bytes, n);
    key_of(ONE("items: items.csv, votes: copy.csv, gold: gold.csv, human: standard, dev: s, split: {by: hold-out, "
               "size: 9}, "
               "sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
               "", "objective: kl, labels: softmax, model: text"),
           again);
    assert_string_equal(again, key);
    bytes[n - 2] = bytes[n - 2] == 'x' ? 'y' : 'x';
    put_file("votes.csv", bytes, n);
    key_of(same[0], again);
    assert_string_not_equal(again, key);
    free(bytes);
    write_crowd_files();
    key_of(same[0], again);
    assert_string_equal(again, key);
}

/* A pretrained encoder counts by what its folder says, wherever it lies and whatever it is called. */
#define ENCODERS     DIS_SOURCE_DIR "/tests/parity/fixtures/encoders"
#define ENCODER(dir) ONE(SOURCES, "", "objective: kl, labels: softmax, model: encoder, encoder: " dir)

static void change_last_byte(const char *name)
{
    size_t n;
    char *bytes = contents(in_folder(name), &n);
    bytes[n - 1] = (char)(bytes[n - 1] ^ 1);
    put_file(name, bytes, n);
    free(bytes);
}

static void test_encoder(void **state)
{
    char key[65], again[65], command[512];
    (void)state;
    snprintf(command, sizeof command,
             "cp -r '" ENCODERS "/bert_vocabulary' '%s/small.v1' && chmod -R u+w '%s/small.v1'", folder, folder);
    assert_int_equal(system(command), 0);
    key_of(ENCODER(ENCODERS "/bert_vocabulary"), key);
    key_of(ENCODER("small.v1"), again);
    assert_string_equal(again, key);
    setenv("DISSENT_ENCODERS", ENCODERS, 1);
    key_of(ENCODER("bert_vocabulary"), again);
    assert_string_equal(again, key);
    unsetenv("DISSENT_ENCODERS");
    static const char *const files[] = {"small.v1/model.safetensors", "small.v1/tokenizer.json"};
    for (size_t i = 0; i < 2; i++) {
        change_last_byte(files[i]);
        key_of(ENCODER("small.v1"), again);
        assert_string_not_equal(again, key);
        change_last_byte(files[i]);
    }
    put_text("small.v1/vocab.bpe", "one file more");
    key_of(ENCODER("small.v1"), again);
    assert_string_not_equal(again, key);
    put_text("small.v1/config.json", "{\"model_type\": \"modernbert\"}");
    dis__plan *plan;
    assert_int_equal(read_text(ENCODER("small.v1"), &plan), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "encoder: "));
    assert_non_null(strstr(dis_last_error(), "config.json:1:16: model_type modernbert"));
}

/* Where data is looked for: beside the file, then where the caller or the environment says. */
static void test_folders(void **state)
{
    dis__plan *plan;
    char yaml[512], command[256];
    (void)state;
    snprintf(command, sizeof command, "mkdir -p '%s/sub'", folder);
    assert_int_equal(system(command), 0);
    strcpy(yaml, put_text("sub/e.yaml", HEAD TAIL));
    assert_int_equal(dis__plan_read(NULL, yaml, NULL, &plan), DIS_EIO);
    assert_int_equal(dis__plan_read(NULL, yaml, folder, &plan), DIS_OK);
    assert_string_equal(plan->data_folder, folder);
    dis__plan_destroy(plan);
    setenv("DISSENT_DATA", folder, 1);
    assert_int_equal(dis__plan_read(NULL, yaml, NULL, &plan), DIS_OK);
    dis__plan_destroy(plan);
    assert_int_equal(dis__plan_read(NULL, yaml, "/nowhere", &plan), DIS_EIO);
    unsetenv("DISSENT_DATA");
    assert_int_equal(dis__plan_read(NULL, in_folder("none.yaml"), NULL, &plan), DIS_EIO);
}

static dis_status read_again(void *arg)
{
    dis__plan *plan = NULL;
    const dis_status status = dis__plan_read(NULL, arg, NULL, &plan);
    if (status == DIS_OK)
        dis__plan_destroy(plan);
    else
        assert_null(plan);
    return status;
}

static void test_faults(void **state)
{
    char path[512];
    (void)state;
    strcpy(path, put_text("e.yaml",
                          ONE("items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, split: {by: folds, "
                              "column: fold}, sets: {s: {items: dev.csv, gold: dev_gold.csv}}",
                              "labels: {b: {methods: [softmax, mace]}}\nseeds: [1, 2]\n",
                              "objective: [kl, gold], labels: [b, mace], model: text, published: {kl: 1}")));
    walk_faults(read_again, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_grid),    cmocka_unit_test(test_keys),
        cmocka_unit_test(test_encoder),   cmocka_unit_test(test_folders), cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, make_crowd, remove_folder);
}
