/* Results of `dissent review`: tables of items and workers, a JSON summary, and text. */
#include "tool/json_writer.h"
#include "tool/vote_reasons.h"
#include "tool/table_writer.h"
#include "tool/arrays.h"
#include "annotators/cmd_review.h"
#include "output/chance_output.h"
#include <math.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
enum { LINE = 110 };
static const char *const orders[] = {"gain", "uncertainty", "surprise"};

/* ---- tables ---- */

static void put_real(dis__table_writer *t, double x)
{
    if (isnan(x))
        dis__table_writer_null(t);
    else
        dis__table_writer_real(t, x);
}

dis_status review_items_write(const review_command *job, const char *path, const char *format, size_t n,
                              review_which which)
{
    static const char *const columns[] = {"task",      "label", "p_correct", "gain", "surprise", "p_hard", "votes",
                                          "for_label", "other", "for_other", "buy",  "reason",   "best"};
    const char *all[N(columns) + 3];
    size_t n_columns = N(columns);
    memcpy(all, columns, sizeof columns);
    if (job->view.ordinal_items) {
        all[n_columns++] = "position";
        all[n_columns++] = "position_se";
    }
    if (job->texts) all[n_columns++] = "text";
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, format, all, n_columns, &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->view.items[r];
        if (which != REVIEW_ALL_ITEMS && x->accepted != (which == REVIEW_ACCEPTED_ITEMS)) continue;
        char reason[DIS_REVIEW_REASON_SIZE];
        cli_cell_write_name(t, job->in.view.tasks, x->item);
        cli_cell_write_name(t, job->in.view.classes, x->label);
        put_real(t, x->p_correct);
        dis__table_writer_real(t, x->gain);
        dis__table_writer_real(t, x->surprise);
        dis__table_writer_real(t, x->p_hard);
        dis__table_writer_real(t, x->votes);
        dis__table_writer_real(t, x->votes_for_label);
        if (x->votes_for_second > 0)
            cli_cell_write_name(t, job->in.view.classes, x->second_class);
        else
            dis__table_writer_null(t);
        dis__table_writer_real(t, x->votes_for_second);
        dis__table_writer_count(t, x->votes_to_buy);
        cli_cell_write_text(t, dis_review_format_item_reason(job->review, job->in.votes, r, reason, sizeof reason));
        cli_cell_write_name(t, job->in.view.classes, x->most_probable);
        if (job->view.ordinal_items) {
            dis__table_writer_real(t, job->view.ordinal_items[x->item].position);
            dis__table_writer_real(t, job->view.ordinal_items[x->item].position_se);
        }
        if (job->texts) cli_cell_write_name(t, job->texts, x->item);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status review_causes_write(const review_command *job, const char *path)
{
    static const char *const columns[] = {"task",  "worker", "label", "slip",      "reading",
                                          "group", "common", "cause", "slip_rate", "reason"};
    const dis_votes_view *v = &job->in.view;
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, sizeof columns / sizeof *columns, &t);
    if (status != DIS_OK) return status;
    for (size_t n = 0; n < job->view.n_votes; n++) {
        const dis_review_vote *x = &job->view.votes[n];
        char reason[DIS_REVIEW_REASON_SIZE];
        double p[DIS_CAUSES];
        const dis__vote_cause cause = dis__vote_cause_find(x, p);
        cli_cell_write_text(t, dis_names_get(v->tasks, x->item, NULL));
        cli_cell_write_text(t, dis_names_get(v->workers, x->worker, NULL));
        cli_cell_write_text(t, dis_names_get(v->classes, x->label, NULL));
        dis__table_writer_real(t, x->p_slip);
        dis__table_writer_real(t, x->p_reading);
        dis__table_writer_real(t, x->p_group);
        dis__table_writer_real(t, p[DIS_CAUSE_COMMON]);
        cli_cell_write_text(t, dis__vote_cause_name(cause));
        dis__table_writer_real(t, job->view.slip_rate[x->worker]);
        cli_cell_write_text(t, dis__vote_reason_format(&job->view, v, job->groups.groups, n, reason, sizeof reason));
    }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status review_workers_write(const review_command *job, const char *path)
{
    static const char *const columns[] = {"worker",         "votes",           "shared",     "quality",
                                          "ci_low",         "ci_high",         "peers",      "difference",
                                          "difference_low", "difference_high", "p_adjusted", "evidence",
                                          "gold_accuracy",  "gold_low",        "gold_high",  "gold_votes",
                                          "verdict",        "reason",          "bias",       "bias_low",
                                          "bias_high",      "spread",          "spread_low", "spread_high",
                                          "lapse"};
    enum { ORDINAL = 7 };
    dis__table_writer *t;
    const dis_status status =
        dis__table_writer_create(path, NULL, columns, N(columns) - (job->view.ordinal_workers ? 0 : ORDINAL), &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < job->view.n_workers; r++) {
        const dis_review_worker *x = &job->view.workers[r];
        char reason[DIS_REVIEW_REASON_SIZE];
        cli_cell_write_name(t, job->in.view.workers, x->worker);
        dis__table_writer_count(t, x->votes);
        dis__table_writer_count(t, x->shared);
        const double figures[] = {x->accuracy,   x->accuracy_low,   x->accuracy_high,   x->peer_accuracy,
                                  x->difference, x->difference_low, x->difference_high, x->p_adjusted,
                                  x->evidence,   x->gold_accuracy,  x->gold_low,        x->gold_high};
        for (size_t a = 0; a < N(figures); a++) put_real(t, x->shared ? figures[a] : (double)NAN);
        dis__table_writer_count(t, x->gold_votes);
        cli_cell_write_text(t, dis_review_verdict_name(x->verdict));
        cli_cell_write_text(t, dis_review_format_worker_reason(job->review, job->in.votes, r, reason, sizeof reason));
        if (!job->view.ordinal_workers) continue;
        const dis_review_ordinal_worker *o = &job->view.ordinal_workers[x->worker];
        const double order[ORDINAL] = {o->bias,       o->bias_low,    o->bias_high, o->spread,
                                       o->spread_low, o->spread_high, o->lapse_rate};
        for (size_t a = 0; a < ORDINAL; a++) dis__table_writer_real(t, order[a]);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

dis_status review_camps_write(const review_command *job, const char *path)
{
    static const char *const columns[] = {"worker", "camp"};
    const dis_review_camps *camps = job->view.camps;
    dis__table_writer *t;
    const dis_status status = dis__table_writer_create(path, NULL, columns, N(columns), &t);
    if (status != DIS_OK) return status;
    for (size_t w = 0; w < job->view.n_workers; w++) {
        cli_cell_write_name(t, job->in.view.workers, w);
        if (camps && camps->has_two && camps->camp[w])
            dis__table_writer_count(t, camps->camp[w]);
        else
            dis__table_writer_null(t);
    }
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- for machines ---- */

static void put_camps(const review_command *job, dis__json_writer *j)
{
    const dis_review_camps *camps = job->view.camps;
    if (!job->v->camps) return;
    dis__json_writer_key(j, "camps");
    dis__json_writer_begin_object(j);
    dis__json_writer_key(j, "found");
    dis__json_writer_bool(j, camps && camps->has_two);
    cli_json_write_real(j, "p", camps ? camps->p : (double)NAN);
    cli_json_write_count(j, "n_first", camps ? camps->n[0] : 0);
    cli_json_write_count(j, "n_second", camps ? camps->n[1] : 0);
    cli_json_write_real(j, "agreement_within", camps ? camps->agreement_within : (double)NAN);
    cli_json_write_real(j, "agreement_across", camps ? camps->agreement_across : (double)NAN);
    dis__json_writer_end_object(j);
}

static void put_share(dis__json_writer *j, const char *name, double value, size_t n)
{
    dis_metric m = {.value = value, .n = n};
    if (n == 0 || isnan(value)) m = dis__metric_undefined("there are no votes to compare with");
    dis__json_writer_key(j, name);
    dis__json_writer_metric(j, &m);
}

static void put_metric(dis__json_writer *j, const char *name, double value, double low, double high, size_t n)
{
    const dis_metric m = {.value = value, .ci_low = low, .ci_high = high, .n = n, .has_interval = true};
    dis__json_writer_key(j, name);
    dis__json_writer_metric(j, &m);
}

static void put_items(const review_command *job, dis__json_writer *j, size_t n)
{
    dis__json_writer_key(j, "items_to_relabel");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->view.items[r];
        char reason[DIS_REVIEW_REASON_SIZE];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "task", dis_names_get(job->in.view.tasks, x->item, NULL));
        cli_json_write_text(j, "label", dis_names_get(job->in.view.classes, x->label, NULL));
        cli_json_write_text(j, "best", dis_names_get(job->in.view.classes, x->most_probable, NULL));
        cli_json_write_real(j, "p_correct", x->p_correct);
        cli_json_write_real(j, "gain", x->gain);
        cli_json_write_real(j, "surprise", x->surprise);
        cli_json_write_real(j, "p_hard", x->p_hard);
        cli_json_write_real(j, "votes", x->votes);
        cli_json_write_count(j, "buy", x->votes_to_buy);
        cli_json_write_text(j, "reason",
                            dis_review_format_item_reason(job->review, job->in.votes, r, reason, sizeof reason));
        if (job->texts) cli_json_write_text(j, "text", dis_names_get(job->texts, x->item, NULL));
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_workers(const review_command *job, dis__json_writer *j, size_t n)
{
    dis__json_writer_key(j, "workers_to_check");
    dis__json_writer_begin_array(j);
    for (size_t r = 0; r < n; r++) {
        const dis_review_worker *x = &job->view.workers[r];
        char reason[DIS_REVIEW_REASON_SIZE];
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "worker", dis_names_get(job->in.view.workers, x->worker, NULL));
        cli_json_write_count(j, "votes", x->votes);
        cli_json_write_count(j, "shared", x->shared);
        dis__json_writer_key(j, "quality");
        const dis_metric quality = {.value = x->accuracy,
                                    .ci_low = x->accuracy_low,
                                    .ci_high = x->accuracy_high,
                                    .n = (size_t)x->shared,
                                    .has_interval = true};
        dis__json_writer_metric(j, &quality);
        cli_json_write_real(j, "peers", x->peer_accuracy);
        put_metric(j, "difference", x->difference, x->difference_low, x->difference_high, (size_t)x->shared);
        cli_json_write_real(j, "p_adjusted", x->p_adjusted);
        if (x->gold_votes)
            put_metric(j, "gold_accuracy", x->gold_accuracy, x->gold_low, x->gold_high, (size_t)x->gold_votes);
        cli_json_write_real(j, "evidence", x->evidence);
        cli_json_write_text(j, "verdict", dis_review_verdict_name(x->verdict));
        cli_json_write_text(j, "reason",
                            dis_review_format_worker_reason(job->review, job->in.votes, r, reason, sizeof reason));
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

/* For ordered classes: workers who vote too high or too low. */
static void put_biased(const review_command *job, dis__json_writer *j, size_t n)
{
    if (!job->view.ordinal_workers) return;
    cli_json_write_count(j, "biased_workers", job->view.n_biased);
    dis__json_writer_key(j, "workers_biased");
    dis__json_writer_begin_array(j);
    for (size_t w = 0; w < job->view.n_workers && n > 0; w++) {
        const dis_review_ordinal_worker *o = &job->view.ordinal_workers[w];
        if (!o->biased) continue;
        n--;
        dis__json_writer_begin_object(j);
        cli_json_write_text(j, "worker", dis_names_get(job->in.view.workers, w, NULL));
        put_metric(j, "bias", o->bias, o->bias_low, o->bias_high, 1);
        put_metric(j, "spread", o->spread, o->spread_low, o->spread_high, 1);
        cli_json_write_real(j, "lapse", o->lapse_rate);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

dis_status review_json_write(const review_command *job, const char *path)
{
    const dis_review_view *l = &job->view;
    const uint64_t top = job->v->top ? job->v->top : REVIEW_TOP;
    dis__json_writer *j;
    dis_status status = cli_summary_open(path, "review", &job->v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_write_json_files(&job->in, j);
    if (status == DIS_OK && job->v->gold) status = cli_input_write(j, job->v->gold, "gold");
    if (status == DIS_OK && job->v->texts.path) status = cli_input_write(j, job->v->texts.path, "texts");
    if (status == DIS_OK && job->v->labels) status = cli_input_write(j, job->v->labels, "labels");
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_write_json_table(&job->in, j);
    votes_input_write_json_notes(&job->in, j);
    cli_json_write_text(j, "method", l->method);
    cli_json_write_text(j, "by", orders[l->order]);
    cli_json_write_count(j, "budget", job->v->budget);
    cli_json_write_count(j, "spent", l->budget_spent);
    cli_json_write_count(j, "unreliable_workers", l->n_unreliable);
    cli_json_write_count(j, "weak_workers", l->n_weak);
    cli_json_write_count(j, "unjudged_workers", l->n_without_verdict);
    chance_test_write_json(j, &l->chance);
    put_camps(job, j);
    if (job->v->accept > 0) {
        cli_json_write_real(j, "accept", job->v->accept);
        cli_json_write_count(j, "accepted", l->n_accepted);
        cli_json_write_count(j, "sent_back", l->n_items - l->n_accepted);
    }
    dis__json_writer_key(j, "metrics");
    dis__json_writer_begin_object(j);
    put_share(j, "expected_accuracy", l->expected_accuracy, l->n_items);
    put_share(j, "expected_accuracy_after_budget", l->expected_accuracy_after, l->n_items);
    if (job->v->accept > 0) put_share(j, "expected_accuracy_accepted", l->expected_accuracy_accepted, l->n_accepted);
    put_share(j, "typical_accuracy", l->typical_accuracy, isnan(l->typical_accuracy) ? 0 : job->in.view.n_votes);
    dis__json_writer_end_object(j);
    put_items(job, j, review_rows_limit(l->n_items, top));
    put_workers(job, j, review_rows_limit(l->n_unreliable + l->n_weak, top));
    put_biased(job, j, review_rows_limit(l->n_biased, top));
    return cli_summary_close(j, status);
}

/* ---- for people ---- */

/* What the item says, below it, on one line; files have all of it. */
static void print_text(const char *text)
{
    char cut[LINE + 8], safe[4 * sizeof cut];
    size_t n = strlen(text);
    if (n == 0) return;
    const bool fits = n <= LINE;
    if (!fits)
        for (n = LINE; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;) n--;
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, text, fits ? "" : "...");
    cli_text_escape(cut, safe, sizeof safe);
    printf("    %s\n", safe);
}

void review_items_print(const review_command *job, size_t n)
{
    const bool budget = job->v->budget > 0;
    printf("%-24s %-12s %7s %6s %8s%s  %s\n", "item", "label", "correct", "gain", "surprise", budget ? "  buy" : "",
           "why");
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->view.items[r];
        char task[CLI_SAFE], label[CLI_SAFE], reason[DIS_REVIEW_REASON_SIZE], safe[2 * DIS_REVIEW_REASON_SIZE];
        dis_review_format_item_reason(job->review, job->in.votes, r, reason, sizeof reason);
        cli_text_escape(reason, safe, sizeof safe);
        char correct[16] = "-";
        if (!isnan(x->p_correct)) snprintf(correct, sizeof correct, "%.3f", x->p_correct);
        printf("%-24s %-12s %7s %6.3f %8.1f", cli_safe(dis_names_get(job->in.view.tasks, x->item, NULL), task),
               cli_safe(dis_names_get(job->in.view.classes, x->label, NULL), label), correct, x->gain, x->surprise);
        if (budget) printf(" %4u", x->votes_to_buy);
        printf("  %s\n", safe);
        if (job->texts) print_text(dis_names_get(job->texts, x->item, NULL));
    }
}

void review_workers_print(const review_command *job, size_t n)
{
    printf("\n%-24s %7s %8s %-13s %8s  %s\n", "worker", "votes", "accuracy", "95 % interval", "evidence", "why");
    for (size_t r = 0; r < n; r++) {
        const dis_review_worker *x = &job->view.workers[r];
        char name[CLI_SAFE], reason[DIS_REVIEW_REASON_SIZE], safe[2 * DIS_REVIEW_REASON_SIZE];
        dis_review_format_worker_reason(job->review, job->in.votes, r, reason, sizeof reason);
        cli_text_escape(reason, safe, sizeof safe);
        printf("%-24s %7llu %8.3f %5.3f - %5.3f %8.1f  %s\n",
               cli_safe(dis_names_get(job->in.view.workers, x->worker, NULL), name), (unsigned long long)x->votes,
               x->accuracy, x->accuracy_low, x->accuracy_high, x->evidence, safe);
    }
}

void review_biased_print(const review_command *job, size_t n)
{
    printf("\n%-24s %7s %-15s %7s %-13s %6s\n", "worker", "bias", "95 % interval", "spread", "95 % interval", "lapse");
    for (size_t w = 0; w < job->view.n_workers && n > 0; w++) {
        const dis_review_ordinal_worker *o = &job->view.ordinal_workers[w];
        char name[CLI_SAFE];
        if (!o->biased) continue;
        n--;
        printf("%-24s %7.2f %6.2f .. %-5.2f %7.2f %5.2f - %-5.2f %6.2f\n",
               cli_safe(dis_names_get(job->in.view.workers, w, NULL), name), o->bias, o->bias_low, o->bias_high,
               o->spread, o->spread_low, o->spread_high, o->lapse_rate);
    }
}
