/* Rates. Warm-up: step s of w has s / w of the rate. Linear then falls to 0 at `steps`, cosine (Loshchilov & Hutter
 * 2017) along half a wave. */
#include "nn/optimizer.h"
#include <math.h>

dis__optimizer_options dis__optimizer_options_default(void)
{
    return (dis__optimizer_options){.size = sizeof(dis__optimizer_options),
                                    .kind = DIS_OPTIMIZER_ADAM,
                                    .beta1 = .9,
                                    .beta2 = .999,
                                    .epsilon = 1e-8};
}

dis__schedule dis__schedule_default(void)
{
    return (dis__schedule){.size = sizeof(dis__schedule), .rate = 1e-3, .factor = .1};
}

static double after_warm_up(const dis__schedule *s, uint64_t step)
{
    if (step < s->warm_up || s->steps <= s->warm_up) return 0;
    const double gone = (double)(step - s->warm_up) / (double)(s->steps - s->warm_up);
    return gone < 1 ? gone : 1;
}

double dis__schedule_rate(const dis__schedule *s, uint64_t step)
{
    double rate = s->rate;
    switch (s->kind) {
    case DIS_SCHEDULE_CONSTANT: return rate;
    case DIS_SCHEDULE_STEP:
        for (int i = 0; i < DIS_SCHEDULE_DROPS; i++)
            if (s->drop[i] && step >= s->drop[i]) rate *= s->factor;
        return rate;
    case DIS_SCHEDULE_LINEAR: rate *= 1 - after_warm_up(s, step); break;
    case DIS_SCHEDULE_COSINE: rate *= .5 * (1 + cos(3.14159265358979323846 * after_warm_up(s, step))); break;
    }
    if (step < s->warm_up) rate = s->rate * (double)step / (double)s->warm_up;
    return rate;
}
