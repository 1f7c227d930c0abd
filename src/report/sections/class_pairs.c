/* Classes that people choose on the same items: the questions that a guideline should answer.
 *
 * Votes of annotators whom the review calls unreliable are left out: they disagree with everyone and would hide which
 * classes careful people confuse. Cost: the votes once for the counts and once for the examples. */
#include "report/sections/verdict.h"
#include "core/memory/memory.h"
#include "labels/method.h"
#include "review/review_parts.h"
#include <math.h>
#include <string.h>

enum { MAX_CLASSES = 1000, LEAST_ITEMS = 5 };

typedef struct {
    const dis__report_job *job;
    bool *is_ignored;         /* (n_workers) */
    double *count;            /* (n_classes) votes of the current item */
    size_t *chosen, n_chosen; /* its classes */
    double *share;            /* (n_classes): votes of all items with more than one vote */
    uint64_t *items;          /* (n_classes, n_classes), a < b */
    double *pairs;            /* likewise: pairs of votes */
    double all_pairs;
} tally;

static dis_status tally_init(tally *t, const dis__report_job *job)
{
    const size_t n = job->r->n_classes, n_workers = job->votes_view.n_workers;
    *t = (tally){.job = job};
    DIS_TRY(dis__alloc_zeroed(&t->is_ignored, n_workers + 1, sizeof *t->is_ignored));
    DIS_TRY(dis__alloc_zeroed(&t->count, n, sizeof *t->count));
    DIS_TRY(dis__alloc_array(&t->chosen, n, sizeof *t->chosen));
    DIS_TRY(dis__alloc_zeroed(&t->share, n, sizeof *t->share));
    DIS_TRY(dis__alloc_zeroed(&t->items, n * n, sizeof *t->items));
    DIS_TRY(dis__alloc_zeroed(&t->pairs, n * n, sizeof *t->pairs));
    for (size_t i = 0; i < job->verdicts.n_workers; i++)
        t->is_ignored[job->verdicts.workers[i].worker] =
            dis__review_verdict_is_unreliable(job->verdicts.workers[i].verdict);
    return DIS_OK;
}

static void tally_free(tally *t)
{
    dis__free(t->is_ignored);
    dis__free(t->count);
    dis__free(t->chosen);
    dis__free(t->share);
    dis__free(t->items);
    dis__free(t->pairs);
}

/* The classes of an item into `chosen` and `count`; call forget_item() afterwards. */
static void count_item(tally *t, size_t item)
{
    const dis_votes_view *v = &t->job->votes_view;
    t->n_chosen = 0;
    if (!v->start) {
        for (size_t k = 0; k < v->n_classes; k++) {
            t->count[k] = v->counts[item * v->n_classes + k];
            if (t->count[k] > 0) t->chosen[t->n_chosen++] = k;
        }
        return;
    }
    for (uint64_t a = v->start[item]; a < v->start[item + 1]; a++) {
        const size_t k = dis__vote_label(v, a);
        if (t->is_ignored[v->worker[a]]) continue;
        if (t->count[k] == 0) t->chosen[t->n_chosen++] = k;
        t->count[k]++;
    }
}

static void forget_item(tally *t)
{
    for (size_t i = 0; i < t->n_chosen; i++) t->count[t->chosen[i]] = 0;
}

static void add_item(tally *t, size_t item, uint64_t *n_disputed)
{
    const size_t n = t->job->r->n_classes;
    double votes = 0;
    count_item(t, item);
    for (size_t i = 0; i < t->n_chosen; i++) votes += t->count[t->chosen[i]];
    *n_disputed += t->n_chosen > 1;
    for (size_t i = 0; i < t->n_chosen && votes > 1; i++) {
        const size_t x = t->chosen[i];
        t->share[x] += t->count[x];
        for (size_t j = i + 1; j < t->n_chosen; j++) {
            const size_t y = t->chosen[j], at = x < y ? x * n + y : y * n + x;
            t->items[at]++;
            t->pairs[at] += t->count[x] * t->count[y];
            t->all_pairs += t->count[x] * t->count[y];
        }
    }
    forget_item(t);
}

/* Expected pairs of votes for a and b, if all pairs of unequal votes were drawn by class frequencies. */
static double expected_pairs(const tally *t, size_t a, size_t b)
{
    double sum = 0, squares = 0;
    for (size_t k = 0; k < t->job->r->n_classes; k++) {
        sum += t->share[k];
        squares += t->share[k] * t->share[k];
    }
    const double unequal = (sum * sum - squares) / 2;
    return unequal > 0 ? t->all_pairs * t->share[a] * t->share[b] / unequal : 0;
}

static void choose_pairs(const tally *t, dis__class_pairs *pairs)
{
    const size_t n = t->job->r->n_classes;
    dis__top_item best[DIS__CLASS_PAIRS];
    for (size_t at = 0; at < n * n; at++)
        if (t->items[at])
            pairs->n =
                dis__top_items_add(best, pairs->n, DIS__CLASS_PAIRS,
                                   (dis__top_item){.score = (double)t->items[at], .weight = t->pairs[at], .item = at});
    for (size_t i = 0; i < pairs->n; i++) {
        const size_t a = best[i].item / n, b = best[i].item % n;
        pairs->pair[i] = (dis__class_pair){.a = a,
                                           .b = b,
                                           .items = t->items[best[i].item],
                                           .times = t->pairs[best[i].item] / expected_pairs(t, a, b)};
    }
}

static void find_examples(tally *t, dis__class_pairs *pairs)
{
    for (size_t item = 0; item < t->job->r->n_items; item++) {
        count_item(t, item);
        for (size_t i = 0; i < pairs->n && t->n_chosen > 1; i++) {
            dis__class_pair *p = &pairs->pair[i];
            const double both = fmin(t->count[p->a], t->count[p->b]);
            if (both <= p->example_sum) continue;
            p->example = item;
            p->example_sum = both;
        }
        forget_item(t);
    }
}

dis_status dis__class_pairs_find(const dis__report_job *job, dis__class_pairs *pairs)
{
    tally t = {0};
    *pairs = (dis__class_pairs){0};
    if (!job->r->votes || job->r->n_classes < 2 || job->r->n_classes > MAX_CLASSES) return DIS_OK;
    dis_status status = tally_init(&t, job);
    for (size_t i = 0; status == DIS_OK && i < job->r->n_items; i++) add_item(&t, i, &pairs->n_disputed);
    if (status == DIS_OK) {
        choose_pairs(&t, pairs);
        find_examples(&t, pairs);
    }
    tally_free(&t);
    return status;
}

const dis__class_pair *dis__class_pairs_first(const dis__report_job *job, const dis__class_pairs *pairs)
{
    if (job->r->n_classes == 2) return NULL; /* every dispute is about these two */
    for (size_t i = 0; i < pairs->n; i++) {
        const dis__class_pair *p = &pairs->pair[i];
        if (job->r->ordinal && p->b == p->a + 1) continue; /* neighbours on a scale are often chosen together */
        return p->items >= LEAST_ITEMS && 5 * p->items >= pairs->n_disputed && p->times > 1.2 ? p : NULL;
    }
    return NULL;
}

static void put_name(dis__markup *m, const dis__report_job *job, size_t k)
{
    dis__markup_append_name(m, dis__class_name(job, k), strlen(dis__class_name(job, k)), 30);
}

static void fill_table(const dis__report_job *job, const dis__class_pairs *pairs, dis__data_table *table)
{
    dis__data_table_add_column(table, "class", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(table);
    dis__data_table_add_column(table, "or class", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(table);
    dis__data_table_add_column(table, "items with both", DIS__CELL_COUNT);
    dis__data_table_add_column(table, "of disputed items", DIS__CELL_PERCENT);
    dis__data_table_add_column(table, "times as often as expected", DIS__CELL_REAL);
    if (job->r->n_classes == 2) dis__data_table_set_csv_only(table);
    dis__data_table_add_column(table, "example", DIS__CELL_TEXT);
    dis__report_add_text_column(job, table);
    for (size_t i = 0; i < pairs->n; i++) {
        const dis__class_pair *p = &pairs->pair[i];
        size_t length;
        const char *item = dis_names_get(job->r->tasks, p->example, &length);
        dis__data_table_add_text(table, dis__class_name(job, p->a), strlen(dis__class_name(job, p->a)));
        dis__data_table_add_text(table, dis__class_name(job, p->b), strlen(dis__class_name(job, p->b)));
        dis__data_table_add_number(table, (double)p->items);
        dis__data_table_add_number(table, (double)p->items / (double)pairs->n_disputed);
        dis__data_table_add_number(table, p->times);
        dis__data_table_add_text(table, item, length);
        dis__report_add_text_cell(job, table, p->example);
    }
}

void dis__figure_class_pairs(dis__report_job *job, const dis__class_pairs *pairs)
{
    if (pairs->n == 0) return;
    const dis__class_pair *first = dis__class_pairs_first(job, pairs);
    dis__figure f = {.id = "class-pairs",
                     .title = "Classes to tell apart",
                     .question = "Which classes should the guidelines tell apart?",
                     .wide = true,
                     .open = true};
    dis__markup_appendf(&f.caption, "On %s item%s, annotators chose more than one class. ",
                        dis__format_grouped(pairs->n_disputed).text, dis__plural_suffix(pairs->n_disputed));
    if (first) {
        dis__markup_appendf(&f.caption, "On %s of them, both ", dis__format_grouped(first->items).text);
        put_name(&f.caption, job, first->a);
        dis__markup_append(&f.caption, " and ");
        put_name(&f.caption, job, first->b);
        dis__markup_append(&f.caption, " were chosen: say in the guidelines when to use which, with this example. ");
    } else if (job->r->n_classes == 2) {
        dis__markup_append(&f.caption, "Agree with the annotators on the label of the example, and add the reason to "
                                       "the guidelines. ");
    } else {
        dis__markup_appendf(&f.caption, "No pair of%s classes stands out. ",
                            job->r->ordinal ? " classes that are not neighbours" : "");
    }
    dis__markup_append(&f.caption, "The example is the item with the most votes for both classes.");
    if (job->r->n_classes > 2) dis__markup_append(&f.caption, " Expected: by how often each class is chosen.");
    if (job->verdicts.n_unreliable) dis__markup_append(&f.caption, " Votes of unreliable annotators are left out.");
    fill_table(job, pairs, &f.table);
    dis__page_figure_add(&job->page, &f);
}
