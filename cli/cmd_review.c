/* dissent review: which items to label again and which workers to look at, ranked, with the reason. */
#include "figures.h"
#include "scaled_show.h"
#include "texts_input.h"
#include "votes_input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_figures_values figures;
    cli_texts_values texts;
    const char *method, *gold, *items, *workers, *labels, *accepted, *send_back;
    int by;
    uint64_t top, budget;
    double accept;
} review_values;

enum { DEFAULT_TOP = 20, LINE = 110 };

#define TEXT(field, name_, argument_, names_, summary_)                                                   \
    {                                                                                                     \
        .name = name_, .kind = CLI_TEXT, .offset = offsetof(review_values, field), .argument = argument_, \
        .names = names_, .summary = summary_                                                              \
    }
#define N(array) (sizeof(array) / sizeof *(array))
#define COUNT(field, name_, fallback_, high_, summary_)                                              \
    {                                                                                                \
        .name = name_, .kind = CLI_COUNT, .offset = offsetof(review_values, field), .argument = "N", \
        .fallback = fallback_, .high = high_, .summary = summary_                                    \
    }

static const cli_option options[] = {
    CLI_TABLE_OPTIONS(review_values, figures),
    COUNT(top, "top", "0", 0,
          "show so many items (and workers); 0: 20 as text, all in a file, with --budget those that get votes"),
    {.name = "by",
     .kind = CLI_CHOICE,
     .offset = offsetof(review_values, by),
     .argument = "ORDER",
     .fallback = "gain",
     .choices = "gain|doubt|surprise",
     .summary = "gain: where another vote of this crowd tells most; doubt: where the label is most likely wrong, for "
                "an expert to settle; surprise: where votes are least like these workers, the item may be unclear"},
    COUNT(budget, "budget", "0", 0, "votes that can be bought: how many to get on which item"),
    CLI_OUTPUT_OPTION(review_values, items, "items", CLI_TABLE_FORMATS,
                      "every item, ranked (CSV, TSV or JSONL by the name)"),
    CLI_OUTPUT_OPTION(review_values, workers, "workers", CLI_TABLE_FORMATS,
                      "every worker, ranked: the most suspicious first; with --scale ordinal also bias, "
                      "spread and lapses with intervals"),
    TEXT(labels, "labels", "FILE", CLI_NAMES_FILE,
         "labels to review (task,label; what dissent labels writes will do): ranked by the chance that they are wrong"),
    {.name = "accept",
     .kind = CLI_REAL,
     .offset = offsetof(review_values, accept),
     .argument = "P",
     .fallback = "0",
     .low = 0,
     .high = 1,
     .summary = "accept labels that are right with at least this probability; the others are to be sent back"},
    CLI_OUTPUT_OPTION(review_values, accepted, "accepted", CLI_TABLE_FORMATS, "with --accept: the accepted items"),
    CLI_OUTPUT_OPTION(review_values, send_back, "send-back", CLI_TABLE_FORMATS,
                      "with --accept: the items to send back, the worst first"),
    TEXT(gold, "gold", "FILE", CLI_NAMES_FILE,
         "known labels (task,label): workers are judged by them, and these items are not relabelled"),
    CLI_TEXTS_OPTIONS(review_values, texts),
    TEXT(method, "method", "SPEC", CLI_NAMES_METHOD,
         "NAME[:key=value,...]: label method whose labels the model of the crowd starts from; without it, standard"),
    CLI_VOTES_OPTIONS(review_values, reading),
    CLI_SCALE_OPTIONS(review_values, reading),
    CLI_PARTS_OPTIONS(review_values, reading),
    CLI_TABLES_OPTION(review_values, reading),
    CLI_COMMON_OPTIONS(review_values),
};

typedef struct {
    cli *c;
    const review_values *v;
    votes_input in;
    dis_review *review;
    dis_review_view look;
    dis_names *texts; /* (n_items), empty: not known; NULL without --texts */
    int32_t *labels;  /* of --labels */
    size_t n_labels, n_labels_unknown;
} review_job;

static const char *const orders[] = {"gain", "doubt", "surprise"};

static bool for_people(const review_values *v)
{
    return !cli_figures_format(&v->figures);
}

static int check_options(const review_job *job)
{
    const review_values *v = job->v;
    if ((v->accepted || v->send_back) && !(v->accept > 0))
        return cli_error(job->c, DIS_EUSAGE, "%s needs --accept P", v->accepted ? "--accepted" : "--send-back");
    int code = cli_figures_check(job->c, &v->figures);
    if (code == 0) code = texts_input_check(job->c, &v->texts);
    return code == 0 && v->method ? cli_failed(job->c, dis_method_check(v->method)) : code;
}

/* ---- tables ---- */

typedef enum { ALL_ITEMS, ACCEPTED_ITEMS, OTHER_ITEMS } which_items;

static dis_status write_items(const review_job *job, const char *path, const char *format, size_t n, which_items which)
{
    static const char *const columns[] = {"task",      "label", "right",     "gain", "surprise", "hard", "votes",
                                          "for_label", "other", "for_other", "buy",  "reason",   "best"};
    const char *all[N(columns) + 3];
    size_t n_columns = N(columns);
    memcpy(all, columns, sizeof columns);
    if (job->look.ordinal_items) {
        all[n_columns++] = "place";
        all[n_columns++] = "place_se";
    }
    if (job->texts) all[n_columns++] = "text";
    dis_table *t;
    const dis_status status = dis_table_open(path, format, all, n_columns, &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->look.items[r];
        if (which != ALL_ITEMS && x->accepted != (which == ACCEPTED_ITEMS)) continue;
        char reason[DIS_REVIEW_REASON];
        cli_cell_name(t, job->in.look.tasks, x->item);
        cli_cell_name(t, job->in.look.classes, x->label);
        dis_table_real(t, x->right);
        dis_table_real(t, x->gain);
        dis_table_real(t, x->surprise);
        dis_table_real(t, x->hard);
        dis_table_real(t, x->votes);
        dis_table_real(t, x->for_label);
        if (x->for_other > 0)
            cli_cell_name(t, job->in.look.classes, x->other);
        else
            dis_table_nothing(t);
        dis_table_real(t, x->for_other);
        dis_table_count(t, x->buy);
        cli_cell_text(t, dis_review_item_reason(job->review, job->in.votes, r, reason, sizeof reason));
        cli_cell_name(t, job->in.look.classes, x->best);
        if (job->look.ordinal_items) {
            dis_table_real(t, job->look.ordinal_items[x->item].place);
            dis_table_real(t, job->look.ordinal_items[x->item].place_se);
        }
        if (job->texts) cli_cell_name(t, job->texts, x->item);
    }
    return dis_table_finish(t, DIS_OK);
}

static dis_status write_workers(const review_job *job, const char *path)
{
    static const char *const columns[] = {"worker",    "votes",    "shared",     "quality",     "ci_low", "ci_high",
                                          "peers",     "evidence", "verdict",    "reason",      "bias",   "bias_low",
                                          "bias_high", "spread",   "spread_low", "spread_high", "lapse"};
    enum { ORDINAL = 7 };
    dis_table *t;
    const dis_status status =
        dis_table_open(path, NULL, columns, N(columns) - (job->look.ordinal_workers ? 0 : ORDINAL), &t);
    if (status != DIS_OK) return status;
    for (size_t r = 0; r < job->look.n_workers; r++) {
        const dis_review_worker *x = &job->look.workers[r];
        char reason[DIS_REVIEW_REASON];
        cli_cell_name(t, job->in.look.workers, x->worker);
        dis_table_count(t, x->votes);
        dis_table_count(t, x->shared);
        const double figures[] = {x->quality, x->low, x->high, x->peers, x->evidence};
        for (size_t a = 0; a < N(figures); a++)
            if (x->shared && !isnan(figures[a]))
                dis_table_real(t, figures[a]);
            else
                dis_table_nothing(t);
        cli_cell_text(t, dis_review_verdict(x->cause));
        cli_cell_text(t, dis_review_worker_reason(job->review, job->in.votes, r, reason, sizeof reason));
        if (!job->look.ordinal_workers) continue;
        const dis_review_ordinal_worker *o = &job->look.ordinal_workers[x->worker];
        const double order[ORDINAL] = {o->bias,       o->bias_low,    o->bias_high, o->spread,
                                       o->spread_low, o->spread_high, o->lapse};
        for (size_t a = 0; a < ORDINAL; a++) dis_table_real(t, order[a]);
    }
    return dis_table_finish(t, DIS_OK);
}

/* ---- for machines ---- */

static void put_share(dis_json *j, const char *name, double value, size_t n)
{
    dis_metric m = {.value = value, .n = n};
    if (n == 0) m = dis_metric_undefined("there is nothing to judge by");
    dis_json_key(j, name);
    dis_json_metric(j, &m);
}

static void put_items(const review_job *job, dis_json *j, size_t n)
{
    dis_json_key(j, "items_to_relabel");
    dis_json_begin_array(j);
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->look.items[r];
        char reason[DIS_REVIEW_REASON];
        dis_json_begin_object(j);
        cli_put_text(j, "task", dis_names_get(job->in.look.tasks, x->item, NULL));
        cli_put_text(j, "label", dis_names_get(job->in.look.classes, x->label, NULL));
        cli_put_text(j, "best", dis_names_get(job->in.look.classes, x->best, NULL));
        cli_put_real(j, "right", x->right);
        cli_put_real(j, "gain", x->gain);
        cli_put_real(j, "surprise", x->surprise);
        cli_put_real(j, "hard", x->hard);
        cli_put_real(j, "votes", x->votes);
        cli_put_count(j, "buy", x->buy);
        cli_put_text(j, "reason", dis_review_item_reason(job->review, job->in.votes, r, reason, sizeof reason));
        if (job->texts) cli_put_text(j, "text", dis_names_get(job->texts, x->item, NULL));
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

static void put_workers(const review_job *job, dis_json *j, size_t n)
{
    dis_json_key(j, "workers_to_check");
    dis_json_begin_array(j);
    for (size_t r = 0; r < n; r++) {
        const dis_review_worker *x = &job->look.workers[r];
        char reason[DIS_REVIEW_REASON];
        dis_json_begin_object(j);
        cli_put_text(j, "worker", dis_names_get(job->in.look.workers, x->worker, NULL));
        cli_put_count(j, "votes", x->votes);
        cli_put_count(j, "shared", x->shared);
        dis_json_key(j, "quality");
        const dis_metric quality = {
            .value = x->quality, .ci_low = x->low, .ci_high = x->high, .n = (size_t)x->shared, .has_interval = true};
        dis_json_metric(j, &quality);
        cli_put_real(j, "peers", x->peers);
        cli_put_real(j, "evidence", x->evidence);
        cli_put_text(j, "verdict", dis_review_verdict(x->cause));
        cli_put_text(j, "reason", dis_review_worker_reason(job->review, job->in.votes, r, reason, sizeof reason));
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

static void put_metric(dis_json *j, const char *name, double value, double low, double high, size_t n)
{
    const dis_metric m = {.value = value, .ci_low = low, .ci_high = high, .n = n, .has_interval = true};
    dis_json_key(j, name);
    dis_json_metric(j, &m);
}

/* Of votes whose classes have an order: whoever votes too high or too low. */
static void put_biased(const review_job *job, dis_json *j, size_t n)
{
    if (!job->look.ordinal_workers) return;
    cli_put_count(j, "biased_workers", job->look.n_biased);
    dis_json_key(j, "workers_biased");
    dis_json_begin_array(j);
    for (size_t w = 0; w < job->look.n_workers && n > 0; w++) {
        const dis_review_ordinal_worker *o = &job->look.ordinal_workers[w];
        if (!o->biased) continue;
        n--;
        dis_json_begin_object(j);
        cli_put_text(j, "worker", dis_names_get(job->in.look.workers, w, NULL));
        put_metric(j, "bias", o->bias, o->bias_low, o->bias_high, 1);
        put_metric(j, "spread", o->spread, o->spread_low, o->spread_high, 1);
        cli_put_real(j, "lapse", o->lapse);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

static size_t at_most(size_t n, uint64_t max)
{
    return n < max ? n : (size_t)max;
}

static dis_status write_json(const review_job *job, const char *path)
{
    const dis_review_view *l = &job->look;
    const uint64_t top = job->v->top ? job->v->top : DEFAULT_TOP;
    dis_json *j;
    dis_status status = cli_summary_open(path, "review", &job->v->figures.seed, &j);
    if (status != DIS_OK) return status;
    cli_inputs_begin(j);
    status = votes_input_put_files(&job->in, j);
    if (status == DIS_OK && job->v->gold) status = cli_put_file(j, job->v->gold, "gold");
    if (status == DIS_OK && job->v->texts.path) status = cli_put_file(j, job->v->texts.path, "texts");
    if (status == DIS_OK && job->v->labels) status = cli_put_file(j, job->v->labels, "labels");
    cli_inputs_end(j);
    if (status == DIS_OK) status = votes_input_put_table(&job->in, j);
    votes_input_put_notes(&job->in, j);
    cli_put_text(j, "method", l->method);
    cli_put_text(j, "by", orders[job->v->labels ? DIS_REVIEW_BY_DOUBT : job->v->by]);
    cli_put_count(j, "budget", job->v->budget);
    cli_put_count(j, "spent", l->spent);
    cli_put_count(j, "doubtful_workers", l->n_doubtful);
    cli_put_count(j, "weak_workers", l->n_weak);
    cli_put_count(j, "unjudged_workers", l->n_unjudged);
    cli_put_real(j, "agreement_z", l->agreement_z);
    dis_json_key(j, "agreement_beyond_chance");
    dis_json_bool(j, l->beyond_chance);
    cli_put_real(j, "temperature", l->temperature);
    if (job->v->accept > 0) {
        cli_put_real(j, "accept", job->v->accept);
        cli_put_count(j, "accepted", l->n_accepted);
        cli_put_count(j, "sent_back", l->n_items - l->n_accepted);
    }
    dis_json_key(j, "metrics");
    dis_json_begin_object(j);
    put_share(j, "expected_right", l->right, job->in.look.start && !l->n_compared ? 0 : l->n_items);
    put_share(j, "expected_right_if_independent", l->right_independent, l->n_items);
    put_share(j, "expected_right_after_budget", l->right_after, l->n_items);
    if (job->v->accept > 0) put_share(j, "expected_right_accepted", l->right_accepted, l->n_accepted);
    put_share(j, "typical_worker_right", l->typical, isnan(l->typical) ? 0 : job->in.look.n_votes);
    dis_json_end_object(j);
    put_items(job, j, at_most(l->n_items, top));
    put_workers(job, j, at_most(l->n_doubtful, top));
    put_biased(job, j, at_most(l->n_biased, top));
    return cli_summary_finish(j, status);
}

/* ---- for people ---- */

/* What the item says, below it, on one line; files have all of it. */
static void print_text(const char *text)
{
    char cut[LINE + 8], safe[4 * sizeof cut];
    size_t n = strlen(text);
    if (n == 0) return;
    const bool whole = n <= LINE;
    if (!whole)
        for (n = LINE; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;) n--;
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, text, whole ? "" : "...");
    cli_escape(cut, safe, sizeof safe);
    printf("    %s\n", safe);
}

static void print_items(const review_job *job, size_t n)
{
    const bool budget = job->v->budget > 0;
    printf("%-24s %-12s %6s %6s %6s%s  %s\n", "item", "label", "right", "gain", "odd", budget ? "  buy" : "", "why");
    for (size_t r = 0; r < n; r++) {
        const dis_review_item *x = &job->look.items[r];
        char task[CLI_SAFE], label[CLI_SAFE], reason[DIS_REVIEW_REASON], safe[2 * DIS_REVIEW_REASON];
        dis_review_item_reason(job->review, job->in.votes, r, reason, sizeof reason);
        cli_escape(reason, safe, sizeof safe);
        printf("%-24s %-12s %6.3f %6.3f %6.1f", cli_safe(dis_names_get(job->in.look.tasks, x->item, NULL), task),
               cli_safe(dis_names_get(job->in.look.classes, x->label, NULL), label), x->right, x->gain, x->surprise);
        if (budget) printf(" %4u", x->buy);
        printf("  %s\n", safe);
        if (job->texts) print_text(dis_names_get(job->texts, x->item, NULL));
    }
}

static void print_workers(const review_job *job, size_t n)
{
    printf("\n%-24s %7s %6s %-13s %8s  %s\n", "worker", "votes", "right", "95 % interval", "evidence", "why");
    for (size_t r = 0; r < n; r++) {
        const dis_review_worker *x = &job->look.workers[r];
        char name[CLI_SAFE], reason[DIS_REVIEW_REASON], safe[2 * DIS_REVIEW_REASON];
        dis_review_worker_reason(job->review, job->in.votes, r, reason, sizeof reason);
        cli_escape(reason, safe, sizeof safe);
        printf("%-24s %7llu %6.3f %5.3f - %5.3f %8.1f  %s\n",
               cli_safe(dis_names_get(job->in.look.workers, x->worker, NULL), name), (unsigned long long)x->votes,
               x->quality, x->low, x->high, x->evidence, safe);
    }
}

static void print_biased(const review_job *job, size_t n)
{
    printf("\n%-24s %7s %-15s %7s %-13s %6s\n", "worker", "bias", "95 % interval", "spread", "95 % interval", "lapse");
    for (size_t w = 0; w < job->look.n_workers && n > 0; w++) {
        const dis_review_ordinal_worker *o = &job->look.ordinal_workers[w];
        char name[CLI_SAFE];
        if (!o->biased) continue;
        n--;
        printf("%-24s %7.2f %6.2f .. %-5.2f %7.2f %5.2f - %-5.2f %6.2f\n",
               cli_safe(dis_names_get(job->in.look.workers, w, NULL), name), o->bias, o->bias_low, o->bias_high,
               o->spread, o->spread_low, o->spread_high, o->lapse);
    }
}

static void tell_split(const review_job *job)
{
    const dis_review_view *l = &job->look;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    if (job->v->labels)
        cli_say(job->c, "  %-18s %s of %s items have one; the others are reviewed by their most probable class",
                "labels", cli_grouped(job->n_labels, number), cli_grouped(l->n_items, other));
    if (job->n_labels_unknown)
        cli_say(job->c, "  %-18s %s of other tasks", "not used", cli_grouped(job->n_labels_unknown, number));
    if (job->v->accept > 0 && l->n_accepted)
        cli_say(job->c, "  %-18s %s items, %.1f %% of their labels expected to be right; %s to send back", "accepted",
                cli_grouped(l->n_accepted, number), 100 * l->right_accepted,
                cli_grouped(l->n_items - l->n_accepted, other));
    else if (job->v->accept > 0)
        cli_say(job->c, "  %-18s no item: no label is right with a probability of %.6g", "accepted", job->v->accept);
}

static void tell_workers(const review_job *job)
{
    const dis_review_view *l = &job->look;
    char number[CLI_NUMBER], other[CLI_NUMBER], weak[CLI_NUMBER], unjudged[CLI_NUMBER];
    cli_say(job->c, "  %-18s %s of %s doubtful, %s weaker than the others, %s cannot be judged%s", "workers",
            cli_grouped(l->n_doubtful, number), cli_grouped(l->n_workers, other), cli_grouped(l->n_weak, weak),
            cli_grouped(l->n_unjudged, unjudged),
            l->n_doubtful && !job->v->workers && !for_people(job->v) ? " (--workers FILE lists them)" : "");
    if (l->ordinal_workers)
        cli_say(job->c, "  %-18s %s of %s by more than a quarter of a class", "biased",
                cli_grouped(l->n_biased, number), cli_grouped(l->n_workers, other));
}

static void tell(review_job *job)
{
    const dis_review_view *l = &job->look;
    cli *c = job->c;
    char number[CLI_NUMBER], other[CLI_NUMBER];
    votes_input_tell(&job->in);
    votes_input_tell_gold(&job->in, "known: workers are judged by them");
    texts_input_tell(c, job->texts);
    if (!job->in.look.start)
        cli_warn(c, "this input does not say who voted: everybody counts as the same typical worker, and there is "
                    "nothing to say of single workers");
    if (l->n_items == 0) return;
    if (job->in.look.start && !l->n_compared)
        cli_say(c, "  %-18s no item has votes of two workers: nothing can be said of labels or workers", "now");
    else if (l->ordinal_items)
        cli_say(c, "  %-18s %.1f %% of labels expected to be right (by the method ordinal, not calibrated)", "now",
                100 * l->right);
    else if (l->beyond_chance)
        cli_say(c, "  %-18s %.1f %% of labels expected to be right (%.1f %% if people never erred alike)", "now",
                100 * l->right, 100 * l->right_independent);
    else
        cli_say(c,
                "  %-18s votes on one item agree no more than chance would have it (z = %.1f): random as far as can be "
                "told, %.0f %% of labels expected to be right",
                "now", l->agreement_z, 100 * l->right);
    if (!isnan(l->typical) && l->beyond_chance && !l->ordinal_items)
        cli_say(c, "  %-18s %.1f %% of them right", "votes", 100 * l->typical);
    tell_split(job);
    if (job->v->budget)
        cli_say(c, "  %-18s %s vote%s spread: %.1f %% expected to be right", "after the budget",
                cli_grouped(l->spent, number), cli_plural(l->spent), 100 * l->right_after);
    if (l->spent < job->v->budget)
        cli_say(c, "  %-18s %s of %s votes: nothing to be gained from more before a new review", "not needed",
                cli_grouped(job->v->budget - l->spent, number), cli_grouped(job->v->budget, other));
    if (job->in.look.start) tell_workers(job);
}

/* ---- work ---- */

/* How many items are shown where --top leaves it open. */
static size_t n_shown(const review_job *job, bool people)
{
    const dis_review_view *l = &job->look;
    if (job->v->top) return at_most(l->n_items, job->v->top);
    if (!job->v->budget) return people ? at_most(l->n_items, DEFAULT_TOP) : l->n_items;
    size_t last = 0;
    for (size_t r = 0; r < l->n_items; r++)
        if (l->items[r].buy) last = r + 1;
    return last;
}

static int write_all(const review_job *job)
{
    const review_values *v = job->v;
    const bool people = for_people(v);
    const size_t n = n_shown(job, people);
    dis_status status = DIS_OK;
    if (people) {
        print_items(job, n);
        const size_t workers = at_most(job->look.n_doubtful, v->top ? v->top : DEFAULT_TOP);
        if (workers) print_workers(job, workers);
        if (job->look.n_biased) print_biased(job, at_most(job->look.n_biased, v->top ? v->top : DEFAULT_TOP));
    } else
        status = write_items(job, cli_figures_path(&v->figures), cli_figures_format(&v->figures), n, ALL_ITEMS);
    const size_t all = job->look.n_items;
    if (status == DIS_OK && v->items) status = write_items(job, v->items, NULL, all, ALL_ITEMS);
    if (status == DIS_OK && v->accepted) status = write_items(job, v->accepted, NULL, all, ACCEPTED_ITEMS);
    if (status == DIS_OK && v->send_back) status = write_items(job, v->send_back, NULL, all, OTHER_ITEMS);
    if (status == DIS_OK && v->workers) status = write_workers(job, v->workers);
    if (status == DIS_OK && v->figures.json) status = write_json(job, v->figures.json);
    if (status != DIS_OK) return cli_failed(job->c, status);
    return cli_flush(job->c);
}

static int review(review_job *job, dis_context *ctx)
{
    const review_values *v = job->v;
    if (v->workers && !job->in.look.start)
        return cli_error(job->c, DIS_EDATA, "--workers: this input does not say who voted; bring one row per vote");
    dis_review_options o = dis_review_options_default();
    o.method = v->method;
    o.seed = v->figures.seed;
    o.gold = job->in.gold;
    o.budget = v->budget;
    o.by = (dis_review_order)v->by;
    o.labels = job->labels;
    o.accept = v->accept;
    const dis_status status = dis_review_run(ctx, job->in.votes, &o, &job->review);
    if (status != DIS_OK) return cli_failed(job->c, status);
    job->look = dis_review_look(job->review);
    return 0;
}

static int read_labels(review_job *job, dis_context *ctx)
{
    const size_t n = job->in.look.n_items;
    job->labels = malloc((n ? n : 1) * sizeof *job->labels);
    if (!job->labels) return cli_error(job->c, DIS_ELIMIT, "no memory for the labels of %zu items", n);
    const dis_status status =
        dis_votes_read_gold(ctx, job->v->labels, job->in.votes, job->labels, &job->n_labels_unknown);
    for (size_t i = 0; status == DIS_OK && i < n; i++) job->n_labels += job->labels[i] >= 0;
    return cli_failed(job->c, status);
}

static int work(review_job *job, dis_context **ctx)
{
    int code = check_options(job);
    if (code == 0) code = votes_input_check(&job->in);
    if (code == 0) code = cli_failed(job->c, cli_context(job->c, &job->v->common, ctx));
    if (code == 0) code = votes_input_read(&job->in, *ctx);
    if (code == 0 && job->v->gold) code = votes_input_read_gold(&job->in, *ctx, job->v->gold);
    if (code == 0)
        code = texts_input_read(job->c, *ctx, &job->v->texts, job->v->reading.task, job->in.look.tasks, &job->texts);
    if (code == 0 && job->v->labels) code = read_labels(job, *ctx);
    if (code == 0) code = review(job, *ctx);
    if (code != 0) return code;
    tell(job);
    return dis_context_rank(*ctx) == 0 ? write_all(job) : 0;
}

extern const cli_command cli_cmd_review;

/* Votes whose labels are no distribution over classes. */
static int run_scaled(cli *c, const review_values *v, char **operands, size_t n_operands)
{
    const scaled_unused unused[] = {{v->gold, "gold"},     {v->labels, "labels"}, {v->accept > 0, "accept"},
                                    {v->budget, "budget"}, {v->by > 0, "by"},     {v->texts.path, "texts"}};
    const cli_list method = {.n = v->method != NULL, .value = {v->method}};
    const int code = cli_figures_check(c, &v->figures);
    if (code != 0) return code;
    scaled_job job = {.c = c,
                      .command = &cli_cmd_review,
                      .common = &v->common,
                      .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands},
                      .method = &method,
                      .seed = v->figures.seed,
                      .table = "items",
                      .output = v->figures.output,
                      .format = cli_figures_format(&v->figures),
                      .people = !cli_figures_format(&v->figures),
                      .items = v->items,
                      .workers = v->workers,
                      .json = v->figures.json,
                      .top = v->top,
                      .unused = unused,
                      .n_unused = sizeof unused / sizeof *unused};
    return scaled_show(&job);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const review_values *v = values;
    if (votes_input_is_own(&v->reading)) return run_scaled(c, v, operands, n_operands);
    review_job job = {.c = c, .v = v, .in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands}};
    dis_context *ctx = NULL;
    c->whole = true;
    int code = work(&job, &ctx);
    code = cli_ranks_end(c, ctx, code);
    dis_review_destroy(job.review);
    dis_names_destroy(job.texts);
    free(job.labels);
    votes_input_free(&job.in);
    dis_context_destroy(ctx);
    return code;
}

const cli_command cli_cmd_review = {
    .name = "review",
    .summary = "which items to label again and which workers to look at, with the reason",
    .operands = "VOTES...",
    .text =
        "Reads votes as dissent labels does and ranks items by how much one more vote of a typical worker is "
        "expected to tell about them, and workers by the evidence that they vote without looking. Each row says "
        "why in words.\n\n"
        "right: chance that the label is right, calibrated on real crowds, where people err alike on the same items. "
        "gain: expected fall of the entropy by one more vote, nats. odd "
        "(surprise): by how many standard deviations the votes are more surprising than these workers' votes are; "
        "2 or more is disagreement that the quality of the workers does not explain. hard: chance that the item "
        "is harder than most. evidence: log10 of how much better a worker's votes are explained by not looking at "
        "the items than by being like the others; from 1 on the worker is doubtful. It grows with the number of "
        "votes: three wrong votes of four are no evidence. A worker's share of right votes has a 95 % interval; votes "
        "on "
        "items that nobody else voted on judge nobody.\n\n"
        "With --scale ordinal labels are those of the method ordinal, gain is what another vote tells of an item's "
        "place on the line of classes, and workers have a bias, a spread and a share of lapses (docs/kinds.md).\n\n"
        "With --labels the labels given are reviewed instead of the most probable ones; with --accept P the items are "
        "split into those whose label is right with at least that probability and those to send back.\n\n"
        "With --budget the votes are spread over the items so that each goes where it tells most after those "
        "before it. Review again once they have come in.",
    .examples =
        "  dissent review votes.csv\n"
        "  dissent review votes.csv --budget 500 -o buy.csv --workers workers.csv\n"
        "  dissent review votes.csv --by doubt --top 50 --gold known.csv -o for_the_expert.csv\n"
        "  dissent review votes.csv --labels labels.csv --accept .9 --accepted good.csv --send-back again.csv\n",
    .methods = true,
    .ranks = true,
    .names = CLI_NAMES_FILE,
    .min = 1,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(review_values),
    .run = run,
};
