/* One run of the store with all texts copied, for `show`. */
#include "experiment/store/store_internal.h"
#include "tool/experiments.h"
#include "core/memory/memory.h"
#include "io/json/json_read.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The public record, and the memory that it references. */
typedef struct {
    dis_run_record view; /* first: users hold a pointer to it */
    void **block;
    size_t n_blocks, capacity;
} record;

static dis_status own(record *r, void *block)
{
    const dis_status status = dis__reserve(&r->block, &r->capacity, r->n_blocks, r->n_blocks + 1, sizeof *r->block);
    if (status != DIS_OK)
        dis__free(block);
    else
        r->block[r->n_blocks++] = block;
    return status;
}

static dis_status keep_text(record *r, const char *text, size_t n, const char **out)
{
    char *copy;
    if (!text) return DIS_OK;
    DIS_TRY(dis__copy_text(&copy, text, n));
    DIS_TRY(own(r, copy));
    *out = copy;
    return DIS_OK;
}

static dis_status keep_array(record *r, size_t n, size_t size, void *out)
{
    void *block;
    DIS_TRY(dis__alloc_zeroed(&block, n, size));
    DIS_TRY(own(r, block));
    *(void **)out = block;
    return DIS_OK;
}

void dis__run_record_destroy(dis_run_record *view)
{
    if (!view) return;
    record *r = (record *)view;
    for (size_t i = 0; i < r->n_blocks; i++) dis__free(r->block[i]);
    dis__free(r->block);
    dis__free(r);
}

static dis_status read_settings(record *r, const char *key, const char *text)
{
    if (!text) return DIS_OK;
    dis__json json = {0};
    const dis__json_value *root;
    const dis__json_position place = {.file = key};
    dis_status status = dis__json_parse(&json, text, strlen(text), &place, &root);
    dis_experiment_setting *setting = NULL;
    if (status == DIS_OK && root->kind != DIS_JSON_OBJECT)
        status = dis__fail(DIS_EDATA, "the settings of run %.16s are not a JSON object; the store is damaged", key);
    if (status == DIS_OK) status = keep_array(r, root->n, sizeof *setting, &setting);
    if (status == DIS_OK) {
        const dis__json_value *member = root + 1;
        for (size_t i = 0; i < root->n && status == DIS_OK; i++) {
            const dis__json_value *value = member + 1;
            status = keep_text(r, member->text, member->length, &setting[i].key);
            if (status == DIS_OK) status = keep_text(r, value->text, value->length, &setting[i].value);
            member = value + value->skip;
        }
        r->view.setting = setting;
        r->view.n_settings = root->n;
    }
    dis__json_free(&json);
    return status;
}

static dis_status read_run(dis__store *s, record *r)
{
    dis_run_record *v = &r->view;
    dis__query q = dis__sql_query(s->db, "SELECT experiment, cell, data, settings, fold, seed, state, message, version,"
                                         " finished, seconds, parameters, examples, owner"
                                         " FROM runs WHERE key = ?");
    dis__bind_text(&q, v->key);
    dis_status status = DIS_OK;
    if (dis__sql_next(&q)) {
        const struct {
            int column;
            const char **out;
        } texts[] = {{0, &v->experiment}, {1, &v->cell},    {2, &v->data},
                     {7, &v->message},    {8, &v->version}, {9, &v->finished}};
        for (size_t i = 0; i < sizeof texts / sizeof *texts && status == DIS_OK; i++) {
            const char *text = dis__sql_text(&q, texts[i].column);
            status = keep_text(r, text, text ? strlen(text) : 0, texts[i].out);
        }
        if (status == DIS_OK) status = read_settings(r, v->key, dis__sql_text(&q, 3));
        v->fold = dis__sql_count(&q, 4);
        v->seed = dis__sql_count(&q, 5);
        const char *state = dis__sql_text(&q, 6), *owner = dis__sql_text(&q, 13);
        for (int i = 0; i < DIS_RUN_STATES; i++)
            if (state && strcmp(state, dis_run_state_name((dis_run_state)i)) == 0) v->state = (dis_run_state)i;
        bool alive = false;
        if (status == DIS_OK && v->state == DIS_RUN_RUNNING && owner)
            status = dis__owner_lives(s->owners, owner, &alive);
        if (v->state == DIS_RUN_RUNNING && !alive) v->state = DIS_RUN_MISSING;
        v->seconds = dis__sql_real(&q, 10);
        v->n_parameters = (size_t)dis__sql_count(&q, 11);
        v->n_examples = (size_t)dis__sql_count(&q, 12);
    }
    if (q.status == DIS_OK) q.status = status;
    return dis__sql_end(&q);
}

static dis_status count_rows(dis__store *s, const char *text, const char *key, size_t *out)
{
    dis__query q = dis__sql_query(s->db, text);
    dis__bind_text(&q, key);
    if (dis__sql_next(&q)) *out = (size_t)dis__sql_count(&q, 0);
    return dis__sql_end(&q);
}

static dis_status read_measures(dis__store *s, record *r)
{
    dis_run_record *v = &r->view;
    const char **set, **metric;
    double *value;
    size_t n = 0, i = 0;
    DIS_TRY(count_rows(s, "SELECT count(*) FROM measures WHERE key = ?", v->key, &n));
    DIS_TRY(keep_array(r, n, sizeof *set, &set));
    DIS_TRY(keep_array(r, n, sizeof *metric, &metric));
    DIS_TRY(keep_array(r, n, sizeof *value, &value));
    dis__query q = dis__sql_query(s->db, "SELECT set_name, metric, value FROM measures WHERE key = ?");
    dis__bind_text(&q, v->key);
    for (dis_status status; i < n && dis__sql_next(&q); i++) {
        const char *a = dis__sql_text(&q, 0), *b = dis__sql_text(&q, 1);
        value[i] = dis__sql_real(&q, 2);
        status = keep_text(r, a ? a : "", a ? strlen(a) : 0, &set[i]);
        if (status == DIS_OK) status = keep_text(r, b ? b : "", b ? strlen(b) : 0, &metric[i]);
        if (status != DIS_OK) q.status = status;
    }
    v->set = set;
    v->metric = metric;
    v->value = value;
    v->n_measures = i;
    return dis__sql_end(&q);
}

static dis_status read_files(dis__store *s, record *r)
{
    dis_run_record *v = &r->view;
    const char **file;
    size_t n = 0, i = 0;
    DIS_TRY(count_rows(s, "SELECT count(*) FROM sets WHERE key = ?", v->key, &n));
    DIS_TRY(keep_array(r, n, sizeof *file, &file));
    dis__query q = dis__sql_query(s->db, "SELECT path FROM sets WHERE key = ?");
    dis__bind_text(&q, v->key);
    for (dis_status status; i < n && dis__sql_next(&q); i++) {
        const char *path = dis__sql_text(&q, 0);
        if ((status = keep_text(r, path ? path : "", path ? strlen(path) : 0, &file[i])) != DIS_OK) q.status = status;
    }
    v->file = file;
    v->n_files = i;
    return dis__sql_end(&q);
}

static dis_status find_key(dis__store *s, const char *prefix, char key[65], size_t *n)
{
    /* keys are hexadecimal: a prefix with anything else begins none */
    dis__query q = dis__sql_query(s->db, "SELECT key FROM runs WHERE substr(key, 1, length(?1)) = ?1");
    dis__bind_text(&q, prefix);
    for (*n = 0; dis__sql_next(&q); ++*n) {
        const char *found = dis__sql_text(&q, 0);
        snprintf(key, 65, "%s", found ? found : "");
    }
    return dis__sql_end(&q);
}

static dis_status read_record(dis__store *s, record *r)
{
    DIS_TRY(read_run(s, r));
    DIS_TRY(read_measures(s, r));
    return read_files(s, r);
}

dis_status dis__store_record(dis__store *store, const char *prefix, dis_run_record **out, size_t *n)
{
    record *r;
    dis_epoch *epoch = NULL;
    size_t found = 0;
    DIS_TRY(dis__alloc_zeroed(&r, 1, sizeof *r));
    r->view.seconds = (double)NAN;
    pthread_mutex_lock(&store->mutex);
    dis_status status = find_key(store, prefix, r->view.key, &found);
    if (status == DIS_OK && found == 1) status = read_record(store, r);
    pthread_mutex_unlock(&store->mutex);
    if (status == DIS_OK && found == 1) {
        status = dis__store_curve(store, r->view.key, &epoch, &r->view.n_epochs, &r->view.best_epoch);
        if (status == DIS_OK && epoch) status = own(r, epoch);
        r->view.epoch = epoch;
    }
    if (status == DIS_OK) *n = found;
    if (status == DIS_OK && found == 1)
        *out = &r->view;
    else
        dis__run_record_destroy(&r->view);
    return status;
}
