/* How good soft labels are when the truth is known: score GOLD NAME=LABELS...
 *
 * Prints a table with one row per label file: accuracy (with its standard error), mean negative log-likelihood of the
 * true class in nats (probabilities floored at 1e-12), and mean entropy. Items without gold are left out. */
#include <dissent/dissent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t n;
    double correct, nll, entropy;
} score;

static size_t most_probable(const double *p, size_t n_classes)
{
    size_t best = 0;
    for (size_t k = 1; k < n_classes; k++)
        if (p[k] > p[best]) best = k;
    return best;
}

static double entropy(const double *p, size_t n_classes)
{
    double sum = 0;
    for (size_t k = 0; k < n_classes; k++) sum -= p[k] > 0 ? p[k] * log(p[k]) : 0;
    return sum;
}

static score judge(const dis_labels_view *v, const int32_t *gold)
{
    score s = {0};
    for (size_t i = 0; i < v->n_items; i++) {
        if (gold[i] < 0) continue;
        const double *p = v->p + i * v->n_classes;
        s.n++;
        s.correct += most_probable(p, v->n_classes) == (size_t)gold[i];
        s.nll -= log(fmax(p[gold[i]], 1e-12));
        s.entropy += entropy(p, v->n_classes);
    }
    return s;
}

/* The gold reader matches tasks with those of a votes table: the labels themselves serve as one, a count per class. */
static dis_status read_gold(const char *path, const dis_labels_view *v, int32_t *gold)
{
    dis_votes *votes;
    dis_status status =
        dis_votes_create_from_counts(NULL, v->p, v->n_items, v->n_classes, v->tasks, v->classes, &votes);
    if (status != DIS_OK) return status;
    status = dis_votes_read_gold(NULL, path, NULL, votes, gold, NULL);
    dis_votes_destroy(votes);
    return status;
}

static dis_status print_score(const char *gold_path, const char *name, int width, const char *path)
{
    dis_labels *labels;
    dis_status status = dis_labels_read(NULL, path, NULL, &labels);
    if (status != DIS_OK) return status;
    const dis_labels_view v = dis_labels_get_view(labels);
    int32_t *gold = malloc((v.n_items + 1) * sizeof *gold);
    status = gold ? read_gold(gold_path, &v, gold) : DIS_ELIMIT;
    if (status == DIS_OK) {
        const score s = judge(&v, gold);
        const double n = s.n ? (double)s.n : 1, accuracy = s.correct / n;
        printf("%.*s%*s  %8zu  %.4f +- %.4f  %7.4f  %7.4f\n", width, name, 40 - width, "", s.n, accuracy,
               sqrt(accuracy * (1 - accuracy) / n), s.nll / n, s.entropy / n);
    }
    free(gold);
    dis_labels_destroy(labels);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: score GOLD NAME=LABELS...\n");
        return 2;
    }
    printf("%-40s  %8s  %-16s  %7s  %7s\n", "labels", "items", "accuracy", "NLL", "entropy");
    for (int i = 2; i < argc; i++) {
        const char *cut = strchr(argv[i], '=');
        const char *path = cut ? cut + 1 : argv[i];
        const int width = cut && cut - argv[i] < 40 ? (int)(cut - argv[i]) : 0;
        const dis_status status = print_score(argv[1], argv[i], width, path);
        if (status != DIS_OK) {
            fprintf(stderr, "%s\n", dis_last_error());
            return (int)status;
        }
    }
    return 0;
}
