/* Known labels from a file of task and label, by one table of the votes' tasks. Cost: a lookup per row. */
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/memory/spill.h"
#include "tables/gold_labels/gold_columns.h"
#include "votes/table/class_names.h"
#include "votes/read/reader.h"

DIS_OPTIONS_DEFAULTS(dis_gold_options, .size = sizeof(dis_gold_options))

typedef struct {
    const dis_votes *votes;
    dis_gold_options o;
    dis__secret secret;
    dis__key_table tasks; /* value: item */
    int32_t *gold;        /* (n_items) */
    uint64_t rows, unknown;
} known;

/* The class of a label under fold_case and trim; declared classes keep their spelling. SIZE_MAX: none. */
static size_t find_folded(const known *k, const dis__table_row_cell *label)
{
    const dis_names *classes = k->votes->classes;
    char a[512], b[512];
    if (label->n > sizeof a) return SIZE_MAX;
    const size_t n = dis__label_fold(label->text, label->n, k->o.fold_case, k->o.trim, a);
    for (size_t c = 0; c < dis_names_count(classes); c++) {
        size_t m;
        const char *text = dis_names_get(classes, c, &m);
        if (m <= sizeof b && dis__label_fold(text, m, k->o.fold_case, k->o.trim, b) == n && memcmp(a, b, n) == 0)
            return c;
    }
    return SIZE_MAX;
}

static dis_status match_row(known *k, dis__table_rows *r)
{
    const dis__table_row_cell *task = &r->cell[0], *label = &r->cell[1];
    const dis__key key = dis__key_from_text(&k->secret, task->text, task->n);
    const dis__key *at = dis__key_table_find(&k->tasks, &key);
    k->rows++;
    if (!at) {
        k->unknown++;
        return DIS_OK;
    }
    size_t class = dis_names_find(k->votes->classes, label->text, label->n);
    if (class == SIZE_MAX && (k->o.fold_case || k->o.trim)) class = find_folded(k, label);
    if (class == SIZE_MAX)
        return dis__table_rows_fail(r, 1,
                                    "the gold label \"%.*s\" is not a class of the votes; declare it with `classes`",
                                    label->n > 200 ? 200 : (int)label->n, label->text);
    int32_t *gold = &k->gold[at->value];
    if (*gold >= 0 && *gold != (int32_t) class) return dis__gold_fail_duplicate(r, 1, "task", *task, "gold label");
    *gold = (int32_t) class;
    return DIS_OK;
}

static dis_status read_rows(known *k, dis__table_rows *r)
{
    for (bool more;;) {
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        DIS_TRY(match_row(k, r));
    }
}

static dis_status read_gold(dis_context *ctx, known *k, const char *path)
{
    const dis_names *tasks = k->votes->tasks;
    DIS_TRY(dis__alloc_array(&k->gold, k->votes->n_items, sizeof *k->gold));
    for (size_t i = 0; i < k->votes->n_items; i++) {
        k->gold[i] = -1;
        size_t n;
        const char *text = dis_names_get(tasks, i, &n);
        dis__key key = dis__key_from_text(&k->secret, text, n);
        key.value = (uint32_t)i;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__key_table_insert(&k->tasks, &key, &at, &fresh));
    }
    dis__table_rows r;
    DIS_TRY(dis__table_rows_open(ctx, path, NULL, &r));
    dis__gold_columns found = {0};
    dis_status status = dis__gold_columns_find(&r, k->o.task, k->o.label, &found);
    const char *const columns[] = {found.task, found.label};
    r.hint = "; name the columns to use with `dis_gold_options`";
    if (status == DIS_OK) status = dis__table_rows_select(&r, columns, 2);
    if (status == DIS_OK) status = read_rows(k, &r);
    dis__gold_columns_free(&found);
    return dis__table_rows_finish(&r, status);
}

dis_status dis_votes_read_gold(dis_context *ctx, const char *path, const dis_gold_options *options,
                               const dis_votes *votes, int32_t *gold, size_t *unknown)
{
    DIS_MEMORY_SCOPE(ctx);
    known k = {.votes = votes, .secret = dis__secret_draw(), .o = dis_gold_options_default()};
    DIS_TRY(DIS_OPTIONS_COPY(dis_gold_options, &k.o, options));
    k.o.fold_case = k.o.fold_case || votes->fold_case;
    k.o.trim = k.o.trim || votes->trim;
    const dis__comm *comm = dis__context_comm(ctx);
    dis_status status = dis__comm_first_failure(comm, read_gold(ctx, &k, path));
    /* a task that is known is so to one rank */
    const uint64_t twice = k.rows * (uint64_t)(comm->size - 1);
    if (status == DIS_OK) status = dis__comm_sum_counts(comm, &k.unknown, 1);
    if (status == DIS_OK) {
        if (votes->n_items) memcpy(gold, k.gold, votes->n_items * sizeof *gold);
        if (unknown) *unknown = (size_t)(k.unknown - twice);
    }
    dis__free(k.gold);
    dis__key_table_free(&k.tasks);
    return status;
}
