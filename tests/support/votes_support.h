/* votes_support.h: what tests of votes share. */
#ifndef DIS_SUPPORT_VOTES_SUPPORT_H
#define DIS_SUPPORT_VOTES_SUPPORT_H
#include "dissent/dissent.h"
#include <string.h>

static inline dis_context *context_of(int threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

static inline void assert_same_names(const dis_names *a, const dis_names *b)
{
    assert_int_equal(dis_names_count(a), dis_names_count(b));
    for (size_t i = 0; i < dis_names_count(a); i++) {
        size_t n, m;
        const char *x = dis_names_get(a, i, &n), *y = dis_names_get(b, i, &m);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n + 1);
    }
}

/* The same votes, in the same order, and the same notes. */
static inline void assert_same_votes(const dis_votes *a, const dis_votes *b)
{
    const dis_votes_view v = dis_votes_get_view(a), w = dis_votes_get_view(b);
    assert_same_names(v.tasks, w.tasks);
    assert_same_names(v.workers, w.workers);
    assert_same_names(v.classes, w.classes);
    assert_int_equal(v.n_votes, w.n_votes);
    assert_int_equal(v.n_items, w.n_items);
    assert_memory_equal(v.start, w.start, (v.n_items + 1) * sizeof *v.start);
    assert_memory_equal(v.worker, w.worker, v.n_votes * sizeof *v.worker);
    assert_int_equal(v.label8 != NULL, w.label8 != NULL);
    if (v.label8) assert_memory_equal(v.label8, w.label8, v.n_votes);
    if (v.label16) assert_memory_equal(v.label16, w.label16, v.n_votes * sizeof *v.label16);
    dis_votes_notes m = dis_votes_get_notes(a), n = dis_votes_get_notes(b);
    m.reader = n.reader = m.reader_cause = n.reader_cause = NULL; /* the same table by another reader */
    assert_memory_equal(&m, &n, sizeof m);
    for (size_t i = 0; dis_votes_get_skipped_row(b, i) || dis_votes_get_skipped_row(a, i); i++) {
        assert_non_null(dis_votes_get_skipped_row(a, i));
        assert_non_null(dis_votes_get_skipped_row(b, i));
        assert_string_equal(dis_votes_get_skipped_row(a, i), dis_votes_get_skipped_row(b, i));
    }
}

#endif
