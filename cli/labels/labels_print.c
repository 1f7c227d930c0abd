/* What `dissent labels` tells people on standard error. */
#include "labels/cmd_labels.h"
#include "output/chance_output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void labels_input_print(labels_command *job)
{
    votes_input_print(&job->in);
    votes_input_print_gold(&job->in, "pinned to the known class");
}

/* Characters of the column of methods, at least so many. */
static int method_width(const labels_command *job, int least)
{
    enum { MOST = 60 };
    int width = least;
    for (size_t m = 0; m < job->n_views; m++)
        if (strlen(job->view[m].spec) > (size_t)width)
            width = strlen(job->view[m].spec) < MOST ? (int)strlen(job->view[m].spec) : MOST;
    return width;
}

static void tell_methods(labels_command *job)
{
    cli *c = job->c;
    const int width = method_width(job, 28);
    const bool devices = labels_is_on_device(job->v);
    cli_print(c, "  %s%-*s %10s  %-18s %-9s %8s%s%s", cli_dim(c), width, "method", "iterations", "objective",
              "converged", "seconds", devices ? "  device" : "", cli_plain(c));
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        char safe[CLI_SAFE], iterations[16] = "-", objective[CLI_NUMBER] = "-";
        const bool iterates = r->look.iterations > 0;
        if (iterates) snprintf(iterations, sizeof iterations, "%d", r->look.iterations);
        if (!isnan(r->look.objective)) snprintf(objective, sizeof objective, "%.10g", r->look.objective);
        cli_print(c, "  %-*s %10s  %-18s %-9s %8.3f%s%s", width, cli_safe(r->spec, safe), iterations, objective,
                  !iterates           ? "-"
                  : r->look.converged ? "yes"
                                      : "no",
                  r->seconds, devices ? "  " : "", devices ? r->look.device : "");
        labels_weight_print(job, r);
        if (!isnan(r->look.strength))
            cli_print(c, "    %-26s strength %.3f: votes at the class rates added to each item", r->look.method->name,
                      r->look.strength);
    }
}

enum { LISTED_CLASSES = 6 };

/* Factors of the classes, the strongest first. */
static void tell_class_weights(labels_command *job)
{
    const size_t n = job->in.look.n_classes;
    bool told[LISTED_CLASSES] = {0};
    char line[LISTED_CLASSES * (CLI_SAFE + 16)] = "", safe[CLI_SAFE];
    if (n > LISTED_CLASSES) return;
    for (size_t x = 0; x < n; x++) {
        size_t best = n;
        for (size_t k = 0; k < n; k++)
            if (!told[k] && (best == n || job->class_weight[k] > job->class_weight[best])) best = k;
        told[best] = true;
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s %.2f", x ? ", " : "",
                 cli_safe(dis_names_get(job->in.look.classes, best, NULL), safe), job->class_weight[best]);
    }
    cli_print(job->c, "    class weights: %s", line);
}

static void tell_gold(labels_command *job)
{
    cli *c = job->c;
    const dis_combination *did = &job->did;
    char n[CLI_NUMBER];
    if (did->n_gold == 0) {
        if (job->in.gold && job->choice.recipe && job->choice.combine == job->choice.recipe->combine &&
            job->choice.recipe->combine_of_gold)
            cli_print(c, "    the known labels are pinned only; %d or more would also choose weights and power",
                      (int)DIS_MIN_GOLD);
        return;
    }
    cli_print(c, "    chosen by %s known labels: temperature = votes^%.3f, the weights below",
              cli_count_format(did->n_gold, n), did->power);
    if (job->class_weight) tell_class_weights(job);
    const double gain = did->gold_loss_base - did->gold_loss;
    cli_print(c, "    log-loss of a known label, predicted from the others: %.3f, without this choice %.3f%s",
              did->gold_loss, did->gold_loss_base, gain > 0 ? "" : "; no gain is expected beyond the pinned items");
}

static void tell_combination(labels_command *job)
{
    cli *c = job->c;
    char safe[CLI_SAFE];
    cli_print(c, "  combined by %s", cli_safe(job->choice.combine, safe));
    tell_gold(job);
    if (isfinite(job->did.overdispersion) && job->did.n_gold == 0)
        cli_print(c, "    overdispersion %.2f, estimated from the votes: temperature = votes^%.3f",
                  job->did.overdispersion, job->did.power);
    bool tempered = false, uneven = false;
    const int width = method_width(job, 26);
    for (size_t m = 0; m < job->n_views; m++) {
        tempered |= job->did.temperature[m] > 0;
        uneven |= job->did.weight[m] != job->did.weight[0];
    }
    for (size_t m = 0; (tempered || uneven) && m < job->n_views; m++) {
        char temperature[64] = "";
        if (tempered)
            snprintf(temperature, sizeof temperature, "  temperature %.4f%s", job->did.temperature[m],
                     job->did.on_bound[m] ? " (on its bound)" : "");
        cli_print(c, "    %-*s weight %.4f%s", width, cli_safe(job->view[m].spec, safe), job->did.weight[m],
                  temperature);
    }
}

void labels_result_print(labels_command *job)
{
    cli *c = job->c;
    if (c->quiet) return;
    tell_methods(job);
    if (job->choice.combine) tell_combination(job);
    if (job->chance.verdict == DIS_CHANCE_NOISE) chance_test_print(c, &job->chance);
    char safe[CLI_SAFE], items[CLI_NUMBER];
    const char *output = job->v->output && strcmp(job->v->output, "-") != 0 ? job->v->output : NULL;
    cli_print(c, "%s%s%s: %s item%s, seed %llu, %.2f s", cli_bold(c),
              output ? cli_safe(output, safe) : "standard output", cli_plain(c),
              cli_count_format(job->in.look.n_items, items), cli_plural(job->in.look.n_items),
              (unsigned long long)job->v->seed, cli_seconds_since(&c->start));
}
