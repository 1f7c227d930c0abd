/* Which items people should label next, so that class shares, bias and agreement of a judge become known with few labels.
 *
 * Strata are the judge's answers, with scores also the lower, middle and upper third of the scores of items with this
 * answer. A stratum of N_h open items gets n_h of them in proportion to N_h sqrt(e_h (1 - e_h)) (Neyman 1934): e_h is the
 * share of people's votes that differ from the judge, (differing + 1) / (votes + 2), among labelled items of the stratum.
 * Every stratum gets two items or all of its items, if the number suffices. Within a stratum items are drawn at random;
 * the weight of an item is N_h / n_h.
 *
 * Cost: O(items log items). */
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/random/random.h"
#include <math.h>
#include <stdlib.h>

enum { THIRDS = 3, LEAST = 2 };

DIS_OPTIONS_DEFAULTS(dis_judge_sample_options, .size = sizeof(dis_judge_sample_options), .n = 100)

typedef struct {
    double differing, votes; /* of labelled items */
    size_t open, chosen;
    double ideal;
} stratum;

/* An open item (or any item, for scores) with its sort key. */
typedef struct {
    size_t item, stratum;
    double key;
} candidate;

static int by_key(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static int by_item(const void *a, const void *b)
{
    const dis_judge_sample_row *x = a, *y = b;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* ---- strata ---- */

/* of (n_items): the stratum of each item with an answer. list: room for all items. */
static void find_strata(const dis__judge_votes *v, const double *score, candidate *list, size_t *of)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->answer[i] < 0) continue;
        of[i] = (size_t)v->answer[i] * THIRDS;
        if (score && !isnan(score[i]))
            list[n++] = (candidate){.item = i, .stratum = (size_t)v->answer[i], .key = score[i]};
    }
    qsort(list, n, sizeof *list, by_key);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && list[end].stratum == list[first].stratum;) end++;
        for (size_t x = first; x < end; x++) of[list[x].item] += (x - first) * THIRDS / (end - first);
    }
}

static void count_strata(const dis__judge_votes *v, const size_t *of, stratum *all)
{
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->answer[i] < 0) continue;
        stratum *s = &all[of[i]];
        const double votes = (double)dis__judge_n_votes(v, i);
        s->open += votes == 0;
        if (votes == 0) continue;
        s->votes += votes;
        s->differing += votes * (1 - dis__judge_people_share(v, i, (size_t)v->answer[i]));
    }
}

/* ---- items per stratum ---- */

/* Assigns `left` items one by one to the stratum that is furthest below its share. */
static void allocate(stratum *all, size_t n_strata, size_t n)
{
    size_t left = n;
    double total = 0;
    for (size_t s = 0; s < n_strata; s++) {
        const double e = (all[s].differing + 1) / (all[s].votes + 2);
        all[s].ideal = (double)all[s].open * sqrt(e * (1 - e));
        total += all[s].ideal;
    }
    for (size_t s = 0; s < n_strata; s++) {
        const size_t least = all[s].open < LEAST ? all[s].open : LEAST;
        all[s].ideal *= total > 0 ? (double)n / total : 0;
        all[s].chosen = least <= left ? least : left;
        left -= all[s].chosen;
    }
    for (; left > 0; left--) {
        size_t best = SIZE_MAX;
        for (size_t s = 0; s < n_strata; s++)
            if (all[s].chosen < all[s].open &&
                (best == SIZE_MAX ||
                 all[s].ideal / ((double)all[s].chosen + 1) > all[best].ideal / ((double)all[best].chosen + 1)))
                best = s;
        if (best == SIZE_MAX) return;
        all[best].chosen++;
    }
}

/* ---- all ---- */

static size_t draw(const dis__judge_votes *v, const size_t *of, const stratum *all, uint64_t seed, candidate *list,
                   dis_judge_sample_row *rows)
{
    size_t n = 0, n_left = 0;
    for (size_t i = 0; i < v->n_items; i++)
        if (v->answer[i] >= 0 && dis__judge_n_votes(v, i) == 0)
            list[n++] =
                (candidate){.item = i, .stratum = of[i], .key = dis__random_uniform(seed, DIS_STREAM_JUDGE_SAMPLE, i)};
    qsort(list, n, sizeof *list, by_key);
    for (size_t first = 0, end; first < n; first = end) {
        const stratum *s = &all[list[first].stratum];
        for (end = first; end < n && list[end].stratum == list[first].stratum;) end++;
        for (size_t x = first; x < first + s->chosen; x++)
            rows[n_left++] = (dis_judge_sample_row){.item = list[x].item,
                                                    .class_index = (uint32_t)(list[x].stratum / THIRDS),
                                                    .third = (uint32_t)(list[x].stratum % THIRDS),
                                                    .probability = (double)s->chosen / (double)s->open,
                                                    .weight = (double)s->open / (double)s->chosen};
    }
    qsort(rows, n_left, sizeof *rows, by_item);
    return n_left;
}

static dis_status sample(const dis__judge_votes *v, const dis_judge_sample_options *o, dis_judge_sample_row **rows,
                         size_t *n)
{
    const size_t n_strata = v->n_classes * THIRDS;
    size_t open = 0, *of = NULL;
    stratum *all = NULL;
    candidate *list = NULL;
    dis_judge_sample_row *out = NULL;
    for (size_t i = 0; i < v->n_items; i++) open += v->answer[i] >= 0 && dis__judge_n_votes(v, i) == 0;
    if (open == 0)
        return dis__fail(DIS_EDATA,
                         "people have voted on every item that the judge labelled; there is nothing to choose");
    const size_t most = o->n < open ? o->n : open;
    dis_status status = dis__alloc_array(&of, v->n_items, sizeof *of);
    if (status == DIS_OK) status = dis__alloc_zeroed(&all, n_strata, sizeof *all);
    if (status == DIS_OK) status = dis__alloc_array(&list, v->n_items, sizeof *list);
    if (status == DIS_OK) status = dis__alloc_array(&out, most, sizeof *out);
    if (status == DIS_OK) {
        find_strata(v, o->score, list, of);
        count_strata(v, of, all);
        allocate(all, n_strata, most);
        *n = draw(v, of, all, o->seed, list, out);
        *rows = out;
    }
    dis__free(of);
    dis__free(all);
    dis__free(list);
    return status;
}

dis_status dis_judge_sample(dis_context *ctx, const dis_votes *votes, const bool *person,
                            const dis_judge_sample_options *options, dis_judge_sample_row **rows, size_t *n)
{
    dis_judge_sample_options o = dis_judge_sample_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    dis__judge_votes mine;
    (void)ctx;
    DIS_TRY(DIS_OPTIONS_COPY(dis_judge_sample_options, &o, options));
    if (o.n == 0) return dis__fail(DIS_EUSAGE, "`n` must be at least 1");
    DIS_TRY(dis__judge_votes_create(&v, person, o.name, &mine));
    const dis_status status = sample(&mine, &o, rows, n);
    dis__judge_votes_destroy(&mine);
    return status;
}
