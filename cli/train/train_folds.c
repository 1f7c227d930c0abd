/* dissent train --folds N --out-of-fold FILE: every item predicted by a model that was not trained on it. */
#include "train/cmd_train.h"

int train_folds_check(train_command *job)
{
    const train_values *v = job->v;
    cli *c = job->c;
    if (!v->folds && !v->out_of_fold) return 0;
    if (!v->folds) return cli_usage(c, "--out-of-fold needs the number of folds: --folds N");
    if (!v->out_of_fold) return cli_usage(c, "--folds needs a file for the predictions: --out-of-fold FILE");
    if (v->folds < 2) return cli_usage(c, "--folds 1: the only fold would leave nothing to train on; use 2 or more");
    if (v->dev_where.n)
        return cli_usage(c, "--dev-where with --folds: these items would be predicted, too; use --dev or --dev-items");
    if (!v->output && (v->curves || v->json || v->resume))
        return cli_usage(c, "--%s applies to the model of all items; add -o FOLDER",
                         v->curves ? "curves"
                         : v->json ? "json"
                                   : "resume");
    return 0;
}

/* All items, those that --dev holds out of the last model among them. */
static dis_examples all_of(const train_command *job)
{
    return (dis_examples){.size = sizeof(dis_examples),
                          .items = job->all ? job->all : job->items,
                          .labels = job->labels,
                          .gold = job->gold,
                          .votes = job->votes};
}

int train_folds_draw(train_command *job)
{
    if (!job->v->folds) return 0;
    dis_folds_options o = dis_folds_options_default();
    o.n_folds = (size_t)job->v->folds;
    o.dev = job->v->dev;
    const dis_examples all = all_of(job);
    return cli_failed(job->c, dis_folds_create(job->ctx, &all, &o, job->v->seed, &job->folds));
}

int train_folds_write(train_command *job)
{
    const dis_labels_view view = dis_labels_get_view(job->trained.out_of_fold);
    const dis_status status = dis_labels_write(job->ctx, &view, job->v->out_of_fold, NULL);
    char safe[CLI_SAFE], items[CLI_NUMBER];
    if (status == DIS_OK)
        cli_print(job->c,
                  "%s%s%s: %s item%s, each predicted by a model trained without it (%llu folds), seed %llu, %.2f s",
                  cli_bold(job->c),
                  cli_is_dash(job->v->out_of_fold) ? "standard output" : cli_safe(job->v->out_of_fold, safe),
                  cli_plain(job->c), cli_count_format(view.n_items, items), cli_plural(view.n_items),
                  (unsigned long long)job->v->folds, (unsigned long long)job->v->seed,
                  cli_seconds_since(&job->c->start));
    return cli_failed(job->c, status);
}
