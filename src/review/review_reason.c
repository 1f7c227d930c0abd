/* The reason for the rank of an item or a worker, in plain words. */
#include "review/review_internal.h"
#include "labels/method.h"
#include "core/numbers/decimal.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAME = 48, CUT = 40 };
#define ODD_Z      2.0 /* standard deviations from which votes count as surprising */
#define BETTER_BY  .1  /* smallest difference in agreement that is mentioned */
#define STRONG     1.0
#define UNCLEAR    1.25 /* times 1 / K: a label of smaller probability does not stand out */
#define CHANCE_GAP .15  /* workers whose accuracy exceeds that of blind guessing by less are called poor */

/* A class name, truncated at a character boundary if it is long, and in quotes unless it looks like a word. */
static const char *name_of(const dis_names *names, size_t i, char out[NAME])
{
    size_t length;
    const char *name = dis_names_get(names, i, &length);
    bool word = length > 0;
    for (size_t k = 0; k < length; k++) word &= (name[k] | 32) >= 'a' && (name[k] | 32) <= 'z';
    const char *quote = word ? "" : "'";
    int n = (int)length;
    if (length > CUT)
        for (n = CUT - 3; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;) n--;
    snprintf(out, NAME, "%s%.*s%s%s", quote, n, name, length > CUT ? "..." : "", quote);
    return out;
}

static double percent(double x)
{
    return 100 * x;
}

/* The workers who chose a class. */
typedef struct {
    double n, quality; /* quality: their mean; NaN: none, or the workers are unknown */
    double blind;      /* number of doubtful workers among them */
} camp;

static camp camp_of(const dis_review *review, const dis_votes_view *v, size_t item, size_t label)
{
    camp c = {.quality = NAN};
    double sum = 0, judged = 0;
    for (uint64_t a = v->start ? v->start[item] : 0; v->start && a < v->start[item + 1]; a++) {
        if (dis__vote_label(v, a) != label) continue;
        const dis_review_worker *w = review->workers + review->row_of_worker[v->worker[a]];
        c.n++;
        c.blind += dis__review_verdict_is_unreliable(w->verdict);
        if (isnan(w->accuracy)) continue;
        sum += w->accuracy;
        judged++;
    }
    if (judged > 0) c.quality = sum / judged;
    return c;
}

typedef struct {
    char *out;
    size_t size, used;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->out + t->used, t->size - t->used, format, args);
    va_end(args);
    if (n > 0) t->used = t->used + (size_t)n < t->size ? t->used + (size_t)n : t->size - 1;
}

/* The distribution of the votes. */
static void put_split(text *t, const dis_review_item *row, const char *label, const char *other)
{
    const double n = row->votes, a = row->votes_for_label, b = row->votes_for_second;
    if (n <= 0)
        put(t, "no votes");
    else if (n <= 1 && (a <= 0 || b <= 0))
        put(t, "a single vote, for %s", a > 0 ? label : other);
    else if (a >= n || b >= n)
        put(t, "all %.6g for %s", n, a > 0 ? label : other);
    else if (a == b)
        put(t, "a tie: %.6g of %.6g for %s, %.6g for %s", a, n, label, b, other);
    else if (a > b)
        put(t, "%.6g of %.6g for %s, %.6g for %s", a, n, label, b, other);
    else
        put(t, "%.6g of %.6g for %s, %.6g for %s", b, n, other, a, label);
}

/* The reliability of a single vote is that of its worker. */
static bool put_voter(text *t, const dis_review *review, const dis_votes_view *v, size_t item)
{
    static const char *const words[] = {[DIS_REVIEW_CONSTANT] = ", by an annotator who always gives this label",
                                        [DIS_REVIEW_RANDOM] =
                                            ", by an annotator whose votes do not depend on the items",
                                        [DIS_REVIEW_CONFUSES] = ", by an annotator who mixes up classes"};
    if (!v->start || v->start[item + 1] - v->start[item] != 1) return false;
    const dis_review_worker *w = review->workers + review->row_of_worker[v->worker[v->start[item]]];
    if (!dis__review_verdict_is_unreliable(w->verdict)) return false;
    put(t, "%s", words[w->verdict]);
    return true;
}

/* Remarks on one camp compared with the other, if any. */
static bool put_contrast(text *t, const camp *bad, const camp *good, const char *bad_name, const char *good_name)
{
    if (bad->blind > 0 && bad->blind == bad->n && good->blind < good->n) {
        if (bad->n > 1)
            put(t, "; votes for %s are by unreliable annotators", bad_name);
        else
            put(t, "; the vote for %s is by an unreliable annotator", bad_name);
        return true;
    }
    if (!(good->quality > bad->quality + BETTER_BY)) return false;
    put(t, "%s annotators for %s are more accurate (%.0f %% against %.0f %%)", good->n < bad->n ? ", but" : ";",
        good_name, percent(good->quality), percent(bad->quality));
    return true;
}

/* Why the label is not the class with the most votes. */
static void put_rarer_label(text *t, const dis_review_item *row, const char *label, double n_classes)
{
    if (!(row->votes_for_label < row->votes_for_second) || row->label != row->most_probable) return;
    if (row->p_correct < UNCLEAR / n_classes)
        put(t, ", but no class is clearly more probable than the others");
    else
        put(t, ", but %s is more probable, given who voted so", label);
}

/* Remarks on the workers' quality. */
static void put_quality(text *t, const dis_review_item *row, const char *label, const char *other,
                        const camp *for_label, const camp *for_other, double typical, double n_classes)
{
    if (put_contrast(t, for_other, for_label, other, label)) return;
    if (put_contrast(t, for_label, for_other, label, other)) return;
    const double blind = for_label->blind + for_other->blind;
    put_rarer_label(t, row, label, n_classes);
    if (blind > 0 && 2 * blind >= row->votes)
        put(t, "; %.6g of these votes are by unreliable annotators", blind);
    else if (row->votes_for_second <= 0 && for_label->quality < typical - CHANCE_GAP)
        put(t, "%s weak (accuracy %.0f %%)", row->votes <= 1 ? "; this annotator is" : "; these annotators are",
            percent(for_label->quality));
}

/* If classes are numbers in equal steps, such as 1 to 5: *first + k * *step. */
static bool is_rating(const dis_votes_view *v, double *first, double *step)
{
    for (size_t k = 0; k < v->n_classes; k++) {
        size_t n;
        double x;
        const char *name = dis_names_get(v->classes, k, &n);
        if (!dis__parse_real(name, n, &x)) return false;
        if (k == 0) *first = x;
        if (k == 1) *step = x - *first;
        if (k > 1 && fabs(x - *first - (double)k * *step) > 1e-9 * fabs(x)) return false;
    }
    return v->n_classes > 1 && *step > 0;
}

/* The position of an item on the user's scale, or between two of the classes. */
static void put_position(text *t, const dis_votes_view *v, const dis_review_ordinal_item *x)
{
    double first = 0, step = 0;
    char low[NAME], high[NAME];
    if (is_rating(v, &first, &step)) {
        const double last = first + (double)(v->n_classes - 1) * step; /* the model's scale goes on beyond the ends */
        put(t, "; at %.1f on the scale from %g to %g, standard error %.1f",
            fmin(last, fmax(first, first + x->position * step)), first, last, x->position_se * step);
        return;
    }
    const size_t k = (size_t)fmin((double)v->n_classes - 2, fmax(0, floor(x->position)));
    name_of(v->classes, k, low);
    name_of(v->classes, k + 1, high);
    put(t, "; %.1f of the way from %s to %s, standard error %.1f classes", x->position - (double)k, low, high,
        x->position_se);
}

const char *dis_review_format_item_reason(const dis_review *review, const dis_votes *votes, size_t r, char *out,
                                          size_t size)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_review_item *row = review->items + r;
    char label[NAME], other[NAME];
    text t = {.out = out, .size = size};
    out[0] = 0;
    name_of(v.classes, row->label, label);
    name_of(v.classes, row->second_class, other);
    put_split(&t, row, label, other);
    if (row->is_gold) {
        put(&t, "; known to be %s", label);
        return out;
    }
    if (review->view.n_compared && !review->view.beyond_chance) { /* the votes do not distinguish workers or classes */
        put(&t, "; annotators agree no more than chance");
        return out;
    }
    if (review->ordinal_items) { /* accuracy under the crowd model is not the weight that the labels used */
        const dis_review_ordinal_item *x = &review->ordinal_items[row->item];
        put_rarer_label(&t, row, label, (double)v.n_classes);
        put_position(&t, &v, x);
        return out;
    }
    const camp for_label = camp_of(review, &v, row->item, row->label);
    const camp for_other =
        row->second_class == row->label ? (camp){.quality = NAN} : camp_of(review, &v, row->item, row->second_class);
    if (!put_voter(&t, review, &v, row->item))
        put_quality(&t, row, label, other, &for_label, &for_other, review->view.typical_accuracy, (double)v.n_classes);
    if (row->surprise >= ODD_Z) put(&t, "; unexpected votes (%.1f sd): the item may be unclear", row->surprise);
    return out;
}

/* "accuracy 81 % in 40 votes (70 to 90 %; others on the same items: 78 %)" */
static void put_accuracy(text *t, const dis_review_worker *w)
{
    put(t, "accuracy %.0f %% in %llu vote%s (%.0f to %.0f %%", percent(w->accuracy), (unsigned long long)w->shared,
        w->shared == 1 ? "" : "s", percent(w->accuracy_low), percent(w->accuracy_high));
    if (!isnan(w->peer_accuracy)) put(t, "; others on the same items: %.0f %%", percent(w->peer_accuracy));
    put(t, ")");
}

static void put_gold(text *t, const dis_review_worker *w)
{
    if (w->gold_votes == 0) return;
    put(t, "; against gold %.0f %% in %llu vote%s (%.0f to %.0f %%)", percent(w->gold_accuracy),
        (unsigned long long)w->gold_votes, w->gold_votes == 1 ? "" : "s", percent(w->gold_low), percent(w->gold_high));
}

const char *dis_review_format_worker_reason(const dis_review *review, const dis_votes *votes, size_t r, char *out,
                                            size_t size)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_review_worker *w = review->workers + r;
    char answer[NAME], truth[NAME];
    text t = {.out = out, .size = size};
    out[0] = 0;
    if (w->votes == 0) {
        put(&t, "no votes");
        return out;
    }
    name_of(v.classes, w->chosen_class, answer);
    name_of(v.classes, w->true_class, truth);
    switch (w->verdict) {
    case DIS_REVIEW_CONSTANT:
        put(&t, "answers %s regardless of the item: %.0f %% of %llu votes (others: %.0f %%)", answer,
            percent(w->chosen_share), (unsigned long long)w->shared, percent(w->expected_share));
        break;
    case DIS_REVIEW_RANDOM:
        put(&t, "votes do not depend on the items: ");
        put_accuracy(&t, w);
        break;
    case DIS_REVIEW_CONFUSES:
        put(&t, "answers %s where the label is %s: %.0f %% of %.0f votes (others: %.0f %%)", answer, truth,
            percent(w->chosen_share), w->n_share_votes, percent(w->expected_share));
        break;
    case DIS_REVIEW_WEAK:
        put(&t, "agreement with the others is %.0f points lower than theirs on the same items (%.0f to %.0f); ",
            percent(-w->difference), percent(-w->difference_high), percent(-w->difference_low));
        put_accuracy(&t, w);
        break;
    case DIS_REVIEW_NO_VERDICT:
        put(&t, "cannot be judged: %s",
            !w->shared                                        ? "no one else voted on these items"
            : review->view.chance.verdict == DIS_CHANCE_NOISE ? "annotators agree no more than chance"
                                                              : "each annotator used only one class");
        break;
    case DIS_REVIEW_FINE:
        put(&t, w->evidence > -STRONG ? "too few votes to tell: " : "like the others: ");
        put_accuracy(&t, w);
        break;
    }
    put_gold(&t, w);
    return out;
}
