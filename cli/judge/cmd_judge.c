/* dissent judge: certify a judge, check later votes against the certificate, choose items to label. */
#include "tool/arrays.h"
#include "tool/files.h"
#include "judge/cmd_judge.h"
#include "input/swapped_input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(kind, field, name, ...) CLI_OPTION(judge_values, kind, field, name, __VA_ARGS__)
#define BOUND(kind, name, low_, text)                                                                                 \
    OPTION(REAL, bound[DIS_REQUIRE_##kind], name, .argument = "X", .fallback = "none", .none = "none", .low = (low_), \
           .high = 1, CLI_HELP(STATISTICS, text))

/* clang-format off */
static const cli_option options[] = {
    CLI_VOTER_TYPE_OPTIONS(judge_values, voters),
    OPTION(TEXT, judge, "judge", .argument = "NAME",
           CLI_HELP(GROUPS, "annotator id of the judge; without --voter-type and --people, all others are people")),
    CLI_VOTER_TABLE_OPTIONS(judge_values, voters),
    OPTION(TEXT, prompt, "prompt", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "prompt of the judge; its SHA-256 is part of the certificate")),
    OPTION(TEXT, guideline, "guideline", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "annotation guideline; its SHA-256 is part of the certificate")),
    OPTION(TEXT, weights, "weights", .argument = "FILE", .names = CLI_NAMES_FILE,
           CLI_HELP(INPUT, "certify: weights of items (columns task and weight), as written by judge sample")),
    OPTION(TEXT, length, "length", .argument = "COLUMN",
           CLI_HELP(INPUT, "certify: numeric column of the votes, e.g. the length of the answer; tests for length bias")),
    OPTION(TEXT, family, "family", .argument = "COLUMN=VALUE",
           CLI_HELP(INPUT, "certify: items of the judge's own family; tests for preference of them")),
    CLI_SWAPPED_OPTIONS(judge_values),
    OPTION(TEXT, score, "score", .argument = "COLUMN",
           CLI_HELP(INPUT, "sample: numeric column with the confidence of the judge")),
    OPTION(COUNT, n, "n", .letter = 'n', .argument = "N", .fallback = "100", .low = 1, .high = 1e9,
           CLI_HELP(METHOD, "sample: number of items to choose")),
    OPTION(COUNT, seed, "seed", .argument = "N", .fallback = "0"),
    BOUND(KAPPA, "min-kappa", -1, "required kappa of the judge and a person"),
    BOUND(ALPHA, "min-alpha", -1, "required Krippendorff's alpha of the judge and a person"),
    BOUND(AC1, "min-ac1", -1, "required Gwet's AC1 of the judge and a person"),
    BOUND(AGREEMENT, "min-agreement", 0, "required share of equal answers of the judge and a person"),
    BOUND(DIFFERENCE, "min-difference", -2, "required kappa of the judge minus kappa of two people, e.g. -.1"),
    BOUND(CONSISTENCY, "min-consistency", 0, "required share of equal answers among repeated votes of the judge"),
    BOUND(BIAS, "max-bias", 0, "largest bias of a class that is accepted"),
    OPTION(FLAG, alt_test, "alt-test", CLI_HELP(STATISTICS, "require that the alternative-annotator test is passed")),
    CLI_ALTERNATIVE_TEST_OPTIONS(judge_values),
    OPTION(REAL, half_width, "half-width", .argument = "X", .fallback = ".05", .low = 1e-6, .high = 1),
    OPTION(REAL, level, "level", .argument = "X", .fallback = ".05", .low = 1e-9, .high = .5,
           CLI_HELP(STATISTICS, "check: probability of a false alarm over any number of looks")),
    OPTION(TEXT, output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           CLI_HELP(OUTPUT, "certify: certificate (JSON); check, sample: table [standard output for a table]")),
    OPTION(TEXT, page, "page", .argument = "FILE", .names = CLI_NAMES_OUTPUT, CLI_SHARED_HELP),
    OPTION(TEXT, junit, "junit", .argument = "FILE", .names = CLI_NAMES_OUTPUT,
           CLI_HELP(OUTPUT, "certify, check: write requirements or checks as JUnit XML for CI systems")),
    CLI_OUTPUT_OPTION(judge_values, json, "json", "json", CLI_SHARED_HELP),
    CLI_VOTES_OPTIONS(judge_values, reading),
    CLI_COMMON_OPTIONS(judge_values),
};
/* clang-format on */

static const struct {
    const char *name;
    size_t files; /* before the votes */
    int (*act)(judge_command *job);
} actions[] = {
    {"certify", 0, judge_certify},
    {"check", 1, judge_check},
    {"sample", 0, judge_sample},
};
enum { N_ACTIONS = sizeof actions / sizeof *actions };

/* ---- shared by the actions ---- */

int judge_file_hash(judge_command *job, const char *path, char hex[65])
{
    hex[0] = 0;
    return cli_unhashed_reason(path) ? 0 : cli_failed(job->c, dis__file_sha256(path, hex));
}

/* A text as a number; NaN for an empty one. */
static bool parse_number(const char *text, double *out)
{
    char *end;
    *out = NAN;
    if (!*text) return true;
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

int judge_column_read(judge_command *job, const char *option, const char *column, const char *equals, double **out)
{
    const size_t n = job->in.view.n_items;
    dis_names *text = NULL;
    size_t found = 0;
    int code = cli_failed(job->c, dis_votes_read_texts(job->ctx, (const char *const *)job->in.paths, job->in.n_paths,
                                                       &job->in.how, &column, 1, job->in.view.tasks, &text, &found));
    if (code != 0) return code;
    if (found == 0) code = cli_usage(job->c, "--%s: no item has a value in the column \"%s\"", option, column);
    *out = code == 0 ? malloc((n ? n : 1) * sizeof **out) : NULL;
    if (code == 0 && !*out) code = cli_error(job->c, DIS_ELIMIT, "no memory for %zu items", n);
    for (size_t i = 0; code == 0 && i < n; i++) {
        const char *value = dis_names_get(text, i, NULL);
        if (equals)
            (*out)[i] = *value ? strcmp(value, equals) == 0 : (double)NAN;
        else if (!parse_number(value, &(*out)[i]))
            code = cli_error(job->c, DIS_EDATA, "%s: column \"%s\" of item \"%s\" is \"%.40s\", which is not a number",
                             job->in.paths[0], column, dis_names_get(job->in.view.tasks, i, NULL), value);
    }
    dis_names_destroy(text);
    return code;
}

int judge_weights_read(judge_command *job, const char *path, const char *column, double missing, double **out)
{
    const size_t n = job->in.view.n_items;
    dis_items_options how = dis_items_options_default();
    dis_items *items = NULL;
    dis_names *text = NULL;
    size_t found = 0;
    how.kind = DIS_ITEMS_TEXT;
    how.columns = &column;
    how.n_columns = 1;
    dis_status status = dis_items_read(job->ctx, path, &how, &items);
    if (status == DIS_OK) status = dis_items_get_texts(items, job->in.view.tasks, &text, &found);
    dis_items_destroy(items);
    int code = cli_failed(job->c, status);
    if (code == 0 && found == 0)
        code =
            cli_error(job->c, DIS_EDATA, "%s: none of its items has votes; check that the item ids are the same", path);
    *out = code == 0 ? malloc((n ? n : 1) * sizeof **out) : NULL;
    if (code == 0 && !*out) code = cli_error(job->c, DIS_ELIMIT, "no memory for %zu items", n);
    for (size_t i = 0; code == 0 && i < n; i++) {
        const char *value = dis_names_get(text, i, NULL);
        if (!parse_number(value, &(*out)[i]))
            code = cli_error(job->c, DIS_EDATA, "%s: the %s of item \"%s\" is \"%.40s\", which is not a number", path,
                             column, dis_names_get(job->in.view.tasks, i, NULL), value);
        else if (isnan((*out)[i]))
            (*out)[i] = missing;
    }
    dis_names_destroy(text);
    return code;
}

int judge_position_read(judge_command *job, uint32_t judge, dis_position_bias *row, bool *found)
{
    const judge_values *v = job->v;
    const swapped_input in = {&v->swapped, &v->mirror, v->first, &job->reading};
    dis_position_bias *rows;
    size_t n;
    const int code = swapped_input_read(&in, job->ctx, &job->in, &rows, &n);
    *found = false;
    for (size_t r = 0; code == 0 && r < n; r++)
        if (rows[r].worker == judge) {
            *row = rows[r];
            *found = true;
        }
    if (code == 0 && v->swapped.n && !*found)
        cli_warn(job->c, "the judge judged no pair in both orders; position bias is unknown");
    dis_free(rows);
    return code;
}

/* ---- votes ---- */

/* Without --voter-type and --people, everyone but --judge is a person. */
static int mark_people(judge_command *job)
{
    const judge_values *v = job->v;
    const size_t n = job->in.view.n_workers;
    if (voters_input_is_given(&v->voters)) {
        const int code = voters_input_read(&job->voters, job->ctx, &job->in);
        job->person = job->voters.person;
        return code;
    }
    job->person = job->voters.person = calloc(n ? n : 1, sizeof *job->person);
    if (!job->person) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu annotators", n);
    bool found = false;
    for (size_t w = 0; w < n; w++) {
        const bool judge = strcmp(dis_names_get(job->in.view.workers, w, NULL), v->judge) == 0;
        job->person[w] = !judge;
        found = found || judge;
    }
    return found ? 0 : cli_usage(job->c, "--judge: no annotator is called \"%s\"", v->judge);
}

static int check_options(judge_command *job, size_t a)
{
    const judge_values *v = job->v;
    const char *name = actions[a].name;
    const bool certify = actions[a].act == judge_certify, sample = actions[a].act == judge_sample;
    if (!voters_input_is_given(&v->voters) && !v->judge)
        return cli_usage(job->c, "people and the judge are not marked; give --voter-type COLUMN, --people A,B,... or "
                                 "--judge NAME");
    const char *certify_only = v->weights     ? "weights"
                               : v->length    ? "length"
                               : v->family    ? "family"
                               : v->swapped.n ? "swapped"
                               : v->page      ? "page"
                                              : NULL;
    if (!certify && certify_only) return cli_usage(job->c, "--%s is for certify, not for %s", certify_only, name);
    if (!sample && v->score) return cli_usage(job->c, "--score is for sample, not for %s", name);
    if (sample && v->junit) return cli_usage(job->c, "--junit is for certify and check, not for %s", name);
    if (v->swapped.n == 0 && (v->mirror.n || v->first))
        return cli_usage(job->c, "--%s needs pairs judged in both orders; add --swapped FILE",
                         v->mirror.n ? "mirror" : "first");
    if (v->family && !strchr(v->family, '='))
        return cli_usage(job->c, "--family: expected COLUMN=VALUE, not \"%s\"", v->family);
    return 0;
}

static int act(judge_command *job, size_t a)
{
    int code = check_options(job, a);
    if (code == 0) code = votes_input_check(&job->in);
    if (code == 0) code = cli_failed(job->c, cli_context_create(job->c, &job->v->common, &job->ctx));
    if (code == 0) code = votes_input_read(&job->in, job->ctx);
    if (code == 0) code = mark_people(job);
    return code == 0 ? actions[a].act(job) : code;
}

static const char *action_name(const void *arg, size_t i)
{
    (void)arg;
    return i < N_ACTIONS ? actions[i].name : NULL;
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    const judge_values *v = values;
    size_t a = 0;
    while (a < N_ACTIONS && strcmp(actions[a].name, operands[0]) != 0) a++;
    if (a == N_ACTIONS) {
        const char *near = dis__name_find_nearest(operands[0], action_name, NULL);
        return cli_usage(c, "no action \"%s\"; the actions are certify, check and sample%s%s%s", operands[0],
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    const size_t before = 1 + actions[a].files;
    if (n_operands <= before)
        return cli_usage(c, actions[a].files ? "%s takes a CERTIFICATE and VOTES" : "%s takes VOTES", operands[0]);
    judge_command job = {.c = c, .v = v, .reading = v->reading, .certificate = operands[1]};
    if (job.reading.duplicates == DIS_DUPLICATES_ERROR) job.reading.duplicates = DIS_DUPLICATES_ALL;
    job.in = (votes_input){.c = c, .v = &job.reading, .paths = operands + before, .n_paths = n_operands - before};
    job.voters = (voters_input){.c = c, .v = &v->voters};
    const int code = act(&job, a);
    voters_input_free(&job.voters);
    votes_input_free(&job.in);
    dis_context_destroy(job.ctx);
    return code;
}

extern const cli_command cli_cmd_judge;
const cli_command cli_cmd_judge = {
    .name = "judge",
    .section = CLI_CHECK,
    .summary = "certify an LLM judge against people, and detect drift",
    .operands = "certify|check|sample [CERTIFICATE] VOTES...",
    .text =
        "certify: compares one judge with people, and writes a certificate with:\n"
        "- agreement with people, compared with that of people with each other and of a judge that always gives the "
        "same answer\n"
        "- the alternative-annotator test, bias per class and corrected class shares\n"
        "- consistency of repeated votes\n"
        "- with the columns: length bias, preference of the own family, position bias\n\n"
        "Options --min-... and --max-bias set requirements. A requirement is met if the whole 95 % interval meets it; "
        "otherwise the exit code is 7.\n\n"
        "check CERTIFICATE VOTES...: compares later votes with a certificate: agreement with people, class shares and "
        "bias. Items are used in the order of the file. The check may be repeated after every new vote: the "
        "probability of a false alarm stays below --level. The exit code is 7 if something has changed. Another prompt "
        "(--prompt) than the certified one, and the certified votes themselves, are errors.\n\n"
        "sample: chooses items that people should label next, by the answer of the judge and its score, with weights "
        "for --weights.",
    .examples = "  dissent judge certify votes.csv --judge gpt --prompt prompt.txt -o gpt.json --page gpt.html\n"
                "  dissent judge certify votes.csv --voter-type kind --min-kappa .6 --junit judge.xml\n"
                "  dissent judge check gpt.json new-votes.csv --voter-type kind --prompt prompt.txt\n"
                "  dissent judge sample votes.csv --judge gpt --score confidence -n 200 -o to-label.csv\n",
    .basic = "task,worker,label|judge|voter-type|people|prompt|min-kappa|max-bias|output|page|junit",
    .names = CLI_NAMES_FILE,
    .words = "certify|check|sample",
    .min = 2,
    .max = SIZE_MAX,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(judge_values),
    .run = run,
};
