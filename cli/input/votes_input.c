/* Reading votes for a subcommand: options into dis_votes_options, then the text and JSON summary. */
#include "tool/json_writer.h"
#include "tool/rank_calls.h"
#include "tool/arrays.h"
#include "tool/label_calls.h"
#include "input/votes_input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- before reading ---- */

static const char *preset_name(const void *arg, size_t i)
{
    (void)arg;
    return dis_votes_preset_get(i) ? dis_votes_preset_get(i)->name : NULL;
}

static int check_preset(cli *c, const char *name)
{
    if (!name || dis_votes_preset_find(name)) return 0;
    const char *near = dis__name_find_nearest(name, preset_name, NULL);
    return cli_usage(c, "no preset \"%s\"%s%s%s dissent list presets shows them", name, near ? "; did you mean " : ";",
                     near ? near : "", near ? "?" : "");
}

/* One character, or its name. */
int votes_input_delimiter(cli *c, const char *text, int *out)
{
    static const struct {
        const char *name;
        char character;
    } names[] = {{"tab", '\t'}, {"\\t", '\t'}, {"space", ' '}, {"comma", ','}};
    *out = 0;
    if (!text) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) *out = (unsigned char)names[i].character;
    if (text[0] && !text[1]) *out = (unsigned char)text[0];
    return *out ? 0 : cli_usage(c, "--delimiter: expected one character, tab or space, not \"%s\"", text);
}

dis_scale votes_input_scale(const cli_votes_values *v)
{
    return (dis_scale)v->scale;
}

bool votes_input_is_scaled(const cli_votes_values *v)
{
    return dis_scale_get(votes_input_scale(v))->has_own_labels;
}

bool votes_input_is_ordered(const cli_votes_values *v)
{
    return dis_scale_get(votes_input_scale(v))->ordered;
}

dis_status votes_input_select_methods(const cli_votes_values *v, const cli_list *method, const char *combine,
                                      bool workers, dis_label_plan *out)
{
    const char *usual = dis_scale_get(votes_input_scale(v))->method;
    *out = dis_label_plan_default();
    if (usual && !votes_input_is_scaled(v) && workers && method->n == 0)
        return dis_label_plan_parse(&usual, 1, combine, workers, out);
    return dis_label_plan_parse(method->value, method->n, combine, workers, out);
}

static int check_scale(cli *c, const cli_votes_values *v)
{
    if (v->table.n && !votes_input_is_scaled(v))
        return cli_usage(c, "--table is for the results of --scale multi-label, numeric and the like, not %s",
                         dis_scale_get(votes_input_scale(v))->name);
    return 0;
}

int votes_input_check(votes_input *in)
{
    const cli_votes_values *v = in->v;
    dis_votes_options *o = &in->how;
    *o = dis_votes_options_default();
    int code = cli_format_check(in->c, "input-format", v->input_format);
    if (code == 0) code = check_preset(in->c, v->preset);
    if (code == 0) code = check_scale(in->c, v);
    if (code == 0) code = votes_input_delimiter(in->c, v->delimiter, &o->delimiter);
    if (code == 0) code = class_list_read(in->c, v->classes, &in->classes);
    if (code == 0) code = cli_rules_parse(in->c, "drop", &v->drop, in->drop, &o->n_drop, &in->drop_text);
    if (code == 0) code = cli_rules_parse(in->c, "keep", &v->keep, in->keep, &o->n_keep, &in->keep_text);
    if (code != 0) return code;
    o->preset = v->preset;
    o->drop = in->drop;
    o->keep = in->keep;
    o->input = v->input >= 0 ? (dis_input)v->input : DIS_INPUT_VOTES;
    o->format = v->input_format;
    o->task = v->task;
    o->worker = v->worker;
    o->label = v->label;
    o->time = v->time;
    o->records = v->records;
    o->multiple_labels = (dis_multiple_labels)v->several;
    o->no_header = v->no_header;
    o->skip = (size_t)v->skip;
    o->fold_case = v->fold_case;
    o->trim = v->trim;
    o->allow_many_classes = v->allow_many_classes;
    o->classes = in->classes.name;
    o->n_classes = in->classes.n;
    o->na = v->na.value;
    o->n_na = v->na.n;
    o->duplicates = (dis_duplicates)v->duplicates;
    o->lenient = v->lenient;
    o->renormalise = v->renormalise;
    o->min_votes = (size_t)v->min_votes;
    o->scale = votes_input_scale(v);
    o->pair_a = v->pair_a;
    o->pair_b = v->pair_b;
    o->span_start = v->span_start;
    o->span_end = v->span_end;
    return 0;
}

/* ---- after reading ---- */

int votes_input_check_unused(cli *c, const cli_votes_values *v, const char *remedy)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {{v->input >= 0, "input"},
                   {v->input_format != NULL, "input-format"},
                   {v->preset != NULL, "preset"},
                   {v->task != NULL, "task"},
                   {v->worker != NULL, "worker"},
                   {v->label != NULL, "label"},
                   {v->drop.n > 0, "drop"},
                   {v->na.n > 0, "na"},
                   {v->keep.n > 0, "keep"},
                   {v->time != NULL, "time"},
                   {v->records != NULL, "records"},
                   {v->several > 0, "several"},
                   {v->delimiter != NULL, "delimiter"},
                   {v->no_header, "no-header"},
                   {v->skip > 0, "skip"},
                   {v->allow_many_classes, "allow-many-classes"},
                   {v->duplicates > 0, "duplicates"},
                   {v->min_votes > 0, "min-votes"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return cli_usage(c, "--%s applies to votes, and no votes are given; %s", options[i].name, remedy);
    return 0;
}

int votes_input_count_ranks(const votes_input *in)
{
    return in->c->replicates_data ? 1 : dis_context_n_ranks(in->ctx);
}

int votes_input_read_with_classes(votes_input *in, dis_context *ctx, const dis_names *names)
{
    const size_t n = dis_names_count(names);
    const char **classes = NULL;
    if (!in->classes.n && !in->v->lenient) {
        classes = malloc((n ? n : 1) * sizeof *classes);
        if (!classes) return cli_error(in->c, DIS_ELIMIT, "no memory for %zu classes", n);
        for (size_t k = 0; k < n; k++) classes[k] = dis_names_get(names, k, NULL);
        in->how.classes = classes;
        in->how.n_classes = n;
    }
    const int code = votes_input_read(in, ctx);
    free(classes);
    return code;
}

int votes_input_match(cli *c, const dis_votes_view *votes, const dis_names *tasks, const dis_names *classes,
                      size_t **item, size_t **class)
{
    dis_status status = dis__names_match_alloc(votes->tasks, tasks, item, NULL);
    if (status == DIS_OK) status = dis__names_match_alloc(classes, votes->classes, class, NULL);
    return cli_failed(c, status);
}

int votes_input_read_gold(votes_input *in, dis_context *ctx, const char *path)
{
    const size_t n = in->view.n_items;
    in->gold = malloc((n ? n : 1) * sizeof *in->gold);
    if (!in->gold) return cli_error(in->c, DIS_ELIMIT, "no memory for the gold labels of %zu items", n);
    gold_input how;
    const int code = gold_input_init(in->c, in->v->gold_columns, in->v->fold_case, in->v->trim, &how);
    if (code != 0) return code;
    const dis_status status = dis_votes_read_gold(ctx, path, &how.o, in->votes, in->gold, &in->n_gold_unknown);
    gold_input_free(&how);
    if (status != DIS_OK) return cli_failed(in->c, status);
    uint64_t own = 0;
    for (size_t i = 0; i < n; i++) own += in->gold[i] >= 0;
    for (int r = 0; r < votes_input_count_ranks(in); r++) {
        uint64_t x = own;
        const dis_status shared = dis__context_broadcast(ctx, r, &x, sizeof x);
        if (shared != DIS_OK) return cli_failed(in->c, shared);
        in->n_gold += (size_t)x;
    }
    if (in->n_gold == 0 && in->n_gold_unknown)
        cli_warn(
            in->c,
            "%s: none of its items has votes (items with votes: \"%.60s\", ...); check that the item ids are the same",
            path, n ? dis_names_get(in->view.tasks, 0, NULL) : "");
    return 0;
}

void votes_input_free(votes_input *in)
{
    free(in->gold);
    dis_votes_destroy(in->votes);
    class_list_free(&in->classes);
    free(in->drop_text);
    free(in->keep_text);
}

/* ---- telling ---- */

static double votes_of(const dis_votes_view *v, size_t i)
{
    if (v->start) return (double)(v->start[i + 1] - v->start[i]);
    double sum = 0;
    for (size_t k = 0; k < v->n_classes; k++) sum += v->counts[i * v->n_classes + k];
    return sum;
}

/* The median is at most twice the mean, so buckets up to there find it, whatever the largest number is. Counts that are
 * not whole are rounded for the median alone. */
typedef struct {
    uint64_t n_items;
    double sum, min, max;
} spread_sums;

/* Of all ranks that have items of their own. */
static dis_status spread_of_all(const votes_input *in, spread_sums *all)
{
    const dis_votes_view *v = &in->view;
    spread_sums own = {.n_items = v->n_items, .min = INFINITY};
    for (size_t i = 0; i < v->n_items; i++) {
        const double n = votes_of(v, i);
        own.sum += n;
        if (n < own.min) own.min = n;
        if (n > own.max) own.max = n;
    }
    *all = (spread_sums){.min = INFINITY};
    for (int r = 0; r < votes_input_count_ranks(in); r++) {
        spread_sums x = own;
        const dis_status status = dis__context_broadcast(in->ctx, r, &x, sizeof x);
        if (status != DIS_OK) return status;
        all->n_items += x.n_items;
        all->sum += x.sum; /* integers, or one rank */
        if (x.min < all->min) all->min = x.min;
        if (x.max > all->max) all->max = x.max;
    }
    return DIS_OK;
}

/* bucket (n) becomes the sum over ranks; room (n). */
static dis_status add_buckets(const votes_input *in, uint64_t *bucket, uint64_t *room, size_t n)
{
    uint64_t *own = room + n;
    memcpy(own, bucket, n * sizeof *own);
    for (int r = 0; r < votes_input_count_ranks(in) && votes_input_count_ranks(in) > 1; r++) {
        memcpy(room, own, n * sizeof *room);
        const dis_status status = dis__context_broadcast(in->ctx, r, room, n * sizeof *room);
        if (status != DIS_OK) return status;
        for (size_t b = 0; b < n; b++) bucket[b] = (r ? bucket[b] : 0) + room[b];
    }
    return DIS_OK;
}

static dis_status measure_spread(const votes_input *in, votes_spread *out)
{
    const dis_votes_view *v = &in->view;
    spread_sums all;
    dis_status status = spread_of_all(in, &all);
    if (status != DIS_OK) return status;
    *out = (votes_spread){.min = all.n_items ? all.min : 0, .max = all.max};
    if (all.n_items == 0) return DIS_OK;
    const double mean = all.sum / (double)all.n_items;
    const size_t n_buckets = mean < 1e7 ? (size_t)(2 * mean) + 3 : 20000003;
    uint64_t *bucket = calloc(3 * n_buckets, sizeof *bucket);
    if (!bucket) return DIS_ELIMIT;
    for (size_t i = 0; i < v->n_items; i++) {
        const double n = votes_of(v, i) + .5;
        bucket[n < (double)n_buckets ? (size_t)n : n_buckets - 1]++;
    }
    status = add_buckets(in, bucket, bucket + n_buckets, n_buckets);
    uint64_t below = 0;
    size_t b = 0;
    while (status == DIS_OK && (below += bucket[b]) * 2 < all.n_items) b++;
    out->median = (double)b;
    free(bucket);
    return status;
}

dis_status votes_input_compute_spread(const votes_input *in, votes_spread *out)
{
    if (votes_input_count_ranks(in) == 1) return measure_spread(in, out);
    *out = in->spread;
    return DIS_OK;
}

int votes_input_read(votes_input *in, dis_context *ctx)
{
    const dis_status status = dis_votes_read(ctx, (const char *const *)in->paths, in->n_paths, &in->how, &in->votes);
    return status == DIS_OK ? votes_input_set(in, ctx) : cli_failed(in->c, status);
}

int votes_input_set(votes_input *in, dis_context *ctx)
{
    in->view = dis_votes_get_view(in->votes);
    in->notes = dis_votes_get_notes(in->votes);
    in->ctx = ctx;
    return votes_input_count_ranks(in) > 1 ? cli_failed(in->c, measure_spread(in, &in->spread)) : 0;
}

/* "%s" in the note stands for the "s" of several. */
static void print_count(cli *c, const char *what, uint64_t n, const char *note)
{
    char number[CLI_NUMBER], line[128];
    const char *s = strstr(note, "%s");
    snprintf(line, sizeof line, "%.*s%s%s", (int)(s ? s - note : 0), note, s ? cli_plural(n) : "", s ? s + 2 : note);
    if (n) cli_print(c, "  %-18s %s %s", what, cli_count_format(n, number), line);
}

static void print_reader(cli *c, const dis_votes_notes *n)
{
    static const char *const readers[][2] = {{"columns", "many rows at a time, by columns"},
                                             {"rows", "one row at a time"},
                                             {"records", "one record at a time, by paths"},
                                             {"counts", "as a table of counts"},
                                             {"mace", "as a table of MACE"}};
    const char *how = n->reader;
    for (size_t i = 0; how && i < sizeof readers / sizeof *readers; i++)
        if (strcmp(n->reader, readers[i][0]) == 0) how = readers[i][1];
    char cause[64] = "";
    if (n->reader_cause) cli_message_format(n->reader_cause, cause, sizeof cause);
    if (how) cli_print(c, "  %-18s %s%s%s", "read", how, *cause ? ", because of " : "", cause);
}

void votes_input_print(votes_input *in)
{
    cli *c = in->c;
    if (c->quiet) return;
    const dis_votes_view *v = &in->view;
    char safe[CLI_SAFE], items[CLI_NUMBER], workers[CLI_NUMBER + 16] = "", votes[CLI_NUMBER], more[64] = "";
    if (v->start) {
        char number[CLI_NUMBER];
        snprintf(workers, sizeof workers, "%s annotator%s, ", cli_count_format(v->n_workers, number),
                 cli_plural(v->n_workers));
    }
    if (in->n_paths > 1) snprintf(more, sizeof more, " and %zu more", in->n_paths - 1);
    const bool own = votes_input_is_scaled(in->v); /* labels are numbers, spans, ...: no classes */
    const char *label = own ? "different label" : "class", *labels = own ? "different labels" : "classes";
    cli_print(c, "%s%s%s%s: %s item%s, %s%zu %s, %s %s%s", cli_bold(c),
              strcmp(in->paths[0], "-") == 0 ? "standard input" : cli_safe(in->paths[0], safe), cli_plain(c), more,
              cli_count_format(v->n_items, items), cli_plural(v->n_items), workers, v->n_classes,
              v->n_classes == 1 ? label : labels, cli_count_format(v->n_votes, votes), v->start ? "vote" : "row",
              cli_plural(v->n_votes));
    votes_spread spread;
    if (votes_input_compute_spread(in, &spread) == DIS_OK) {
        if (spread.min < spread.max)
            cli_print(c, "  %-18s %.6g to %.6g, median %.6g", "votes per item", spread.min, spread.max, spread.median);
        else
            cli_print(c, "  %-18s %.6g", "votes per item", spread.min);
    }
    const dis_votes_notes *n = &in->notes;
    if (c->verbose) print_reader(c, n);
    if (!own) print_count(c, "ties", n->ties, "item%s in which several classes have the most votes");
    print_count(c, "invalid rows", n->bad_rows, "skipped (--lenient)");
    for (size_t i = 0; n->bad_rows && dis_votes_get_skipped_row(in->votes, i); i++) {
        char named[4 * CLI_SAFE];
        cli_message_format(dis_votes_get_skipped_row(in->votes, i), named, sizeof named);
        cli_print(c, "    %s", cli_safe(named, safe));
    }
    print_count(c, "no label", n->missing_labels, "vote%s skipped (--na)");
    print_count(c, "dropped", n->dropped, "row%s skipped (--drop, --keep)");
    static const char *const policy[] = {"", "the first is used", "the last is used", "all are used"};
    char duplicates[64];
    snprintf(duplicates, sizeof duplicates, "repeated vote%%s of an annotator on an item (%s)",
             policy[in->v->duplicates]);
    print_count(c, "duplicates", n->duplicates, duplicates);
    print_count(c, "renormalised", n->renormalised, "row%s that did not sum to 1 rescaled");
    print_count(c, "items skipped", n->items_left_out, "with fewer votes than --min-votes");
    dis_note_kind kind;
    for (size_t i = 0; dis_votes_get_note(in->votes, i, &kind); i++)
        cli_warn(c, "%s", dis_votes_get_note(in->votes, i, &kind));
    if (n->similar_classes)
        cli_warn(c, "similar classes (such as \"0\" and \"0.0\") are different classes; check the label column");
}

static void warn_of_gold(const votes_input *in)
{
    double share, chance;
    bool below;
    if (dis__gold_compare_with_chance(&in->view, in->gold, &share, &chance, &below) == DIS_OK && below)
        cli_warn(
            in->c,
            "%.0f %% of the votes on items with a gold label agree with it, fewer than the %.0f %% of chance: check "
            "the gold file; what is expected of labels and annotators follows it",
            100 * share, 100 * chance);
}

void votes_input_print_gold(votes_input *in, const char *verb)
{
    if (!in->gold || in->c->quiet) return;
    char note[96];
    snprintf(note, sizeof note, "item%%s %s", verb);
    print_count(in->c, "gold", in->n_gold, note);
    print_count(in->c, "gold without votes", in->n_gold_unknown, "item%s of the gold file");
    warn_of_gold(in);
}

void votes_input_warn_no_workers(const votes_input *in, const dis_label_plan *choice)
{
    char views[200] = "";
    size_t n = 0;
    for (size_t m = 0; m < choice->n_views && n < sizeof views; m++)
        n += (size_t)snprintf(views + n, sizeof views - n, "%s%s",
                              m == 0                    ? ""
                              : m + 1 < choice->n_views ? ", "
                                                        : " and ",
                              choice->views[m]);
    cli_warn(in->c, "no annotator ids in this input: methods that need them are not used, %s remain%s", views,
             choice->n_views == 1 ? "s" : "");
}

dis_status votes_input_write_json_files(const votes_input *in, dis__json_writer *j)
{
    dis_status status = DIS_OK;
    for (size_t i = 0; i < in->n_paths && status == DIS_OK; i++) status = cli_input_write(j, in->paths[i], "votes");
    return status;
}

dis_status votes_input_write_json_table(const votes_input *in, dis__json_writer *j)
{
    const dis_votes_view *v = &in->view;
    votes_spread spread;
    const dis_status status = votes_input_compute_spread(in, &spread);
    if (status != DIS_OK) return status;
    size_t n_items, n_votes;
    dis__votes_get_totals(in->votes, &n_items, &n_votes);
    cli_json_write_count(j, "items", n_items);
    if (v->start)
        cli_json_write_count(j, "workers", v->n_workers);
    else
        cli_json_write_text(j, "workers", NULL);
    cli_json_write_count(j, "votes", n_votes);
    cli_json_write_names(j, "classes", v->classes);
    cli_json_write_text(j, "scale", dis_scale_get(votes_input_scale(in->v))->name);
    cli_json_write_bool(j, "ordinal", votes_input_is_ordered(in->v));
    dis__json_writer_key(j, "votes_per_item");
    dis__json_writer_begin_object(j);
    cli_json_write_real(j, "min", spread.min);
    cli_json_write_real(j, "median", spread.median);
    cli_json_write_real(j, "max", spread.max);
    dis__json_writer_end_object(j);
    return DIS_OK;
}

void votes_input_write_json_notes(const votes_input *in, dis__json_writer *j)
{
    const dis_votes_notes *n = &in->notes;
    dis__json_writer_key(j, "notes");
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "rows", n->rows);
    cli_json_write_count(j, "ties", n->ties);
    cli_json_write_count(j, "bad_rows", n->bad_rows);
    cli_json_write_count(j, "na", n->missing_labels);
    cli_json_write_count(j, "dropped", n->dropped);
    cli_json_write_count(j, "duplicates", n->duplicates);
    cli_json_write_count(j, "renormalised", n->renormalised);
    cli_json_write_count(j, "items_left_out", n->items_left_out);
    cli_json_write_bool(j, "similar_classes", n->similar_classes);
    char cause[64] = "";
    if (n->reader_cause) cli_message_format(n->reader_cause, cause, sizeof cause);
    cli_json_write_text(j, "reader", n->reader);
    cli_json_write_text(j, "reader_cause", *cause ? cause : NULL);
    cli_json_write_count(j, "gold", in->n_gold);
    cli_json_write_count(j, "gold_without_votes", in->n_gold_unknown);
    dis__json_writer_end_object(j);
}
