/* dissent convert --to trl: pairwise votes as a preference dataset with soft targets.
 *
 * The rows are those of the table "preferences" (src/scaled/pairs/pair_preferences.c); `chosen` is the answer with the
 * larger probability. Texts of the answers come from columns of the votes, or from a table of task, thing and text. The
 * votes show a pair in one order or in both, so columns are looked up for both. Cost: a pass over the file per text and
 * order. */
#include "tool/table_writer.h"
#include "labels/cmd_convert.h"
#include "labels/scaled_command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "bradley-terry"
#define PART  "\x1f" /* between the parts of a task of two things */
/* Columns of --answers-file that name an answer. */
#define THING "thing|candidate|answer_id|model|model_id|a"

enum { MAX_CAMPS = 8, FIXED_COLUMNS = 11 };

typedef enum { AS_LISTED, EXCHANGED, ORDERS } order;

typedef struct {
    scaled_command *job;
    const convert_values *v;
    dis_context *ctx;
    size_t n;
    const dis_scaled_column *task, *thing[2];
    const double *votes[3], *p_a, *camp[MAX_CAMPS];
    size_t n_camps;
    dis_names *key[ORDERS];                        /* (n) task and both things, in either order */
    dis_names *prompt[ORDERS], *answer[2][ORDERS]; /* (n) texts, empty: none; NULL: not read */
    dis_names *file_text;                          /* of --answers-file, by distinct key; NULL: not read */
    size_t *slot;                                  /* (2, n) index of the text of a thing of a row */
} preferences;

static const char *name_of(const dis_scaled_column *c, size_t i)
{
    return dis_names_get(c->names, c->index[i], NULL);
}

/* ---- keys ---- */

typedef void format_name(const preferences *x, size_t i, int which, char *to, size_t size);

typedef struct {
    char *text;
    size_t at;
} keyed;

/* A text for each row and each of `n_sides` things; first: the number of the first side. */
static int format_keys(const preferences *x, format_name *format, int first, int n_sides, keyed **out)
{
    enum { ROOM = 8192 };
    const size_t n = x->n * (size_t)n_sides;
    keyed *key = calloc(n ? n : 1, sizeof *key);
    char *room = malloc(ROOM);
    bool enough = key && room;
    for (size_t i = 0; i < n && enough; i++) {
        format(x, i % x->n, first + (int)(i / x->n), room, ROOM);
        key[i] = (keyed){strdup(room), i};
        enough = key[i].text != NULL;
    }
    free(room);
    *out = key;
    return enough ? 0 : cli_error(x->job->c, DIS_ELIMIT, "no memory for %zu names", n);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const keyed *)a)->text, ((const keyed *)b)->text);
}

/* The names that `format` gives. With `slot`, those of both things of all rows, each once; slot (2, n) gets the index
 * of each. Without, those of the rows with `which` as the first thing. */
static int make_names(const preferences *x, format_name *format, int which, size_t *slot, dis_names **out)
{
    const size_t n = slot ? 2 * x->n : x->n;
    const char **text = calloc(n ? n : 1, sizeof *text);
    keyed *key = NULL;
    size_t n_names = 0;
    int code = text ? 0 : cli_error(x->job->c, DIS_ELIMIT, "no memory for %zu names", n);
    if (code == 0) code = format_keys(x, format, which, slot ? 2 : 1, &key);
    if (code == 0) {
        if (slot) qsort(key, n, sizeof *key, by_text);
        for (size_t i = 0; i < n; i++) {
            if (!slot || i == 0 || by_text(&key[i - 1], &key[i]) != 0) text[n_names++] = key[i].text;
            if (slot) slot[key[i].at] = n_names - 1;
        }
        code = cli_failed(x->job->c, dis_names_create(text, n_names, out));
    }
    for (size_t i = 0; key && i < n; i++) free(key[i].text);
    free(key);
    free(text);
    return code;
}

static void format_key(const preferences *x, size_t i, int which, char *to, size_t size)
{
    const char *task = name_of(x->task, i), *a = name_of(x->thing[which], i), *b = name_of(x->thing[!which], i);
    snprintf(to, size, "%s%s%s" PART "%s", task, *task ? PART : "", a, b);
}

static void format_thing(const preferences *x, size_t i, int which, char *to, size_t size)
{
    snprintf(to, size, "%s", name_of(x->thing[which], i));
}

static void format_task_and_thing(const preferences *x, size_t i, int which, char *to, size_t size)
{
    snprintf(to, size, "%s/%s", name_of(x->task, i), name_of(x->thing[which], i));
}

/* ---- texts ---- */

/* Texts of the rows whose things the votes have in this order. */
static int read_columns(const preferences *x, const char *const *column, size_t n, order which, dis_names **out)
{
    const votes_input *in = &x->job->in;
    size_t found;
    return cli_failed(x->job->c, dis_votes_read_texts(x->ctx, (const char *const *)in->paths, in->n_paths, &in->how,
                                                      column, n, x->key[which], out, &found));
}

/* --answers A,B: the first column is the text of the thing that the votes have in column a. */
static int read_answer_columns(preferences *x)
{
    const char *comma = strchr(x->v->answers, ',');
    char first[CLI_SAFE], second[CLI_SAFE];
    const char *const column[2] = {first, second};
    snprintf(first, sizeof first, "%.*s", (int)(comma - x->v->answers), x->v->answers);
    snprintf(second, sizeof second, "%s", comma + 1);
    int code = 0;
    for (int side = 0; side < 2 && code == 0; side++) {
        code = read_columns(x, &column[side], 1, AS_LISTED, &x->answer[side][AS_LISTED]);
        if (code == 0) code = read_columns(x, &column[!side], 1, EXCHANGED, &x->answer[side][EXCHANGED]);
    }
    return code;
}

static dis_status read_answers(const preferences *x, const char *task, const dis_names *names, dis_names **out)
{
    static const char *const text = "text";
    dis_votes_options o = dis_votes_options_default();
    size_t found;
    o.task = task;
    return dis_votes_read_texts(x->ctx, &x->v->answers_file, 1, &o, &text, 1, names, out, &found);
}

/* Rows of the file that `path` names, for the names of `format`. */
static int read_keyed(preferences *x, format_name *format, const char *path, dis_status *status)
{
    dis_names *key = NULL;
    const int code = make_names(x, format, 0, x->slot, &key);
    if (code == 0) *status = read_answers(x, path, key, &x->file_text);
    dis_names_destroy(key);
    return code;
}

/* --answers-file: rows of a task and a thing, or of a thing alone. */
static int read_file(preferences *x)
{
    const char *task = x->job->in.v->task;
    char path[CLI_SAFE + 100];
    dis_status status = DIS_EDATA;
    x->slot = calloc(x->n ? 2 * x->n : 1, sizeof *x->slot);
    if (!x->slot) return cli_error(x->job->c, DIS_ELIMIT, "no memory for %zu texts", 2 * x->n);
    snprintf(path, sizeof path, "%s + " THING, task ? task : "");
    int code = task ? read_keyed(x, format_task_and_thing, path, &status) : 0;
    if (code == 0 && status != DIS_OK) code = read_keyed(x, format_thing, THING, &status);
    return code == 0 ? cli_failed(x->job->c, status) : code;
}

static int read_prompts(preferences *x)
{
    const cli_texts_values *texts = &x->v->texts;
    int code = 0;
    if (texts->path) return texts_input_read(x->job->c, x->ctx, texts, &x->job->in, x->key[AS_LISTED], x->prompt);
    for (int which = 0; texts->text.n && which < ORDERS && code == 0; which++)
        code = read_columns(x, texts->text.value, texts->text.n, (order)which, &x->prompt[which]);
    return code;
}

/* The text of a row in the order of the votes that have one; NULL: none. */
static const char *text_of(dis_names *const text[ORDERS], size_t i)
{
    for (int which = 0; which < ORDERS; which++) {
        const char *found = text[which] ? dis_names_get(text[which], i, NULL) : "";
        if (*found) return found;
    }
    return NULL;
}

static const char *answer_text(const preferences *x, int side, size_t i)
{
    if (!x->file_text) return text_of(x->answer[side], i);
    const char *text = dis_names_get(x->file_text, x->slot[(size_t)side * x->n + i], NULL);
    return *text ? text : NULL;
}

/* ---- rows ---- */

static int fail_missing(const preferences *x, size_t i, const char *what)
{
    char a[CLI_SAFE], b[CLI_SAFE];
    return cli_error(x->job->c, DIS_EDATA, "no text of %s in \"%s\"; add it to %s, or leave such pairs out (--lenient)",
                     what, cli_safe(name_of(x->task, i), a),
                     x->v->answers_file ? cli_safe(x->v->answers_file, b) : "the votes");
}

/* Whether row i has all texts; otherwise an error, unless they may be missing. */
static int check_texts(const preferences *x, size_t i, bool *complete)
{
    char safe[CLI_SAFE], what[CLI_SAFE + 20];
    *complete = true;
    for (int side = 0; side < 2; side++) {
        if (answer_text(x, side, i)) continue;
        *complete = false;
        snprintf(what, sizeof what, "answer \"%s\"", cli_safe(name_of(x->thing[side], i), safe));
        if (!x->v->reading.lenient) return fail_missing(x, i, what);
    }
    if (x->prompt[AS_LISTED] && !text_of(x->prompt, i)) {
        *complete = false;
        if (!x->v->reading.lenient) return fail_missing(x, i, "the prompt");
    }
    return 0;
}

static void put_text(const preferences *x, dis__table_writer *t, const char *role, const char *text)
{
    if (x->v->conversational)
        dis__table_writer_message(t, role, text, strlen(text));
    else
        dis__table_writer_text(t, text, strlen(text));
}

static void put_name(dis__table_writer *t, const char *name)
{
    dis__table_writer_text(t, name, strlen(name));
}

static void put_row(const preferences *x, size_t i, int chosen, dis__table_writer *t)
{
    const int rejected = !chosen;
    const double p = chosen ? 1 - x->p_a[i] : x->p_a[i];
    const double won = x->votes[chosen][i], lost = x->votes[rejected][i], tied = x->votes[2][i];
    if (x->prompt[AS_LISTED]) put_text(x, t, "user", text_of(x->prompt, i));
    put_text(x, t, "assistant", answer_text(x, chosen, i));
    put_text(x, t, "assistant", answer_text(x, rejected, i));
    dis__table_writer_real(t, p);
    dis__table_writer_real(t, (won + tied / 2) / (won + lost + tied));
    if (x->v->margin) dis__table_writer_real(t, log(p / (1 - p)));
    put_name(t, name_of(x->task, i));
    put_name(t, name_of(x->thing[chosen], i));
    put_name(t, name_of(x->thing[rejected], i));
    dis__table_writer_count(t, (uint64_t)won);
    dis__table_writer_count(t, (uint64_t)lost);
    dis__table_writer_count(t, (uint64_t)tied);
    for (size_t k = 0; k < x->n_camps; k++) dis__table_writer_real(t, chosen ? 1 - x->camp[k][i] : x->camp[k][i]);
}

/* One row, or one per vote that is no tie; how many. */
static size_t put_rows(const preferences *x, size_t i, dis__table_writer *t)
{
    size_t n = 0;
    if (!x->v->per_vote) {
        put_row(x, i, x->p_a[i] < .5, t);
        return 1;
    }
    for (int side = 0; side < 2; side++)
        for (double vote = 0; vote < x->votes[side][i]; vote++, n++) put_row(x, i, side, t);
    return n;
}

static dis_status open_table(const preferences *x, dis__table_writer **out)
{
    static const char *const camps[MAX_CAMPS] = {"p_chosen_camp_1", "p_chosen_camp_2", "p_chosen_camp_3",
                                                 "p_chosen_camp_4", "p_chosen_camp_5", "p_chosen_camp_6",
                                                 "p_chosen_camp_7", "p_chosen_camp_8"};
    static const char *const last[] = {"task", "chosen_name", "rejected_name", "for_chosen", "for_rejected", "ties"};
    const char *column[FIXED_COLUMNS + 1 + MAX_CAMPS];
    size_t n = 0;
    if (x->prompt[AS_LISTED]) column[n++] = "prompt";
    column[n++] = "chosen";
    column[n++] = "rejected";
    column[n++] = "p_chosen";
    column[n++] = "share_chosen";
    if (x->v->margin) column[n++] = "margin";
    for (size_t k = 0; k < sizeof last / sizeof *last; k++) column[n++] = last[k];
    for (size_t k = 0; k < x->n_camps; k++) column[n++] = camps[k];
    return dis__table_writer_create(x->v->output ? x->v->output : "-", "jsonl", column, n, out);
}

static int write_rows(const preferences *x)
{
    cli *c = x->job->c;
    dis__table_writer *t;
    size_t n = 0, n_incomplete = 0, n_even = 0, n_small = 0, n_tied = 0;
    char number[CLI_NUMBER], safe[CLI_SAFE];
    int code = cli_failed(c, open_table(x, &t));
    if (code != 0) return code;
    for (size_t i = 0; i < x->n && code == 0; i++) {
        bool complete;
        const double p = fmax(x->p_a[i], 1 - x->p_a[i]);
        if (p < x->v->min_preference) {
            n_small++;
            continue;
        }
        code = check_texts(x, i, &complete);
        n_incomplete += !complete;
        if (code != 0 || !complete) continue;
        n += put_rows(x, i, t);
        n_even += p < .6;
        n_tied += x->v->per_vote ? (size_t)x->votes[2][i] : 0;
    }
    const dis_status status = dis__table_writer_finish(t, code == 0 ? DIS_OK : DIS_EDATA);
    if (code != 0) return code;
    if (status != DIS_OK) return cli_failed(c, status);
    cli_print(c, "%s: %s row%s for trl", x->v->output ? cli_safe(x->v->output, safe) : "standard output",
              cli_count_format(n, number), cli_plural(n));
    cli_print(c, "  %-18s %s pair%s with p_chosen below .6", "even", cli_count_format(n_even, number),
              cli_plural(n_even));
    if (n_tied) cli_print(c, "  %-18s %s tie%s", "skipped", cli_count_format(n_tied, number), cli_plural(n_tied));
    if (n_small)
        cli_print(c, "  %-18s %s pair%s below --min-preference", "skipped", cli_count_format(n_small, number),
                  cli_plural(n_small));
    if (n_incomplete)
        cli_print(c, "  %-18s %s pair%s without a text", "skipped", cli_count_format(n_incomplete, number),
                  cli_plural(n_incomplete));
    return 0;
}

/* ---- the command ---- */

static const dis_scaled_column *find_column(const dis_scaled_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0) return &t->columns[i];
    return NULL;
}

static void list_columns(preferences *x, const dis_scaled_table *t)
{
    char name[24];
    const dis_scaled_column *camp;
    x->n = t->n_rows;
    x->task = find_column(t, "task");
    x->thing[0] = find_column(t, "a");
    x->thing[1] = find_column(t, "b");
    x->votes[0] = find_column(t, "for_a")->values;
    x->votes[1] = find_column(t, "for_b")->values;
    x->votes[2] = find_column(t, "ties")->values;
    x->p_a = find_column(t, "p_a")->values;
    for (; x->n_camps < MAX_CAMPS; x->n_camps++) {
        snprintf(name, sizeof name, "p_a_camp_%zu", x->n_camps + 1);
        if (!(camp = find_column(t, name))) break;
        x->camp[x->n_camps] = camp->values;
    }
}

static int write_preferences(scaled_command *job, dis_context *ctx, const dis_scaled *result)
{
    preferences x = {.job = job, .v = job->user, .ctx = ctx};
    list_columns(&x, dis_scaled_find_table(result, "preferences"));
    int code = 0;
    for (int which = 0; which < ORDERS && code == 0; which++)
        code = make_names(&x, format_key, which, NULL, &x.key[which]);
    if (code == 0) code = read_prompts(&x);
    if (code == 0) code = x.v->answers ? read_answer_columns(&x) : read_file(&x);
    if (code == 0) code = write_rows(&x);
    dis_names_destroy(x.file_text);
    free(x.slot);
    for (int which = 0; which < ORDERS; which++) {
        dis_names_destroy(x.key[which]);
        dis_names_destroy(x.prompt[which]);
        for (int side = 0; side < 2; side++) dis_names_destroy(x.answer[side][which]);
    }
    return code;
}

static int check(cli *c, const convert_values *v, char *const *paths, size_t n_paths)
{
    const char *comma = v->answers ? strchr(v->answers, ',') : NULL;
    if (v->answers && v->answers_file)
        return cli_usage(c, "--answers and --answers-file cannot be combined; leave one of them out");
    if (!v->answers && !v->answers_file)
        return cli_usage(c, "--to trl needs the texts of the answers; add --answers A,B or --answers-file FILE");
    if (v->answers && (!comma || comma == v->answers || !comma[1]))
        return cli_usage(c, "--answers takes two columns A,B, not \"%s\"", v->answers);
    for (size_t i = 0; i < n_paths && (v->answers || (v->texts.text.n && !v->texts.path)); i++)
        if (cli_unhashed_reason(paths[i]))
            return cli_usage(c, "--%s reads the votes again, but %s; name a file", v->answers ? "answers" : "text",
                             cli_unhashed_reason(paths[i]));
    if (v->per_vote && v->margin)
        return cli_usage(c, "--per-vote and --margin cannot be combined; leave one of them out");
    if (v->method.n && strncmp(v->method.value[0], MODEL, strlen(MODEL)) != 0)
        return cli_usage(c, "--to trl has one model of the votes, " MODEL ", not \"%s\"", v->method.value[0]);
    if (v->method.n > 1) return cli_usage(c, "--to trl has one model of the votes; give --method once");
    return 0;
}

int convert_to_trl(cli *c, const convert_values *v, char **operands, size_t n_operands)
{
    const char *given = v->method.n ? v->method.value[0] : MODEL;
    int code = check(c, v, operands, n_operands);
    if (code != 0) return code;
    const size_t size = strlen(given) + 32;
    char *spec = malloc(size);
    if (!spec) return cli_error(c, DIS_ELIMIT, "no memory");
    snprintf(spec, size, "%s%cpreferences=yes", given, strchr(given, ':') ? ',' : ':');
    cli_list *method = calloc(1, sizeof *method);
    cli_votes_values reading = v->reading;
    reading.scale = DIS_SCALE_PAIRWISE;
    if (method) {
        method->n = 1;
        method->value[0] = spec;
        scaled_command job = {.c = c,
                              .command = &cli_cmd_convert,
                              .common = &v->common,
                              .in = {.c = c, .v = &reading, .paths = operands, .n_paths = n_operands},
                              .method = method,
                              .covariates = &v->covariate,
                              .groups = &v->groups,
                              .seed = v->seed,
                              .table = "preferences",
                              .write = write_preferences,
                              .user = v};
        code = scaled_command_run(&job);
    } else {
        code = cli_error(c, DIS_ELIMIT, "no memory");
    }
    free(method);
    free(spec);
    return code;
}
