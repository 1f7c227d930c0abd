/* Pairs judged in both orders. */
#include "input/swapped_input.h"
#include <stdlib.h>
#include <string.h>

static int find_class(const votes_input *votes, const char *option, const char *name, size_t length, size_t *out)
{
    *out = dis_names_find(votes->view.classes, name, length);
    return *out != SIZE_MAX ? 0
                            : cli_usage(votes->c, "--%s: no label \"%.*s\" among the votes", option, (int)length, name);
}

static int parse_mirrors(const cli_list *list, const votes_input *votes, size_t *mirror)
{
    for (size_t k = 0; k < votes->view.n_classes; k++) mirror[k] = k;
    for (size_t i = 0; i < list->n; i++) {
        const char *text = list->value[i], *equals = strchr(text, '=');
        size_t a, b;
        if (!equals) return cli_usage(votes->c, "--mirror: A=B, not \"%s\"", text);
        int code = find_class(votes, "mirror", text, (size_t)(equals - text), &a);
        if (code == 0) code = find_class(votes, "mirror", equals + 1, strlen(equals + 1), &b);
        if (code != 0) return code;
        mirror[a] = b;
        mirror[b] = a;
    }
    return 0;
}

int swapped_input_read(const swapped_input *in, dis_context *ctx, const votes_input *votes, dis_position_bias **rows,
                       size_t *n)
{
    votes_input other = {.c = votes->c,
                         .v = in->reading,
                         .paths = (char *const *)in->swapped->value,
                         .n_paths = in->swapped->n};
    size_t first = SIZE_MAX;
    *rows = NULL;
    *n = 0;
    if (in->swapped->n == 0) return 0;
    size_t *mirror = malloc((votes->view.n_classes + 1) * sizeof *mirror);
    if (!mirror) return cli_error(votes->c, DIS_ELIMIT, "no memory for %zu classes", votes->view.n_classes);
    int code = parse_mirrors(in->mirror, votes, mirror);
    if (code == 0 && in->first) code = find_class(votes, "first", in->first, strlen(in->first), &first);
    if (code == 0) code = votes_input_check(&other);
    if (code == 0) code = votes_input_read(&other, ctx);
    if (code == 0)
        code = cli_failed(votes->c, dis_position_bias_run(votes->votes, other.votes, in->mirror->n ? mirror : NULL,
                                                          first, rows, n));
    votes_input_free(&other);
    free(mirror);
    return code;
}
