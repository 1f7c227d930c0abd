/* Real exports in the formats that their authors publish, by their presets: as many items, workers, classes and
 * votes as their authors state or a script counts. Looks in $DISSENT_DATA or ../shared/data; skipped where a file is
 * absent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *find(const char *name, char path[4096])
{
    const char *root = getenv("DISSENT_DATA");
    snprintf(path, 4096, "%s/%s", root ? root : DIS_SOURCE_DIR "/../shared/data", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void reads_real_exports(void **state)
{
    (void)state;
    static const char *const none[] = {"-1"};
    static const struct {
        const char *file;
        dis_votes_options o;
        size_t n_items, n_workers, n_classes, n_votes;
    } exports[] = {
#define O .size = sizeof(dis_votes_options)
        {"lewidi2023/HS-Brexit/orig/HS-Brexit_dev.json", {O, .preset = "lewidi-2023"}, 168, 6, 2, 1008},
        {"lewidi2023/ArMIS/orig/ArMIS_dev.json", {O, .preset = "lewidi-2023"}, 141, 3, 2, 423},
        {"lewidi2023/ConvAbuse/orig/ConvAbuse_dev.json", {O, .preset = "lewidi-2023"}, 812, 8, 5, 2414},
        {"lewidi2023/MD-Agreement/orig/MD-Agreement_dev.json", {O, .preset = "lewidi-2023"}, 1104, 534, 2, 5520},
        {"lewidi2025/MP/orig/MP_dev.json", {O, .preset = "lewidi-2025"}, 3005, 506, 2, 15178},
        {"lewidi2025/CSC/orig/CSC_dev.json", {O, .preset = "lewidi-2025"}, 704, 850, 6, 3186},
        {"lewidi2025/Paraphrase/orig/Paraphrase_dev.json", {O, .preset = "lewidi-2025"}, 50, 4, 11, 200},
        {"lewidi2025/VariErrNLI/orig/VariErrNLI_dev.json",
         {O, .preset = "lewidi-2025", .multiple_labels = DIS_MULTIPLE_JOIN},
         50,
         4,
         6,
         181},
        {"chaosnli/orig/chaosNLI_snli.jsonl", {O, .preset = "chaosnli"}, 1514, 0, 3, 1514},
        {"chaosnli/orig/chaosNLI_alphanli.jsonl", {O, .preset = "chaosnli"}, 1532, 0, 2, 1532},
        {"rte_snow/orig/rte.standardized.tsv", {O, .preset = "snow"}, 800, 164, 2, 8000},
        {"snow2008/orig/temp.standardized.tsv", {O, .preset = "snow"}, 462, 76, 2, 4620},
        {"snow2008/orig_crowdtruth/rte.standardized.csv", {O, .preset = "snow"}, 800, 164, 2, 8000},
        {"snow2008/orig_mace/rte.csv", {O, .preset = "mace"}, 800, 164, 2, 8000},
        {"pos_gimpel/orig/gimpel_crowdsourced-tf.tsv", {O, .preset = "gimpel"}, 14439, 177, 12, 236380},
        {"popquorn/orig/offensiveness_raw_data.csv",
         {O, .preset = "potato", .label = "offensiveness"},
         1500,
         262,
         5,
         13036},
        {"labelme/orig/answers.txt",
         {O, .input = DIS_INPUT_MACE, .delimiter = ' ', .na = none, .n_na = 1},
         1000,
         59,
         8,
         2547},
        {"cifar10h/orig/cifar10h-counts.npy", {O, .preset = "cifar10h"}, 10000, 0, 10, 10000},
        {"benchmarks/bluebird/annotations.csv", {O, .preset = "crowd-kit"}, 108, 39, 2, 4212},
#undef O
    };
    size_t n_read = 0;
    char path[4096];
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++) {
        const char *found = find(exports[i].file, path);
        if (!found) {
            print_message("skipped: %s is not here\n", exports[i].file);
            continue;
        }
        dis_votes *votes;
        const dis_status status = dis_votes_read(NULL, &found, 1, &exports[i].o, &votes);
        if (status != DIS_OK) print_message("%s\n", dis_last_error());
        assert_int_equal(status, DIS_OK);
        const dis_votes_view v = dis_votes_get_view(votes);
        print_message("%s: %zu items, %zu workers, %zu classes, %zu votes\n", exports[i].file, v.n_items, v.n_workers,
                      v.n_classes, v.n_votes);
        assert_int_equal(v.n_items, exports[i].n_items);
        assert_int_equal(v.n_workers, exports[i].n_workers);
        assert_int_equal(v.n_classes, exports[i].n_classes);
        assert_int_equal(v.n_votes, exports[i].n_votes);
        dis_votes_destroy(votes);
        n_read++;
    }
    if (n_read == 0) skip();
}

/* Files of people that are no votes, or broken, say so with what to do. */
static void names_what_it_sees(void **state)
{
    (void)state;
    static const struct {
        const char *file, *message;
    } files[] = {
        {"lewidi2023/HS-Brexit/orig/HS-Brexit_dev.json", "use `preset` lewidi-2023"},
        {"lewidi2025/MP/orig/MP_dev.json", "use `preset` lewidi-2025"},
        {"chaosnli/orig/chaosNLI_snli.jsonl", "use `preset` chaosnli"},
        {"rte_snow/orig/rte.standardized.tsv", "use `preset` snow"},
        {"popquorn/orig/offensiveness_raw_data.csv", "use `preset` potato and `label` NAME"},
        {"snow2008/orig_mace/rte.csv", "use `preset` mace"},
        {"lewidi2025/VariErrNLI/orig/VariErrNLI_annotators_meta.json", "VariErrNLI_annotators_meta.json:"},
    };
    size_t n_read = 0;
    char path[4096];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *found = find(files[i].file, path);
        dis_votes *votes;
        if (!found) {
            print_message("skipped: %s is not here\n", files[i].file);
            continue;
        }
        assert_int_equal(dis_votes_read(NULL, &found, 1, NULL, &votes), DIS_EDATA);
        if (!strstr(dis_last_error(), files[i].message)) print_message("%s\n", dis_last_error());
        assert_non_null(strstr(dis_last_error(), files[i].message));
        n_read++;
    }
    if (n_read == 0) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_real_exports),
        cmocka_unit_test(names_what_it_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
