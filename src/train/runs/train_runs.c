/* Several trainings in one call, as jobs of the scheduler: fold f is job f, run r is job n_folds + r. */
#include "train/runs/train_runs_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/system_calls.h"
#include "train/runs/job_scheduler.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

DIS_OPTIONS_DEFAULTS(dis_train_runs_options, .size = sizeof(dis_train_runs_options), .n_runs = 1, .jobs = 1)

typedef struct {
    const dis_examples *train, *dev;
    const dis_model_train_options *options;
    const dis_train_runs_options *o;
    bool split; /* over ranks */
    dis_train_runs *out;
} training_set;

static dis_train_runs_view view_of(const dis_train_runs *runs)
{
    return (dis_train_runs_view){.n_runs = runs->n_runs,
                                 .curve = runs->curve,
                                 .model = runs->model,
                                 .out_of_fold = runs->out_of_fold};
}
DIS_VIEW_DEFINE(dis_train_runs, runs, view_of(runs))

void dis_train_runs_destroy(dis_train_runs *runs)
{
    if (!runs) return;
    for (size_t r = 0; runs->curve && r < runs->n_runs; r++) dis__free((void *)(uintptr_t)runs->curve[r].epoch);
    for (size_t f = 0; runs->part && f < runs->n_folds; f++) dis_labels_destroy(runs->part[f]);
    dis__free(runs->curve);
    dis__free(runs->part);
    dis_model_destroy(runs->model);
    dis_labels_destroy(runs->out_of_fold);
    dis__free(runs);
}

/* Copies the options for one training, with a folder NAME-N within theirs; name NULL: theirs. */
static dis_status options_in_folder(const training_set *s, const char *name, uint64_t n, char path[PATH],
                                    dis_model_train_options *o)
{
    *o = *s->options;
    if (!o->folder) return DIS_OK;
    const int length = name ? snprintf(path, PATH, "%s/%s-%llu", o->folder, name, (unsigned long long)n)
                            : snprintf(path, PATH, "%s", o->folder);
    if (length >= PATH) return dis__fail(DIS_EUSAGE, "the path is too long: %.200s", o->folder);
    o->folder = path;
    if (dis__sys_mkdir(path) != 0 && errno != EEXIST)
        return dis__fail(DIS_EIO, "cannot create the folder %s: %s", path, strerror(errno));
    return DIS_OK;
}

static dis_status train_fold(dis_context *ctx, const training_set *s, size_t f)
{
    char path[PATH];
    dis_model_train_options o;
    DIS_TRY(options_in_folder(s, "fold", f + 1, path, &o));
    o.resume = o.resume && o.folder;
    return dis__folds_train(ctx, s->o->folds, f, s->o->folds_dev, &o, &s->out->part[f]);
}

/* Models are not kept, because hundreds of encoders do not fit into memory. */
static dis_status copy_curve(const dis_model *model, dis_train_curve *out)
{
    const dis_model_view m = dis_model_get_view(model);
    dis_epoch *epoch;
    DIS_TRY(dis__alloc_array(&epoch, m.n_epochs, sizeof *epoch));
    memcpy(epoch, m.epoch, m.n_epochs * sizeof *epoch);
    *out = (dis_train_curve){.seed = m.seed, .n_epochs = m.n_epochs, .best_epoch = m.best_epoch, .epoch = epoch};
    return DIS_OK;
}

static dis_status train_run(dis_context *ctx, const training_set *s, size_t run)
{
    char path[PATH];
    dis_model_train_options o;
    dis_model *model;
    DIS_TRY(options_in_folder(s, s->o->n_runs > 1 ? "seed" : NULL, s->options->seed + run, path, &o));
    o.seed = s->options->seed + run;
    DIS_TRY(dis_model_train(ctx, s->train, s->dev, &o, &model));
    dis_status status = DIS_OK;
    if (o.folder && (dis_context_rank(ctx) == 0 || s->split)) status = dis_model_write(ctx, model, o.folder);
    if (status == DIS_OK) status = copy_curve(model, &s->out->curve[run]);
    if (status == DIS_OK && run == 0)
        s->out->model = model;
    else
        dis_model_destroy(model);
    return status;
}

static dis_status train_one(dis_context *ctx, void *user, size_t job)
{
    const training_set *s = user;
    return job < s->out->n_folds ? train_fold(ctx, s, job) : train_run(ctx, s, job - s->out->n_folds);
}

static dis_status train_all(dis_context *ctx, training_set *s)
{
    dis_train_runs *out = s->out;
    const size_t n = out->n_folds + out->n_runs;
    const bool together = dis_context_n_ranks(ctx) > 1 && !s->split;
    size_t *job, n_own = 0;
    DIS_TRY(dis__alloc_array(&job, n, sizeof *job));
    for (size_t i = 0; i < n; i++)
        if (!s->split || dis__train_runs_are_own(ctx, out, i)) job[n_own++] = i;
    const dis__jobs jobs = {
        .n = n_own, .job = job, .at_once = together ? 1 : s->o->jobs, .what = "models", .user = s, .run = train_one};
    const dis_status status = dis__jobs_run(ctx, &jobs);
    dis__free(job);
    return status;
}

static dis_status fill_result(dis_context *ctx, training_set *s)
{
    dis_train_runs *out = s->out;
    DIS_TRY(dis__alloc_zeroed(&out->curve, out->n_runs, sizeof *out->curve));
    DIS_TRY(dis__alloc_zeroed(&out->part, out->n_folds, sizeof *out->part));
    DIS_TRY(train_all(ctx, s));
    if (s->split) DIS_TRY(dis__train_runs_gather(ctx, out));
    return out->n_folds ? dis__folds_join(ctx, s->o->folds, out->part, &out->out_of_fold) : DIS_OK;
}

dis_status dis_model_train_runs(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                                const dis_model_train_options *options, const dis_train_runs_options *runs,
                                dis_train_runs **out)
{
    dis_model_train_options o = dis_model_train_options_default();
    dis_train_runs_options r = dis_train_runs_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_model_train_options, &o, options));
    DIS_TRY(DIS_OPTIONS_COPY(dis_train_runs_options, &r, runs));
    if (r.n_runs == 0 && !r.folds) return dis__fail(DIS_EUSAGE, "there is nothing to train: neither runs nor folds");
    training_set s = {.train = train, .dev = dev, .options = &o, .o = &r, .split = dis__train_runs_are_split(ctx)};
    DIS_TRY(dis__alloc_zeroed(&s.out, 1, sizeof *s.out));
    s.out->n_runs = r.n_runs;
    s.out->n_folds = r.folds ? dis__folds_count(r.folds) : 0;
    const dis_status status = fill_result(ctx, &s);
    if (status == DIS_OK)
        *out = s.out;
    else
        dis_train_runs_destroy(s.out);
    return status;
}
