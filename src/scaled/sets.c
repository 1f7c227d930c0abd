/* Several classes at once: every vote is a set of classes.
 *
 * Labels per class: a vote says yes or no to each class, and the label methods (the default recipe, or those that are
 * named) are fitted to these answers, class by class. The joint label is a distribution over sets that somebody chose:
 * the same methods with the sets as classes while there are few of them, else the shares of votes.
 *
 * Agreement: alpha over sets with the distances of Jaccard, 1 - |A and B| / |A or B|, and MASI (Passonneau 2006), 1 - J M,
 * M = 1 for equal sets, 2/3 where one holds the other, 1/3 where they overlap, 0 where they do not; two empty sets
 * are the same. Per class: nominal alpha of yes and no.
 *
 * Cost: one fit per class over all votes; distances of all pairs of different sets. */
#include "scaled/scaled_internal.h"
#include "dissent/fit.h"
#include "dissent/combine.h"
#include "dissent/recipe.h"
#include "votes/scales.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_SETS = 64 };

typedef struct {
    const dis__scaled_args *args;
    dis_scaled *out;
    dis_label_choice choice;
    const dis_names *classes;
    size_t n_classes, n_sets, n_votes;
    bool *has;                      /* (n_sets, n_classes) */
    double *size;                   /* (n_sets) */
    uint64_t *start;                /* (n_items + 1) */
    uint32_t *worker, *kind, *task; /* (n_votes): one set per worker and item */
    uint16_t *label;                /* (n_votes) room */
    double *p;                      /* (n_classes, n_items) */
} study;

/* ---- sets ---- */

static int find_part(const char *const *known, size_t n, const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(known[i]) == length && memcmp(known[i], text, length) == 0) return (int)i;
    return -1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *next_part(const char **at, size_t *n)
{
    const char *from = *at, *end = strchr(from, DIS_PARTS);
    *n = end ? (size_t)(end - from) : strlen(from);
    *at = end ? end + 1 : NULL;
    return from;
}

/* The classes that sets are made of, and which of them each label holds (n_labels, n_classes). */
static dis_status take_classes(study *x, bool **has)
{
    const dis_votes_view *v = &x->args->look;
    char **part = NULL;
    size_t capacity = 0, n_parts = 0;
    dis_status status = DIS_OK;
    for (size_t s = 0; s < v->n_classes && status == DIS_OK; s++)
        for (const char *at = dis_names_get(v->classes, s, NULL); at && status == DIS_OK;) {
            size_t n;
            const char *text = next_part(&at, &n);
            if (n == 0 || find_part((const char *const *)part, n_parts, text, n) >= 0) continue;
            status = dis__reserve(&part, &capacity, n_parts, n_parts + 1, sizeof *part);
            if (status == DIS_OK) status = dis__copy_text(&part[n_parts], text, n);
            n_parts += status == DIS_OK;
        }
    if (n_parts) qsort(part, n_parts, sizeof *part, by_name);
    x->n_classes = n_parts;
    if (status == DIS_OK) status = dis__scaled_list(x->out, (const char *const *)part, n_parts, &x->classes);
    if (status == DIS_OK) status = dis__scaled_room(x->out, has, dis__size(v->n_classes, n_parts, 1), sizeof **has);
    for (size_t s = 0; s < v->n_classes && status == DIS_OK; s++)
        for (const char *at = dis_names_get(v->classes, s, NULL); at;) {
            size_t n;
            const char *text = next_part(&at, &n);
            const int c = n ? find_part((const char *const *)part, n_parts, text, n) : -1;
            if (c >= 0) (*has)[s * n_parts + (size_t)c] = true;
        }
    for (size_t i = 0; i < n_parts; i++) dis__free(part[i]);
    dis__free(part);
    return status;
}

/* The number of a set, new ones at the end; slots (a power of 2) hold numbers + 1. */
static size_t number_of(study *x, const bool *set, uint32_t *slot, size_t n_slots)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t c = 0; c < x->n_classes; c++) hash = (hash ^ set[c]) * 1099511628211u;
    size_t i = (size_t)(hash ^ hash >> 29) & (n_slots - 1);
    for (; slot[i]; i = (i + 1) & (n_slots - 1))
        if (memcmp(x->has + (slot[i] - 1) * x->n_classes, set, x->n_classes * sizeof *set) == 0) return slot[i] - 1;
    memcpy(x->has + x->n_sets * x->n_classes, set, x->n_classes * sizeof *set);
    for (size_t c = 0; c < x->n_classes; c++) x->size[x->n_sets] += set[c];
    slot[i] = (uint32_t)++x->n_sets;
    return x->n_sets - 1;
}

/* One set per worker and item: the union, where a worker has several rows for an item. */
static dis_status take_votes(study *x, const bool *has)
{
    const dis_votes_view *v = &x->args->look;
    const size_t C = x->n_classes;
    size_t n_slots = 64;
    uint32_t *slot;
    bool *set;
    while (n_slots < 2 * v->n_votes + 2) n_slots *= 2;
    DIS_TRY(dis__scaled_room(x->out, &x->has, dis__size(v->n_votes + 1, C, 1), sizeof *x->has));
    DIS_TRY(dis__scaled_room(x->out, &x->size, v->n_votes + 1, sizeof *x->size));
    DIS_TRY(dis__scaled_room(x->out, &x->start, v->n_items + 1, sizeof *x->start));
    DIS_TRY(dis__scaled_room(x->out, &x->worker, v->n_votes, sizeof *x->worker));
    DIS_TRY(dis__scaled_room(x->out, &x->kind, v->n_votes, sizeof *x->kind));
    DIS_TRY(dis__scaled_room(x->out, &x->task, v->n_votes, sizeof *x->task));
    DIS_TRY(dis__scaled_room(x->out, &x->label, v->n_votes, sizeof *x->label));
    DIS_TRY(dis__scaled_room(x->out, &slot, n_slots, sizeof *slot));
    DIS_TRY(dis__scaled_room(x->out, &set, C + 1, sizeof *set));
    for (size_t i = 0; i < v->n_items; i++) {
        const uint64_t first = v->start[i], last = v->start[i + 1];
        for (uint64_t n = first; n < last; n++) {
            bool before = false;
            for (uint64_t k = first; k < n && !before; k++) before = v->worker[k] == v->worker[n];
            if (before) continue;
            memset(set, 0, C * sizeof *set);
            for (uint64_t k = n; k < last; k++) {
                const size_t label = v->label8 ? v->label8[k] : v->label16[k];
                for (size_t c = 0; v->worker[k] == v->worker[n] && c < C; c++) set[c] |= has[label * C + c];
            }
            x->task[x->n_votes] = (uint32_t)i;
            x->worker[x->n_votes] = v->worker[n];
            x->kind[x->n_votes++] = (uint32_t)number_of(x, set, slot, n_slots);
        }
        x->start[i + 1] = x->n_votes;
    }
    return DIS_OK;
}

static void overlap(const study *x, size_t a, size_t b, double *both, double *any)
{
    *both = 0;
    for (size_t c = 0; c < x->n_classes; c++) *both += x->has[a * x->n_classes + c] && x->has[b * x->n_classes + c];
    *any = x->size[a] + x->size[b] - *both;
}

static double jaccard(const void *arg, size_t a, size_t b)
{
    double both, any;
    overlap(arg, a, b, &both, &any);
    return any > 0 ? 1 - both / any : 0;
}

static double masi(const void *arg, size_t a, size_t b)
{
    const study *x = arg;
    double both, any;
    overlap(x, a, b, &both, &any);
    if (any == 0 || both == any) return 0;
    const double least = x->size[a] < x->size[b] ? x->size[a] : x->size[b];
    return 1 - both / any * (both == least && both > 0 ? 2. / 3 : both > 0 ? 1. / 3 : 0);
}

static double is_other(const void *arg, size_t a, size_t b)
{
    (void)arg;
    return a != b;
}

static double is_other_for_class(const void *arg, size_t a, size_t b)
{
    const bool *has = arg;
    return has[a] != has[b];
}

/* ---- labels ---- */

/* Labels of one table of indices, (n_items, n_classes), to be freed. */
static dis_status label(const study *x, size_t n_classes, const dis_label_choice *choice, double **p)
{
    const dis_votes_view *v = &x->args->look;
    const dis_votes_arrays arrays = {.n_votes = x->n_votes,
                                     .n_items = v->n_items,
                                     .n_workers = v->n_workers,
                                     .n_classes = n_classes,
                                     .task = x->task,
                                     .worker = x->worker,
                                     .label = x->label};
    dis_votes *votes;
    dis_made *made;
    dis_fit_options how = dis_fit_options_default();
    dis_make_options making = dis_make_options_default();
    how.seed = x->args->o->seed;
    making.fit = &how;
    DIS_TRY(dis_votes_from_arrays(x->args->ctx, &arrays, &votes));
    const dis_status status = dis_make_labels(x->args->ctx, votes, choice, &making, &made);
    if (status == DIS_OK) {
        *p = dis_made_take_p(made);
        dis_made_destroy(made);
    }
    dis_votes_destroy(votes);
    return status;
}

static dis_status label_classes(study *x)
{
    const size_t n = x->args->look.n_items;
    DIS_TRY(dis__scaled_room(x->out, &x->p, dis__size(x->n_classes, n, 0), sizeof *x->p));
    for (size_t c = 0; c < x->n_classes; c++) {
        double *p;
        DIS_TRY(dis__check_stop(x->args->ctx));
        for (size_t k = 0; k < x->n_votes; k++) x->label[k] = x->has[x->kind[k] * x->n_classes + c];
        DIS_TRY(label(x, 2, &x->choice, &p));
        for (size_t i = 0; i < n; i++) x->p[c * n + i] = p[2 * i + 1];
        dis_free(p);
    }
    return DIS_OK;
}

/* "a+b" of the classes for which `in` says so. */
static dis_status join(const study *x, bool (*in)(const study *x, size_t at, size_t c), size_t at, char **room,
                       size_t *capacity)
{
    size_t used = 0;
    for (size_t c = 0; c < x->n_classes; c++) {
        size_t n;
        const char *name = dis_names_get(x->classes, c, &n);
        if (!in(x, at, c)) continue;
        DIS_TRY(dis__reserve(room, capacity, used, used + n + 2, 1));
        if (used) (*room)[used++] = '+';
        memcpy(*room + used, name, n);
        used += n;
    }
    DIS_TRY(dis__reserve(room, capacity, used, used + 1, 1));
    (*room)[used] = 0;
    return DIS_OK;
}

static bool is_probable(const study *x, size_t item, size_t c)
{
    return x->p[c * x->args->look.n_items + item] >= .5;
}

static bool is_in_set(const study *x, size_t set, size_t c)
{
    return x->has[set * x->n_classes + c];
}

/* A list of n joined names. */
static dis_status join_all(study *x, bool (*in)(const study *x, size_t at, size_t c), size_t n, const dis_names **out)
{
    char **text, *room = NULL;
    size_t capacity = 0;
    DIS_TRY(dis__alloc_zeroed(&text, n, sizeof *text));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        status = join(x, in, i, &room, &capacity);
        if (status == DIS_OK) status = dis__copy_text(&text[i], room, strlen(room));
    }
    if (status == DIS_OK) status = dis__scaled_list(x->out, (const char *const *)text, n, out);
    for (size_t i = 0; i < n; i++) dis__free(text[i]);
    dis__free(text);
    dis__free(room);
    return status;
}

static double binary_entropy(double p)
{
    return p > 0 && p < 1 ? -p * log(p) - (1 - p) * log(1 - p) : 0;
}

/* "p:CLASS" for every class. */
static dis_status column_names(study *x, char ***names)
{
    DIS_TRY(dis__scaled_room(x->out, names, x->n_classes, sizeof **names));
    for (size_t c = 0; c < x->n_classes; c++) {
        size_t n;
        const char *name = dis_names_get(x->classes, c, &n);
        DIS_TRY(dis__scaled_room(x->out, &(*names)[c], n + 3, 1));
        memcpy((*names)[c], "p:", 2);
        memcpy((*names)[c] + 2, name, n);
    }
    return DIS_OK;
}

static dis_status add_labels(study *x)
{
    const dis_votes_view *v = &x->args->look;
    const dis_names *joined;
    dis_scaled_column *c;
    double *entropy, *key;
    char **names;
    DIS_TRY(join_all(x, is_probable, v->n_items, &joined));
    DIS_TRY(column_names(x, &names));
    DIS_TRY(dis__scaled_add(x->out, "labels",
                            "per item the classes of at least one half, and the probability of each class", v->n_items,
                            3 + x->n_classes, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = v->tasks};
    c[1] = (dis_scaled_column){.name = "label", .names = joined};
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "entropy", v->n_items, &entropy));
    for (size_t k = 0; k < x->n_classes; k++) {
        c[3 + k] = (dis_scaled_column){.name = names[k], .values = x->p + k * v->n_items};
        for (size_t i = 0; i < v->n_items; i++) entropy[i] += binary_entropy(x->p[k * v->n_items + i]);
    }
    dis_scaled_column *item;
    DIS_TRY(dis__scaled_add(x->out, "items", "items by the entropy of their labels, summed over classes", v->n_items, 4,
                            &item));
    item[0] = c[0];
    item[1] = c[1];
    item[2] = c[2];
    DIS_TRY(dis__scaled_numbers(x->out, &item[3], "votes", v->n_items, &key));
    for (size_t i = 0; i < v->n_items; i++) key[i] = (double)(x->start[i + 1] - x->start[i]);
    return dis__scaled_sort(x->out, &x->out->table[x->out->n_tables - 1], entropy);
}

/* Rows of sets that have a share; p (n_items, n_sets). */
static dis_status add_joint(study *x)
{
    const dis_votes_view *v = &x->args->look;
    const dis_names *sets;
    dis_label_choice shares;
    static const char *const standard[] = {"standard"};
    double *p, *out;
    uint32_t *task, *set;
    size_t n = 0;
    DIS_TRY(dis_choose_labels(standard, 1, NULL, true, &shares));
    if (x->n_sets > DIS_MAX_CLASSES) {
        dis__scaled_note(x->out, "%zu different sets: no joint labels", x->n_sets);
        return DIS_OK;
    }
    for (size_t k = 0; k < x->n_votes; k++) x->label[k] = (uint16_t)x->kind[k];
    DIS_TRY(label(x, x->n_sets, x->n_sets <= FEW_SETS ? &x->choice : &shares, &p));
    for (size_t i = 0; i < v->n_items * x->n_sets; i++) n += p[i] > 1e-6;
    dis_scaled_column *c;
    dis_status status = join_all(x, is_in_set, x->n_sets, &sets);
    if (status == DIS_OK)
        status = dis__scaled_add(x->out, "joint", "per item the probability of each set of classes", n, 3, &c);
    if (status == DIS_OK) status = dis__scaled_room(x->out, &task, n, sizeof *task);
    if (status == DIS_OK) status = dis__scaled_room(x->out, &set, n, sizeof *set);
    if (status == DIS_OK) status = dis__scaled_numbers(x->out, &c[2], "p", n, &out);
    n = 0;
    for (size_t i = 0; status == DIS_OK && i < v->n_items * x->n_sets; i++) {
        if (!(p[i] > 1e-6)) continue;
        task[n] = (uint32_t)(i / x->n_sets);
        set[n] = (uint32_t)(i % x->n_sets);
        out[n++] = p[i];
    }
    if (status == DIS_OK) {
        c[0] = (dis_scaled_column){.name = "task", .names = v->tasks, .index = task};
        c[1] = (dis_scaled_column){.name = "set", .names = sets, .index = set};
    }
    dis_free(p);
    return status;
}

/* ---- agreement ---- */

static dis_metric alpha(const study *x, double (*distance)(const void *, size_t, size_t), const void *arg,
                        dis_status *status)
{
    const dis__alpha_input in = {.n_items = x->args->look.n_items,
                                 .n_kinds = x->n_sets,
                                 .start = x->start,
                                 .kind = x->kind,
                                 .distance = distance,
                                 .arg = arg};
    return dis__alpha(x->args->ctx, &in, x->args->o->resamples, x->args->o->seed, status);
}

static dis_status add_classes(study *x)
{
    dis_scaled_column *c;
    double *votes, *value, *low, *high;
    bool *has;
    dis_status status = DIS_OK;
    DIS_TRY(dis__scaled_add(x->out, "classes", "per class: votes, and alpha of yes and no", x->n_classes, 5, &c));
    c[0] = (dis_scaled_column){.name = "class", .names = x->classes};
    DIS_TRY(dis__scaled_numbers(x->out, &c[1], "votes", x->n_classes, &votes));
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "alpha", x->n_classes, &value));
    DIS_TRY(dis__scaled_numbers(x->out, &c[3], "alpha_ci_low", x->n_classes, &low));
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "alpha_ci_high", x->n_classes, &high));
    DIS_TRY(dis__scaled_room(x->out, &has, x->n_sets, sizeof *has));
    for (size_t k = 0; k < x->n_classes; k++) {
        for (size_t s = 0; s < x->n_sets; s++) has[s] = x->has[s * x->n_classes + k];
        for (size_t n = 0; n < x->n_votes; n++) votes[k] += has[x->kind[n]];
        const dis_metric m = alpha(x, is_other_for_class, has, &status);
        value[k] = m.value;
        low[k] = m.has_interval ? m.ci_low : NAN;
        high[k] = m.has_interval ? m.ci_high : NAN;
    }
    return status;
}

/* Per worker the mean Jaccard distance of his sets from those of the others on the same item. */
static dis_status add_workers(study *x)
{
    const dis_votes_view *v = &x->args->look;
    dis_scaled_column *c;
    double *votes, *apart, *classes, *compared;
    DIS_TRY(dis__scaled_add(x->out, "workers",
                            "workers by the mean Jaccard distance to the other sets of an item, the largest first",
                            v->n_workers, 5, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = v->workers};
    DIS_TRY(dis__scaled_numbers(x->out, &c[1], "votes", v->n_workers, &votes));
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "distance", v->n_workers, &apart));
    DIS_TRY(dis__scaled_numbers(x->out, &c[3], "compared", v->n_workers, &compared));
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "classes_per_vote", v->n_workers, &classes));
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t n = x->start[i]; n < x->start[i + 1]; n++) {
            const double others = (double)(x->start[i + 1] - x->start[i] - 1);
            double sum = 0;
            votes[x->worker[n]]++;
            classes[x->worker[n]] += x->size[x->kind[n]];
            for (uint64_t k = x->start[i]; k < x->start[i + 1]; k++)
                if (k != n) sum += jaccard(x, x->kind[n], x->kind[k]);
            compared[x->worker[n]] += others > 0;
            if (others > 0) apart[x->worker[n]] += sum / others;
        }
    for (size_t w = 0; w < v->n_workers; w++) {
        apart[w] = compared[w] > 0 ? apart[w] / compared[w] : NAN;
        classes[w] = votes[w] > 0 ? classes[w] / votes[w] : NAN;
    }
    return dis__scaled_sort(x->out, &x->out->table[x->out->n_tables - 1], apart);
}

static dis_status add_measures(study *x)
{
    dis_status status = DIS_OK;
    const struct {
        const char *name, *title;
        double (*distance)(const void *, size_t, size_t);
    } alphas[] = {{"alpha_masi", "Krippendorff's alpha, MASI distance", masi},
                  {"alpha_jaccard", "Krippendorff's alpha, Jaccard distance", jaccard},
                  {"alpha_nominal", "Krippendorff's alpha, whole sets the same", is_other}};
    for (size_t m = 0; m < sizeof alphas / sizeof *alphas; m++)
        dis__scaled_measure(x->out, alphas[m].name, alphas[m].title, alpha(x, alphas[m].distance, x, &status));
    double classes = 0;
    for (size_t n = 0; n < x->n_votes; n++) classes += x->size[x->kind[n]];
    dis__scaled_measure(x->out, "classes_per_vote", "Classes per vote",
                        x->n_votes ? (dis_metric){.value = classes / (double)x->n_votes, .n = x->n_votes}
                                   : dis_metric_undefined("there are no votes"));
    return status;
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    study x = {.args = args, .out = out};
    bool *has;
    DIS_TRY(dis_choose_labels(args->o->method, args->o->n_methods, args->o->combine, true, &x.choice));
    out->method = x.choice.recipe ? x.choice.recipe->name : x.choice.combine ? x.choice.combine : x.choice.view[0];
    DIS_TRY(dis__copy_text(&out->method_text, out->method, strlen(out->method)));
    out->method = out->method_text;
    DIS_TRY(take_classes(&x, &has));
    if (x.n_classes == 0) return dis__fail(DIS_EDATA, "no vote names a class");
    DIS_TRY(take_votes(&x, has));
    DIS_TRY(label_classes(&x));
    DIS_TRY(add_labels(&x));
    DIS_TRY(add_workers(&x));
    DIS_TRY(add_classes(&x));
    DIS_TRY(add_joint(&x));
    return add_measures(&x);
}

const dis__scaled_row dis__scaled_sets = {.run = run};
