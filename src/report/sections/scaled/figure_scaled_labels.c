/* What the labels of a scale of its own look like in one picture: values as a histogram, classes as bars, scores with
 * their intervals. A row of `pictures` per scale; a scale without one has tables alone. */
#include "report/sections/scaled/scaled_tables.h"
#include <math.h>
#include <string.h>

#define Z_95 1.959963984540054

enum { BINS = 12, MOST = 20 };

/* The values of items: where most of them lie. */
static void values(dis__report_job *job, const dis_scaled_table *labels)
{
    const dis_scaled_column *mean = dis__scaled_column(labels, "mean");
    double low = INFINITY, high = -INFINITY, edge[BINS + 1];
    uint64_t count[BINS] = {0};
    for (size_t i = 0; mean && i < labels->n_rows; i++) {
        low = fmin(low, mean->values[i]);
        high = fmax(high, mean->values[i]);
    }
    if (!mean || !(high > low)) return;
    const dis__axis_scale s = dis__axis_scale_nice(low, high, BINS - 2, false);
    const size_t n = (size_t)fmin(BINS, fmax(1, round((s.high - s.low) / s.step)));
    for (size_t b = 0; b <= n; b++) edge[b] = s.low + (s.high - s.low) * (double)b / (double)n;
    for (size_t i = 0; i < labels->n_rows; i++) {
        const double at = (mean->values[i] - s.low) / (s.high - s.low) * (double)n;
        count[(size_t)fmin((double)n - 1, fmax(0, at))]++;
    }
    dis__figure f = {.id = "values", .title = "Values", .question = "Which values do the items have?"};
    dis__markup_appendf(&f.caption,
                        "Values from %s to %s: the mean of the votes of each item, corrected for biases of annotators.",
                        dis__format_brief(low).text, dis__format_brief(high).text);
    const dis__histogram h = {
        .edge = edge, .count = count, .n = n, .x_title = "value of the item", .y_title = "items", .unit = "items"};
    dis__histogram_draw(&f.chart, &h, dis__figure_name(&f, "histogram"));
    dis__data_table_add_column(&f.table, "from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    for (size_t b = 0; b < n; b++) {
        dis__data_table_add_number(&f.table, edge[b]);
        dis__data_table_add_number(&f.table, edge[b + 1]);
        dis__data_table_add_number(&f.table, (double)count[b]);
    }
    dis__page_figure_add(&job->page, &f);
}

/* Rows of bars with their numbers, the first MOST of them. */
static void put_bars(dis__report_job *job, dis__figure *f, const dis__bar_chart *b, const char *row_name)
{
    dis__bar_chart_draw(&f->chart, b, dis__figure_name(f, "bars"));
    dis__data_table_add_column(&f->table, row_name, DIS__CELL_TEXT);
    for (size_t s = 0; s < b->n_series; s++) dis__data_table_add_column(&f->table, b->series[s], DIS__CELL_PERCENT);
    for (size_t i = 0; i < b->n; i++) {
        dis__data_table_add_text(&f->table, b->row[i], strlen(b->row[i]));
        for (size_t s = 0; s < b->n_series; s++) dis__data_table_add_number(&f->table, b->value[i * b->n_series + s]);
    }
    dis__page_figure_add(&job->page, f);
}

static void draw_together(dis__report_job *job, const dis_scaled_table *labels);

/* How often each class is among the sets of people and of the labels. */
static void draw_sets(dis__report_job *job, const dis_scaled_table *labels)
{
    static const char *const series[] = {"votes", "labels"};
    const dis_scaled_table *classes = dis_scaled_find_table(job->scaled, "classes");
    const dis_scaled_column *name = dis__scaled_column(classes, "class"), *votes = dis__scaled_column(classes, "votes");
    const char *row[MOST];
    double value[2 * MOST];
    size_t n = 0;
    for (; name && votes && n < classes->n_rows && n < MOST && 3 + n < labels->n_columns; n++) {
        double sum = 0;
        for (size_t i = 0; i < labels->n_rows; i++) sum += labels->columns[3 + n].values[i];
        row[n] = dis__scaled_name(name, n);
        value[2 * n] = votes->values[n] / fmax(1, (double)job->votes_view.n_votes);
        value[2 * n + 1] = sum / fmax(1, (double)labels->n_rows);
    }
    if (n == 0) return;
    dis__figure f = {.id = "sets", .title = "Class frequencies", .question = "How frequent is each class?"};
    dis__markup_append(
        &f.caption, "Share of the votes that name the class, and of the items that have it. An item may have several "
                    "classes, so shares need not sum to 1.");
    const dis__bar_chart b = {
        .row = row, .series = series, .n = n, .n_series = 2, .value = value, .x_title = "share (%)", .share = true};
    put_bars(job, &f, &b, "class");
    draw_together(job, labels);
}

enum { TOGETHER = 12, FIRST_CLASS = 3 }; /* the first column of `labels` that is a class */

/* Items that have class a of the labels and class b; both counts of one class: items that have it. */
static double count_both(const dis_scaled_table *labels, size_t a, size_t b)
{
    double n = 0;
    for (size_t i = 0; i < labels->n_rows; i++)
        n += labels->columns[FIRST_CLASS + a].values[i] >= .5 && labels->columns[FIRST_CLASS + b].values[i] >= .5;
    return n;
}

/* The classes that most items have, in the order of the votes. */
static size_t choose_classes(const dis_scaled_table *labels, size_t all, size_t class[TOGETHER])
{
    dis__top_item best[TOGETHER];
    size_t n = 0, found = 0;
    for (size_t a = 0; a < all; a++)
        n = dis__top_items_add(best, n, TOGETHER, (dis__top_item){.score = count_both(labels, a, a), .item = a});
    for (size_t a = 0; a < all; a++)
        for (size_t i = 0; i < n; i++)
            if (best[i].item == a) class[found++] = a;
    return found;
}

/* Classes that items have together: of the items of the row, the share that also have the column. */
static void draw_together(dis__report_job *job, const dis_scaled_table *labels)
{
    const size_t all = labels->n_columns > FIRST_CLASS ? labels->n_columns - FIRST_CLASS : 0;
    const char *name[TOGETHER];
    double value[TOGETHER * TOGETHER], both[TOGETHER * TOGETHER], most = 0, high = .1;
    size_t class[TOGETHER], x = 0, y = 0;
    if (all < 2) return;
    const size_t n = choose_classes(labels, all, class);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) both[a * n + b] = count_both(labels, class[a], class[b]);
    for (size_t a = 0; a < n; a++) {
        name[a] = labels->columns[FIRST_CLASS + class[a]].name + strlen("p:");
        for (size_t b = 0; b < n; b++) {
            value[a * n + b] = a != b && both[a * n + a] > 0 ? both[a * n + b] / both[a * n + a] : (double)NAN;
            if (a != b) high = fmax(high, value[a * n + b]);
            if (a < b && both[a * n + b] > most) {
                most = both[a * n + b];
                x = a;
                y = b;
            }
        }
    }
    dis__figure f = {.id = "together", .title = "Classes together", .question = "Which classes occur together?"};
    dis__markup_append(&f.caption, "Of the items with the class of the row, the percentage that also have the class of "
                                   "the column. ");
    if (most > 0) {
        dis__markup_append(&f.caption, "Most often together: ");
        dis__markup_append_name(&f.caption, name[x], strlen(name[x]), 30);
        dis__markup_append(&f.caption, " and ");
        dis__markup_append_name(&f.caption, name[y], strlen(name[y]), 30);
        dis__markup_appendf(&f.caption, " (%s item%s).", dis__format_grouped((uint64_t)most).text,
                            dis__plural_suffix((uint64_t)most));
    } else {
        dis__markup_append(&f.caption, "No item has two classes.");
    }
    if (n < all) dis__markup_appendf(&f.caption, " The %zu most frequent of %zu classes.", n, all);
    const dis__heat_map h = {.name = name,
                             .n = n,
                             .value = value,
                             .high = high,
                             .percent = true,
                             .row_title = "",
                             .column_title = "also have (%)",
                             .value_title = "of the items",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "other class", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "items with both", DIS__CELL_COUNT);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            dis__data_table_add_text(&f.table, name[a], strlen(name[a]));
            dis__data_table_add_text(&f.table, name[b], strlen(name[b]));
            dis__data_table_add_number(&f.table, both[a * n + b]);
        }
    dis__page_figure_add(&job->page, &f);
}

/* Annotators who give numbers: how far above or below the others each votes, the largest biases first. */
void dis__figure_biases(dis__report_job *job, const dis_scaled_table *workers)
{
    enum { ROWS = 100 };
    const dis_scaled_column *worker = dis__scaled_column(workers, "worker"),
                            *votes = dis__scaled_column(workers, "votes"), *bias = dis__scaled_column(workers, "bias"),
                            *se = dis__scaled_column(workers, "bias_sd"), *noise = dis__scaled_column(workers, "noise");
    dis__top_item best[ROWS];
    const char *row[MOST];
    double value[MOST], low[MOST], high[MOST];
    size_t n = 0, clear = 0;
    if (!worker || !votes || !bias || !se || !noise) return;
    for (size_t w = 0; w < workers->n_rows; w++) {
        n = dis__top_items_add(best, n, ROWS, (dis__top_item){.score = fabs(bias->values[w]), .item = w});
        clear += fabs(bias->values[w]) > Z_95 * se->values[w];
    }
    const size_t drawn = n < MOST ? n : MOST;
    for (size_t i = 0; i < drawn; i++) {
        const size_t w = best[i].item;
        row[i] = dis__scaled_name(worker, w);
        value[i] = bias->values[w];
        low[i] = bias->values[w] - Z_95 * se->values[w];
        high[i] = bias->values[w] + Z_95 * se->values[w];
    }
    dis__figure f = {.id = "workers",
                     .title = "Biases of annotators",
                     .question = "Which annotators give higher or lower values than the others?",
                     .note = workers->n_rows > ROWS ? "The 100 largest biases." : NULL};
    dis__markup_appendf(&f.caption,
                        "The largest biases come first. The intervals of %zu of %zu annotator%s do not contain 0. "
                        "Among annotators without bias, this happens for at most one in 20. The labels are corrected "
                        "for biases. Noise: "
                        "standard deviation of a vote without the bias.",
                        clear, workers->n_rows, dis__plural_suffix(workers->n_rows));
    const dis__interval_chart c = {.row = row,
                                   .value = value,
                                   .low = low,
                                   .high_end = high,
                                   .n = drawn,
                                   .x_title = "bias in units of the scale, with 95 % interval"};
    dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__data_table_add_column(&f.table, "annotator", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "votes", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "bias", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "standard error of the bias", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "noise", DIS__CELL_REAL);
    for (size_t i = 0; i < n; i++) {
        const size_t w = best[i].item;
        const char *name = dis__scaled_name(worker, w);
        dis__data_table_add_text(&f.table, name, strlen(name));
        dis__data_table_add_number(&f.table, votes->values[w]);
        dis__data_table_add_number(&f.table, bias->values[w]);
        dis__data_table_add_number(&f.table, se->values[w]);
        dis__data_table_add_number(&f.table, noise->values[w]);
    }
    dis__page_figure_add(&job->page, &f);
}

/* Scores of things, the best first, 95 % by their standard errors. */
static void draw_scores(dis__report_job *job, const dis_scaled_table *labels)
{
    const dis_scaled_column *thing = dis__scaled_column(labels, "thing"), *score = dis__scaled_column(labels, "score"),
                            *se = dis__scaled_column(labels, "se"), *group = dis__scaled_column(labels, "component");
    const char *row[MOST];
    double low[MOST], high[MOST], most = 0;
    size_t n = 0;
    for (; thing && score && se && n < labels->n_rows && n < MOST; n++) {
        row[n] = dis__scaled_name(thing, n);
        low[n] = score->values[n] - Z_95 * se->values[n];
        high[n] = score->values[n] + Z_95 * se->values[n];
        most = fmax(most, high[n]);
    }
    if (n == 0) return;
    dis__figure f = {.id = "scores", .title = "Ranking", .question = "Who won?"};
    dis__markup_appendf(
        &f.caption,
        "Scores with their 95 %% intervals; 0 is the mean of all. A difference of 1 is a preference of 73 "
        "to 27.%s",
        labels->n_rows > MOST ? " The first 20." : "");
    if (group)
        dis__markup_append(&f.caption, " Comparisons do not connect all things: scores of different groups cannot be "
                                       "compared, and 0 is the mean of the group.");
    const dis__interval_chart c = {.row = row,
                                   .value = score->values,
                                   .low = low,
                                   .high_end = high,
                                   .n = n,
                                   .high = most,
                                   .x_title = "score, with 95 % interval"};
    dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__data_table_add_column(&f.table, "thing", DIS__CELL_TEXT);
    if (group) dis__data_table_add_column(&f.table, "group", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "score", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    for (size_t i = 0; i < n; i++) {
        dis__data_table_add_text(&f.table, row[i], strlen(row[i]));
        if (group) dis__data_table_add_number(&f.table, group->values[i]);
        dis__data_table_add_number(&f.table, score->values[i]);
        dis__data_table_add_number(&f.table, low[i]);
        dis__data_table_add_number(&f.table, high[i]);
    }
    dis__page_figure_add(&job->page, &f);
}

/* How the spans of the labels are shared out over the classes. */
static void draw_spans(dis__report_job *job, const dis_scaled_table *labels)
{
    static const char *const series[] = {"spans"};
    const dis_scaled_column *label = dis__scaled_column(labels, "label");
    const size_t all = label ? dis_names_count(label->names) : 0;
    const char *row[MOST];
    double value[MOST] = {0};
    size_t at[MOST], n = 0;
    for (size_t i = 0; label && i < labels->n_rows; i++) {
        const size_t k = label->index ? label->index[i] : i;
        size_t r = 0;
        while (r < n && at[r] != k) r++;
        if (r == MOST || k >= all) continue;
        if (r == n) {
            at[n] = k;
            row[n++] = dis__scaled_name(label, i);
        }
        value[r] += 1 / (double)labels->n_rows;
    }
    if (n == 0) return;
    dis__figure f = {.id = "spans-by-class",
                     .title = "Spans of each class",
                     .question = "How many spans does each class have?"};
    dis__markup_appendf(&f.caption, "%s span%s in the labels, by class.", dis__format_grouped(labels->n_rows).text,
                        dis__plural_suffix(labels->n_rows));
    const dis__bar_chart b = {.row = row,
                              .series = series,
                              .n = n,
                              .n_series = 1,
                              .value = value,
                              .x_title = "share of the spans (%)",
                              .share = true};
    put_bars(job, &f, &b, "class");
}

void dis__figure_scaled(dis__report_job *job)
{
    static const struct {
        dis_scale scale;
        void (*draw)(dis__report_job *job, const dis_scaled_table *labels);
    } pictures[] = {{DIS_SCALE_NUMERIC, values},
                    {DIS_SCALE_MULTI_LABEL, draw_sets},
                    {DIS_SCALE_PAIRWISE, draw_scores},
                    {DIS_SCALE_SPANS, draw_spans}};
    const dis_scaled_table *labels = dis_scaled_find_table(job->scaled, "labels");
    for (size_t i = 0; labels && i < sizeof pictures / sizeof *pictures; i++)
        if (pictures[i].scale == dis_scaled_get_view(job->scaled).scale) pictures[i].draw(job, labels);
}
