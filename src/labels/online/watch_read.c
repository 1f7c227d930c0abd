/* A watch over lines: votes/read/vote_lines.h finds the rows, which are passed to the watch one by one. */
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "labels/online/watch_internal.h"
#include "votes/table/class_names.h"
#include "votes/read/vote_lines.h"
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_watch_read_options, .size = sizeof(dis_watch_read_options))

static bool is_na(const dis_votes_options *o, const dis__vote_field *label)
{
    for (size_t i = 0; i < o->n_na; i++)
        if (strlen(o->na[i]) == label->n && memcmp(o->na[i], label->text, label->n) == 0) return true;
    return false;
}

/* The cell to report for a rejected vote: the first empty one, or the label. */
static const dis__vote_field *refused(const dis__vote_field *cell)
{
    for (size_t c = 0; c < DIS_ID_COLUMNS; c++)
        if (cell[c].n == 0 || cell[c].n > DIS_MAX_ID) return &cell[c];
    return &cell[DIS_ID_COLUMNS];
}

static dis_status add_row(dis_watch *w, dis__vote_lines *l)
{
    const dis__vote_field *cell = l->cell;
    const dis_votes_options *o = &l->reader.o;
    char room[DIS_MAX_ID];
    dis__vote_field folded = cell[DIS_ID_COLUMNS], *label = &folded;
    if ((o->fold_case || o->trim) && folded.n <= DIS_MAX_ID) {
        folded.n = dis__label_fold(folded.text, folded.n, o->fold_case, o->trim, room);
        folded.text = room;
    }
    if (l->dropped || is_na(&l->reader.o, label)) {
        *(l->dropped ? &w->dropped : &w->na) += 1;
        return DIS_OK;
    }
    const dis_watch_vote vote = {.size = sizeof(dis_watch_vote),
                                 .task = cell[DIS_COLUMN_TASK].text,
                                 .n_task = cell[DIS_COLUMN_TASK].n,
                                 .worker = cell[DIS_COLUMN_WORKER].text,
                                 .n_worker = cell[DIS_COLUMN_WORKER].n,
                                 .label = label->text,
                                 .n_label = label->n};
    const dis_status status = dis_watch_add(w, &vote);
    return status == DIS_EDATA ? dis__vote_lines_fail(l, refused(cell)) : status;
}

static dis_status read_lines(dis_context *ctx, dis_watch *w, const dis_watch_read_options *o, dis__vote_lines *l)
{
    for (;;) {
        if (!dis__vote_lines_ready(l)) {
            if (o->idle) DIS_TRY(o->idle(o->user));
            DIS_TRY(dis__vote_lines_wait(ctx, l));
        }
        bool more;
        dis_status status = dis__vote_lines_next(l, &more);
        if (status == DIS_OK && !more) return DIS_OK;
        if (status == DIS_OK && l->cell) status = add_row(w, l);
        if (status == DIS_EDATA && l->started && l->reader.o.lenient) {
            w->bad_rows++;
            if (o->skipped) o->skipped(o->user, dis_last_error());
            status = DIS_OK;
        }
        DIS_TRY(status);
    }
}

dis_status dis_watch_read(dis_context *ctx, dis_watch *w, const char *path, const dis_watch_read_options *options)
{
    dis_watch_read_options o = dis_watch_read_options_default();
    dis_votes_options votes = dis_votes_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_watch_read_options, &o, options));
    DIS_TRY(DIS_OPTIONS_COPY(dis_votes_options, &votes, o.votes));
    dis__vote_lines lines;
    DIS_TRY(dis__vote_lines_open(path, &votes, &lines));
    const dis_status status = read_lines(ctx, w, &o, &lines);
    dis__vote_lines_close(&lines);
    return status;
}
