/* --workers: one row per worker: how many votes, the share of them that the labels confirm (no estimate of how
 * often the worker is right: that is dis_review), then what each method learned of
 * that worker as columns METHOD:PARAMETER, METHOD:PARAMETER:CLASS or METHOD:PARAMETER:TRUE>VOTED. A method that is
 * asked for twice has its number after its name from the second time on. */
#include "tool/table_writer.h"
#include "labels/cmd_labels.h"
#include <stdlib.h>
#include <string.h>

enum { FIXED = 3 };

/* Numbers that a parameter has for each worker; 0: it is not about workers. */
static size_t per_worker(const labels_command *job, const dis_parameter *parameter)
{
    return parameter->axes[0] == 'w' && job->in.view.n_workers ? parameter->n / job->in.view.n_workers : 0;
}

size_t labels_worker_columns_count(const labels_command *job)
{
    size_t n = FIXED;
    for (size_t m = 0; m < job->n_views; m++)
        for (size_t i = 0; job->view[m].fit && dis_fit_get_parameter(job->view[m].fit, i); i++)
            n += per_worker(job, dis_fit_get_parameter(job->view[m].fit, i));
    return n;
}

static const char *class_name(const labels_command *job, size_t k)
{
    return dis_names_get(job->in.view.classes, k, NULL);
}

/* Where column c of a parameter lies among its numbers for one worker: columns go by true class, then by class voted,
 * whatever the order in memory. */
static size_t place(const labels_command *job, const dis_parameter *parameter, size_t c)
{
    const size_t k = job->in.view.n_classes;
    return strcmp(parameter->axes, "wvt") == 0 ? c % k * k + c / k : c;
}

/* The name of column c, in memory of its own; NULL: none left. */
static char *column_name(const labels_command *job, const char *method, const dis_parameter *parameter, size_t c)
{
    const size_t k = job->in.view.n_classes, n_axes = strlen(parameter->axes);
    const char *first = n_axes == 2 ? class_name(job, c) : n_axes == 3 ? class_name(job, c / k) : NULL;
    const char *second = n_axes == 3 ? class_name(job, c % k) : NULL;
    const size_t size =
        strlen(method) + strlen(parameter->name) + (first ? strlen(first) : 0) + (second ? strlen(second) : 0) + 4;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s:%s%s%s%s%s", method, parameter->name, first ? ":" : "", first ? first : "",
                 second ? ">" : "", second ? second : "");
    return name;
}

static bool name_columns(const labels_command *job, char **names)
{
    size_t n = FIXED;
    for (size_t m = 0; m < job->n_views; m++) {
        const char *name = job->view[m].fit_view.method->name;
        size_t before = 0;
        for (size_t i = 0; i < m; i++) before += job->view[i].fit_view.method == job->view[m].fit_view.method;
        char method[64];
        if (before)
            snprintf(method, sizeof method, "%s#%zu", name, before + 1);
        else
            snprintf(method, sizeof method, "%s", name);
        const dis_parameter *parameter;
        for (size_t i = 0; (parameter = dis_fit_get_parameter(job->view[m].fit, i)); i++)
            for (size_t c = 0; c < per_worker(job, parameter); c++)
                if (!(names[n++] = column_name(job, method, parameter, c))) return false;
    }
    return true;
}

static void write_rows(const labels_command *job, dis__table_writer *table)
{
    for (size_t w = 0; w < job->in.view.n_workers; w++) {
        size_t length;
        const char *name = dis_names_get(job->in.view.workers, w, &length);
        dis__table_writer_text(table, name, length);
        dis__table_writer_count(table, job->n_voted[w]);
        if (job->n_voted[w])
            dis__table_writer_real(table, job->expected_accuracy[w]);
        else
            dis__table_writer_null(table);
        for (size_t m = 0; m < job->n_views; m++) {
            const dis_parameter *parameter;
            for (size_t i = 0; (parameter = dis_fit_get_parameter(job->view[m].fit, i)); i++) {
                const size_t n = per_worker(job, parameter);
                for (size_t c = 0; c < n; c++)
                    dis__table_writer_real(table, parameter->values[w * n + place(job, parameter, c)]);
            }
        }
    }
}

int labels_workers_write(const labels_command *job, const char *path)
{
    const size_t n = labels_worker_columns_count(job);
    char **names = calloc(n, sizeof *names);
    bool fine = names != NULL;
    if (fine) {
        static const char *const fixed[FIXED] = {"worker", "votes", "expected_accuracy"};
        for (size_t i = 0; i < FIXED; i++) fine = (names[i] = strdup(fixed[i])) && fine;
        fine = fine && name_columns(job, names);
    }
    dis__table_writer *table;
    dis_status status = fine ? dis__table_writer_create(path, NULL, (const char *const *)names, n, &table) : DIS_OK;
    if (fine && status == DIS_OK) {
        write_rows(job, table);
        status = dis__table_writer_finish(table, DIS_OK);
    }
    for (size_t i = 0; names && i < n; i++) free(names[i]);
    free(names);
    return fine ? cli_failed(job->c, status) : cli_error(job->c, DIS_ELIMIT, "no memory for %zu columns of workers", n);
}
