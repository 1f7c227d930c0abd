/* Numbers: the same answer as strtod on the same text; what is written reads back equal. */
#include "fuzz.h"
#include "core/numbers/decimal.h"
#include <math.h>
#include <string.h>

/* Whether strtod would read it all and our grammar allows it: digits, a point, an exponent; no hex, no words, no
 * spaces. */
static int plain(const char *s, size_t n)
{
    return n && strspn(s, "0123456789+-.eE") == n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double x = 0.5, y = 0;
    const int ok = dis__parse_real((const char *)data, size, &x);
    char text[1024];
    if (size < sizeof text) {
        memcpy(text, data, size);
        text[size] = 0;
        char *end = text;
        if (plain(text, size)) y = strtod(text, &end);
        const int theirs = end == text + size && end != text && isfinite(y);
        MUST(ok == theirs);
        if (ok) MUST(x == y && signbit(x) == signbit(y));
    }
    if (!ok) MUST(x == 0.5);
    if (size == sizeof x) memcpy(&x, data, sizeof x);
    if (!isfinite(x)) return 0;
    const size_t n = dis__format_real(x, text);
    MUST(n <= DIS_REAL_TEXT && dis__parse_real(text, n, &y) && x == y);
    return 0;
}
