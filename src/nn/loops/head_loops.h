/* Loops of heads: losses between a target p and q = softmax(z), and the crowd layer (Rodrigues & Pereira 2018).
 *
 *     cross-entropy   - sum p log q              gradient by z:  q sum p - p
 *     KL              sum p log(p / q)                           q sum p - p
 *     inverse KL      sum q log(q / f)                           q (log(q / f) - L)
 *     Jensen-Shannon  (KL(p, m) + KL(q, m)) / 2, m = (p + q)/2   q (g - sum q g),  g = log(q / m) / 2
 *
 * with 0 log 0 = 0. f is p with every class at least `floor`, renormalised: inverse KL is infinite where p is 0 and q
 * is not. log q is taken as z - log sum exp z, which is finite whatever q rounds to. Cost: O(K) per row, O(K^2) per
 * vote of MW. */
#include "nn/loops/loops.h"

/* x log(x / y) for probabilities; log_y is given where it is known. */
static inline real x_log_x(real x)
{
    return x > 0 ? x * LOG(x) : 0;
}

static inline real row_loss(const dis__soft_loss_args *a, const real *p, const real *z, const real *q, real log_sum)
{
    const size_t n = a->n_classes;
    real loss = 0, total = 0;
    switch (a->kind) {
    case DIS_LOSS_CE:
        for (size_t k = 0; k < n; k++) loss -= p[k] > 0 ? p[k] * (z[k] - log_sum) : 0;
        break;
    case DIS_LOSS_KL:
        for (size_t k = 0; k < n; k++) loss += p[k] > 0 ? p[k] * (LOG(p[k]) - (z[k] - log_sum)) : 0;
        break;
    case DIS_LOSS_INVERSE_KL:
        for (size_t k = 0; k < n; k++) total += p[k] > (real)a->floor ? p[k] : (real)a->floor;
        for (size_t k = 0; k < n; k++)
            loss += q[k] * ((z[k] - log_sum) - LOG((p[k] > (real)a->floor ? p[k] : (real)a->floor) / total));
        break;
    case DIS_LOSS_JS:
        for (size_t k = 0; k < n; k++) {
            const real m = (p[k] + q[k]) / 2;
            loss += (x_log_x(p[k]) + x_log_x(q[k])) / 2 - x_log_x(m);
        }
        break;
    case DIS_N_LOSSES: break;
    }
    return loss;
}

void OP(one_hot)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__one_hot_args *a = args;
    const size_t n = a->n_classes;
    for (size_t i = first; i < last; i++) {
        real *target = (real *)a->target + i * n;
        const bool has_label = a->label[i] >= 0 && (size_t)a->label[i] < n;
        memset(target, 0, n * sizeof *target);
        ((real *)a->weight)[i] = has_label;
        if (has_label) target[a->label[i]] = 1;
    }
}

void OP(head_loss)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)first;
    (void)last;
    (void)scratch;
    const dis__head_loss_args *a = args;
    double total = 0;
    for (size_t i = 0; i < a->n; i++) total += (double)((const real *)a->row_loss)[i];
    a->head->loss = total / a->head->norm;
    a->head->weighted = a->head->weight * a->head->loss;
}

void OP(total_loss)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)first;
    (void)last;
    (void)scratch;
    const dis__total_loss_args *a = args;
    double total = 0;
    for (size_t h = 0; h < a->n_heads; h++)
        if (a->head[h].norm > 0) total += a->head[h].weighted;
    *a->total = total;
    if (a->sum) *a->sum += total;
}

void OP(soft_loss)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__soft_loss_args *a = args;
    const size_t n = a->n_classes;
    const real *weight = a->weight;
    real *loss = a->loss;
    for (size_t i = first; i < last; i++) {
        const real *z = (const real *)a->logits + i * n;
        real *q = (real *)a->q + i * n;
        const real log_sum = softmax(z, q, n);
        if (!a->target) continue;
        loss[i] = 0;
        if (weight[i] > 0)
            loss[i] = weight[i] * row_loss(a, (const real *)a->target + i * n, z, q, log_sum) * (real)a->per_log_base;
    }
}

/* g (n): d loss / d z of one row. */
static inline void row_grad(const dis__soft_loss_args *a, const real *p, const real *q, real *g)
{
    const size_t n = a->n_classes;
    real mean = 0, total = 0;
    switch (a->kind) {
    case DIS_LOSS_CE:
    case DIS_LOSS_KL:
        for (size_t k = 0; k < n; k++) total += p[k];
        for (size_t k = 0; k < n; k++) g[k] = q[k] * total - p[k];
        return;
    case DIS_LOSS_INVERSE_KL:
        for (size_t k = 0; k < n; k++) total += p[k] > (real)a->floor ? p[k] : (real)a->floor;
        for (size_t k = 0; k < n; k++)
            g[k] = q[k] > 0 ? LOG(q[k] * total / (p[k] > (real)a->floor ? p[k] : (real)a->floor)) : 0;
        break;
    case DIS_LOSS_JS:
        for (size_t k = 0; k < n; k++) g[k] = q[k] > 0 ? LOG(2 * q[k] / (p[k] + q[k])) / 2 : 0;
        break;
    case DIS_N_LOSSES: return;
    }
    for (size_t k = 0; k < n; k++) mean += q[k] * g[k];
    for (size_t k = 0; k < n; k++) g[k] = q[k] * (g[k] - mean);
}

void OP(soft_loss_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    real *g = scratch;
    const dis__soft_loss_args *a = args;
    const size_t n = a->n_classes;
    const real *weight = a->weight;
    for (size_t i = first; i < last; i++) {
        real *dz = (real *)a->d_logits + i * n;
        if (!(weight[i] > 0)) {
            if (!a->add) memset(dz, 0, n * sizeof *dz);
            continue;
        }
        row_grad(a, (const real *)a->target + i * n, (const real *)a->q + i * n, g);
        const real scale = weight[i] * (real)(*a->scale * a->per_log_base);
        for (size_t k = 0; k < n; k++) g[k] *= scale;
        store_or_add(dz, g, n, a->add);
    }
}

/* ---- crowd layer ---- */

/* Worker w's map of x (K), the logits or q, to the logits of its vote. */
static inline void vote_logits(const dis__crowd_args *a, size_t w, const real *x, real *z)
{
    const size_t n = a->n_classes;
    const real *matrix = a->matrix, *bias = a->bias;
    switch (a->kind) {
    case DIS_CROWD_MW:
        for (size_t k = 0; k < n; k++) z[k] = dot(matrix + (w * n + k) * n, x, n);
        break;
    case DIS_CROWD_VW:
        for (size_t k = 0; k < n; k++) z[k] = matrix[w * n + k] * x[k];
        break;
    case DIS_CROWD_VB:
        for (size_t k = 0; k < n; k++) z[k] = x[k] + bias[w * n + k];
        break;
    case DIS_CROWD_VWB:
        for (size_t k = 0; k < n; k++) z[k] = matrix[w * n + k] * x[k] + bias[w * n + k];
        break;
    case DIS_CROWD_SW:
        for (size_t k = 0; k < n; k++) z[k] = matrix[w] * x[k];
        break;
    case DIS_N_CROWDS: break;
    }
}

/* dx += the gradient of x, from d (K), the gradient of the vote's logits. */
static inline void vote_to_x(const dis__crowd_args *a, size_t w, const real *d, real *dx)
{
    const size_t n = a->n_classes;
    const real *matrix = a->matrix;
    switch (a->kind) {
    case DIS_CROWD_MW:
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) dx[j] += d[k] * matrix[(w * n + k) * n + j];
        break;
    case DIS_CROWD_VW:
    case DIS_CROWD_VWB:
        for (size_t k = 0; k < n; k++) dx[k] += d[k] * matrix[w * n + k];
        break;
    case DIS_CROWD_VB:
        for (size_t k = 0; k < n; k++) dx[k] += d[k];
        break;
    case DIS_CROWD_SW:
        for (size_t k = 0; k < n; k++) dx[k] += d[k] * matrix[w];
        break;
    case DIS_N_CROWDS: break;
    }
}

/* Converts d (n), a gradient by q = softmax(z), to one by z. */
static inline void q_to_logits(const real *q, real *d, size_t n)
{
    real mean = 0;
    for (size_t k = 0; k < n; k++) mean += q[k] * d[k];
    for (size_t k = 0; k < n; k++) d[k] = q[k] * (d[k] - mean);
}

void OP(crowd_loss)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__crowd_args *a = args;
    const size_t n = a->n_classes;
    real *z = scratch, *s = z + n, *dx = s + n;
    for (size_t i = first; i < last; i++) {
        const real *logits = (const real *)a->logits + i * n;
        real *q = (real *)a->q + i * n, *dz = a->d_logits ? (real *)a->d_logits + i * n : NULL;
        softmax(logits, q, n);
        if (!a->row_start) continue;
        real loss = 0;
        memset(dx, 0, n * sizeof *dx);
        for (size_t v = (size_t)a->row_start[i]; v < (size_t)a->row_start[i + 1]; v++) {
            const size_t w = (size_t)a->worker[v], label = (size_t)a->label[v];
            vote_logits(a, w, a->on_logits ? logits : q, z);
            loss += softmax(z, s, n) - z[label];
            if (!dz) continue;
            s[label] -= 1;
            for (size_t k = 0; k < n; k++) s[k] *= (real)*a->scale;
            vote_to_x(a, w, s, dx);
            memcpy((real *)a->d_vote + v * n, s, n * sizeof *s);
        }
        ((real *)a->loss)[i] = loss;
        if (!dz) continue;
        if (!a->on_logits) q_to_logits(q, dx, n);
        store_or_add(dz, dx, n, a->add);
    }
}

void OP(crowd_param_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__crowd_args *a = args;
    const size_t n = a->n_classes;
    const real *from = a->on_logits ? a->logits : a->q;
    real *dm = a->d_matrix, *db = a->d_bias;
    for (size_t i = (size_t)a->group_start[first]; i < (size_t)a->group_start[last]; i++) {
        const size_t v = (size_t)a->order[i], w = (size_t)a->worker[v];
        const real *d = (const real *)a->d_vote + v * n, *x = from + (size_t)a->row[v] * n;
        if (dm && a->kind == DIS_CROWD_MW) {
            for (size_t k = 0; k < n; k++)
                for (size_t j = 0; j < n; j++) dm[(w * n + k) * n + j] += d[k] * x[j];
        } else if (dm && a->kind == DIS_CROWD_SW) {
            dm[w] += dot(d, x, n);
        } else if (dm) {
            for (size_t k = 0; k < n; k++) dm[w * n + k] += d[k] * x[k];
        }
        if (db)
            for (size_t k = 0; k < n; k++) db[w * n + k] += d[k];
    }
}
