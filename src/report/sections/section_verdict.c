/* The answer at the top of the page: whether the labels can be used, what is wrong, and what to do.
 *
 * "Yes" needs three things: at least 90 % of the labels correct (expected, or measured on gold labels), at most half
 * of the errors of always choosing the most frequent class, and annotators who do not fall into two camps. Without them the answer is "with care", and "no" where the
 * labels hardly beat that class on gold labels, most are expected to be wrong (on a scale, by more than one class), or
 * the votes agree no more than chance. */
#include "report/sections/verdict.h"
#include "stats/distributions.h"
#include "tool/arrays.h"
#include <math.h>
#include <string.h>

#define Z_95            1.959963984540054
#define USABLE_ACCURACY .9
#define USABLE_GAIN     .5
#define NO_GAIN         .1
#define UNCERTAIN       .8

enum { NAMED = 3, FEW_GOLD = 20, MANY = 100 };

typedef enum { ANSWER_YES, ANSWER_CARE, ANSWER_NO, ANSWER_UNKNOWN } answer;

typedef struct {
    const dis__report_job *job;
    const dis__class_pair *pair;
    double accuracy, low, high; /* of the labels; low and high: measured on gold labels */
    double near;                /* of ordered classes: share of labels at most one class off; NaN otherwise */
    bool is_scale;              /* uncertain labels are those that may be more than one class off */
    double most_frequent;       /* accuracy of always choosing the most frequent class */
    uint64_t n_gold;
    size_t n_uncertain, n_reviewed, n_flagged;
    uint64_t flagged_votes;
} facts;

static double max_share(const double *share, size_t n)
{
    double max = 0;
    for (size_t k = 0; share && k < n; k++) max = fmax(max, share[k]);
    return max;
}

double dis__report_probability_near(const dis__report_job *job, size_t item)
{
    const dis_report *r = job->r;
    if (!r->ordinal || r->n_classes < 3 || r->n_views == 0) return NAN;
    const double *p = r->view[job->main].p + item * r->n_classes;
    const size_t k = dis__argmax(p, r->n_classes);
    return p[k] + (k > 0 ? p[k - 1] : 0) + (k + 1 < r->n_classes ? p[k + 1] : 0);
}

double dis__report_share_near(const dis__report_job *job)
{
    const dis_report *r = job->r;
    double sum = 0, n = 0;
    if (!r->ordinal || r->n_classes < 3 || r->n_views == 0) return NAN;
    for (size_t i = 0; i < r->n_items; i++) {
        const double *p = r->view[job->main].p + i * r->n_classes;
        const size_t k = dis__argmax(p, r->n_classes);
        const bool is_known = r->gold && r->gold[i] >= 0;
        if (job->statistics[job->main].n_gold && !is_known) continue;
        n++;
        if (is_known)
            sum += k <= (size_t)r->gold[i] + 1 && (size_t)r->gold[i] <= k + 1;
        else
            sum += dis__report_probability_near(job, i);
    }
    return n > 0 ? sum / n : NAN;
}

/* Whether the estimate from votes alone lies outside the interval of the measured share: -1 below, 1 above. */
static int compare_estimate(const facts *f)
{
    const double expected = f->job->verdicts.expected_accuracy;
    if (f->n_gold < FEW_GOLD || isnan(expected)) return 0;
    return expected < f->low ? -1 : expected > f->high;
}

static void gather(const dis__report_job *job, const dis__class_pair *pair, facts *f)
{
    const dis_review_view *v = &job->verdicts;
    const dis__view_statistics *labels = &job->statistics[job->main];
    *f = (facts){.job = job, .pair = pair, .accuracy = v->expected_accuracy, .low = NAN, .high = NAN};
    f->near = dis__report_share_near(job);
    f->is_scale = !isnan(f->near);
    f->most_frequent = max_share(labels->prevalence, job->r->n_classes);
    if (labels->n_gold) {
        const double n = (double)labels->n_gold;
        f->n_gold = labels->n_gold;
        f->accuracy = (double)labels->right / n;
        f->low = dis__wilson_bound(f->accuracy, n, Z_95, -1);
        f->high = dis__wilson_bound(f->accuracy, n, Z_95, 1);
        f->most_frequent = max_share(job->gold_share, job->r->n_classes);
    }
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->items[i].is_gold) continue;
        f->n_reviewed++;
        f->n_uncertain +=
            (f->is_scale ? dis__report_probability_near(job, v->items[i].item) : v->items[i].p_correct) < UNCERTAIN;
    }
    if (compare_estimate(f) < 0) f->n_uncertain = 0; /* their probabilities are too low as well */
    f->n_flagged = v->n_unreliable + v->n_weak;
    for (size_t w = 0; w < f->n_flagged; w++) f->flagged_votes += v->workers[w].votes;
}

static answer answer_of(const facts *f)
{
    const dis__report_job *job = f->job;
    const bool measured = f->n_gold >= FEW_GOLD;
    if (!measured) {
        if (dis__report_is_chance_level(job)) return ANSWER_NO;
        if (job->chance.verdict == DIS_CHANCE_UNKNOWN || job->verdicts.n_compared == 0 || isnan(f->accuracy))
            return ANSWER_UNKNOWN;
    }
    const double gain = f->most_frequent < 1 ? (f->accuracy - f->most_frequent) / (1 - f->most_frequent) : 0;
    if ((f->is_scale ? f->near : f->accuracy) < .5 || (measured && gain < NO_GAIN) || dis__report_is_chance_level(job))
        return ANSWER_NO;
    return f->accuracy >= USABLE_ACCURACY && gain >= USABLE_GAIN && !dis__report_has_camps(job) ? ANSWER_YES
                                                                                                : ANSWER_CARE;
}

static void put_percent(dis__markup *m, double x)
{
    dis__markup_append(m, dis__format_percent(x).text);
}

/* "91 % to 94 %"; with one decimal where both would read the same. */
static void put_range(dis__markup *m, double low, double high)
{
    const int decimals = strcmp(dis__format_percent(low).text, dis__format_percent(high).text) == 0;
    dis__markup_appendf(m, "%s\xC2\xA0%% to ", dis__format_fixed(100 * low, decimals).text);
    dis__markup_appendf(m, "%s\xC2\xA0%%", dis__format_fixed(100 * high, decimals).text);
}

/* First sentence, where the labels can be assessed. */
static void put_accuracy(dis__markup *m, const facts *f)
{
    if (f->n_gold) {
        put_percent(m, f->accuracy);
        dis__markup_appendf(m, " of the %s label%s with a known class %s correct (95\xC2\xA0%% interval ",
                            dis__format_grouped(f->n_gold).text, dis__plural_suffix(f->n_gold),
                            f->n_gold == 1 ? "is" : "are");
        put_range(m, f->low, f->high);
        dis__markup_append(m, ")");
    } else {
        dis__markup_append(m, "An estimated ");
        put_percent(m, f->accuracy);
        dis__markup_append(m, " of the labels are correct, if annotators share no more mistakes than usual");
    }
    if (!isnan(f->near)) {
        dis__markup_append(m, ", and ");
        put_percent(m, f->near);
        dis__markup_append(m, " are at most one class off");
    }
    dis__markup_append(m, "; always choosing the most frequent class would be correct for ");
    put_percent(m, f->most_frequent);
    dis__markup_append(m, ". ");
}

static void put_class(dis__markup *m, const dis__report_job *job, size_t k)
{
    dis__markup_append_name(m, dis__class_name(job, k), strlen(dis__class_name(job, k)), 30);
}

static void put_estimate(dis__markup *m, const facts *f)
{
    const int side = compare_estimate(f);
    if (side == 0) return;
    dis__markup_append(m, "From the votes alone, ");
    put_percent(m, f->job->verdicts.expected_accuracy);
    dis__markup_append(m, side < 0 ? " would be expected: these annotators share fewer mistakes than usual. "
                                   : " would be expected: these annotators share more mistakes than usual. ");
}

/* Second sentence: what is wrong. */
static void put_problems(dis__markup *m, const facts *f)
{
    const dis__report_job *job = f->job;
    put_estimate(m, f);
    if (dis__report_has_camps(job)) {
        dis__markup_append(m, "A");
        dis__report_append_camps(m, job);
        dis__markup_append(m, ". Which labels are correct depends on the reading. ");
        if (f->n_uncertain == 0 && f->n_flagged == 0 && !f->pair) return;
    }
    if (f->n_uncertain == 0 && f->n_flagged == 0 && !f->pair && compare_estimate(f) < 0) return;
    if (f->n_uncertain == 0 && f->n_flagged == 0 && !f->pair) {
        dis__markup_append(m, "No problem stands out: every label is at least 80\xC2\xA0% likely to be ");
        dis__markup_append(m, f->is_scale ? "at most one class off" : "correct");
        dis__markup_append(m, ", and no annotator is flagged. ");
        return;
    }
    if (f->n_uncertain)
        dis__markup_appendf(m, "%s of %s labels %s less than 80\xC2\xA0%% likely to be %s",
                            dis__format_grouped(f->n_uncertain).text, dis__format_grouped(f->n_reviewed).text,
                            f->n_uncertain == 1 ? "is" : "are", f->is_scale ? "at most one class off" : "correct");
    if (f->n_flagged) {
        dis__markup_appendf(m, "%s%zu of %zu annotators (", f->n_uncertain ? (f->pair ? ", " : " and ") : "",
                            f->n_flagged, job->verdicts.n_workers);
        put_percent(m, (double)f->flagged_votes / fmax(1, (double)job->votes_view.n_votes));
        dis__markup_appendf(m, " of the votes) %s flagged", f->n_flagged == 1 ? "is" : "are");
    }
    if (f->pair) {
        dis__markup_append(m, f->n_uncertain && f->n_flagged   ? ", and "
                              : f->n_uncertain || f->n_flagged ? " and "
                                                               : "");
        dis__markup_append(m, f->n_uncertain || f->n_flagged ? "the classes " : "The classes ");
        put_class(m, job, f->pair->a);
        dis__markup_append(m, " and ");
        put_class(m, job, f->pair->b);
        dis__markup_append(m, " are chosen on the same items most often");
    }
    dis__markup_append(m, ". ");
}

static void put_flagged(dis__markup *m, const facts *f)
{
    const dis_names *workers = f->job->votes_view.workers;
    for (size_t w = 0; w < f->n_flagged && w < NAMED; w++) {
        size_t n;
        const char *name = dis_names_get(workers, f->job->verdicts.workers[w].worker, &n);
        dis__markup_append(m, w == 0 ? "" : w + 1 == f->n_flagged && f->n_flagged <= NAMED ? " and " : ", ");
        dis__markup_append_name(m, name, n, 24);
    }
    if (f->n_flagged > NAMED) dis__markup_appendf(m, " and %zu more", f->n_flagged - NAMED);
}

/* Third sentence: what to do, in this order. */
static void put_actions(dis__markup *m, const facts *f)
{
    const bool has_camps = dis__report_has_camps(f->job);
    const bool steps[] = {has_camps, f->n_uncertain > 0, f->n_flagged > 0, f->pair != NULL, f->n_gold < FEW_GOLD};
    enum { N_STEPS = sizeof steps / sizeof *steps };
    size_t n = 0, done = 0;
    for (size_t s = 0; s < N_STEPS; s++) n += steps[s];
    if (n == 0) {
        dis__markup_append(m, "Nothing needs to be done before you use them.");
        return;
    }
    for (size_t s = 0; s < N_STEPS; s++) {
        if (!steps[s]) continue;
        dis__markup_append(m, done == 0 ? "" : done + 1 < n ? ", " : n == 2 ? " and " : ", and ");
        const size_t from = m->n;
        switch (s) {
        case 0: dis__markup_append(m, "ask both camps how they read the guidelines"); break;
        case 1:
            dis__markup_appendf(m, "label the %s uncertain item%s again", dis__format_grouped(f->n_uncertain).text,
                                dis__plural_suffix(f->n_uncertain));
            if (f->n_uncertain > MANY) dis__markup_append(m, " (the most uncertain ones are listed below)");
            break;
        case 2:
            dis__markup_append(m, f->job->r->groups || has_camps
                                      ? "see whether the flagged annotators belong to one group before you "
                                        "talk to "
                                      : "talk to ");
            put_flagged(m, f);
            break;
        case 3:
            dis__markup_append(m, "say in the guidelines when to choose ");
            put_class(m, f->job, f->pair->a);
            dis__markup_append(m, " or ");
            put_class(m, f->job, f->pair->b);
            break;
        default: dis__markup_append(m, "check 50 labels by hand and add them as known labels"); break;
        }
        if (done++ == 0 && m->status == DIS_OK) m->bytes[from] = (char)(m->bytes[from] - 'a' + 'A');
    }
    dis__markup_append(m, ".");
}

static void put_no_agreement(dis__markup *m, const facts *f)
{
    dis__markup_appendf(m, "Annotators agree no more than chance (p %s), so these votes do not determine the labels. ",
                        dis__format_fixed(f->job->chance.p, 2).text);
    if (f->n_gold) {
        put_percent(m, f->accuracy);
        dis__markup_append(m, " of the labels with a known class are correct; always choosing the most frequent class "
                              "would be correct for ");
        put_percent(m, f->most_frequent);
        dis__markup_append(m, ". ");
    } else {
        dis__markup_append(m, "Neither items nor annotators can be assessed from them. ");
    }
    dis__markup_append(m, "Check that the ids match the items, read the guidelines, and label 20 items together before "
                          "you collect more votes.");
}

static void put_unknown(dis__markup *m, const facts *f)
{
    if (!f->job->review)
        dis__markup_append(m, "All votes are for one class, so no votes to compare. Mistakes cannot be found, "
                              "and annotators cannot be assessed. Check that the question has more than one answer in "
                              "these data.");
    else if (f->job->verdicts.n_compared == 0)
        dis__markup_append(m, "No item has votes of two annotators, so the share of correct labels cannot be "
                              "estimated. Single votes contain no information about mistakes. Have a second person "
                              "label at least 50 of the items.");
    else
        dis__markup_appendf(m,
                            "There are too few votes to tell whether annotators agree more than chance. Only %s "
                            "item%s %s votes of two annotators. Collect more votes, or check 50 labels by hand and "
                            "add them as known labels.",
                            dis__format_grouped(f->job->verdicts.n_compared).text,
                            dis__plural_suffix(f->job->verdicts.n_compared),
                            f->job->verdicts.n_compared == 1 ? "has" : "have");
}

void dis__report_add_verdict(dis__report_job *job, const dis__class_pairs *pairs)
{
    static const struct {
        const char *id, *words;
    } answers[] = {{"yes", "Yes"}, {"care", "Yes, with care"}, {"no", "No"}, {"unknown", "This cannot be told"}};
    facts f;
    dis__markup text = {0};
    const bool is_one_class = job->r->votes && job->agreement && job->r->n_classes < 2;
    /* of a panel the answer is about its judges (section_panel.c) */
    if ((!job->review && !is_one_class) || job->r->n_views == 0 || job->r->panel) return;
    gather(job, dis__class_pairs_first(job, pairs), &f);
    const answer a = is_one_class ? ANSWER_UNKNOWN : answer_of(&f);
    if (a == ANSWER_UNKNOWN) {
        put_unknown(&text, &f);
    } else if (dis__report_is_chance_level(job)) {
        put_no_agreement(&text, &f);
    } else {
        put_accuracy(&text, &f);
        put_problems(&text, &f);
        put_actions(&text, &f);
    }
    dis__page_verdict_set(&job->page, "Can these labels be used?", answers[a].id, answers[a].words, &text);
    dis__markup_free(&text);
}
