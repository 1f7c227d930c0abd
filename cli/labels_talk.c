/* What `dissent labels` tells people on standard error. */
#include "labels_job.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 32 };

/* 1,234,567 */
static const char *grouped(uint64_t x, char out[NUMBER])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)x);
    int used = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = 0;
    return out;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static double votes_of(const dis_votes_view *v, size_t i)
{
    if (v->start) return (double)(v->start[i + 1] - v->start[i]);
    double sum = 0;
    for (size_t k = 0; k < v->n_classes; k++) sum += v->counts[i * v->n_classes + k];
    return sum;
}

/* The median is at most twice the mean, so buckets up to there find it, whatever the largest number is. Counts that are
 * not whole are rounded for the median alone. */
dis_status labels_votes_per_item(const labels_job *job, labels_spread *out)
{
    const dis_votes_view *v = &job->look;
    double sum = 0;
    *out = (labels_spread){.least = v->n_items ? INFINITY : 0};
    for (size_t i = 0; i < v->n_items; i++) {
        const double n = votes_of(v, i);
        sum += n;
        if (n < out->least) out->least = n;
        if (n > out->most) out->most = n;
    }
    if (v->n_items == 0) return DIS_OK;
    const double mean = sum / (double)v->n_items;
    const size_t n_buckets = mean < 1e7 ? (size_t)(2 * mean) + 3 : 20000003;
    uint64_t *bucket = calloc(n_buckets, sizeof *bucket);
    if (!bucket) return DIS_ELIMIT;
    for (size_t i = 0; i < v->n_items; i++) {
        const double n = votes_of(v, i) + .5;
        bucket[n < (double)n_buckets ? (size_t)n : n_buckets - 1]++;
    }
    uint64_t below = 0;
    size_t b = 0;
    while ((below += bucket[b]) * 2 < v->n_items) b++;
    out->median = (double)b;
    free(bucket);
    return DIS_OK;
}

size_t labels_worst_workers(const labels_job *job, size_t worst[LABELS_WORST])
{
    enum { DOUBT = 4 }; /* votes at the mean that everybody is given */
    if (!job->quality) return 0;
    double right = 0, all = 0;
    for (size_t w = 0; w < job->look.n_workers; w++) {
        right += job->quality[w] * (double)job->n_voted[w];
        all += (double)job->n_voted[w];
    }
    const double mean = all > 0 ? right / all : 0;
    double score[LABELS_WORST];
    size_t n = 0;
    for (size_t w = 0; w < job->look.n_workers; w++) {
        if (job->n_voted[w] == 0) continue;
        const double s = (job->quality[w] * (double)job->n_voted[w] + DOUBT * mean) / ((double)job->n_voted[w] + DOUBT);
        if (n == LABELS_WORST && s >= score[n - 1]) continue;
        size_t at = n < LABELS_WORST ? n++ : n - 1;
        for (; at > 0 && s < score[at - 1]; at--) {
            score[at] = score[at - 1];
            worst[at] = worst[at - 1];
        }
        score[at] = s;
        worst[at] = w;
    }
    return n;
}

/* "%s" in the note stands for the "s" of several. */
static void tell_count(cli *c, const char *what, uint64_t n, const char *note)
{
    char number[NUMBER], line[128];
    const char *s = strstr(note, "%s");
    snprintf(line, sizeof line, "%.*s%s%s", (int)(s ? s - note : 0), note, s ? plural(n) : "", s ? s + 2 : note);
    if (n) cli_say(c, "  %-18s %s %s", what, grouped(n, number), line);
}

void labels_tell_input(labels_job *job)
{
    cli *c = job->c;
    if (c->quiet) return;
    const dis_votes_view *v = &job->look;
    char safe[CLI_SAFE], items[NUMBER], workers[NUMBER + 16] = "", votes[NUMBER], more[64] = "";
    if (v->start) {
        char number[NUMBER];
        snprintf(workers, sizeof workers, "%s worker%s, ", grouped(v->n_workers, number), plural(v->n_workers));
    }
    if (job->n_paths > 1) snprintf(more, sizeof more, " and %zu more", job->n_paths - 1);
    cli_say(c, "%s%s%s%s: %s item%s, %s%zu class%s, %s %s%s", cli_bold(c),
            strcmp(job->paths[0], "-") == 0 ? "standard input" : cli_safe(job->paths[0], safe), cli_plain(c), more,
            grouped(v->n_items, items), plural(v->n_items), workers, v->n_classes, v->n_classes == 1 ? "" : "es",
            grouped(v->n_votes, votes), v->start ? "vote" : "row", plural(v->n_votes));
    labels_spread spread;
    if (labels_votes_per_item(job, &spread) == DIS_OK)
        cli_say(c, "  %-18s %.6g to %.6g, median %.6g", "votes per item", spread.least, spread.most, spread.median);
    const dis_votes_notes *n = &job->notes;
    tell_count(c, "ties", n->ties, "item%s with several most-chosen classes");
    tell_count(c, "bad rows", n->bad_rows, "skipped (--lenient)");
    for (size_t i = 0; n->bad_rows && dis_votes_skipped(job->votes, i); i++)
        cli_say(c, "    %s", cli_safe(dis_votes_skipped(job->votes, i), safe));
    tell_count(c, "no label", n->na, "vote%s left out (--na)");
    tell_count(c, "dropped", n->dropped, "row%s (drop rules)");
    static const char *const kept[] = {"", "the first vote counts", "the last vote counts", "all votes count"};
    char duplicates[64];
    snprintf(duplicates, sizeof duplicates, "vote%%s by a worker on an item again (%s)", kept[job->v->duplicates]);
    tell_count(c, "duplicates", n->duplicates, duplicates);
    tell_count(c, "renormalised", n->renormalised, "row%s that did not sum to 1");
    tell_count(c, "items left out", n->items_left_out, "with fewer votes than --min-votes");
    if (job->gold) {
        tell_count(c, "gold", job->n_gold, "item%s pinned to the known class");
        tell_count(c, "gold without votes", job->n_gold_unknown, "task%s of the gold file");
    }
    if (n->look_alike_classes)
        cli_warn(c, "classes that look alike (\"0\" and \"0.0\"?) are kept apart; check the label column");
}

static void tell_methods(labels_job *job)
{
    cli *c = job->c;
    cli_say(c, "  %s%-28s %10s  %-18s %-9s %8s%s", cli_dim(c), "method", "iterations", "objective", "converged",
            "seconds", cli_plain(c));
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        char safe[CLI_SAFE], iterations[16] = "-", objective[NUMBER] = "-";
        const bool iterates = r->look.iterations > 0;
        if (iterates) snprintf(iterations, sizeof iterations, "%d", r->look.iterations);
        if (!isnan(r->look.objective)) snprintf(objective, sizeof objective, "%.10g", r->look.objective);
        cli_say(c, "  %-28s %10s  %-18s %-9s %8.3f", cli_safe(r->spec, safe), iterations, objective,
                !iterates           ? "-"
                : r->look.converged ? "yes"
                                    : "no",
                r->seconds);
    }
}

static void tell_combination(labels_job *job)
{
    cli *c = job->c;
    char safe[CLI_SAFE];
    cli_say(c, "  combined by %s", cli_safe(job->combine, safe));
    bool tempered = false, uneven = false;
    for (size_t m = 0; m < job->n_views; m++) {
        tempered |= job->did.temperature[m] > 0;
        uneven |= job->did.weight[m] != job->did.weight[0];
    }
    for (size_t m = 0; (tempered || uneven) && m < job->n_views; m++) {
        char temperature[64] = "";
        if (tempered)
            snprintf(temperature, sizeof temperature, "  temperature %.4f%s", job->did.temperature[m],
                     job->did.on_bound[m] ? " (on its bound)" : "");
        cli_say(c, "    %-26s weight %.4f%s", cli_safe(job->view[m].spec, safe), job->did.weight[m], temperature);
    }
}

void labels_tell_result(labels_job *job)
{
    cli *c = job->c;
    if (c->quiet) return;
    tell_methods(job);
    if (job->combine) tell_combination(job);
    size_t worst[LABELS_WORST];
    const size_t n = job->look.n_workers > 1 ? labels_worst_workers(job, worst) : 0;
    if (n)
        cli_say(c, "  %sleast reliable workers         votes   share borne out by the labels%s", cli_dim(c),
                cli_plain(c));
    for (size_t i = 0; i < n; i++) {
        char safe[CLI_SAFE];
        cli_say(c, "  %-28s %7llu   %.3f", cli_safe(dis_names_get(job->look.workers, worst[i], NULL), safe),
                (unsigned long long)job->n_voted[worst[i]], job->quality[worst[i]]);
    }
    char safe[CLI_SAFE], items[NUMBER];
    const char *output = job->v->output && strcmp(job->v->output, "-") != 0 ? job->v->output : NULL;
    cli_say(c, "%s%s%s: %s item%s, seed %llu, %.2f s", cli_bold(c), output ? cli_safe(output, safe) : "standard output",
            cli_plain(c), grouped(job->look.n_items, items), plural(job->look.n_items),
            (unsigned long long)job->v->seed, cli_seconds(&c->start));
}
