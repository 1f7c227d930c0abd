/* dis_votes_read(): checks the options, opens the files, calls the reader of the input's shape, and builds the table.
 * The parts: containers with rows in read_chunks.c (csv_votes.c, jsonl_votes.c), wide tables in read_mace_table.c,
 * counts and soft votes in read_counts.c; numbering in batch.c and collector.c; grouping in group_by_item.c. */
#include "votes/mapper/record_reader.h"
#include "votes/roles/table_checks.h"
#include "io/input/text_format.h"
#include "core/parallel/comm.h"
#include "votes/table/class_names.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include <stdio.h>
#include <strings.h>

/* Containers, by file name extension. */
static const struct {
    const char *name, *endings;  /* separated by spaces */
    const dis__row_format *rows; /* NULL: contains no single votes */
} formats[] = {
    {"csv", "csv", &dis__rows_csv},
    {"tsv", "tsv tab", &dis__rows_tsv},
    {"json", "json", &dis__rows_jsonl},
    {"jsonl", "jsonl ndjson", &dis__rows_jsonl},
    {"npy", "npy", NULL},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static bool is_among(const char *word, size_t n, const char *list)
{
    for (const char *p = list; *p;) {
        const size_t length = strcspn(p, " ");
        if (length == n && strncasecmp(p, word, n) == 0) return true;
        p += length + (p[length] == ' ');
    }
    return false;
}

dis_status dis__votes_format(const char *given, const char *path, const char **format)
{
    if (given) {
        for (size_t i = 0; i < N_FORMATS; i++)
            if (strcmp(given, formats[i].name) == 0) {
                *format = formats[i].name;
                return DIS_OK;
            }
        return dis__fail(DIS_EUSAGE, "no format \"%s\"; votes are read from csv, tsv, json, jsonl and npy", given);
    }
    size_t n = strlen(path);
    if (n > 3 && strcasecmp(path + n - 3, ".gz") == 0)
        n -= 3;
    else if (n > 4 && strcasecmp(path + n - 4, ".zst") == 0)
        n -= 4;
    *format = "csv";
    for (size_t dot = n; dot-- > 0 && path[dot] != '/';)
        if (path[dot] == '.') {
            for (size_t i = 0; i < N_FORMATS; i++)
                if (is_among(path + dot + 1, n - dot - 1, formats[i].endings)) *format = formats[i].name;
            break;
        }
    return DIS_OK;
}

char dis__votes_separator(const dis_votes_options *o, const char *format)
{
    return o->delimiter ? (char)o->delimiter : strcmp(format, "tsv") == 0 ? '\t' : ',';
}

static const dis__row_format *rows_of(const char *format)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(format, formats[i].name) == 0) return formats[i].rows;
    return NULL;
}

/* The key of a declared label, or of an NA value, under fold_case and trim. */
static dis_status fold_known(dis__reader *r, const char *text, size_t n, dis__key *key)
{
    if (r->rules.fold_case || r->rules.trim) {
        char *folded;
        DIS_TRY(dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named));
        DIS_TRY(dis__alloc_array(&folded, n + 1, 1));
        r->named[r->n_named++] = folded;
        text = dis__fold_label(&r->rules, text, &n, folded);
    }
    *key = dis__key_from_text(&r->rules.secret, text, n);
    return DIS_OK;
}

/* NA values and declared classes, looked up for every label that is new to a batch. */
static dis_status make_rules(dis__reader *r)
{
    const dis_votes_options *o = &r->o;
    r->rules.secret = dis__secret_draw();
    r->rules.declared = o->n_classes > 0;
    r->rules.scale = dis__scale_of(o->scale);
    r->rules.fold_case = o->fold_case;
    r->rules.trim = o->trim;
    if (!r->rules.scale) return dis__fail(DIS_EUSAGE, "no such scale: %d", (int)o->scale);
    if (r->rules.scale->is_set && o->multiple_labels == DIS_MULTIPLE_ERROR) r->o.multiple_labels = DIS_MULTIPLE_JOIN;
    if (r->rules.scale->repeatable && o->duplicates == DIS_DUPLICATES_ERROR) r->o.duplicates = DIS_DUPLICATES_ALL;
    if (o->n_classes > DIS_MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "%zu classes are declared; at most %u are possible", o->n_classes,
                         DIS_MAX_CLASSES);
    for (size_t i = 0; i < o->n_classes + o->n_na; i++) {
        const bool na = i >= o->n_classes;
        const char *text = na ? o->na[i - o->n_classes] : o->classes[i];
        const size_t n = strlen(text);
        if (n > DIS_MAX_ID) return dis__fail(DIS_EUSAGE, "a class of more than %u bytes is declared", DIS_MAX_ID);
        if (!na && n == 0) return dis__fail(DIS_EUSAGE, "an empty class is declared");
        dis__key key;
        DIS_TRY(fold_known(r, text, n, &key));
        key.value = na ? DIS_LABEL_IS_NA : (uint32_t)i;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__key_table_insert(&r->rules.known, &key, &at, &fresh));
        if (!fresh && at->value != DIS_LABEL_IS_NA)
            return dis__fail(DIS_EUSAGE,
                             na ? "\"%.200s\" is both a class and an NA value"
                                : "the class \"%.200s\" is declared twice",
                             text);
    }
    return DIS_OK;
}

static bool cell_is(const dis__vote_field *cell, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    return cell->n == n && memcmp(cell->text, text, n) == 0;
}

/* Reads the files again for the two rows of a duplicate, and reports the position of the second one. */
static dis_status fail_in_files(dis__reader *r, const dis__duplicate *twice)
{
    const dis_names *tasks = r->votes->tasks, *workers = r->votes->workers;
    char first[600] = "";
    DIS_TRY(dis__reader_load_inputs(r));
    for (size_t i = 0; i < r->n_inputs; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(r->o.format, r->input[i].path, &format));
        dis__vote_file file;
        DIS_TRY(dis__vote_file_open(&file, r, &r->input[i], rows_of(format)));
        dis__row_cursor c;
        dis__row_cursor_open(&c, &file, file.rows);
        dis_status status = DIS_OK;
        while (c.next < file.end) {
            status = file.format->row(&c);
            if (status == DIS_EDATA) continue; /* skipped in the first pass, too */
            if (status != DIS_OK) break;
            if (c.dropped || !cell_is(&c.cell[DIS_COLUMN_TASK], tasks, twice->item) ||
                !cell_is(&c.cell[DIS_COLUMN_WORKER], workers, twice->worker))
                continue;
            const dis__vote_field *label = &c.cell[DIS_ID_COLUMNS];
            const dis__key key = dis__key_from_text(&r->rules.secret, label->text, label->n);
            if (dis__label_classify(&r->rules, &key) != DIS_LABEL_VOTE) continue;
            uint64_t line, column;
            dis__csv_position(&file.csv, c.cell[DIS_COLUMN_WORKER].at, &line, &column);
            if (first[0] == 0) {
                snprintf(first, sizeof first, "%s%s%sline %llu", i ? file.csv.path : "", i ? ", " : "", "",
                         (unsigned long long)line);
                continue;
            }
            status =
                dis__fail_at(DIS_EDATA, file.csv.path, line, column,
                             "worker \"%.200s\" has already voted on task \"%.200s\" (%s); choose the vote to keep: "
                             "`duplicates` first, last or all",
                             dis_names_get(workers, twice->worker, NULL), dis_names_get(tasks, twice->item, NULL),
                             first);
            dis__row_cursor_close(&c);
            dis__vote_file_close(&file);
            return status;
        }
        dis__row_cursor_close(&c);
        dis__vote_file_close(&file);
        if (status != DIS_OK && status != DIS_EDATA) return status;
    }
    return dis__fail_file_changed(r->input[0].path);
}

dis_status dis__reader_no_votes(const dis__reader *r)
{
    const dis_votes_notes *n = &r->votes->notes;
    const char *path = r->n_inputs ? r->input[0].path : "votes";
    if (n->rows == 0 && r->o.label)
        return dis__fail_at(DIS_EDATA, path, 0, 0,
                            "no votes: no record has an answer at `label`; check the name given as `label`");
    if (n->rows == 0) return dis__fail_at(DIS_EDATA, path, 0, 0, "no votes: the file has no records");
    return dis__fail_at(DIS_EDATA, path, 0, 0,
                        "no votes are left: of %llu rows, %llu have no label, %llu were dropped, %llu were invalid; "
                        "%llu items had too few votes%s",
                        (unsigned long long)n->rows, (unsigned long long)n->missing_labels,
                        (unsigned long long)n->dropped, (unsigned long long)n->bad_rows,
                        (unsigned long long)n->items_left_out,
                        n->missing_labels && n->missing_labels + n->dropped == n->rows
                            ? "; check the name given as `label`"
                            : "");
}

dis_status dis__reader_apply_rules(dis__reader *r)
{
    dis_votes *votes = r->votes;
    dis__duplicate twice = {0};
    if (r->choose) DIS_TRY(r->choose(r, r->choose_user));
    DIS_TRY(dis__votes_dedup(r->ctx, votes, r->o.duplicates, r->o.min_votes, &twice));
    if (twice.found) return r->fail_duplicate(r, &twice);
    return votes->n_items || votes->part.n_items ? DIS_OK : dis__reader_no_votes(r);
}

/* Creates the table from the collected votes. */
static dis_status make_table(dis__reader *r, uint16_t *class_of)
{
    DIS_TRY(dis__reader_classes(r, class_of));
    DIS_TRY(dis__collector_finish(r->ctx, &r->collector, class_of, r->votes));
    return dis__comm_is_parallel(dis__context_comm(r->ctx)) ? DIS_OK : dis__reader_apply_rules(r);
}

dis_status dis__reader_finish(dis__reader *r)
{
    if (r->collector.labels.n == 0) return dis__reader_no_votes(r);
    for (size_t j = 0; j < r->tuning.round; j++) dis__batch_free(&r->batch[j]); /* memory for the table */
    uint16_t *class_of;
    DIS_TRY(dis__alloc_array(&class_of, r->collector.labels.n, sizeof *class_of));
    const dis_status status = make_table(r, class_of);
    dis__free(class_of);
    return status;
}

dis_status dis__reader_load_inputs(dis__reader *r)
{
    for (size_t i = 0; i < r->n_inputs; i++) DIS_TRY(dis__input_read_all(r->ctx, &r->input[i]));
    return DIS_OK;
}

/* Drop rules require rows to be read one by one. */
static void note_rows(dis__reader *r, const dis__row_format *rows)
{
    dis_votes_notes *notes = &r->votes->notes;
    const bool one_by_one = !rows->fast || r->o.n_drop;
    if (one_by_one || !notes->reader) notes->reader = one_by_one ? "rows" : "columns";
    if (rows->fast && r->o.n_drop) notes->reader_cause = r->caller.n_drop ? "`drop`" : "`preset`";
}

dis_status dis__read_file(dis__reader *r, dis__input *input, const dis__file_part *part)
{
    const char *format;
    DIS_TRY(dis__votes_format(r->o.format, input->path, &format));
    const dis__row_format *rows = rows_of(format);
    if (rows) note_rows(r, rows);
    if (!rows)
        return dis__fail(DIS_EUSAGE, "%s: %s files hold counts, not single votes; set `input` counts", input->path,
                         format);
    dis__vote_file file;
    DIS_TRY(dis__vote_file_open(&file, r, input, rows));
    if (input->stream) file.stream = input;
    if (part) dis__file_part_apply(part, &file);
    const dis_status status = file.rows < file.end ? dis__read_rows(&file) : DIS_OK;
    dis__vote_file_close(&file);
    return status;
}

static const char *separator_name(char c)
{
    static const char *const names[] = {"tabs", "semicolons", "commas", "the character |"};
    return names[c == '\t' ? 0 : c == ';' ? 1 : c == ',' ? 2 : 3];
}

dis_status dis__reader_check_format(dis__reader *r, dis__input *in, const char *format)
{
    dis_votes_options *o = &r->o;
    char found;
    if ((o->delimiter && !r->delimiter_found) || o->no_header || strcmp(format, "json") == 0) return DIS_OK;
    const char usual = strcmp(format, "tsv") == 0 ? '\t' : ',';
    DIS_TRY(dis__text_format_check(in, format, "`format`", &found));
    if (strcmp(format, "jsonl") == 0 || o->delimiter || found == usual) return DIS_OK;
    o->delimiter = (unsigned char)found;
    r->delimiter_found = true;
    return dis__votes_add_note(r->votes, DIS_NOTE_COLUMNS, "columns are separated by %s (`delimiter`)",
                               separator_name(found));
}

/* Detects the format from the first lines of the files, unless it is set. */
static dis_status detect_files(dis__reader *r)
{
    const dis_votes_options *o = &r->o;
    for (size_t i = 0; i < r->n_inputs; i++) {
        const char *format;
        DIS_TRY(dis__votes_format(o->format, r->input[i].path, &format));
        if (strcmp(format, "npy") == 0) continue;
        DIS_TRY(dis__reader_check_format(r, &r->input[i], format));
        if (!o->preset && (!o->task || !o->worker || !o->label) && o->input == DIS_INPUT_VOTES)
            DIS_TRY(dis__suggest_preset(r, &r->input[i]));
    }
    return DIS_OK;
}

static dis_status read_rows(dis__reader *r)
{
    enum { BUCKET = 1 << 20 }; /* bytes: default for the cache size */
    r->collector.in_file = r->tuning.in_file;
    r->collector.bucket = r->tuning.bucket ? r->tuning.bucket : BUCKET;
    r->collector.tasks = r->tuning.tasks ? r->tuning.tasks : &dis__tasks_sorted;
    if (dis__comm_is_parallel(dis__context_comm(r->ctx))) return dis__read_on_ranks(r);
    for (size_t i = 0; i < r->n_inputs; i++) DIS_TRY(dis__read_file(r, &r->input[i], NULL));
    return dis__reader_finish(r);
}

static void note_reader(dis__reader *r, const char *reader, const char *cause)
{
    r->votes->notes.reader = reader;
    r->votes->notes.reader_cause = cause;
}

static dis_status read_votes(dis__reader *r)
{
    bool mapped;
    const char *cause;
    DIS_TRY(detect_files(r));
    DIS_TRY(dis__needs_mapper(r, &mapped, &cause));
    if (mapped && dis__comm_is_parallel(dis__context_comm(r->ctx)))
        return dis__fail(DIS_EUSAGE, "only single votes can be split across MPI ranks; run without mpirun");
    if (!mapped) return read_rows(r);
    note_reader(r, "records", cause);
    return dis__read_mapped(r);
}

static dis_status read_wide(dis__reader *r)
{
    DIS_TRY(detect_files(r));
    DIS_TRY(dis__wide_table_apply(r));
    note_reader(r, "records", r->caller.input == DIS_INPUT_WIDE ? "`input` wide" : "`preset`");
    return dis__read_mapped(r);
}

static dis_status read_counts(dis__reader *r)
{
    note_reader(r, "counts", NULL);
    return dis__read_counts(r);
}

static dis_status read_mace(dis__reader *r)
{
    note_reader(r, "mace", NULL);
    return dis__read_mace(r);
}

/* The shapes of input, in the order of dis_input. */
static dis_status (*const shapes[])(dis__reader *) = {read_votes, read_counts, read_mace, read_counts, read_wide};

static dis_status check_options(const dis__comm *comm, const dis_votes_options *o, size_t n_paths)
{
    if (n_paths == 0) return dis__fail(DIS_EUSAGE, "no file to read votes from");
    if (o->input != DIS_INPUT_VOTES && dis__comm_is_parallel(comm))
        return dis__fail(DIS_EUSAGE, "only single votes can be split across MPI ranks; run without mpirun");
    if ((size_t)o->input >= sizeof shapes / sizeof *shapes)
        return dis__fail(DIS_EUSAGE, "unknown kind of input: %d", (int)o->input);
    if (o->delimiter && (o->delimiter < 1 || o->delimiter > 126 || strchr("\"\n\r", o->delimiter)))
        return dis__fail(DIS_EUSAGE, "invalid delimiter: expected one ASCII character except a quote");
    if ((unsigned)o->multiple_labels > DIS_MULTIPLE_JOIN)
        return dis__fail(DIS_EUSAGE, "unknown rule for several labels: %d", (int)o->multiple_labels);
    if (o->format) {
        const char *format;
        DIS_TRY(dis__votes_format(o->format, "", &format));
    }
    return DIS_OK;
}

/* Votes and records are read sequentially; a rank reads its share, from the middle. */
static bool may_stream(const dis__reader *r, const char *format)
{
    const bool records = r->o.input == DIS_INPUT_VOTES || r->o.input == DIS_INPUT_WIDE ||
                         (r->o.input != DIS_INPUT_MACE && strncmp(format, "json", 4) == 0);
    return records && rows_of(format) && !dis__comm_is_parallel(dis__context_comm(r->ctx));
}

static dis_status open_inputs(dis__reader *r, const char *const *paths, size_t n_paths, uint64_t *n_bytes)
{
    DIS_TRY(dis__alloc_zeroed(&r->input, n_paths, sizeof *r->input));
    for (; r->n_inputs < n_paths; r->n_inputs++) {
        dis__input *in = &r->input[r->n_inputs];
        const char *format;
        DIS_TRY(dis__votes_format(r->o.format, paths[r->n_inputs], &format));
        DIS_TRY(may_stream(r, format) ? dis__input_open_stream(r->ctx, paths[r->n_inputs], in)
                                      : dis__input_open(r->ctx, paths[r->n_inputs], in));
        if (r->o.skip && strncmp(format, "json", 4) != 0) dis__text_skip_lines(in, r->o.skip);
        *n_bytes += dis__input_size(in);
    }
    return DIS_OK;
}

dis_status dis__reader_init(dis__reader *r, uint64_t n_expected)
{
    if ((unsigned)r->o.duplicates > DIS_DUPLICATES_ALL)
        return dis__fail(DIS_EUSAGE, "unknown rule for duplicates: %d", (int)r->o.duplicates);
    DIS_TRY(make_rules(r));
    DIS_TRY(dis__collector_init(&r->collector, &r->rules.secret, n_expected));
    DIS_TRY(dis__alloc_zeroed(&r->batch, r->tuning.round, sizeof *r->batch));
    DIS_TRY(dis__alloc_zeroed(&r->texts, r->tuning.round, sizeof *r->texts));
    return dis__alloc_zeroed(&r->votes, 1, sizeof *r->votes);
}

dis_status dis__reader_check_classes(dis__reader *r)
{
    r->votes->scale = r->o.scale;
    r->votes->fold_case = r->o.fold_case;
    r->votes->trim = r->o.trim;
    DIS_TRY(dis__votes_add_table_notes(r));
    DIS_TRY(dis__scale_check_classes(r->rules.scale, r->votes->classes, r->rules.declared));
    return dis__classes_are_similar(r->votes->classes, &r->votes->notes.similar_classes);
}

dis_status dis__reader_use_parts(dis__reader *r)
{
    const dis__scale *scale = dis__scale_of(r->o.scale);
    const char *const given[][2] = {{r->o.pair_a, r->o.pair_b}, {r->o.span_start, r->o.span_end}};
    if (!scale || !scale->part[0]) return DIS_OK;
    if (r->o.input != DIS_INPUT_VOTES)
        return dis__fail(DIS_EUSAGE, "scale %s is read from votes, one row each", scale->info.name);
    const char *const *own = given[r->o.scale == DIS_SCALE_SPANS], *task = r->o.task ? r->o.task : scale->task;
    const char *first = own[0] ? own[0] : scale->part[0], *second = own[1] ? own[1] : scale->part[1];
    const size_t n = (task ? strlen(task) : 0) + strlen(first) + strlen(second) + 8;
    char *path;
    DIS_TRY(dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named));
    DIS_TRY(dis__alloc_array(&path, n, 1));
    snprintf(path, n, "%s%s%s + %s", task ? task : "", task ? " + " : "", first, second);
    r->named[r->n_named++] = path;
    r->o.task = path;
    if (!r->o.label) r->o.label = scale->label_path;
    if (!r->o.worker) r->o.worker = scale->worker;
    return DIS_OK;
}

static dis_status read_all(dis__reader *r, const char *const *paths, size_t n_paths)
{
    uint64_t n_bytes = 0;
    r->caller = r->o;
    const dis__comm *comm = dis__context_comm(r->ctx);
    dis_status status = dis__preset_apply(r);
    if (status == DIS_EUSAGE) return dis__preset_add_names(r, status, paths, n_paths);
    if (status == DIS_OK) status = dis__reader_use_parts(r);
    if (status == DIS_OK) status = check_options(comm, &r->o, n_paths);
    if (status == DIS_OK) status = open_inputs(r, paths, n_paths, &n_bytes);
    if (status == DIS_OK) status = dis__reader_init(r, n_bytes);
    if (status == DIS_OK) status = dis__check_named_columns(r, &r->caller);
    DIS_TRY(dis__comm_first_failure(comm, status));
    status = dis__mturk_apply(r);
    if (status == DIS_OK) status = shapes[r->o.input](r);
    if (status == DIS_EDATA && r->o.preset)
        return dis__preset_add_names(r, dis__suggest_other_preset(r), paths, n_paths);
    DIS_TRY(status);
    return dis__reader_check_classes(r);
}

void dis__reader_free(dis__reader *r)
{
    for (size_t i = 0; i < r->n_inputs; i++) dis__input_close(&r->input[i]);
    for (size_t j = 0; j < r->tuning.round; j++) {
        if (r->batch) dis__batch_free(&r->batch[j]);
        if (r->texts) dis__arena_free(&r->texts[j]);
    }
    for (size_t i = 0; i < r->n_named; i++) dis__free(r->named[i]);
    dis__free(r->named);
    dis__free(r->wide_label);
    dis__free(r->wide_worker);
    dis__free(r->filters);
    dis__free(r->na);
    dis__free(r->input);
    dis__free(r->batch);
    dis__free(r->texts);
    dis__key_table_free(&r->rules.known);
    dis__collector_free(&r->collector);
}

dis_status dis__votes_read(dis_context *ctx, const char *const *paths, size_t n_paths, const dis_votes_options *options,
                           const dis__tuning *tuning, dis_votes **out)
{
    dis__reader r = {.ctx = ctx, .o = dis_votes_options_default(), .tuning = *tuning, .fail_duplicate = fail_in_files};
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_options, &r.o, options));
    dis_status status = read_all(&r, paths, n_paths);
    for (size_t i = 0; i < r.n_inputs; i++) status = dis__input_check(&r.input[i], status);
    for (size_t i = 0; i < r.n_inputs && status == DIS_OK; i++) dis__input_unmap_pages(ctx, &r.input[i]);
    dis__reader_free(&r);
    if (status != DIS_OK) {
        dis_votes_destroy(r.votes);
        return status;
    }
    *out = r.votes;
    return DIS_OK;
}

/* The data of a round should stay in the L2 cache, and threads should seldom wait for each other. */
size_t dis__round_size(const dis_context *ctx)
{
    const size_t n_threads = (size_t)dis_context_n_threads(ctx);
    return n_threads == 1 ? 4 : n_threads <= 4 ? 32 : 4 * n_threads;
}

dis_status dis_votes_read(dis_context *ctx, const char *const *paths, size_t n_paths, const dis_votes_options *options,
                          dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    /* with many threads, more text between synchronization points */
    const dis__tuning tuning = {.chunk = dis_context_n_threads(ctx) > 4 ? 1 << 18 : 1 << 17,
                                .round = dis__round_size(ctx)};
    return dis__votes_read(ctx, paths, n_paths, options, &tuning, out);
}
