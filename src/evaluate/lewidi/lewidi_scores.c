/* The scores of Le-Wi-Di 2025 as its scoring program computes them, including its rounding and its divisors of absolute
 * distances (the docstrings of the program say 5 and 10, its code divides by 6 and 11).
 *
 *   MP           soft: mean over items of round5(sum |p - t|), rounded; perspectives: mean of round5(wrong /
 *                annotators)
 *   VariErrNLI   the same for each of the three labels, mean over labels per item (rounded for soft), mean over items
 *   CSC, Par     soft: mean of the transport distance with unit steps, rounded; perspectives: mean |t - p| / 6, / 11
 *
 * Targets that do not sum to 1 are scaled before transport, as are predictions. Cost: O(items x classes +
 * annotations). */
#include "evaluate/lewidi/lewidi_internal.h"
#include "core/memory/memory.h"
#include <math.h>

double dis__round5(double x)
{
    const double y = x * 1e5, error = fma(x, 1e5, -y), integer = floor(y), apart = y - integer - .5;
    const bool up = apart + error > 0 || (apart + error == 0 && fmod(integer, 2) != 0);
    return (integer + up) / 1e5;
}

/* ---- soft labels ---- */

static double manhattan(const double *p, const double *t, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += fabs(p[k] - t[k]);
    return sum;
}

static double transport(const double *p, const double *t, size_t n)
{
    double of_p = 0, of_t = 0, carried = 0, sum = 0;
    for (size_t k = 0; k < n; k++) {
        of_p += p[k];
        of_t += t[k];
    }
    for (size_t k = 0; k < n; k++) {
        carried += p[k] / of_p - t[k] / of_t;
        sum += fabs(carried);
    }
    return sum;
}

static double soft_of_item(const dis__lewidi_view *v, const double *p, const double *t)
{
    const dis__lewidi_set *s = v->set;
    if (s->ordered) return transport(p, t, s->n_classes);
    double sum = 0;
    for (size_t part = 0; part < s->n_parts; part++)
        sum += dis__round5(manhattan(p + part * s->n_classes, t + part * s->n_classes, s->n_classes));
    return s->n_parts > 1 ? dis__round5(sum / (double)s->n_parts) : sum;
}

dis_status dis__lewidi_soft_score(const dis__lewidi *official, const double *p, double *score)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    const size_t row = v.set->n_parts * v.set->n_classes;
    double sum = 0;
    if (!v.soft) return dis__fail(DIS_EUSAGE, "the official file has no soft labels");
    for (size_t i = 0; i < v.n_items; i++) sum += soft_of_item(&v, p + i * row, v.soft + i * row);
    *score = dis__round5(sum / (double)v.n_items);
    return DIS_OK;
}

/* ---- perspectives ---- */

static double errors_of_part(const dis__lewidi_view *v, size_t i, size_t part, const int32_t *value)
{
    const size_t n = v->set->n_parts;
    const double annotators = (double)(v->start[i + 1] - v->start[i]);
    double sum = 0;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++)
        sum += fabs((double)v->value[a * n + part] - (double)value[a * n + part]);
    if (v->set->ordered) return sum / annotators / v->set->scale;
    return dis__round5(1 - (annotators - sum) / annotators);
}

double dis__lewidi_perspective_score(const dis__lewidi *official, const int32_t *value)
{
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    double sum = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        double of_item = 0;
        for (size_t part = 0; part < v.set->n_parts; part++) of_item += errors_of_part(&v, i, part, value);
        sum += of_item / (double)v.set->n_parts;
    }
    return sum / (double)v.n_items;
}
