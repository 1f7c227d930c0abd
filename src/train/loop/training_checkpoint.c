/* Checkpoints of a run: checkpoint.safetensors holds the network with the optimiser's state, and as metadata the
 * position, the curve so far and a key: the SHA-256 of all that determines the run. With a development set
 * best.safetensors holds the numbers of the best epoch, written before the checkpoint that mentions it; a crash between
 * the two repeats the epoch, which writes the same again. Without one the last epoch is the best, and the checkpoint
 * has its numbers.
 *
 * After an epoch a checkpoint is written when the last is RARELY times as old as writing it took: large networks would
 * otherwise spend more time on short epochs' checkpoints than on the epochs. Before the first one the time is
 * estimated; networks of a few megabytes get theirs after the first epoch. */
#include "train/loop/training.h"
#include "core/os/os.h"
#include "core/parallel/comm.h"
#include "core/text/sha256.h"
#include "dissent/version.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"
#include "nn/devices.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NUMBER = 17, PER_EPOCH = 4, RARELY = 20 };
enum { SMALL = 16 << 20, BYTES_PER_SECOND = 500000000 }; /* a checkpoint that is always written first; writing */

static void hash_text(dis__sha256 *sha, const char *text)
{
    const char *s = text ? text : "";
    dis__sha256_update(sha, s, strlen(s) + 1);
}

/* Everything that the bytes of the result depend on. */
static void key_of(const dis__training *t, char hex[65])
{
    const dis_model_train_options *o = t->o;
    char numbers[256];
    dis__sha256 sha;
    dis__sha256_init(&sha);
    hash_text(&sha, dis_version());
    hash_text(&sha, o->model);
    hash_text(&sha, o->objective);
    hash_text(&sha, o->optimizer);
    hash_text(&sha, o->schedule);
    hash_text(&sha, o->vectors);
    hash_text(&sha, t->model->keep);
    snprintf(numbers, sizeof numbers, "%llu %zu %zu %zu %a %a %a %a %zu %d %d %d %d %d", (unsigned long long)o->seed,
             t->epochs, t->limits.units, o->patience, o->rate, o->soft_weight, o->log_base, o->floor, o->accumulate,
             (int)o->lenient, (int)o->over_all, (int)t->batches.kind, (int)o->keep_last, (int)o->class_weights);
    hash_text(&sha, numbers);
    if (dis__comm_is_parallel(t->comm)) { /* sums of gradients depend on how many there are */
        snprintf(numbers, sizeof numbers, "%d ranks", t->comm->size);
        hash_text(&sha, numbers);
    }
    const dis__targets *const sets[] = {&t->targets, &t->dev_targets};
    for (int i = 0; i < 2; i++) {
        const dis__targets *g = sets[i];
        if (g->label) dis__sha256_update(&sha, g->label, g->n_items * sizeof *g->label);
        if (g->of_item) dis__sha256_update(&sha, g->of_item, g->n_items * sizeof *g->of_item);
        if (g->human) dis__sha256_update(&sha, g->human, g->n_items * g->n_classes * sizeof *g->human);
        if (g->vote) dis__sha256_update(&sha, g->vote, (size_t)g->first[g->n_items] * sizeof *g->vote);
        if (g->worker) dis__sha256_update(&sha, g->worker, (size_t)g->first[g->n_items] * sizeof *g->worker);
    }
    if (t->model->features.width)
        dis__worker_features_hash(&t->model->features, dis_names_count(t->model->workers), &sha);
    if (t->pairs.worker) dis__sha256_update(&sha, t->pairs.worker, t->pairs.n * sizeof *t->pairs.worker);
    if (t->dev_pairs.worker) dis__sha256_update(&sha, t->dev_pairs.worker, t->dev_pairs.n * sizeof *t->pairs.worker);
    const dis__model_row *row = t->model->row;
    row->hash_encoded(t->model->encoder, t->encoded, &sha);
    if (t->dev_encoded) row->hash_encoded(t->model->encoder, t->dev_encoded, &sha);
    if (row->hash_encoder) row->hash_encoder(t->model->encoder, &sha);
    if (strcmp(t->model->device->row->machine, "cpu") != 0) {
        char found[256];
        t->model->device->describe(t->model->device, found, sizeof found);
        hash_text(&sha, found);
        hash_text(&sha, dis__device_precision(t->model->device));
    }
    dis__sha256_hex(&sha, hex);
}

/* Doubles as their bits, so that NaN and the last digit come back. */
static void put_real(char *to, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    snprintf(to, NUMBER, "%016llx", (unsigned long long)bits);
}

static bool get_real(const char *from, double *x)
{
    uint64_t bits = 0;
    for (int i = 0; i < NUMBER - 1; i++) {
        const char c = from[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
        bits = bits << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    memcpy(x, &bits, sizeof bits);
    return true;
}

static dis_status write_best(const dis__training *t)
{
    char *path, key[65];
    key_of(t, key);
    const char *const extra[][2] = {{"run", key}};
    DIS_TRY(dis__path_join(t->o->folder, "best.safetensors", &path));
    const dis_status status = dis__net_save(t->model_net.net, path, false, extra, 1);
    dis__free(path);
    return status;
}

/* The network has the best epoch's numbers when that has just ended; otherwise it gets them for a moment. */
static dis_status save_best(dis__training *t)
{
    if (t->at.batch == 0 && t->model->best_epoch + 1 == t->at.epoch) return write_best(t);
    dis__model_weights now = {0};
    dis_status status;
    if (t->best_on_device) {
        dis__net_swap_params_copy(t->model_net.net);
        status = write_best(t);
        dis__net_swap_params_copy(t->model_net.net);
        return status;
    }
    DIS_TRY_GOTO(status, dis__model_weights_get(t->model_net.net, &now), end);
    DIS_TRY_GOTO(status, dis__model_weights_set(&t->model->weights, t->model_net.net), end);
    DIS_TRY_GOTO(status, write_best(t), end);
    status = dis__model_weights_set(&now, t->model_net.net);
end:
    dis__model_weights_free(&now);
    return status;
}

static dis_status save_place(const dis__training *t)
{
    const dis_model *m = t->model;
    char key[65], place[64], sums[2 * NUMBER], *curve = NULL, *path = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&curve, m->n_epochs * PER_EPOCH * (NUMBER - 1) + NUMBER, 1), end);
    for (size_t e = 0; e < m->n_epochs; e++) {
        const double x[PER_EPOCH] = {m->epoch[e].loss, m->epoch[e].rate, m->epoch[e].dev,
                                     m->epoch[e].dev_cross_entropy};
        for (size_t i = 0; i < PER_EPOCH; i++) put_real(curve + (e * PER_EPOCH + i) * (NUMBER - 1), x[i]);
    }
    key_of(t, key);
    snprintf(place, sizeof place, "%zu %zu %zu", t->at.epoch, t->at.batch, m->best_epoch);
    put_real(sums, t->at.loss);
    put_real(sums + NUMBER - 1, t->at.rate);
    const char *const extra[][2] = {{"run", key}, {"place", place}, {"sums", sums}, {"curve", curve}};
    DIS_TRY_GOTO(status, dis__path_join(t->o->folder, "checkpoint.safetensors", &path), end);
    status = dis__net_save(t->model_net.net, path, true, extra, sizeof extra / sizeof *extra);
end:
    dis__free(curve);
    dis__free(path);
    return status;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

dis_status dis__checkpoint_write(dis__training *t)
{
    const double begun = seconds();
    const dis__model_row *row = t->model->row;
    if (row->identify) DIS_TRY(row->identify(t->model->encoder));
    if (t->best_unsaved) DIS_TRY(save_best(t));
    t->best_unsaved = false;
    DIS_TRY(save_place(t));
    t->saved_at = seconds();
    t->save_seconds = t->saved_at - begun;
    return DIS_OK;
}

void dis__checkpoint_start_timer(dis__training *t)
{
    const dis__net *net = t->model_net.net;
    size_t bytes = 0; /* numbers and at most two moments of what is trained */
    for (size_t i = 0; i < dis__net_n_params(net); i++)
        bytes += dis__net_param(net, i)->n * sizeof(float) * (dis__net_param(net, i)->trained ? 3 : 1);
    t->saved_at = seconds();
    t->save_seconds = bytes < SMALL ? 0 : (double)bytes / BYTES_PER_SECOND;
}

bool dis__checkpoint_is_due(const dis__training *t)
{
    return seconds() - t->saved_at >= RARELY * t->save_seconds;
}

/* The text of a key, with a NUL after it; NULL: not there. */
static char *text_of(const dis__safetensors *file, const char *key, char *room, size_t n)
{
    const dis__json_value *v = dis__safetensors_metadata(file, key);
    if (!v || v->length >= n) return NULL;
    memcpy(room, v->text, v->length);
    room[v->length] = 0;
    return room;
}

static dis_status check_run(dis__training *t, const dis__safetensors *file, const char *path)
{
    char key[65], have[65];
    key_of(t, key);
    if (text_of(file, "run", have, sizeof have) && strcmp(key, have) == 0) return DIS_OK;
    return dis__fail_at(DIS_EDATA, path, 0, 0,
                        "the checkpoint is of a run with other settings or data; resume with the same settings and "
                        "data, or leave out `resume`");
}

static dis_status restore_position(dis__training *t, const dis__safetensors *file, const char *path)
{
    dis_model *m = t->model;
    char place[64], sums[2 * NUMBER];
    DIS_TRY(check_run(t, file, path));
    const dis__json_value *curve = dis__safetensors_metadata(file, "curve");
    size_t epoch, batch, best;
    if (!text_of(file, "place", place, sizeof place) || sscanf(place, "%zu %zu %zu", &epoch, &batch, &best) != 3 ||
        epoch > t->epochs || (best >= epoch && epoch) || !curve || curve->length != epoch * PER_EPOCH * (NUMBER - 1) ||
        !text_of(file, "sums", sums, sizeof sums) || strlen(sums) != 2 * (NUMBER - 1) || !get_real(sums, &t->at.loss) ||
        !get_real(sums + NUMBER - 1, &t->at.rate))
        return dis__fail_at(DIS_EDATA, path, 0, 0, "not a checkpoint that dissent has written");
    for (size_t e = 0; e < epoch; e++) {
        double x[PER_EPOCH] = {0};
        for (size_t i = 0; i < PER_EPOCH; i++)
            if (!get_real(curve->text + (e * PER_EPOCH + i) * (NUMBER - 1), &x[i]))
                return dis__fail_at(DIS_EDATA, path, 0, 0, "not a checkpoint that dissent has written");
        m->epoch[e] = (dis_epoch){.loss = x[0], .rate = x[1], .dev = x[2], .dev_cross_entropy = x[3]};
    }
    t->at.epoch = epoch;
    t->at.batch = batch;
    m->n_epochs = epoch;
    m->best_epoch = best;
    return DIS_OK;
}

/* Gives the metadata to `restore`, then the numbers to the network, whose checksum covers both. */
static dis_status load_one(dis__training *t, dis_context *ctx, const char *path,
                           dis_status (*restore)(dis__training *t, const dis__safetensors *file, const char *path))
{
    dis__input in;
    dis__safetensors file;
    DIS_TRY(dis__input_open_regular(ctx, path, SIZE_MAX / 2, &in));
    dis_status status = dis__safetensors_open(path, in.bytes, in.n, &file);
    if (status == DIS_OK) {
        status = restore(t, &file, path);
        dis__safetensors_close(&file);
    }
    status = dis__input_finish(&in, status);
    return status == DIS_OK ? dis__net_load(t->model_net.net, ctx, path) : status;
}

static dis_status load(dis__training *t, dis_context *ctx, const char *path, const char *best)
{
    const dis__model_row *row = t->model->row;
    if (row->identify) DIS_TRY(row->identify(t->model->encoder));
    DIS_TRY(load_one(t, ctx, path, restore_position));
    if (t->model->n_epochs == 0 || !t->q) return DIS_OK;
    /* Another run may have begun in this folder, and have been killed before its own first checkpoint. */
    DIS_TRY(load_one(t, ctx, best, check_run));
    DIS_TRY(dis__model_weights_get(t->model_net.net, &t->model->weights));
    return dis__net_load(t->model_net.net, ctx, path);
}

dis_status dis__checkpoint_read(dis__training *t, dis_context *ctx)
{
    char *path = NULL, *best = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__path_join(t->o->folder, "checkpoint.safetensors", &path), end);
    DIS_TRY_GOTO(status, dis__path_join(t->o->folder, "best.safetensors", &best), end);
    if (dis__os_access(path, F_OK) == 0) status = load(t, ctx, path, best);
end:
    dis__free(path);
    dis__free(best);
    return status;
}
