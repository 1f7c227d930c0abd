/* Numbers between the host and a device: as they are where the types agree, otherwise changed on the way, some at a
 * time. bfloat16 is the upper half of a float32, rounded to the nearest even. */
#include "nn/net_internal.h"
#include <string.h>

enum { SOME = 1024, LARGE = 1 << 14, MANY = 1 << 16 };

static uint16_t to_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* NaN is preserved */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bfloat16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static void encode(dis__number number, void *to, size_t i, double x)
{
    if (number == DIS_FLOAT64)
        ((double *)to)[i] = x;
    else if (number == DIS_FLOAT32)
        ((float *)to)[i] = (float)x;
    else
        ((uint16_t *)to)[i] = to_bfloat16((float)x);
}

static double decode(dis__number number, const void *from, size_t i)
{
    if (number == DIS_FLOAT64) return ((const double *)from)[i];
    if (number == DIS_FLOAT32) return (double)((const float *)from)[i];
    return (double)from_bfloat16(((const uint16_t *)from)[i]);
}

dis_status dis__copy_in(dis__net *net, void *to, const void *from, size_t bytes)
{
    return bytes ? net->device->copy_in(net->session, to, from, bytes) : DIS_OK;
}

/* One of the two sources is NULL. */
static dis_status put(dis__net *net, dis__role role, void *to, const float *x, const double *exact, size_t n)
{
    const dis__number number = net->device->number[role];
    double room[SOME];
    for (size_t at = 0; at < n; at += SOME) {
        const size_t m = n - at < SOME ? n - at : SOME;
        for (size_t i = 0; i < m; i++) encode(number, room, i, x ? (double)x[at + i] : exact[at + i]);
        DIS_TRY(dis__copy_in(net, dis__offset_role(net, role, to, at), room, m * dis__number_size(number)));
    }
    return DIS_OK;
}

/* Images have millions of values per batch: few copies, and a loop that compilers can vectorize. */
static dis_status put_bfloat16(dis__net *net, dis__role role, void *to, const float *x, size_t n)
{
    uint16_t room[MANY];
    for (size_t at = 0; at < n; at += MANY) {
        const size_t m = n - at < MANY ? n - at : MANY;
        for (size_t i = 0; i < m; i++) room[i] = to_bfloat16(x[at + i]);
        DIS_TRY(dis__copy_in(net, dis__offset_role(net, role, to, at), room, m * sizeof *room));
    }
    return DIS_OK;
}

dis_status dis__put_floats(dis__net *net, dis__role role, void *to, const float *x, size_t n)
{
    if (net->device->number[role] == DIS_FLOAT32) return dis__copy_in(net, to, x, n * sizeof *x);
    if (net->device->number[role] == DIS_BFLOAT16) return put_bfloat16(net, role, to, x, n);
    return put(net, role, to, x, NULL, n);
}

dis_status dis__put_doubles(dis__net *net, dis__role role, void *to, const double *x, size_t n)
{
    if (net->device->number[role] == DIS_FLOAT64) return dis__copy_in(net, to, x, n * sizeof *x);
    return put(net, role, to, NULL, x, n);
}

static dis_status copy_out(const dis__net *net, void *to, const void *from, size_t bytes)
{
    return bytes ? net->device->copy_out(net->session, to, from, bytes) : DIS_OK;
}

/* One of the two destinations is NULL. A device may have to wait for each copy: they are large. */
static dis_status get(const dis__net *net, dis__role role, const void *from, float *x, double *exact, size_t n)
{
    const dis__number number = net->device->number[role];
    double room[LARGE];
    for (size_t at = 0; at < n; at += LARGE) {
        const size_t m = n - at < LARGE ? n - at : LARGE;
        DIS_TRY(copy_out(net, room, dis__offset_role(net, role, from, at), m * dis__number_size(number)));
        for (size_t i = 0; i < m; i++) {
            const double y = decode(number, room, i);
            if (x)
                x[at + i] = (float)y;
            else
                exact[at + i] = y;
        }
    }
    return DIS_OK;
}

dis_status dis__get_doubles(const dis__net *net, dis__role role, const void *from, double *x, size_t n)
{
    if (net->device->number[role] == DIS_FLOAT64) return copy_out(net, x, from, n * sizeof *x);
    return get(net, role, from, NULL, x, n);
}

dis_status dis__get_floats(const dis__net *net, dis__role role, const void *from, float *x, size_t n)
{
    if (net->device->number[role] == DIS_FLOAT32) return copy_out(net, x, from, n * sizeof *x);
    return get(net, role, from, x, NULL, n);
}

dis_status dis__net_fetch(const dis__net *net, int value, size_t n_rows, void *raw)
{
    const size_t n = dis__saturating_size(n_rows, dis__shape_of(net, value)->channels, 0);
    return copy_out(net, raw, dis__data(net, value),
                    dis__saturating_size(n, dis__number_bytes(net, DIS_ROLE_VALUE), 0));
}

void dis__net_decode(const dis__net *net, const void *raw, size_t first, size_t n, float *x)
{
    const dis__number number = net->device->number[DIS_ROLE_VALUE];
    const uint16_t *halves = (const uint16_t *)raw + first;
    for (size_t i = 0; number == DIS_BFLOAT16 && i < n; i++) x[i] = from_bfloat16(halves[i]);
    for (size_t i = 0; number != DIS_BFLOAT16 && i < n; i++) x[i] = (float)decode(number, raw, first + i);
}
