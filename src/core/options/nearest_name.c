/* Finds the name that is closest to a misspelt one. Cost: length x length per name. */
#include "dissent/option.h"
#include "tool/arrays.h"
#include <string.h>

/* Levenshtein distance, with two rows; long words are treated as distant from all names. */
static size_t distance(const char *a, const char *b)
{
    enum { MAX = 40 };
    const size_t n = strlen(a), m = strlen(b);
    if (n > MAX || m > MAX) return MAX;
    size_t row[MAX + 1];
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            const size_t gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < gap ? change : gap;
        }
    }
    return row[m];
}

const char *dis__name_find_nearest(const char *word, const char *(*next)(const void *arg, size_t i), const void *arg)
{
    const char *best = NULL;
    size_t min = strlen(word) / 3 + 2;
    for (size_t i = 0; next(arg, i); i++) {
        const char *name = next(arg, i);
        const size_t d = *word && strncmp(word, name, strlen(word)) == 0 ? 0 : distance(word, name);
        if (d < min) {
            min = d;
            best = name;
        }
    }
    return best;
}
