/* Reads votes, fits two methods, combines them and prints the soft label of each item.
 *
 *     cc labels.c $(pkg-config --cflags --libs dissent) -o labels && ./labels votes.csv */
#include <dissent/dissent.h>
#include <stdio.h>

static dis_status print_labels(const dis_votes_view *votes, dis_fit *a, const dis_fit *b)
{
    double *out = dis_fit_move_p(a); /* the combination is written over the first view */
    const double *p[] = {out, dis_fit_p(b)};
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = votes->n_items, .n_classes = votes->n_classes, .n_views = 2, .p = p};
    const dis_status status = dis_views_combine(NULL, &views, "centroid", out, NULL);
    for (size_t i = 0; status == DIS_OK && i < votes->n_items; i++) {
        printf("%s", dis_names_get(votes->tasks, i, NULL));
        for (size_t k = 0; k < votes->n_classes; k++)
            printf("  %s %.3f", dis_names_get(votes->classes, k, NULL), out[i * votes->n_classes + k]);
        putchar('\n');
    }
    dis_free(out);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "-";
    dis_votes *votes = NULL;
    dis_fit *a = NULL, *b = NULL;
    dis_status status = dis_votes_read(NULL, &path, 1, NULL, &votes);
    if (status == DIS_OK) status = dis_fit_run(NULL, votes, "standard", NULL, &a);
    if (status == DIS_OK) status = dis_fit_run(NULL, votes, "dawid-skene:iterations=50", NULL, &b);
    if (status == DIS_OK) {
        const dis_votes_view view = dis_votes_get_view(votes);
        status = print_labels(&view, a, b);
    }
    if (status != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
    dis_fit_destroy(a);
    dis_fit_destroy(b);
    dis_votes_destroy(votes);
    return (int)status;
}
