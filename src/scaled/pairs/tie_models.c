/* Likelihoods of one comparison with a tie as an outcome, x being the predictor and t the tie parameter:
 *
 *     half          a tie is half a win for each:         P(first) = s(x), s(x) = 1 / (1 + exp(-x))
 *     davidson      Davidson (1970), t = log nu:          P(first) : P(tie) : P(second) = e^(x/2) : e^t : e^(-x/2)
 *     rao-kupper    Rao & Kupper (1967), t = log theta:   P(first) = s(x - t), P(second) = s(-x - t), t > 0
 *
 * In the last one P(tie) = (e^(2t) - 1) s(x - t) s(-x - t), so that its logarithm is a sum. All three are concave in
 * (x, t). */
#include "core/numbers/elementary.h"
#include "scaled/pairs/tie_models.h"
#include <math.h>
#include <stddef.h>

/* log s(x), and s(x) in *p. */
static double log_sigma(double x, double *p)
{
    const double e = dis__exp(-fabs(x));
    *p = x >= 0 ? 1 / (1 + e) : e / (1 + e);
    return (x >= 0 ? 0 : x) - dis__log1p(e);
}

static dis__pair_likelihood evaluate_half(double x, double t, const double n[3])
{
    (void)t;
    double p;
    const double first = log_sigma(x, &p), second = first - x, all = n[0] + n[1] + n[2], won = n[0] + .5 * n[2];
    return (
        dis__pair_likelihood){.value = won * first + (all - won) * second, .x = won - all * p, .xx = all * p * (1 - p)};
}

static double value_half(double x, double t, const double n[3])
{
    (void)t;
    double p;
    const double first = log_sigma(x, &p);
    return (n[0] + .5 * n[2]) * first + (n[1] + .5 * n[2]) * (first - x);
}

static void predict_half(double x, double t, double p[3])
{
    (void)t;
    log_sigma(x, &p[0]);
    p[1] = 1 - p[0];
    p[2] = 0;
}

/* Probabilities, and the logarithm of their common denominator. */
static double davidson(double x, double t, double p[3])
{
    const double size = fabs(x) / 2, most = size > t ? size : t;
    p[0] = dis__exp(x / 2 - most);
    p[1] = dis__exp(-x / 2 - most);
    p[2] = dis__exp(t - most);
    const double sum = p[0] + p[1] + p[2];
    for (int i = 0; i < 3; i++) p[i] /= sum;
    return most + dis__log(sum);
}

static dis__pair_likelihood evaluate_davidson(double x, double t, const double n[3])
{
    double p[3];
    const double log_sum = davidson(x, t, p), all = n[0] + n[1] + n[2], tilt = p[0] - p[1];
    return (dis__pair_likelihood){.value = (n[0] - n[1]) * x / 2 + n[2] * t - all * log_sum,
                                  .x = .5 * (n[0] - n[1] - all * tilt),
                                  .t = n[2] - all * p[2],
                                  .xx = .25 * all * (p[0] + p[1] - tilt * tilt),
                                  .xt = -.5 * all * tilt * p[2],
                                  .tt = all * p[2] * (1 - p[2])};
}

static double value_davidson(double x, double t, const double n[3])
{
    double p[3];
    return (n[0] - n[1]) * x / 2 + n[2] * t - (n[0] + n[1] + n[2]) * davidson(x, t, p);
}

static void predict_davidson(double x, double t, double p[3])
{
    davidson(x, t, p);
}

static dis__pair_likelihood evaluate_rao_kupper(double x, double t, const double n[3])
{
    double p, q;
    const double first = n[0] + n[2], second = n[1] + n[2], rise = dis__expm1(2 * t);
    const double value = first * log_sigma(x - t, &p) + second * log_sigma(-x - t, &q);
    const double bend_p = first * p * (1 - p), bend_q = second * q * (1 - q);
    const double ties = n[2] > 0 ? n[2] : 0;
    return (dis__pair_likelihood){.value = value + (ties > 0 ? ties * dis__log(rise) : 0),
                                  .x = first * (1 - p) - second * (1 - q),
                                  .t = -first * (1 - p) - second * (1 - q) +
                                       (ties > 0 ? ties * 2 * (rise + 1) / rise : 0),
                                  .xx = bend_p + bend_q,
                                  .xt = bend_q - bend_p,
                                  .tt = bend_p + bend_q + (ties > 0 ? ties * 4 * (rise + 1) / (rise * rise) : 0)};
}

static double value_rao_kupper(double x, double t, const double n[3])
{
    double p;
    return (n[0] + n[2]) * log_sigma(x - t, &p) + (n[1] + n[2]) * log_sigma(-x - t, &p) +
           (n[2] > 0 ? n[2] * dis__log(dis__expm1(2 * t)) : 0);
}

static void predict_rao_kupper(double x, double t, double p[3])
{
    log_sigma(x - t, &p[0]);
    log_sigma(-x - t, &p[1]);
    p[2] = fmax(0, dis__expm1(2 * t) * p[0] * p[1]);
}

static const dis__tie_model rows[] = {
    {.name = "half", .evaluate = evaluate_half, .value = value_half, .predict = predict_half},
    {.name = "davidson",
     .has_parameter = true,
     .low = -1e300,
     .evaluate = evaluate_davidson,
     .value = value_davidson,
     .predict = predict_davidson},
    {.name = "rao-kupper",
     .has_parameter = true,
     .start = .5,
     .evaluate = evaluate_rao_kupper,
     .value = value_rao_kupper,
     .predict = predict_rao_kupper},
};

const dis__tie_model *dis__tie_model_get(size_t i)
{
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}
