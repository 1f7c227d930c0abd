/* Guesses from a survey.
 *
 * Long tables: the tasks and the workers are two columns whose values repeat while their pairs do not, and of such
 * pairs the one with the fewest values that identifies the rows (smallest n_tasks x n_workers), weighted by the names
 * of the columns. A label has few values, and neither the task nor the worker determines it. Wide tables: several
 * columns with few values, most of which they share. */
#include "votes/roles/role_guess.h"
#include <math.h>
#include <string.h>

enum { MAX_CLASSES = 50, MIN_ROWS = 3 };

/* ---- long ---- */

static size_t mean_bytes(const dis__survey_column *c)
{
    return c->n_cells ? c->n_bytes / c->n_cells : 0;
}

static bool can_be_id(const dis__survey *s, size_t c)
{
    const dis__survey_column *x = &s->column[c];
    return x->n_name > 0 && x->n_cells == s->n_rows && x->n_values > 1 && x->n_values < s->n_rows &&
           2 * x->n_measured <= x->n_cells;
}

/* Texts shared by two columns: they have the same kind of values. Numbers may be ids in one and labels in the other. */
static bool is_same_kind(const dis__survey *s, size_t a, size_t b)
{
    const dis__survey_column *x = &s->column[a];
    return x->n_numbers < x->n_cells && dis__survey_shared(s, a, b) > 0;
}

/* Unevenness of value frequencies: the standard deviation of their counts divided by the mean. */
static double unevenness(const dis__survey_column *c, size_t n_rows)
{
    uint32_t n[DIS_SURVEY_ROWS] = {0};
    double sum = 0;
    for (size_t r = 0; r < n_rows; r++)
        if (c->cell[r] != DIS_NO_VALUE) n[c->cell[r]]++;
    const double mean = (double)c->n_cells / (double)c->n_values;
    for (size_t i = 0; i < c->n_values; i++) sum += ((double)n[i] - mean) * ((double)n[i] - mean);
    return sqrt(sum / (double)c->n_values) / mean;
}

/* Positive: column a looks more like tasks and b like workers than vice versa. Workers have e-mail addresses, tasks
 * have paths or texts; most crowds have the same number of votes for every task, and more tasks than workers. */
static int prefer_order(const dis__survey *s, size_t a, size_t b)
{
    enum {
        REDUNDANCY = 10,
        MANY = 8
    }; /* typical number of votes per task; number of tasks from which counts are
                                         * informative */
    const double EVEN = .1, UNEVEN = .3;
    const dis__survey_column *x = &s->column[a], *y = &s->column[b];
    const int mails = (2 * y->n_mails > y->n_cells) - (2 * x->n_mails > x->n_cells);
    const int files = (2 * x->n_files > x->n_cells) - (2 * y->n_files > y->n_cells);
    const double of_x = unevenness(x, s->n_rows), of_y = unevenness(y, s->n_rows);
    const bool planned_x = x->n_values > MANY && x->n_cells <= REDUNDANCY * x->n_values;
    const bool planned_y = y->n_values > MANY && y->n_cells <= REDUNDANCY * y->n_values;
    const int even = (of_x < EVEN && of_y > UNEVEN && planned_x) - (of_y < EVEN && of_x > UNEVEN && planned_y);
    const int more = (x->n_values > y->n_values) - (x->n_values < y->n_values);
    return 8 * mails + 8 * files + 4 * even + 2 * more + (a < b ? 1 : -1);
}

/* A factor of the cost: evidence from the name of column c for this role. */
static double name_cost(const dis__survey *s, size_t c, dis__name_hint role)
{
    const double WRONG = 1e6, OTHER = 1e3, RIGHT = 1e-3;
    const dis__name_hint named =
        s->unnamed ? DIS_NAMED_NOTHING : dis__guess_name(s->column[c].name, s->column[c].n_name);
    return named == role ? RIGHT : named == DIS_NAMED_NOTHING ? 1 : named == DIS_NAMED_OTHER ? OTHER : WRONG;
}

/* The smaller, the better a pair of columns identifies the rows as tasks and workers; 0: it does not. */
static dis_status cost_of(const dis__survey *s, size_t a, size_t b, double *cost)
{
    size_t n;
    *cost = 0;
    if (is_same_kind(s, a, b)) return DIS_OK;
    DIS_TRY(dis__survey_pairs(s, a, b, &n));
    if (n + n / 50 < s->n_rows) return DIS_OK;
    const dis__survey_column *x = &s->column[a], *y = &s->column[b];
    *cost = (double)x->n_values * (double)y->n_values + 1e-3 * (double)(mean_bytes(x) + mean_bytes(y));
    *cost *= name_cost(s, a, DIS_NAMED_TASK) * name_cost(s, b, DIS_NAMED_WORKER);
    if (prefer_order(s, a, b) < 0) *cost *= 2;
    return DIS_OK;
}

static bool is_either(const dis__survey *s, size_t a, size_t b)
{
    enum { STRONG = 4, RATIO = 3 };
    const dis__survey_column *x = &s->column[a], *y = &s->column[b];
    const int order = prefer_order(s, a, b);
    return order > -STRONG && order < STRONG && x->n_values < RATIO * y->n_values &&
           y->n_values < RATIO * x->n_values && dis__guess_name(x->name, x->n_name) == DIS_NAMED_NOTHING &&
           dis__guess_name(y->name, y->n_name) == DIS_NAMED_NOTHING;
}

static dis_status find_pair(const dis__survey *s, const size_t known[3], dis__long_guess *g)
{
    double best = 0;
    if (known[0] != DIS_NO_COLUMN && known[1] != DIS_NO_COLUMN) {
        g->task = known[0];
        g->worker = known[1];
        return DIS_OK;
    }
    if (known[0] != DIS_NO_COLUMN && s->column[known[0]].n_values == s->n_rows) return DIS_OK; /* a row per task */
    for (size_t a = 0; a < s->n_columns; a++)
        for (size_t b = 0; b < s->n_columns; b++) {
            double cost;
            const bool first = known[0] == DIS_NO_COLUMN ? can_be_id(s, a) && a != known[2] : a == known[0];
            const bool second = known[1] == DIS_NO_COLUMN ? can_be_id(s, b) && b != known[2] : b == known[1];
            if (a == b || !first || !second) continue;
            DIS_TRY(cost_of(s, a, b, &cost));
            if (cost == 0 || (best > 0 && cost >= best)) continue;
            best = cost;
            g->task = a;
            g->worker = b;
        }
    return DIS_OK;
}

static bool can_be_label(const dis__survey *s, const dis__long_guess *g, size_t c)
{
    const dis__survey_column *x = &s->column[c];
    if (c == g->task || c == g->worker || x->n_name == 0 || x->n_cells == 0 || x->n_values < 2) return false;
    if (is_same_kind(s, c, g->task) || is_same_kind(s, c, g->worker)) return false;
    return x->n_values <= MAX_CLASSES && 2 * x->n_values <= x->n_cells;
}

/* Columns with names of labels first, times and comments last. */
static void add_label(const dis__survey *s, dis__long_guess *g, size_t c)
{
    const double cost = name_cost(s, c, DIS_NAMED_LABEL);
    size_t i = g->n_labels;
    while (i > 0 && name_cost(s, g->label[i - 1], DIS_NAMED_LABEL) > cost) i--;
    if (i == DIS_GUESSED_LABELS) return;
    g->n_labels += g->n_labels < DIS_GUESSED_LABELS;
    memmove(&g->label[i + 1], &g->label[i], (g->n_labels - i - 1) * sizeof *g->label);
    g->label[i] = c;
}

static void find_labels(const dis__survey *s, size_t known, dis__long_guess *g)
{
    if (known != DIS_NO_COLUMN) {
        add_label(s, g, known);
        return;
    }
    for (size_t c = 0; c < s->n_columns; c++)
        if (can_be_label(s, g, c) && !dis__survey_determines(s, g->task, c) && !dis__survey_determines(s, g->worker, c))
            add_label(s, g, c);
    if (g->n_labels) return;
    for (size_t c = 0; c < s->n_columns; c++) /* unanimous */
        if (can_be_label(s, g, c) && !dis__survey_determines(s, g->worker, c)) add_label(s, g, c);
}

dis_status dis__guess_long(const dis__survey *s, const size_t known[3], dis__long_guess *out)
{
    *out = (dis__long_guess){.task = DIS_NO_COLUMN, .worker = DIS_NO_COLUMN};
    if (s->n_rows < MIN_ROWS) return DIS_OK;
    DIS_TRY(find_pair(s, known, out));
    if (out->task == DIS_NO_COLUMN) return DIS_OK;
    find_labels(s, known[2], out);
    if (out->n_labels == 0) out->task = DIS_NO_COLUMN;
    out->either =
        out->n_labels && known[0] == DIS_NO_COLUMN && known[1] == DIS_NO_COLUMN && is_either(s, out->task, out->worker);
    return DIS_OK;
}

/* ---- wide ---- */

/* Values that occur more than once count; in a table of a few rows, all do. n: (values of x) frequencies. */
static size_t count_common(const dis__survey *s, const dis__survey_column *x, bool *counts)
{
    enum { FEW_ROWS = 8 };
    uint16_t n[DIS_SURVEY_ROWS] = {0};
    size_t common = 0;
    for (size_t r = 0; r < s->n_rows; r++)
        if (x->cell[r] != DIS_NO_VALUE) n[x->cell[r]]++;
    for (size_t i = 0; i < x->n_values; i++) {
        counts[i] = n[i] > 1 || x->n_cells < FEW_ROWS;
        common += counts[i];
    }
    return common;
}

static size_t count_shared(const dis__survey_column *x, const bool *counts, const dis__survey_column *y)
{
    size_t n = 0;
    for (size_t i = 0; i < x->values.n_slots; i++) {
        const dis__key *key = &x->values.slot[i];
        n += key->value != DIS_KEY_NONE && counts[key->value] && dis__key_table_find(&y->values, key) != NULL;
    }
    return n;
}

/* Another column has most of the values of this one, or vice versa. Single numbers are not evidence. */
static bool has_peer(const dis__survey *s, size_t task, size_t c)
{
    bool counts[DIS_SURVEY_ROWS], other[DIS_SURVEY_ROWS];
    const dis__survey_column *x = &s->column[c];
    const size_t n = count_common(s, x, counts);
    if (n == 0 || (n < 2 && x->n_numbers)) return false;
    for (size_t d = 0; d < s->n_columns; d++) {
        const dis__survey_column *y = &s->column[d];
        if (d == c || d == task || y->n_values > MAX_CLASSES || !x->n_measured != !y->n_measured) continue;
        const size_t m = count_common(s, y, other);
        if (m == 0 || (m < 2 && y->n_numbers)) continue;
        if (2 * count_shared(x, counts, y) >= (n < m ? n : m)) return true;
    }
    return false;
}

/* The first column with a different value in every row. */
static size_t find_ids(const dis__survey *s)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (s->column[c].n_name && s->column[c].n_cells == s->n_rows && s->column[c].n_values == s->n_rows) return c;
    return DIS_NO_COLUMN;
}

/* Columns with few rows for their classes: most of their cells have values of a detected worker. */
static void add_workers(const dis__survey *s, dis__wide_guess *g)
{
    const dis__wide_guess found = *g;
    for (size_t c = 0; c < s->n_columns; c++) {
        const dis__survey_column *x = &s->column[c];
        for (size_t d = 0; d < s->n_columns && !g->worker[c] && c != g->task && x->n_cells; d++)
            g->worker[c] = found.worker[d] && x->n_name && x->n_values <= MAX_CLASSES && !x->n_measured &&
                           10 * dis__survey_shared(s, c, d) >= 6 * x->n_cells;
        g->n_workers += g->worker[c] && !found.worker[c];
        g->n_others -= g->worker[c] && !found.worker[c];
    }
}

void dis__guess_wide(const dis__survey *s, size_t task, dis__wide_guess *out)
{
    *out = (dis__wide_guess){.task = task == DIS_NO_COLUMN ? find_ids(s) : task};
    if (s->n_rows < MIN_ROWS) return;
    for (size_t c = 0; c < s->n_columns; c++) {
        const dis__survey_column *x = &s->column[c];
        if (c == out->task || x->n_cells == 0) continue;
        const bool few = x->n_values <= MAX_CLASSES && (2 * x->n_values <= x->n_cells || x->n_values <= 5);
        out->worker[c] = x->n_name && few && has_peer(s, out->task, c);
        out->n_workers += out->worker[c];
        out->n_others += !out->worker[c];
    }
    add_workers(s, out);
    if (out->n_workers < 2) out->n_workers = 0;
}
