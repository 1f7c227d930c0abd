/* Training curves out of model folders. */
#include "report/model_curves.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static dis_status add_curve(dis_context *ctx, dis_report *report, const char *name, const char *folder)
{
    dis_model *model;
    const dis_status status = dis_model_read(ctx, folder, &model);
    if (status != DIS_OK) return status;
    const dis_model_view m = dis_model_get_view(model);
    const dis_curve curve = {
        .seed = m.seed, .epoch = m.epoch, .n_epochs = m.n_epochs, .best_epoch = m.best_epoch, .dev_metric = m.keep};
    const dis_status added = dis_report_add_curve(report, name, &curve);
    dis_model_destroy(model);
    return added;
}

static int by_seed(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The seeds of a folder that --runs has filled, in their order. */
static int find_seeds(cli *c, const char *folder, uint64_t **out, size_t *n)
{
    char safe[CLI_SAFE];
    DIR *d = opendir(folder);
    if (!d) return cli_error(c, DIS_EIO, "cannot read the folder %s: %s", cli_safe(folder, safe), strerror(errno));
    size_t capacity = 0;
    bool room = true;
    for (const struct dirent *e; room && (e = readdir(d));) {
        const char *digits = e->d_name + 5;
        if (strncmp(e->d_name, "seed-", 5) != 0 || !*digits || digits[strspn(digits, "0123456789")]) continue;
        if (*n == capacity) {
            capacity = 2 * capacity + 8;
            uint64_t *more = realloc(*out, capacity * sizeof **out);
            if (!(room = more != NULL)) break;
            *out = more;
        }
        (*out)[(*n)++] = strtoull(digits, NULL, 10);
    }
    closedir(d);
    if (!room) return cli_error(c, DIS_ELIMIT, "no memory for a list of models");
    if (*n) qsort(*out, *n, sizeof **out, by_seed);
    return 0;
}

/* A model's own folder, or one of seed-S folders. */
int model_curves_add(cli *c, dis_context *ctx, dis_report *report, const char *name, const char *folder)
{
    char path[4096], safe[CLI_SAFE];
    struct stat st;
    if ((size_t)snprintf(path, sizeof path, "%s/model.json", folder) >= sizeof path)
        return cli_usage(c, "--model: the path is too long");
    uint64_t *seed = NULL;
    size_t n = 0;
    const bool one = stat(path, &st) == 0;
    int code = one ? 0 : find_seeds(c, folder, &seed, &n);
    if (code == 0 && n == 0 && !one)
        code = cli_error(c, DIS_EDATA, "%s contains no model; train one with dissent train", cli_safe(folder, safe));
    if (code == 0 && n == 0) code = cli_failed(c, add_curve(ctx, report, name, folder));
    for (size_t i = 0; i < n && code == 0; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/seed-%llu", folder, (unsigned long long)seed[i]) >= sizeof path)
            code = cli_usage(c, "--model: the path is too long");
        else
            code = cli_failed(c, add_curve(ctx, report, name, path));
    }
    free(seed);
    return code;
}
