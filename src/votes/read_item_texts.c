/* Texts of items from the files of votes: exports of annotation tools contain both. The mapper reads the records once
 * per text, with the path of the text instead of that of the label; the first record of an item counts. Cost: a pass
 * over the files for each text. */
#include "dissent/votes.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/options/sized_structs.h"
#include "io/input/text_format.h"
#include "votes/roles/column_roles.h"
#include <stdio.h>

typedef struct {
    dis__name_index tasks;
    size_t n;
    char **text; /* (n), NULL: not found yet */
    bool *seen;  /* (n) in this pass */
} texts_found;

static dis_status append(char **text, const char *more, size_t n)
{
    static const char between[] = " / ";
    const size_t before = *text ? strlen(*text) + sizeof between - 1 : 0;
    char *joined;
    DIS_TRY(dis__alloc_array(&joined, before + n + 1, 1));
    if (*text) snprintf(joined, before + 1, "%s%s", *text, between);
    memcpy(joined + before, more, n);
    joined[before + n] = 0;
    dis__free(*text);
    *text = joined;
    return DIS_OK;
}

static dis_status add_text(void *user, const dis__answer *answer, dis__row_problem *problem)
{
    texts_found *t = user;
    (void)problem;
    const size_t i = dis__name_index_find(&t->tasks, answer->task.text, answer->task.n);
    if (i == SIZE_MAX || t->seen[i] || answer->n_labels == 0) return DIS_OK;
    t->seen[i] = true;
    const dis__vote_field *value = &answer->label[0].value;
    return value->n ? append(&t->text[i], value->text, value->n) : DIS_OK;
}

/* ---- where texts are ---- */

static bool is_path(const char *name)
{
    return strchr(name, '.') || dis__path_is_special(name, true);
}

/* `pattern` with the name, in quotes, in place of "@". */
static void put_name(const char *pattern, const char *name, char *out, size_t size)
{
    const char *at = strchr(pattern, '@');
    snprintf(out, size, "%.*s\"%s\"%s", (int)(at - pattern), pattern, name, at + 1);
}

static dis_status choose_path(const dis_votes_preset *p, const char *name, char *out, size_t size)
{
    if (!name && p && !p->text)
        return dis__fail(DIS_EUSAGE,
                         "preset %s: the preset has no path of texts; name their path with `text`, or another "
                         "file with `texts`",
                         p->name);
    if (name && p && p->text_template && !is_path(name))
        put_name(p->text_template, name, out, size);
    else
        snprintf(out, size, "%s", name ? name : p ? p->text : "text");
    return DIS_OK;
}

static bool has_parts(const dis_votes_options *o)
{
    return o->scale == DIS_SCALE_PAIRWISE || o->scale == DIS_SCALE_SPANS;
}

/* The options of votes, made those of a table of items and texts. A task of several parts is a path here already. */
static void use_for_texts(dis_votes_options *o, const dis_votes_preset *p, const char *path)
{
    if (!o->task) o->task = p && p->task ? p->task : "task";
    if (p && !o->format) o->format = p->format;
    if (p && !o->records) o->records = p->records;
    o->no_header = o->no_header || (p && p->no_header);
    o->input = DIS_INPUT_VOTES;
    if (!has_parts(o)) o->scale = DIS_SCALE_NOMINAL;
    o->worker = "#"; /* one record per answer */
    o->label = path;
    o->time = NULL;
    o->n_drop = o->n_keep = 0;
}

/* ---- reading ---- */

/* Messages about the label are about the text here. */
static dis_status fail_about_text(void)
{
    char message[DIS_MESSAGE];
    const char *original = dis_last_error(), *at = strstr(original, "`label`");
    if (!at) return DIS_EDATA;
    snprintf(message, sizeof message, "%.*s`text`%s", (int)(at - original), original, at + strlen("`label`"));
    return dis__fail(DIS_EDATA, "%s", message);
}

static dis_status read_pass(dis__reader *r, texts_found *t)
{
    dis__mapping mapping;
    DIS_TRY(dis__mapping_init(&r->o, &mapping));
    memset(t->seen, 0, t->n * sizeof *t->seen);
    dis__mapping_run run = {.reader = r, .mapping = &mapping, .on_answer = add_text, .user = t};
    const dis_status status = dis__mapping_run_all(&run);
    dis__mapping_free(&mapping);
    return status == DIS_EDATA ? fail_about_text() : status;
}

/* The column of the items by its usual name, as for votes (column_roles.h), into `task`; "": unknown. */
static dis_status find_task(dis__reader *r, char *task, size_t size)
{
    dis__record_reader source;
    dis__mapped_record *record;
    dis__roles roles;
    bool go_on;
    *task = 0;
    dis_status status = dis__record_reader_open(&source, r, &r->input[0]);
    if (status == DIS_EDATA || status == DIS_EUSAGE) return DIS_OK; /* the reader will report it */
    DIS_TRY(status);
    status = dis__record_reader_next(&source, &record, &go_on);
    if (status == DIS_OK && record) {
        status = dis__roles_find(r, &source, &roles);
        const dis_column_name *name =
            status == DIS_OK && roles.n_found[DIS_ROLE_TASK] == 1 ? &roles.names[roles.found[DIS_ROLE_TASK][0]] : NULL;
        if (name && name->n < size) snprintf(task, size, "%.*s", (int)name->n, name->text);
        if (status == DIS_OK) dis__roles_free(&roles);
    }
    dis__record_reader_close(&source);
    return status == DIS_EDATA ? DIS_OK : status;
}

/* Skips lines before the header and detects the delimiter, as for votes. */
static dis_status find_shape(dis__reader *r, dis__input *in)
{
    const char *format;
    char separator;
    DIS_TRY(dis__votes_format(r->o.format, in->path, &format));
    if (strcmp(format, "csv") != 0 && strcmp(format, "tsv") != 0) return DIS_OK;
    if (r->o.skip) dis__text_skip_lines(in, r->o.skip);
    if (r->o.delimiter || r->o.no_header || r->o.preset) return DIS_OK;
    DIS_TRY(dis__text_format_check(in, format, "`format`", &separator));
    if (separator != dis__votes_separator(&r->o, format)) r->o.delimiter = (unsigned char)separator;
    return DIS_OK;
}

static dis_status read_all(dis__reader *r, const char *const *paths, size_t n_paths, const char *const *text,
                           size_t n_text, texts_found *t)
{
    const dis_votes_preset *p = r->o.preset ? dis_votes_preset_find(r->o.preset) : NULL;
    char task[256] = "";
    DIS_TRY(dis__alloc_zeroed(&r->input, n_paths, sizeof *r->input));
    for (; r->n_inputs < n_paths; r->n_inputs++)
        DIS_TRY(dis__input_open(r->ctx, paths[r->n_inputs], &r->input[r->n_inputs]));
    for (size_t i = 0; i < n_paths; i++) DIS_TRY(find_shape(r, &r->input[i]));
    if (has_parts(&r->o)) {
        DIS_TRY(dis__preset_apply(r));
        DIS_TRY(dis__reader_use_parts(r));
    }
    if (!r->o.task && !p) DIS_TRY(find_task(r, task, sizeof task));
    if (*task) r->o.task = task;
    const dis_votes_options given = r->o;
    dis_status status = DIS_OK;
    for (size_t i = 0; i < (n_text ? n_text : 1) && status == DIS_OK; i++) {
        char path[1024];
        r->o = given;
        status = choose_path(p, n_text ? text[i] : NULL, path, sizeof path);
        if (status == DIS_OK) use_for_texts(&r->o, p, path);
        if (status == DIS_OK) status = read_pass(r, t);
    }
    r->o = dis_votes_options_default(); /* texts of this function */
    return status;
}

static dis_status make_names(const texts_found *t, dis_names **out, size_t *found)
{
    const char **text;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&text, t->n, sizeof *text));
    for (size_t i = 0; i < t->n; i++) {
        text[i] = t->text[i] ? t->text[i] : "";
        n += t->text[i] != NULL;
    }
    const dis_status status = dis_names_create(text, t->n, out);
    dis__free(text);
    if (status == DIS_OK && found) *found = n;
    return status;
}

dis_status dis_votes_read_texts(dis_context *ctx, const char *const *paths, size_t n_paths,
                                const dis_votes_options *options, const char *const *text, size_t n_text,
                                const dis_names *tasks, dis_names **out, size_t *found)
{
    dis__reader r = {.ctx = ctx, .o = dis_votes_options_default()};
    texts_found t = {.n = dis_names_count(tasks)};
    size_t twice;
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_options, &r.o, options));
    if (r.o.input == DIS_INPUT_MACE)
        return dis__fail(DIS_EUSAGE, "a table in MACE's format has no texts; name a file of task,text with `texts`");
    DIS_TRY(dis__name_index_build(tasks, &t.tasks, &twice));
    dis_status status = dis__alloc_zeroed(&t.text, t.n, sizeof *t.text);
    if (status == DIS_OK) status = dis__alloc_zeroed(&t.seen, t.n, sizeof *t.seen);
    if (status == DIS_OK) status = read_all(&r, paths, n_paths, text, n_text, &t);
    if (status == DIS_OK) status = make_names(&t, out, found);
    for (size_t i = 0; i < r.n_inputs; i++) dis__input_close(&r.input[i]);
    for (size_t i = 0; i < r.n_named; i++) dis__free(r.named[i]);
    dis__free(r.named);
    dis__free(r.input);
    for (size_t i = 0; t.text && i < t.n; i++) dis__free(t.text[i]);
    dis__free(t.text);
    dis__free(t.seen);
    dis__name_index_free(&t.tasks);
    return status;
}
