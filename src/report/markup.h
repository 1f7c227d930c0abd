/* markup.h: text that grows: HTML and SVG, and the sentences that go into them.
 *
 * Calls in between cannot fail by themselves: the first failure is kept in `status` and later calls do nothing. Two
 * kinds of text are kept apart. Ours is put as it is. What a user brings (ids, labels, titles, file names) is hostile:
 * it first becomes a display text (dis__markup_append_name: cut, control and direction characters made visible,
 * isolated from the direction of its surroundings) or passes dis__markup_append_escaped on its way into the page;
 * nothing of it is ever put raw. Escaped text is inert between tags and in attributes in double quotes, of HTML and of
 * SVG alike.
 *
 * Numbers are formatted without the locale. The small structs live until the end of the expression they stand in:
 *
 *     dis__markup_appendf(m, "<rect x=\"%s\"/>", dis__format_fixed(x, 1).text); */
#ifndef DIS_REPORT_MARKUP_H
#define DIS_REPORT_MARKUP_H
#include "core/error.h"
#include "dissent/names.h"

typedef struct {
    char *bytes;
    size_t n, capacity;
    dis_status status;
} dis__markup;

void dis__markup_free(dis__markup *m);

void dis__markup_append(dis__markup *m, const char *ours);
void dis__markup_append_n(dis__markup *m, const char *ours, size_t n);
/* With a capital first letter, as a sentence begins. */
void dis__markup_append_capitalized(dis__markup *m, const char *ours);
/* Only %s (of our own texts), %d, %zu, %c and the like: %f would depend on the locale. */
void dis__markup_appendf(dis__markup *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* & < > " ' become entities, bytes that are not UTF-8 become U+FFFD. */
void dis__markup_append_escaped(dis__markup *m, const char *text, size_t n);
/* All of `from`, escaped or unchanged; a failure of `from` is propagated. */
void dis__markup_append_markup_escaped(dis__markup *m, const dis__markup *from);
void dis__markup_append_markup(dis__markup *m, const dis__markup *from);

/* A display text of at most `max` characters (then "..."), not yet escaped: spaces for line breaks, other control
 * characters and characters that turn the direction of text as "U+202E". */
void dis__markup_append_display(dis__markup *m, const char *text, size_t n, size_t max);
/* The same between U+2068 and U+2069, so that right-to-left names do not affect the sentence around them. */
void dis__markup_append_name(dis__markup *m, const char *text, size_t n, size_t max);
/* Display text, escaped: within <bdi>; and isolated as above, for SVG and attributes. */
void dis__markup_append_bdi(dis__markup *m, const char *text, size_t n, size_t max);
void dis__markup_append_label(dis__markup *m, const char *text, size_t n, size_t max);

typedef struct {
    char text[48];
} dis__number_text;

/* x with this number of decimals; exponents only if it would not fit. "-" for NaN, "inf". */
dis__number_text dis__format_fixed(double x, int decimals);
/* About three significant digits: 0.0123, 12.3, 1,230; integers whole. */
dis__number_text dis__format_brief(double x);
/* Two digits and a power of ten: 1.2e-5 */
dis__number_text dis__format_scientific(double x);
/* 12.3 % for .123 */
dis__number_text dis__format_percent(double x);
/* 1,234,567 */
dis__number_text dis__format_grouped(uint64_t x);
/* At most seven characters: 12,345, 123 k, 1.23 M */
dis__number_text dis__format_abbreviated(uint64_t x);

static inline const char *dis__plural_suffix(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Base64 of the SHA-256 of a text, as a content-security policy names a script. */
dis__number_text dis__format_csp_hash(const char *text);

#endif
