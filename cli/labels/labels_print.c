/* The summary of `dissent labels` on standard error: how many labels are confident, how many items to relabel, the next
 * step; with --verbose also iterations, objectives and weights. */
#include "labels/cmd_labels.h"
#include "output/chance_output.h"
#include "output/confidence_output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void labels_input_print(labels_command *job)
{
    votes_input_print(&job->in);
    votes_input_print_gold(&job->in, "kept as known labels");
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

static void print_methods(labels_command *job)
{
    cli *c = job->c;
    const int width = method_width(job, 28);
    const bool devices = labels_is_on_device(job->v);
    cli_print(c, "  %s%-*s %10s  %-18s %-9s %8s%s%s", cli_dim(c), width, "method", "iterations", "objective",
              "converged", "seconds", devices ? "  device" : "", cli_plain(c));
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        char safe[CLI_SAFE], iterations[16] = "-", objective[CLI_NUMBER] = "-";
        const bool iterates = r->fit_view.iterations > 0;
        if (iterates) snprintf(iterations, sizeof iterations, "%d", r->fit_view.iterations);
        if (!isnan(r->fit_view.objective)) snprintf(objective, sizeof objective, "%.10g", r->fit_view.objective);
        cli_print(c, "  %-*s %10s  %-18s %-9s %8.3f%s%s", width, cli_safe(r->spec, safe), iterations, objective,
                  !iterates               ? "-"
                  : r->fit_view.converged ? "yes"
                                          : "no",
                  r->seconds, devices ? "  " : "", devices ? r->fit_view.device : "");
        labels_weight_print(job, r);
        if (!isnan(r->fit_view.prior_strength))
            cli_print(c, "    %-26s strength %.3f: votes at the class rates added per item", r->fit_view.method->name,
                      r->fit_view.prior_strength);
    }
}

enum { LISTED_CLASSES = 6 };

/* Factors of the classes, the strongest first. */
static void print_class_weights(labels_command *job)
{
    const size_t n = job->in.view.n_classes;
    bool listed[LISTED_CLASSES] = {0};
    char line[LISTED_CLASSES * (CLI_SAFE + 16)] = "", safe[CLI_SAFE];
    if (n > LISTED_CLASSES) return;
    for (size_t x = 0; x < n; x++) {
        size_t best = n;
        for (size_t k = 0; k < n; k++)
            if (!listed[k] && (best == n || job->class_weight[k] > job->class_weight[best])) best = k;
        listed[best] = true;
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s %.2f", x ? ", " : "",
                 cli_safe(dis_names_get(job->in.view.classes, best, NULL), safe), job->class_weight[best]);
    }
    cli_print(job->c, "    class weights: %s", line);
}

static void print_gold(labels_command *job)
{
    cli *c = job->c;
    const dis_combination *did = &job->did;
    char n[CLI_NUMBER];
    if (did->n_gold == 0) {
        if (job->in.gold && job->choice.recipe && job->choice.combine == job->choice.recipe->combine &&
            job->choice.recipe->combine_for_gold)
            cli_print(c,
                      "    known labels are kept, not used for calibration; %d or more would choose weights and power",
                      (int)DIS_MIN_GOLD);
        return;
    }
    cli_print(c, "    calibrated by %s known labels: temperature = votes^%.3f", cli_count_format(did->n_gold, n),
              did->power);
    if (job->class_weight) print_class_weights(job);
    const double gain = did->gold_loss_base - did->gold_loss;
    cli_print(c, "    log-loss of known labels in cross-validation: %.3f, without calibration %.3f%s", did->gold_loss,
              did->gold_loss_base, gain > 0 ? "" : "; no gain is expected for other items");
}

static void print_combination(labels_command *job)
{
    cli *c = job->c;
    char safe[CLI_SAFE];
    cli_print(c, "  combined by %s", cli_safe(job->choice.combine, safe));
    print_gold(job);
    if (isfinite(job->did.overdispersion) && job->did.n_gold == 0)
        cli_print(c, "    overdispersion %.2f (estimated): temperature = votes^%.3f", job->did.overdispersion,
                  job->did.power);
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
                     job->did.at_bound[m] ? " (at its bound)" : "");
        cli_print(c, "    %-*s weight %.4f%s", width, cli_safe(job->view[m].spec, safe), job->did.weight[m],
                  temperature);
    }
}

/* The methods in one line; iterations, objectives and weights take --verbose. */
static void print_method_names(const labels_command *job)
{
    char line[800] = "", safe[CLI_SAFE];
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s", m ? ", " : "", cli_safe(r->spec, safe));
        if (r->fit_view.iterations > 0 && !r->fit_view.converged) {
            const size_t n = strlen(line);
            snprintf(line + n, sizeof line - n, " (not converged after %d iterations)", r->fit_view.iterations);
        }
    }
    if (job->choice.combine) {
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "; combined by %s", cli_safe(job->choice.combine, safe));
    }
    cli_print(job->c, "  %-18s %s", job->n_views > 1 ? "methods" : "method", line);
}

static void print_calibration(const labels_command *job)
{
    const dis_combination *did = &job->did;
    const bool calibrates = job->choice.recipe && job->choice.combine == job->choice.recipe->combine &&
                            job->choice.recipe->combine_for_gold;
    char n[CLI_NUMBER];
    if (did->n_gold)
        cli_print(job->c, "  %-18s by %s known labels: expected log-loss %.3f instead of %.3f", "calibrated",
                  cli_count_format(did->n_gold, n), did->gold_loss, did->gold_loss_base);
    else if (job->in.gold && calibrates)
        cli_print(job->c, "  %-18s kept, not used for calibration; %d or more would calibrate the probabilities",
                  "known labels", (int)DIS_MIN_GOLD);
}

void labels_result_print(labels_command *job)
{
    cli *c = job->c;
    if (c->quiet) return;
    if (c->verbose) {
        print_methods(job);
        if (job->choice.combine) print_combination(job);
    } else {
        print_method_names(job);
        print_calibration(job);
    }
    char safe[CLI_SAFE], items[CLI_NUMBER];
    const char *output = job->v->output && strcmp(job->v->output, "-") != 0 ? job->v->output : NULL;
    cli_print(c, "%s%s%s: %s item%s, seed %llu, %.2f s", cli_bold(c),
              output ? cli_safe(output, safe) : "standard output", cli_plain(c),
              cli_count_format(job->in.view.n_items, items), cli_plural(job->in.view.n_items),
              (unsigned long long)job->v->seed, cli_seconds_since(&c->start));
    if (job->chance.verdict == DIS_CHANCE_NOISE)
        chance_test_print(c, &job->chance);
    else {
        const size_t n_relabel =
            confidence_print(c, job->p, job->in.view.n_items, job->in.view.n_classes, "to relabel");
        if (job->in.view.start && !job->v->append)
            cli_next_print(c, "review", NULL,
                           n_relabel ? "which items to relabel, which annotators to check"
                                     : "which annotators to check");
    }
}
