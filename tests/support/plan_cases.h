/* plan_cases.h: a small crowd in files of the scratch folder, for tests of experiments. */
#ifndef DIS_SUPPORT_PLAN_CASES_H
#define DIS_SUPPORT_PLAN_CASES_H
#include "io/yaml.h"
#include "scratch.h"
#include <math.h>

enum { CROWD = 60, CROWD_CLASSES = 3 };

/* items.csv (texts, with columns part, fold and what gold says), x.csv (numbers), tokens.csv, votes.csv, counts.csv,
 * gold.csv, dev.csv and dev_gold.csv (other items with the same ids). Item i is of class i % 3; of its five votes one
 * or two are wrong, and every tenth item is a tie of two classes. */
static inline void write_crowd_files(void)
{
    static const char *const words[] = {"red apple", "green pear", "blue plum"};
    static const char *const names[] = {"items.csv",  "x.csv",    "tokens.csv", "votes.csv",
                                        "counts.csv", "gold.csv", "dev.csv",    "dev_gold.csv"};
    FILE *f[8];
    for (size_t i = 0; i < 8; i++) {
        f[i] = fopen(in_folder(names[i]), "wb");
        assert_non_null(f[i]);
    }
    fprintf(f[0], "task,text,more,part,fold,truth\n");
    fprintf(f[1], "task,a,b,c,d\n");
    fprintf(f[2], "task,token,sentence,fold\n");
    fprintf(f[3], "task,worker,label\n");
    fprintf(f[4], "task,text,n_x,n_y,n_z\n");
    fprintf(f[5], "task,label\n");
    fprintf(f[6], "task,text\n");
    fprintf(f[7], "task,label\n");
    for (int i = 0; i < CROWD; i++) {
        const int k = i % CROWD_CLASSES;
        fprintf(f[0], "i%d,the %s number %d,%s,%s,%d,%s\n", i, words[k], i / 2, words[(k + i % 2) % 3],
                i % 5 == 0   ? "test"
                : i % 5 == 1 ? "dev"
                             : "train",
                i % 4,
                i % 6 == 5 ? ""
                : k == 0   ? "x"
                           : "other");
        fprintf(f[1], "i%d", i);
        for (int c = 0; c < 4; c++) fprintf(f[1], ",%g", (c == k) + .3 * sin(i * 7 + c * 3));
        fprintf(f[1], "\n");
        fprintf(f[2], "i%d,%s,%d,%d\n", i, words[k] + (i % 2), i / 4, i % 4);
        int count[3] = {0};
        for (int w = 0; w < 5 - (i % 10 == 9); w++) {
            const int wrong = i % 10 == 9 ? w % 2 : w == i % 5 || (i % 7 == 0 && w == (i + 1) % 5);
            const int label = (k + wrong) % 3;
            fprintf(f[3], "i%d,w%d,%c\n", i, (i + w) % 9, 'x' + label);
            count[label]++;
        }
        fprintf(f[4], "i%d,%s,%d,%d,%d\n", i, words[k], count[0], count[1], count[2]);
        fprintf(f[5], "i%d,%c\n", i, 'x' + k);
        if (i < 20) fprintf(f[6], "i%d,one %s more\n", i, words[(k + 1) % 3]);
        if (i < 20) fprintf(f[7], "i%d,%c\n", i, 'x' + (k + 1) % 3);
    }
    for (size_t i = 0; i < 8; i++) assert_int_equal(fclose(f[i]), 0);
}

/* For a group of tests; a build without libyaml skips them all (77). */
static inline int make_crowd(void **state)
{
    dis__yaml yaml;
    if (dis__yaml_parse("f", "a", 1, &yaml) == DIS_EUSAGE) {
        puts("skipped: built without libyaml");
        exit(77);
    }
    dis__yaml_free(&yaml);
    if (make_folder(state) != 0) return -1;
    unsetenv("DISSENT_DATA");
    write_crowd_files();
    return 0;
}

#endif
