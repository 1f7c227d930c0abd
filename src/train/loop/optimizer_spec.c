/* Optimisers and schedules by name: each a row with its options. */
#include "train/loop/optimizer_spec.h"
#include "core/options/option_spec.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    double momentum, beta1, beta2, epsilon, decay, clip;
    int nesterov, decay_all;
    dis_reals at;
    double factor, warm_up;
} values;

#define REAL(field, key_, fallback_, low_, high_, summary_)                                                  \
    {                                                                                                        \
        .key = key_, .kind = DIS_OPTION_REAL, .offset = offsetof(values, field), .default_value = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                      \
    }
#define CHOICE(field, key_, summary_)                                                                     \
    {                                                                                                     \
        .key = key_, .kind = DIS_OPTION_CHOICE, .offset = offsetof(values, field), .default_value = "no", \
        .choices = "no|yes", .summary = summary_                                                          \
    }
#define COMMON                                                                               \
    REAL(decay, "decay", "0", 0, 1e3, "weight decay"),                                       \
        CHOICE(decay_all, "decay-all", "decay also biases and the gains of normalisations"), \
        REAL(clip, "clip", "0", 0, 1e9, "largest norm of all gradients together; 0: any")

static const dis_option sgd[] = {REAL(momentum, "momentum", "0", 0, .9999, "share of the last step that goes on"),
                                 CHOICE(nesterov, "nesterov", "look ahead along the momentum"), COMMON};
static const dis_option adam[] = {REAL(beta1, "beta1", "0.9", 0, .99999, "memory of gradients"),
                                  REAL(beta2, "beta2", "0.999", 0, .999999, "memory of their squares"),
                                  REAL(epsilon, "epsilon", "1e-8", 1e-16, 1, "added to the root of the squares"),
                                  COMMON};

static const struct {
    const char *name;
    dis__optimizer_kind kind;
    const dis_option *options;
    size_t n_options;
} optimizers[] = {
    {"sgd", DIS_OPTIMIZER_SGD, sgd, sizeof sgd / sizeof *sgd},
    {"adam", DIS_OPTIMIZER_ADAM, adam, sizeof adam / sizeof *adam},
    {"adamw", DIS_OPTIMIZER_ADAMW, adam, sizeof adam / sizeof *adam},
};

static const dis_option step[] = {
    {.key = "at",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(values, at),
     .low = 1,
     .high = 1e9,
     .summary = "epochs after which the rate drops, e.g. 50/55"},
    REAL(factor, "factor", "0.1", 1e-9, 1, "factor by which the rate drops"),
};
static const dis_option warm[] = {
    REAL(warm_up, "warm-up", "0", 0, 1e12, "warm-up steps in which the rate grows from 0; below 1: share of all steps"),
};

static const struct {
    const char *name;
    dis__schedule_kind kind;
    const dis_option *options;
    size_t n_options;
} schedules[] = {
    {"constant", DIS_SCHEDULE_CONSTANT, NULL, 0},
    {"step", DIS_SCHEDULE_STEP, step, sizeof step / sizeof *step},
    {"linear", DIS_SCHEDULE_LINEAR, warm, sizeof warm / sizeof *warm},
    {"cosine", DIS_SCHEDULE_COSINE, warm, sizeof warm / sizeof *warm},
};

static const char *optimizer_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof optimizers / sizeof *optimizers ? optimizers[i].name : NULL;
}

static const char *schedule_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof schedules / sizeof *schedules ? schedules[i].name : NULL;
}

dis_status dis__optimizer_parse(const char *spec, dis__optimizer_options *out)
{
    size_t i;
    values v;
    DIS_TRY(dis__spec_find_row("optimizer", spec, optimizer_name, &i));
    DIS_TRY(dis__spec_parse("optimizer", spec, optimizers[i].options, optimizers[i].n_options, &v, sizeof v));
    *out = dis__optimizer_options_default();
    out->kind = optimizers[i].kind;
    out->momentum = v.momentum;
    out->nesterov = v.nesterov;
    if (out->kind != DIS_OPTIMIZER_SGD) {
        out->beta1 = v.beta1;
        out->beta2 = v.beta2;
        out->epsilon = v.epsilon;
    }
    out->weight_decay = v.decay;
    out->decay_all = v.decay_all;
    out->clip = v.clip;
    return DIS_OK;
}

dis_status dis__schedule_parse(const char *spec, double rate, size_t per_epoch, size_t epochs, dis__schedule *out)
{
    size_t i;
    values v;
    DIS_TRY(dis__spec_find_row("schedule", spec, schedule_name, &i));
    DIS_TRY(dis__spec_parse("schedule", spec, schedules[i].options, schedules[i].n_options, &v, sizeof v));
    *out = dis__schedule_default();
    out->kind = schedules[i].kind;
    out->rate = rate;
    out->steps = (uint64_t)per_epoch * epochs;
    out->warm_up = (uint64_t)(v.warm_up < 1 ? v.warm_up * (double)out->steps : v.warm_up);
    out->factor = v.factor;
    if (v.at.n > DIS_SCHEDULE_DROPS)
        return dis__fail(DIS_EUSAGE, "schedule step: at most %d drops", DIS_SCHEDULE_DROPS);
    for (size_t d = 0; d < v.at.n; d++) out->drop[d] = (uint64_t)(v.at.value[d] * (double)per_epoch);
    return DIS_OK;
}
