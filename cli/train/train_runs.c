/* The trainings of one `dissent train`: runs and folds, --jobs of them side by side, each with a share of the threads
 * (which changes nothing but the time). A run's model lies in the output folder itself, or in seed-N within it when
 * there are several. */
#include "train/cmd_train.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void folder_of(const train_command *job, size_t run, char *out, size_t size)
{
    if (job->v->runs == 1)
        snprintf(out, size, "%s", job->v->output);
    else
        snprintf(out, size, "%s/seed-%llu", job->v->output, (unsigned long long)(job->v->seed + run));
}

dis_model_train_options train_options(const train_command *job, uint64_t seed, const char *folder)
{
    const train_values *v = job->v;
    dis_model_train_options o = v->train;
    o.size = sizeof o;
    o.model = v->model;
    o.objective = v->objective;
    o.seed = seed;
    o.lenient = v->lenient;
    o.folder = folder;
    o.resume = v->resume && folder;
    o.classes = job->declared;
    o.worker_table = job->table;
    o.worker_features = v->worker_features;
    return o;
}

const dis_examples *train_dev_set(const train_command *job, dis_examples *out)
{
    /* Items of another file may carry the same ids and be others. */
    const bool apart = job->v->dev_items != NULL;
    *out = (dis_examples){.items = job->dev_items,
                          .labels = job->dev_labels || apart ? job->dev_labels : job->labels,
                          .gold = job->dev_gold || apart ? job->dev_gold : job->gold};
    return job->dev_items ? out : NULL;
}

/* A hundred encoders do not fit into memory; how they were trained does. */
static dis_status keep_curve(const dis_model *model, train_curve *out)
{
    const dis_model_view m = dis_model_get_view(model);
    *out = (train_curve){.seed = m.seed, .n_epochs = m.n_epochs, .best_epoch = m.best_epoch};
    out->epoch = malloc((m.n_epochs + 1) * sizeof *out->epoch);
    if (!out->epoch) return DIS_ELIMIT;
    memcpy(out->epoch, m.epoch, m.n_epochs * sizeof *out->epoch);
    return DIS_OK;
}

static dis_status train_run(train_command *job, dis_context *ctx, size_t run)
{
    char folder[4096];
    folder_of(job, run, folder, sizeof folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return DIS_EIO;
    const dis_model_train_options o = train_options(job, job->v->seed + run, folder);
    const dis_examples train = {.items = job->items, .labels = job->labels, .gold = job->gold, .votes = job->votes};
    dis_examples dev;
    dis_model *model;
    dis_status status = dis_model_train(ctx, &train, train_dev_set(job, &dev), &o, &model);
    if (status != DIS_OK) return status;
    if (dis_context_rank(ctx) == 0 || job->c->whole) status = dis_model_write(ctx, model, folder);
    if (status == DIS_OK) status = keep_curve(model, &job->curve[run]);
    if (status == DIS_OK && run == 0)
        job->first = model;
    else
        dis_model_destroy(model);
    return status;
}

/* Folds, then runs. */
static size_t n_trainings(const train_command *job)
{
    return (size_t)(job->v->folds + (job->v->output ? job->v->runs : 0));
}

static dis_status train_one(train_command *job, dis_context *ctx, size_t n)
{
    return n < job->v->folds ? train_fold_run(job, ctx, n) : train_run(job, ctx, n - (size_t)job->v->folds);
}

static size_t take_run(train_command *job)
{
    pthread_mutex_lock(&job->mutex);
    while (job->next < n_trainings(job) && !train_is_own(job, job->next)) job->next++;
    size_t run = job->status == DIS_OK ? job->next++ : SIZE_MAX;
    if (run >= n_trainings(job)) run = SIZE_MAX;
    if (run != SIZE_MAX) job->at_work++;
    pthread_mutex_unlock(&job->mutex);
    return run;
}

static void note_failure(train_command *job, dis_status status)
{
    pthread_mutex_lock(&job->mutex);
    if (job->status == DIS_OK) {
        job->status = status;
        snprintf(job->message, sizeof job->message, "%s", dis_last_error());
    }
    pthread_mutex_unlock(&job->mutex);
}

static int asked_to_stop(void *user)
{
    (void)user;
    return cli_signal();
}

/* How many are trained side by side. */
static size_t n_side_by_side(const train_command *job)
{
    const size_t n = n_trainings(job), wanted = job->v->jobs ? (size_t)job->v->jobs : dis_device_max_runs(job->ctx);
    return wanted < n ? wanted : n;
}

/* After a training found the memory used up: waits for another one to end. 0: there is no other, or one has failed, and
 * with it all; 1: all others wait. */
static int wait_for_room(train_command *job)
{
    pthread_mutex_lock(&job->mutex);
    const size_t ended = job->ended;
    const int others = job->at_work > job->waiting + 1 ? 2 : job->at_work > 1;
    job->waiting++;
    while (others > 1 && job->ended == ended && job->status == DIS_OK) pthread_cond_wait(&job->changed, &job->mutex);
    if (job->ended == ended) job->waiting--;
    const bool over = job->status != DIS_OK;
    pthread_mutex_unlock(&job->mutex);
    return over ? 0 : others;
}

/* With --jobs auto, what does not fit beside the others is tried again when one of them has ended, and once alone. */
static void train_where_it_fits(train_command *job, dis_context *ctx, size_t n)
{
    dis_status status = train_one(job, ctx, n);
    for (int others = 2; status == DIS_ELIMIT && !job->v->jobs && others > 1;)
        if ((others = wait_for_room(job)) > 0) status = train_one(job, ctx, n);
    if (status != DIS_OK) note_failure(job, status);
    pthread_mutex_lock(&job->mutex);
    job->at_work--;
    job->ended++;
    job->waiting = 0; /* they try again, whether they have woken up yet or not */
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
}

/* A worker of --jobs: runs until there are none, on a context of its own. */
static void *work_on_runs(void *arg)
{
    train_command *job = arg;
    dis_context_options o = dis_context_options_default();
    const int all = dis_context_n_threads(job->ctx);
    const int side_by_side = (int)n_side_by_side(job);
    o.threads = all / side_by_side > 0 ? all / side_by_side : 1;
    o.memory = job->v->common.memory;
    o.precision = (dis_precision)job->v->common.precision;
    o.device = job->v->common.device;
    o.stop = asked_to_stop;
    dis_context *ctx;
    dis_status status = dis_context_create(&o, &ctx);
    if (status != DIS_OK) {
        note_failure(job, status);
        return NULL;
    }
    for (size_t run; (run = take_run(job)) != SIZE_MAX;) train_where_it_fits(job, ctx, run);
    dis_context_destroy(ctx);
    return NULL;
}

int train_all_run(train_command *job)
{
    const size_t n_all = n_trainings(job), n_jobs = n_side_by_side(job);
    if (n_jobs == 1) {
        for (size_t run = 0; run < n_all; run++) {
            if (!train_is_own(job, run)) continue;
            const int code = cli_failed(job->c, train_one(job, job->ctx, run));
            if (code != 0) return code;
        }
        return 0;
    }
    pthread_t *thread = calloc(n_jobs, sizeof *thread);
    if (!thread) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu jobs", n_jobs);
    size_t n = 0;
    while (n < n_jobs && pthread_create(&thread[n], NULL, work_on_runs, job) == 0) n++;
    if (n == 0) work_on_runs(job);
    for (size_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
    free(thread);
    return job->status == DIS_OK ? 0 : cli_error(job->c, job->status, "%s", job->message);
}
