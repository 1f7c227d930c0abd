/* Comparisons: who won, which ranks are possible, and how often each thing won against each other one. */
#include "report/sections/scaled/scaled_tables.h"
#include <math.h>
#include <string.h>

enum { SHOWN = 12, RANKED = 40, NAMED = 3 };

static size_t row_of(const dis_scaled_column *thing, size_t n, const dis_scaled_column *other, size_t row)
{
    const char *name = dis__scaled_name(other, row);
    for (size_t i = 0; i < n; i++)
        if (strcmp(dis__scaled_name(thing, i), name) == 0) return i;
    return SIZE_MAX;
}

/* Rows are the winners: the share of comparisons that the thing of the row won, a tie counting half. */
static void win_matrix(dis__report_job *job, const dis_scaled_table *ranks, const dis_scaled_table *pairs)
{
    const dis_scaled_column *thing = dis__scaled_column(ranks, "thing"), *a = dis__scaled_column(pairs, "a"),
                            *b = dis__scaled_column(pairs, "b"), *for_a = dis__scaled_column(pairs, "for_a"),
                            *for_b = dis__scaled_column(pairs, "for_b"), *ties = dis__scaled_column(pairs, "ties");
    const size_t n = ranks->n_rows < SHOWN ? ranks->n_rows : SHOWN;
    const char *name[SHOWN];
    double value[SHOWN * SHOWN];
    size_t never = n * (n - 1) / 2;
    if (!a || !b || !for_a || !for_b || !ties || n < 2) return;
    for (size_t i = 0; i < SHOWN * SHOWN; i++) value[i] = NAN;
    for (size_t i = 0; i < n; i++) name[i] = dis__scaled_name(thing, i);
    dis__figure f = {.id = "wins",
                     .title = "Wins against each other",
                     .question = "How often does each one win against each other?"};
    dis__data_table_add_column(&f.table, "first", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "second", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "won by the first", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "by the second", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "ties", DIS__CELL_COUNT);
    for (size_t p = 0; p < pairs->n_rows; p++) {
        const size_t x = row_of(thing, n, a, p), y = row_of(thing, n, b, p);
        if (x == SIZE_MAX || y == SIZE_MAX || x == y) continue;
        const double all = for_a->values[p] + for_b->values[p] + ties->values[p];
        value[x * n + y] = (for_a->values[p] + ties->values[p] / 2) / all;
        value[y * n + x] = 1 - value[x * n + y];
        never--;
        dis__data_table_add_text(&f.table, name[x], strlen(name[x]));
        dis__data_table_add_text(&f.table, name[y], strlen(name[y]));
        dis__data_table_add_number(&f.table, for_a->values[p]);
        dis__data_table_add_number(&f.table, for_b->values[p]);
        dis__data_table_add_number(&f.table, ties->values[p]);
    }
    dis__markup_append(&f.caption, "Percent of comparisons that the row won against the column; a tie counts half. ");
    if (never)
        dis__markup_appendf(&f.caption, "%zu pair%s %s never compared.", never, dis__plural_suffix(never),
                            never == 1 ? "was" : "were");
    if (ranks->n_rows > n) dis__markup_appendf(&f.caption, " The first %zu of %zu.", n, ranks->n_rows);
    const dis__heat_map h = {.name = name,
                             .n = n,
                             .value = value,
                             .high = 1,
                             .percent = true,
                             .row_title = "",
                             .column_title = "won against (%)",
                             .value_title = "won",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__page_figure_add(&job->page, &f);
}

static void rank_intervals(dis__report_job *job, const dis_scaled_table *ranks)
{
    const dis_scaled_column *thing = dis__scaled_column(ranks, "thing"), *rank = dis__scaled_column(ranks, "rank"),
                            *low = dis__scaled_column(ranks, "rank_low"),
                            *high = dis__scaled_column(ranks, "rank_high");
    const size_t n = ranks->n_rows < RANKED ? ranks->n_rows : RANKED;
    const char *row[RANKED];
    for (size_t i = 0; i < n; i++) row[i] = dis__scaled_name(thing, i);
    dis__figure f = {.id = "ranks", .title = "Ranks", .question = "Which ranks are certain?"};
    dis__markup_append(&f.caption, "The number in brackets is the 95 % interval of the rank. Things whose intervals "
                                   "overlap cannot be ranked yet: compare them more often.");
    const dis__interval_chart c = {.row = row,
                                   .value = rank->values,
                                   .low = low->values,
                                   .high_end = high->values,
                                   .n = n,
                                   .high = (double)ranks->n_rows,
                                   .x_title = "rank, with 95 % interval; 1 is best",
                                   .ranks = true};
    dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__data_table_add_column(&f.table, "thing", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "rank", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_COUNT);
    for (size_t i = 0; i < n; i++) {
        dis__data_table_add_text(&f.table, row[i], strlen(row[i]));
        dis__data_table_add_number(&f.table, rank->values[i]);
        dis__data_table_add_number(&f.table, low->values[i]);
        dis__data_table_add_number(&f.table, high->values[i]);
    }
    dis__page_figure_add(&job->page, &f);
}

void dis__figure_wins(dis__report_job *job)
{
    const dis_scaled_table *ranks = dis_scaled_find_table(job->scaled, "ranks"),
                           *pairs = dis_scaled_find_table(job->scaled, "items");
    if (!ranks || !pairs || ranks->n_rows < 2) return;
    win_matrix(job, ranks, pairs);
    rank_intervals(job, ranks);
}

/* The first things whose intervals reach rank 1. */
static void put_contenders(dis__markup *m, const dis_scaled_table *ranks, const size_t *row, size_t n)
{
    const dis_scaled_column *thing = dis__scaled_column(ranks, "thing");
    for (size_t i = 0; i < n && i < NAMED; i++) {
        const char *name = dis__scaled_name(thing, row[i]);
        dis__markup_append(m, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        dis__markup_append_name(m, name, strlen(name), 30);
    }
    if (n > NAMED) dis__markup_appendf(m, " and %zu more", n - NAMED);
}

/* "a1, a2 and a3; b1 and b2": the first names of the first groups. */
static void put_groups(dis__markup *m, const dis_scaled_table *labels)
{
    enum { GROUPS = 4 };
    const dis_scaled_column *thing = dis__scaled_column(labels, "thing"),
                            *group = dis__scaled_column(labels, "component");
    double last = 0;
    for (size_t i = 0; i < labels->n_rows; i++) last = fmax(last, group->values[i]);
    for (size_t g = 1; g <= (size_t)last && g <= GROUPS; g++) {
        size_t n = 0, named = 0;
        for (size_t i = 0; i < labels->n_rows; i++) n += (size_t)group->values[i] == g;
        dis__markup_append(m, g > 1 ? "; " : "");
        for (size_t i = 0; i < labels->n_rows && named < NAMED; i++) {
            if ((size_t)group->values[i] != g) continue;
            const char *name = dis__scaled_name(thing, i);
            dis__markup_append(m, named == 0 ? "" : named + 1 == n ? " and " : ", ");
            named++;
            dis__markup_append_name(m, name, strlen(name), 30);
        }
        if (n > NAMED) dis__markup_appendf(m, " and %zu more", n - NAMED);
    }
    if (last > GROUPS) dis__markup_appendf(m, "; and %zu more groups", (size_t)last - GROUPS);
}

/* Neighbours in the ranking whose order is not certain: neither excludes the rank of the other. */
static size_t count_open(const dis_scaled_table *ranks)
{
    const dis_scaled_column *rank = dis__scaled_column(ranks, "rank"), *low = dis__scaled_column(ranks, "rank_low"),
                            *high = dis__scaled_column(ranks, "rank_high");
    size_t n = 0;
    for (size_t i = 0; i + 1 < ranks->n_rows; i++)
        n += high->values[i] >= rank->values[i + 1] && low->values[i + 1] <= rank->values[i];
    return n;
}

void dis__report_add_winner(dis__report_job *job)
{
    const dis_scaled_table *ranks = dis_scaled_find_table(job->scaled, "ranks"),
                           *labels = dis_scaled_find_table(job->scaled, "labels");
    dis__markup text = {0};
    size_t row[NAMED], n = 0;
    if (!ranks || ranks->n_rows < 2) return;
    const dis_scaled_column *low = dis__scaled_column(ranks, "rank_low"),
                            *high = dis__scaled_column(ranks, "rank_high");
    for (size_t i = 0; i < ranks->n_rows; i++) {
        if (low->values[i] > 1) continue;
        if (n < NAMED) row[n] = i;
        n++;
    }
    const bool is_split = dis__scaled_column(labels, "component") != NULL,
               is_clear = n == 1 && high->values[row[0]] == 1;
    const size_t open = count_open(ranks);
    if (is_split) {
        dis__markup_append(&text, "These groups were never compared with each other, not even through a third one: ");
        put_groups(&text, labels);
        dis__markup_append(&text,
                           ". Scores and ranks hold within a group only. Compare at least one of each group with "
                           "one of every other group.");
    } else if (is_clear) {
        put_contenders(&text, ranks, row, 1);
        dis__markup_append(&text, " won: it is better than every other one, with 95\xC2\xA0% confidence. ");
    } else {
        dis__markup_appendf(&text, "%zu of %zu can still be the best: ", n, ranks->n_rows);
        put_contenders(&text, ranks, row, n);
        dis__markup_append(&text, ". ");
    }
    if (!is_split) {
        if (open)
            dis__markup_appendf(&text,
                                "The order of %zu of %zu neighbours in the ranking is not certain. Compare these more "
                                "often, beginning with the evenly split pairs below.",
                                open, ranks->n_rows - 1);
        else
            dis__markup_append(&text, "The order of all others is certain too. No more comparisons are needed to rank "
                                      "them.");
    }
    dis__page_verdict_set(&job->page, "Who won?",
                          is_split   ? "unknown"
                          : is_clear ? "yes"
                                     : "care",
                          is_split   ? "There is no common ranking"
                          : is_clear ? "There is a clear winner"
                                     : "There is no clear winner",
                          &text);
    dis__markup_free(&text);
}
