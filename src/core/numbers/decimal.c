/* Doubles as text and back, exactly, in no locale.
 *
 * Writing: Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020): the interval of decimals that
 * round to x is scaled by a power of ten so that it is between 2 and 20 units wide; three multiplications of 64 by 128
 * bits determine the integer in it with the fewest digits. The result is the shortest decimal; among these, the nearest
 * to x.
 *
 * Reading: up to 19 digits go into an integer w; then w * 10^e by one exact floating-point operation if both factors
 * are exact (Clinger 1990), otherwise by Eisel and Lemire ("Number parsing at a gigabyte per second", 2021), which
 * decides all but a few in 1e19 with one or two multiplications. Undecided numbers, and numbers of more than 19 digits
 * whose last digits might matter, are compared exactly with the midpoint of two neighbouring doubles in long integers.
 *
 * Both use one table: the leading 128 bits of the powers of ten, rounded down (pow10_table.h).
 * Cost: 20 to 40 ns either way; no allocation. */
#include "core/numbers/decimal.h"
#include "core/numbers/pow10_table.h"
#include <string.h>

typedef unsigned __int128 u128;

/* ---- writing ---- */

/* floor(log10(2^e)), floor(log10(3/4 * 2^e)) and floor(log2(10^e)) over all exponents in use. */
static int floor_log10_pow2(int e, bool three_quarters)
{
    return (e * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* g * c / 2^128; a nonzero remainder sets the last bit ("round to odd"). */
static uint64_t scale(const uint64_t g[2], uint64_t c)
{
    const u128 low = (u128)g[1] * c, high = (u128)g[0] * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

typedef struct {
    uint64_t digits; /* may end in zeros */
    int exponent;    /* value = digits * 10^exponent */
} decimal;

static decimal shortest(uint64_t fraction, int biased)
{
    uint64_t c = fraction;
    int q = 1 - 1075;
    if (biased) {
        c |= UINT64_C(1) << 52;
        q = biased - 1075;
        if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) return (decimal){c >> -q, 0}; /* an integer */
    }
    const bool even = (c & 1) == 0;
    const bool narrow = fraction == 0 && biased > 1; /* at a power of two the gap below is half the gap above */
    const int k = floor_log10_pow2(q, narrow), h = q + floor_log2_pow10(-k) + 1;
    uint64_t g[2] = {pow10_table[-k - POW10_LOW][0], pow10_table[-k - POW10_LOW][1]};
    if (-k < 0 || -k > 55) g[0] += ++g[1] == 0; /* the proof requires rounding up */
    const uint64_t below = scale(g, (4 * c - 2 + narrow) << h), at = scale(g, (4 * c) << h),
                   above = scale(g, (4 * c + 2) << h);
    const uint64_t lower = below + !even, upper = above - !even, s = at / 4;
    if (s >= 10) { /* one digit fewer, if exactly one of the two neighbours is in the interval */
        const uint64_t t = s / 10;
        const bool down = lower <= 40 * t, up = 40 * t + 40 <= upper;
        if (down != up) return (decimal){t + up, k + 1};
    }
    const bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down != up) return (decimal){s + up, k};
    const uint64_t middle = 4 * s + 2;
    return (decimal){s + (at > middle || (at == middle && (s & 1))), k};
}

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

/* The decimal digits of x > 0, right-aligned before `end`; returns their first. */
static char *digits_before(char *end, uint64_t x)
{
    while (x >= 100000000) { /* eight at a time: 32-bit division is far cheaper */
        uint32_t low = (uint32_t)(x % 100000000);
        x /= 100000000;
        for (int i = 0; i < 4; i++) {
            memcpy(end -= 2, pairs + low % 100 * 2, 2);
            low /= 100;
        }
    }
    uint32_t rest = (uint32_t)x;
    while (rest >= 100) {
        memcpy(end -= 2, pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10)
        memcpy(end -= 2, pairs + rest * 2, 2);
    else if (rest)
        *--end = (char)('0' + rest);
    return end;
}

static decimal strip_zeros(decimal d)
{
    if (d.digits % 10) return d;
    static const struct {
        uint64_t power;
        int zeros;
    } steps[] = {{100000000, 8}, {10000, 4}, {100, 2}, {10, 1}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        while (d.digits % steps[i].power == 0) {
            d.digits /= steps[i].power;
            d.exponent += steps[i].zeros;
        }
    return d;
}

size_t dis__format_real(double x, char *out)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    char *o = out;
    if (bits >> 63) *o++ = '-';
    if (bits << 1 == 0) {
        out[0] = '0'; /* no sign: "-0" would confuse readers */
        return 1;
    }
    const decimal d = strip_zeros(shortest(bits & ((UINT64_C(1) << 52) - 1), (int)(bits >> 52 & 0x7FF)));
    /* Digits are copied with fixed lengths, which is faster than variable ones: they are padded with zeros, and `out`
     * has enough room. */
    enum { WIDTH = 20 };
    char buffer[2 * WIDTH];
    memset(buffer + WIDTH, '0', WIDTH);
    const char *digits = digits_before(buffer + WIDTH, d.digits);
    const int n = (int)(buffer + WIDTH - digits), point = n + d.exponent; /* digits before the decimal point */
    if (point > 0 && point <= 16) {
        memcpy(o, digits, 16);
        o += point;
        if (n > point) {
            *o++ = '.';
            memcpy(o, digits + point, 17);
            o += n - point;
        }
    } else if (point <= 0 && point > -4) {
        memcpy(o, "0.000", 5);
        o += 2 - point;
        memcpy(o, digits, 17);
        o += n;
    } else {
        *o++ = digits[0];
        if (n > 1) {
            *o++ = '.';
            memcpy(o, digits + 1, 17);
            o += n - 1;
        }
        *o++ = 'e';
        int e = point - 1;
        if (e < 0) {
            *o++ = '-';
            e = -e;
        }
        if (e >= 100) *o++ = (char)('0' + e / 100);
        if (e >= 10) *o++ = (char)('0' + e / 10 % 10);
        *o++ = (char)('0' + e % 10);
    }
    return (size_t)(o - out);
}

/* ---- reading ---- */

/* A decimal as written: sign, w * 10^exponent, and the text of its digits if w does not contain all of them. */
typedef struct {
    bool negative, truncated;
    uint64_t w;              /* the first 19 significant digits at most */
    int64_t exponent;        /* of w */
    const char *first, *end; /* from the first digit to after the last one, including the point */
} written;

enum { MAX_DIGITS = 19 };
#define FAR_EXPONENT (INT64_C(1) << 40) /* beyond any double, and safe to add a text's length to */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Eight bytes at once, after Lemire: whether all are digits, and their value. Little-endian only. */
static bool eight_digits(const char *s, uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, s, sizeof v);
    if (((v & UINT64_C(0xF0F0F0F0F0F0F0F0)) |
         ((v + UINT64_C(0x0606060606060606)) & UINT64_C(0xF0F0F0F0F0F0F0F0)) >> 4) != UINT64_C(0x3333333333333333))
        return false;
    v -= UINT64_C(0x3030303030303030);
    v = v * 10 + (v >> 8); /* pairs, in every other byte */
    *value = ((v & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
              (v >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)) >>
             32;
    return true;
#else
    (void)s;
    (void)value;
    return false;
#endif
}

/* Appends the digits at *s to *w, which wraps around on overflow. */
static void parse_digits(const char **s, const char *end, uint64_t *w)
{
    const char *at = *s;
    uint64_t x = *w, eight;
    while (end - at >= 8 && eight_digits(at, &eight)) {
        x = x * 100000000 + eight;
        at += 8;
    }
    for (; at < end && is_digit(*at); at++) x = x * 10 + (uint64_t)(*at - '0');
    *s = at;
    *w = x;
}

/* More than 19 digits: keeps the first 19 significant ones and notes whether others were not 0. */
static void keep_first_digits(written *d)
{
    int n_digits = 0;
    bool point = false;
    d->w = 0;
    d->exponent = 0;
    for (const char *s = d->first; s < d->end; s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        if (point) d->exponent--;
        if (n_digits == 0 && *s == '0') continue;
        if (n_digits < MAX_DIGITS) {
            d->w = d->w * 10 + (uint64_t)(*s - '0');
            n_digits++;
        } else {
            d->truncated |= *s != '0';
            d->exponent++;
        }
    }
}

static bool scan(const char *s, const char *end, written *out)
{
    written d = {0};
    if (s < end && (*s == '+' || *s == '-')) d.negative = *s++ == '-';
    d.first = s;
    parse_digits(&s, end, &d.w);
    size_t n_digits = (size_t)(s - d.first);
    if (s < end && *s == '.') {
        const char *fraction = ++s;
        parse_digits(&s, end, &d.w);
        n_digits += (size_t)(s - fraction);
        d.exponent = fraction - s;
    }
    d.end = s;
    if (n_digits == 0) return false;
    if (n_digits > MAX_DIGITS) keep_first_digits(&d);
    if (s < end && (*s == 'e' || *s == 'E')) {
        s++;
        bool negative = false;
        if (s < end && (*s == '+' || *s == '-')) negative = *s++ == '-';
        int64_t e = 0;
        const char *digits = s;
        for (; s < end && is_digit(*s); s++)
            if (e < FAR_EXPONENT) e = e * 10 + (*s - '0');
        if (s == digits) return false;
        d.exponent += negative ? -e : e;
    }
    *out = d;
    return s == end;
}

/* w * 10^e by the table: the bits of the double (without sign) in *bits. False: too close to a midpoint to decide;
 * *bits is then within one or two steps of the correct ones. w > 0, e within the table. Infinity when it overflows. */
static bool eisel_lemire(uint64_t w, int e, uint64_t *bits)
{
    const uint64_t *g = pow10_table[e - POW10_LOW];
    const int zeros = __builtin_clzll(w);
    w <<= zeros;
    u128 x = (u128)w * g[0];
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    bool sure = true;
    if ((high & 0x1FF) == 0x1FF && low + w < low) { /* the truncated half of the table entry could carry into the kept
                                                     * bits */
        const u128 y = (u128)w * g[1];
        const uint64_t before = low;
        low += (uint64_t)(y >> 64);
        high += low < before;
        if ((high & 0x1FF) == 0x1FF && low + 1 == 0 && (uint64_t)y + w < (uint64_t)y) sure = false;
    }
    const int top = (int)(high >> 63);
    const int power = floor_log2_pow10(e) + 64 - zeros + top - 1; /* 2^power <= the value */
    uint64_t m = high >> (top + 9);                               /* 54 bits, the last one for rounding */
    if (low == 0 && (high & 0x1FF) == 0 && (m & 3) == 1)
        sure = false; /* a midpoint, unless the truncation of the table matters */
    int biased = power + 1023;
    if (biased <= 0) { /* subnormal: fewer bits are kept; leave ties and near-ties to the exact comparison */
        if (biased < -54) {
            *bits = 0;
            return false;
        }
        const int drop = 1 - biased;
        *bits = (m >> 1) >> drop;
        return false;
    }
    m = (m + (m & 1)) >> 1;
    if (m >> 53) {
        m >>= 1;
        biased++;
    }
    *bits = biased >= 0x7FF ? UINT64_C(0x7FF) << 52 : (uint64_t)biased << 52 | (m & ((UINT64_C(1) << 52) - 1));
    return sure;
}

/* Long integers for the exact comparison. 768 digits decide every case (a midpoint has at most 767); after them, a last
 * digit 1 represents all further digits. Digits times powers stay below 2^5200. */
enum { EXACT_DIGITS = 768, LIMBS = 176 };
typedef struct {
    uint32_t limb[LIMBS]; /* lowest first */
    size_t n;
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (size_t i = 0; i < b->n; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->n < LIMBS) b->limb[b->n++] = (uint32_t)carry;
}

static void big_times_pow5(big *b, int e)
{
    for (; e >= 13; e -= 13) big_multiply_add(b, 1220703125u, 0);
    for (; e > 0; e--) big_multiply_add(b, 5, 0);
}

static void big_shift_left(big *b, int by)
{
    for (; by >= 31; by -= 31) big_multiply_add(b, UINT32_C(1) << 31, 0);
    big_multiply_add(b, UINT32_C(1) << by, 0);
}

static int big_compare(const big *a, const big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (size_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* The sign of (digits * 10^e - the midpoint of the doubles `bits` and `bits` + 1). */
static int compare_with_midpoint(const big *digits, int e, uint64_t bits)
{
    const int biased = (int)(bits >> 52);
    uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
    if (biased) m |= UINT64_C(1) << 52;
    const int q = (biased ? biased : 1) - 1075 - 1; /* midpoint = (2 m + 1) * 2^q */
    m = 2 * m + 1;
    big a = *digits, b = {.limb = {(uint32_t)m, (uint32_t)(m >> 32)}, .n = m >> 32 ? 2 : 1};
    if (e >= 0)
        big_times_pow5(&a, e);
    else
        big_times_pow5(&b, -e);
    if (e >= q)
        big_shift_left(&a, e - q);
    else
        big_shift_left(&b, q - e);
    return big_compare(&a, &b);
}

/* Moves `bits`, which is close, to the correct double. */
static uint64_t round_exactly(const written *d, uint64_t bits)
{
    big digits = {.n = 0};
    int n_digits = 0;
    int64_t e = d->exponent;
    bool more = false;
    const char *s = d->first;
    while (*s == '0' || *s == '.') s++; /* w > 0: another digit comes */
    for (; s < d->end && n_digits < EXACT_DIGITS; s++) {
        if (*s == '.') continue;
        const uint32_t digit = (uint32_t)(*s - '0');
        if (digits.n)
            big_multiply_add(&digits, 10, digit);
        else
            digits = (big){.limb = {digit}, .n = 1};
        if (++n_digits > MAX_DIGITS) e--; /* d->exponent counted the digits beyond the 19th */
    }
    for (; s < d->end && !more; s++) more = *s != '.' && *s != '0';
    if (more) {
        big_multiply_add(&digits, 10, 1);
        e--;
    }
    const uint64_t infinity = UINT64_C(0x7FF) << 52;
    while (bits > 0) { /* down while the value lies below the midpoint under `bits` */
        const int c = compare_with_midpoint(&digits, (int)e, bits - 1);
        if (c > 0 || (c == 0 && (bits & 1) == 0)) break;
        bits--;
    }
    while (bits < infinity) {
        const int c = compare_with_midpoint(&digits, (int)e, bits);
        if (c < 0 || (c == 0 && (bits & 1) == 0)) break;
        bits++;
    }
    return bits;
}

bool dis__parse_real(const char *text, size_t n, double *out)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    written d;
    if (!scan(text, text + n, &d)) return false;
    double x = 0;
    if (d.w == 0 || d.exponent < POW10_LOW) {
        x = 0; /* at most 10^19 * 10^-349: below half of the smallest double */
    } else if (!d.truncated && d.w <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22) {
        x = d.exponent < 0 ? (double)d.w / exact[-d.exponent] : (double)d.w * exact[d.exponent];
    } else if (d.exponent > 308) {
        return false; /* w >= 1 */
    } else {
        uint64_t bits, next;
        bool sure = eisel_lemire(d.w, (int)d.exponent, &bits);
        if (d.truncated) sure = sure && eisel_lemire(d.w + 1, (int)d.exponent, &next) && next == bits;
        if (!sure) bits = round_exactly(&d, bits);
        if (bits >> 52 == 0x7FF) return false;
        memcpy(&x, &bits, sizeof x);
    }
    *out = d.negative ? -x : x;
    return true;
}
