/* Results of `dissent panel` as text: first whether anything can be said, then judges, class shares and pairs. */
#include "output/result_rows.h"
#include "annotators/cmd_panel.h"
#include <math.h>

enum { NAME_WIDTH = 26, SHOWN_ROWS = 24, WIDTH = 24 };

static const char *judge_text(const panel_command *job, size_t j, char safe[CLI_SAFE])
{
    cli_text_escape(panel_judge_name(job, j), safe, NAME_WIDTH);
    return safe;
}

static const char *verdict(const dis_panel_judge *x)
{
    if (!x->above_chance) return isnan(x->chance) ? "too few items" : "no better than chance";
    return x->n_people_compared == 0 ? "-" : x->passed ? "yes" : "no";
}

static void print_judges(const panel_command *job)
{
    char safe[CLI_SAFE];
    printf("%-*s %7s  %-*s%7s  %-*s%-*s%9s  %s\n", NAME_WIDTH, "Judge", "items", WIDTH, "agreement", "chance", WIDTH,
           "error", WIDTH, "as good as a person", "wins", "like people?");
    for (size_t j = 0; j < job->view.n_judges; j++) {
        const dis_panel_judge *x = &job->view.judges[j];
        printf("%-*s %7llu  ", NAME_WIDTH, judge_text(job, j, safe), (unsigned long long)x->shared);
        cli_metric_print(&x->agreement, WIDTH);
        if (isnan(x->chance))
            printf("%7s  ", "-");
        else
            printf("%7.3f  ", x->chance);
        cli_metric_print(&x->error, WIDTH);
        cli_metric_print(&x->advantage_probability, WIDTH);
        char wins[64] = "-";
        if (x->n_people_compared)
            snprintf(wins, sizeof wins, "%llu of %llu", (unsigned long long)x->n_people_represented,
                     (unsigned long long)x->n_people_compared);
        printf("%9s  %s\n", wins, verdict(x));
    }
    puts("\"Like people\" is the alternative-annotator test. It measures likeness to these people, not quality: a "
         "judge\n"
         "as accurate as people whose errors differ from theirs often fails.");
}

static void print_copies(const panel_command *job)
{
    char safe[CLI_SAFE], source[CLI_SAFE];
    for (size_t c = 0; c < job->view.n_copies; c++) {
        const dis_panel_copied_votes *x = &job->view.copies[c];
        cli_text_escape(panel_source_name(job, x), source, NAME_WIDTH);
        printf("%s appears to copy %s: equal votes on %.1f %% of %llu items, independent votes would give %.1f %%\n",
               judge_text(job, x->judge, safe), source, 100 * x->observed, (unsigned long long)x->n, 100 * x->expected);
    }
}

static void print_groups(const panel_command *job)
{
    const dis_panel_view *l = &job->view;
    char safe[CLI_SAFE];
    for (uint32_t group = 0; group < l->n_error_groups; group++) {
        size_t members = 0;
        for (size_t j = 0; j < l->n_judges; j++) members += l->judges[j].error_group == group;
        if (members < 2) continue;
        printf("  err together:");
        for (size_t j = 0; j < l->n_judges; j++)
            if (l->judges[j].error_group == group) printf(" %s", judge_text(job, j, safe));
        putchar('\n');
    }
}

static void print_together(const panel_command *job)
{
    const dis_panel_view *l = &job->view;
    char text[CLI_METRIC_SIZE];
    putchar('\n');
    if (l->effective.reason && l->n_judges > 1)
        printf("%-44s unknown: %s\n", "Independent judges that the judges are worth", l->effective.reason);
    if (!l->effective.reason) {
        printf("%-44s %s\n", "Independent judges that the judges are worth", cli_metric_format(&l->effective, 2, text));
        printf("%-44s %s\n", "  mean correlation of errors", cli_metric_format(&l->correlation, 3, text));
        print_groups(job);
    }
    printf("\n%s\n", "Log-loss of a person's held-out vote");
    printf("  %-42s %8.4f\n", "class shares", l->loss_rates.value);
    printf("  %-42s %8.4f\n", "shares of the judges", l->loss_shares.value);
    printf("  %-42s %8.4f\n", "calibrated labels", l->loss_calibrated.value);
    printf("  %-42s %8.2f%s\n", "votes of people that the judges count as", l->judge_strength,
           l->judge_strength > 99 ? " or more" : "");
}

static void print_bias(const panel_command *job)
{
    const dis_panel_view *l = &job->view;
    char safe[CLI_SAFE], class[CLI_SAFE];
    const size_t n = l->n_judges * l->n_classes, shown = n < SHOWN_ROWS ? n : SHOWN_ROWS;
    printf("\n%-*s %-18s %7s  %s\n", NAME_WIDTH, "Judge", "class", "share", "bias (share minus people's share)");
    for (size_t r = 0; r < shown; r++) {
        const dis_panel_rate *x = &l->rates[r];
        cli_text_escape(dis_names_get(job->in.view.classes, x->class_index, NULL), class, 18);
        printf("%-*s %-18s %7.3f  ", NAME_WIDTH, judge_text(job, x->judge, safe), class, x->raw);
        cli_metric_print(&x->bias, 0);
        putchar('\n');
    }
    if (shown < n) printf("... and %zu more: use --rates FILE\n", n - shown);
}

static void print_needed(double n)
{
    if (isnan(n))
        printf("%8s", "-");
    else
        printf("%8.0f", n);
}

static void print_rates(const panel_command *job)
{
    const dis_panel_view *l = &job->view;
    const size_t n = l->n_classes, shown = n < SHOWN_ROWS ? n : SHOWN_ROWS;
    char safe[CLI_SAFE];
    printf("\n%-*s %7s  %-*s%-*s%-*s%8s %8s\n", NAME_WIDTH, "Share among people", "judges", WIDTH, "Rogan-Gladen",
           WIDTH, "powered", WIDTH, "people alone", "needed", "alone");
    for (size_t k = 0; k < shown; k++) {
        const dis_panel_rate *x = &l->rates[l->n_judges * n + k];
        cli_text_escape(dis_names_get(job->in.view.classes, k, NULL), safe, NAME_WIDTH);
        printf("%-*s %7.3f  ", NAME_WIDTH, safe, x->raw);
        cli_metric_print(&x->rogan_gladen, WIDTH);
        cli_metric_print(&x->prediction_powered, WIDTH);
        cli_metric_print(&x->people, WIDTH);
        print_needed(x->n_needed);
        putchar(' ');
        print_needed(x->n_needed_without_judge);
        putchar('\n');
    }
    if (shown < n) printf("... and %zu more: use --rates FILE\n", n - shown);
}

static void print_people(const panel_command *job)
{
    const dis_panel_view *l = &job->view;
    char safe[CLI_SAFE], text[CLI_METRIC_SIZE];
    for (size_t k = 0; k < l->n_classes && k < SHOWN_ROWS; k++) {
        const dis_panel_rate *x = &l->rates[l->n_judges * l->n_classes + k];
        if (x->people.reason) continue;
        cli_text_escape(dis_names_get(job->in.view.classes, k, NULL), safe, NAME_WIDTH);
        printf("  share of %-*s %s\n", NAME_WIDTH, safe, cli_metric_format(&x->people, 3, text));
    }
}

static void print_swaps(const panel_command *job)
{
    char safe[CLI_SAFE];
    if (job->n_swaps == 0) return;
    printf("\n%-*s %7s  %-*s%9s %9s  %s\n", NAME_WIDTH, "Worker, both orders", "pairs", WIDTH, "consistent", "to first",
           "to second", "p");
    for (size_t r = 0; r < job->n_swaps; r++) {
        const dis_position_bias *x = &job->swap[r];
        cli_text_escape(dis_names_get(job->in.view.workers, x->worker, NULL), safe, NAME_WIDTH);
        printf("%-*s %7llu  ", NAME_WIDTH, safe, (unsigned long long)x->n);
        cli_metric_print(&x->consistency, WIDTH);
        printf("%9llu %9llu  %.4f\n", (unsigned long long)x->flips_to_first, (unsigned long long)x->flips_to_second,
               x->p);
    }
}

void panel_text_print(const panel_command *job)
{
    if (job->view.missing_reason) {
        printf("Unknown: %s.\n", job->view.missing_reason);
        print_people(job);
    } else {
        print_judges(job);
        print_copies(job);
        print_together(job);
        print_bias(job);
        print_rates(job);
    }
    print_swaps(job);
}

static void warn(panel_command *job)
{
    const dis_panel_view *l = &job->view;
    if (l->missing_reason) {
        cli_warn(job->c, "%s", l->missing_reason);
        return;
    }
    for (size_t c = 0; c < l->n_copies; c++) {
        char safe[CLI_SAFE], source[CLI_SAFE];
        cli_text_escape(panel_source_name(job, &l->copies[c]), source, NAME_WIDTH);
        cli_warn(job->c, "%s appears to copy %s", judge_text(job, l->copies[c].judge, safe), source);
    }
    if (l->labelled_items_differ)
        cli_warn(
            job->c,
            "items with votes of people differ from the others in the judges' answers (p = %.2g); class shares and "
            "error rates may not hold for all items. Let people label a random sample of items",
            l->p_labelled);
    if (l->few_people)
        cli_warn(
            job->c,
            "fewer than 5 people voted: intervals hold for new items but for these people only; other people might "
            "answer differently");
}

void panel_messages_print(panel_command *job)
{
    char people[CLI_NUMBER], items[CLI_NUMBER], number[CLI_NUMBER];
    votes_input_print(&job->in);
    cli_print(job->c, "  %-18s %s people and %zu judge%s; items with votes of people: %s", "annotators",
              cli_count_format(job->view.n_people, people), job->view.n_judges, cli_plural(job->view.n_judges),
              cli_count_format(job->view.n_items_with_people, items));
    if (job->v->budget)
        cli_print(job->c, "  %-18s %s votes of people assigned to items (--buy FILE lists them)", "budget",
                  cli_count_format(job->view.budget_spent, number));
    warn(job);
    if (job->view.missing_reason) return;
    size_t passed = 0, chance = 0;
    for (size_t j = 0; j < job->view.n_judges; j++) {
        const dis_panel_judge *x = &job->view.judges[j];
        passed += x->above_chance && x->n_people_compared > 0 && x->passed;
        chance += !x->above_chance && !isnan(x->chance);
    }
    cli_print(job->c,
              "%sjudges%s: %zu of %zu answer like these people (alternative-annotator test), %zu no better than "
              "chance",
              cli_bold(job->c), cli_plain(job->c), passed, job->view.n_judges, chance);
    if (!job->v->labels && job->view.n_above > 0) {
        static const char *const labels[] = {"--save-labels", "labels.csv", NULL};
        cli_next_print(job->c, "panel", labels, "soft labels calibrated to people");
    }
}
