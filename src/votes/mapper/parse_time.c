/* Times of votes: four formats. Days are counted in the proleptic Gregorian calendar (Howard Hinnant's
 * days_from_civil). */
#include "votes/mapper/parse_time.h"
#include "core/numbers/decimal.h"
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *at, *end;
} reader;

static bool match_char(reader *r, char c)
{
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

/* A number with min to max digits. */
static bool digits(reader *r, int min, int max, int *out)
{
    int n = 0, x = 0;
    for (; n < max && r->at < r->end && *r->at >= '0' && *r->at <= '9'; n++) x = 10 * x + (*r->at++ - '0');
    *out = x;
    return n >= min;
}

static int64_t days(int year, int month, int day)
{
    const int y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* 12:34:56.7, 12:34 */
static bool clock_time(reader *r, double *seconds)
{
    int h, m, s = 0;
    if (!digits(r, 1, 2, &h) || !match_char(r, ':') || !digits(r, 2, 2, &m)) return false;
    if (match_char(r, ':') && !digits(r, 2, 2, &s)) return false;
    if (h > 24 || m > 59 || s > 60) return false;
    double fraction = 0, unit = .1;
    if (match_char(r, '.') || match_char(r, ','))
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; unit /= 10) fraction += unit * (*r->at++ - '0');
    *seconds = 3600. * h + 60. * m + s + fraction;
    return true;
}

static const struct {
    const char *name;
    int hours;
} zones[] = {{"UTC", 0},  {"GMT", 0},  {"Z", 0},    {"PST", -8}, {"PDT", -7}, {"MST", -7}, {"MDT", -6},
             {"CST", -6}, {"CDT", -5}, {"EST", -5}, {"EDT", -4}, {"CET", 1},  {"CEST", 2}};

/* Offset from UTC; if missing, UTC. */
static bool zone(reader *r, double *offset)
{
    int h, m = 0;
    *offset = 0;
    while (match_char(r, ' ')) {}
    if (r->at == r->end) return true;
    const char sign = *r->at;
    if (sign == '+' || sign == '-') {
        r->at++;
        if (!digits(r, 2, 2, &h)) return false;
        (void)match_char(r, ':');
        if (r->at < r->end && *r->at != ' ' && !digits(r, 2, 2, &m)) return false;
        *offset = (sign == '-' ? -1 : 1) * (3600. * h + 60. * m);
        return true;
    }
    size_t n = 0;
    while (r->at + n < r->end && r->at[n] != ' ') n++;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        if (strlen(zones[i].name) == n && memcmp(zones[i].name, r->at, n) == 0) {
            r->at += n;
            *offset = 3600. * zones[i].hours;
            return true;
        }
    return false;
}

static bool put(int year, int month, int day, double clock, double offset, double *seconds)
{
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    *seconds = 86400. * (double)days(year, month, day) + clock - offset;
    return true;
}

/* 2023-05-04, optionally followed by T or a space and a time. */
static bool iso(reader r, double *seconds)
{
    int year, month, day;
    double clock = 0, offset = 0;
    if (!digits(&r, 4, 4, &year) || !match_char(&r, '-') || !digits(&r, 2, 2, &month) || !match_char(&r, '-') ||
        !digits(&r, 2, 2, &day))
        return false;
    if (r.at < r.end && !((match_char(&r, 'T') || match_char(&r, ' ')) && clock_time(&r, &clock) && zone(&r, &offset)))
        return false;
    return r.at == r.end && put(year, month, day, clock, offset, seconds);
}

/* 5/4/2023 12:34:56 */
static bool american(reader r, double *seconds)
{
    int year, month, day;
    double clock = 0, offset = 0;
    if (!digits(&r, 1, 2, &month) || !match_char(&r, '/') || !digits(&r, 1, 2, &day) || !match_char(&r, '/') ||
        !digits(&r, 4, 4, &year))
        return false;
    if (r.at < r.end && !(match_char(&r, ' ') && clock_time(&r, &clock) && zone(&r, &offset))) return false;
    return r.at == r.end && put(year, month, day, clock, offset, seconds);
}

/* Thu May 04 12:34:56 PDT 2023 */
static bool unix_date(reader r, double *seconds)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int year, day;
    double clock, offset;
    if (r.end - r.at < 20) return false;
    r.at += 3;
    if (!match_char(&r, ' ')) return false;
    int month = 0;
    while (month < 12 && memcmp(months + 3 * month, r.at, 3) != 0) month++;
    r.at += 3;
    if (month == 12 || !match_char(&r, ' ')) return false;
    (void)match_char(&r, ' ');
    if (!digits(&r, 1, 2, &day) || !match_char(&r, ' ') || !clock_time(&r, &clock) || !zone(&r, &offset)) return false;
    return match_char(&r, ' ') && digits(&r, 4, 4, &year) && r.at == r.end &&
           put(year, month + 1, day, clock, offset, seconds);
}

bool dis__parse_time(const char *text, size_t n, double *seconds)
{
    const double milliseconds = 1e11; /* larger numbers are milliseconds: as seconds this is the year 5138 */
    const reader r = {text, text + n};
    if (n == 0) return false;
    if (dis__parse_real(text, n, seconds)) {
        if (*seconds > milliseconds) *seconds /= 1000;
        return true;
    }
    return iso(r, seconds) || american(r, seconds) || unix_date(r, seconds);
}
