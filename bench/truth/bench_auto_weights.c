/* What weights=auto does to labels, against gold: bench_auto_weights NAME VOTES.csv GOLD.csv [method ...], default
 * standard, softmax, dawid-skene and mace. For each combination one row of a Markdown table: accuracy and negative
 * log-likelihood of the gold label (labels floored at 1e-12 and renormalised) with equal and with chosen weights.
 * docs/evidence/auto-weights.md is made of these. */
#include "dissent/dissent.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int complain(void)
{
    fprintf(stderr, "%s\n", dis_last_error());
    return 1;
}

static void measure(const double *p, const int32_t *gold, size_t n_items, size_t n_classes, double *accuracy,
                    double *nll)
{
    double right = 0, loss = 0, n = 0;
    for (size_t i = 0; i < n_items; i++) {
        if (gold[i] < 0) continue;
        const double *row = p + i * n_classes;
        double sum = 0;
        for (size_t k = 0; k < n_classes; k++) sum += fmax(row[k], 1e-12);
        right += dis__argmax(row, n_classes) == (size_t)gold[i];
        loss -= log(fmax(row[gold[i]], 1e-12) / sum);
        n++;
    }
    *accuracy = right / n;
    *nll = loss / n;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench_auto_weights NAME VOTES.csv GOLD.csv [method ...]\n");
        return 2;
    }
    static const char *const usual[] = {"standard", "softmax", "dawid-skene:smoothing=0", "mace"};
    const char *const *specs = argc > 4 ? (const char *const *)argv + 4 : usual;
    const size_t n = argc > 4 ? (size_t)argc - 4 : 4;
    dis_votes_options how = dis_votes_options_default();
    how.duplicates = DIS_DUPLICATES_FIRST;
    dis_votes *votes;
    const char *path = argv[2];
    if (n > DIS_MAX_VIEWS || dis_votes_read(NULL, &path, 1, &how, &votes) != DIS_OK) return complain();
    const dis_votes_view v = dis_votes_get_view(votes);
    int32_t *gold = malloc(v.n_items * sizeof *gold);
    double *out = malloc(v.n_items * v.n_classes * sizeof *out), weight[DIS_MAX_VIEWS];
    const double *p[DIS_MAX_VIEWS];
    dis_fit *fit[DIS_MAX_VIEWS];
    if (!gold || !out) return 5;
    if (dis_votes_read_gold(NULL, argv[3], NULL, votes, gold, NULL) != DIS_OK) return complain();
    for (size_t m = 0; m < n; m++) {
        if (dis_fit_run(NULL, votes, specs[m], NULL, &fit[m]) != DIS_OK) return complain();
        p[m] = dis_fit_p(fit[m]);
    }
    const clock_t start = clock();
    if (dis_views_auto_weights(NULL, votes, specs, n, NULL, weight) != DIS_OK) return complain();
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    for (size_t c = 0; dis_combiner_get(c); c++) {
        double accuracy[2], nll[2];
        for (int chosen = 0; chosen < 2; chosen++) {
            const dis_views views = {.size = sizeof(dis_views),
                                     .n_items = v.n_items,
                                     .n_classes = v.n_classes,
                                     .n_views = n,
                                     .p = p,
                                     .weight = chosen ? weight : NULL};
            if (dis_views_combine(NULL, &views, dis_combiner_get(c)->name, out, NULL) != DIS_OK) return complain();
            measure(out, gold, v.n_items, v.n_classes, &accuracy[chosen], &nll[chosen]);
        }
        printf("| %s | %s | %.4f | %.4f | %+.4f | %.4f | %.4f | %+.4f |", argv[1], dis_combiner_get(c)->name,
               accuracy[0], accuracy[1], accuracy[1] - accuracy[0], nll[0], nll[1], nll[1] - nll[0]);
        for (size_t m = 0; m < n; m++) printf("%s%.2f", m ? " / " : " ", weight[m]);
        printf(" | %.2f |\n", seconds);
    }
    for (size_t m = 0; m < n; m++) dis_fit_destroy(fit[m]);
    dis_votes_destroy(votes);
    free(gold);
    free(out);
    return 0;
}
