/* votes_read_support.h: votes read from small files, by several threads and in chunks of several sizes, as text. After
 * cmocka.h. */
#ifndef DIS_SUPPORT_VOTES_READ_SUPPORT_H
#define DIS_SUPPORT_VOTES_READ_SUPPORT_H
#include "dissent/dissent.h"
#include "scratch.h"
#include "votes/read/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };
#define TEXT(s)  s, sizeof s - 1
#define DEFAULTS .size = sizeof(dis_votes_options)

/* A table as text: "classes | task: worker=label, ..." and what was noted. */
static inline void describe(const dis_votes *votes, char *out)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_votes_notes notes = dis_votes_get_notes(votes);
    size_t n = 0;
    for (size_t k = 0; k < v.n_classes; k++)
        n += (size_t)snprintf(out + n, ROOM - n, "%s ", dis_names_get(v.classes, k, NULL));
    n += (size_t)snprintf(out + n, ROOM - n, "|");
    for (size_t i = 0; i < v.n_items && n < ROOM - 300; i++) {
        n += (size_t)snprintf(out + n, ROOM - n, " %.90s:", dis_names_get(v.tasks, i, NULL));
        for (uint64_t j = v.start ? v.start[i] : 0; v.start && j < v.start[i + 1] && n < ROOM - 300; j++)
            n += (size_t)snprintf(out + n, ROOM - n, "%.90s=%.90s,", dis_names_get(v.workers, v.worker[j], NULL),
                                  dis_names_get(v.classes, v.label8 ? v.label8[j] : v.label16[j], NULL));
        for (size_t k = 0; v.counts && k < v.n_classes; k++)
            n += (size_t)snprintf(out + n, ROOM - n, "%g,", v.counts[i * v.n_classes + k]);
    }
    n += (size_t)snprintf(out + n, ROOM - n, " | rows %llu", (unsigned long long)notes.rows);
    const struct {
        const char *what;
        uint64_t count;
    } noted[] = {{"bad", notes.bad_rows},     {"na", notes.missing_labels},    {"dropped", notes.dropped},
                 {"twice", notes.duplicates}, {"scaled", notes.renormalised},  {"left out", notes.items_left_out},
                 {"ties", notes.ties},        {"alike", notes.similar_classes}};
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        if (noted[i].count)
            n += (size_t)snprintf(out + n, ROOM - n, " %s %llu", noted[i].what, (unsigned long long)noted[i].count);
}

/* Reads with several sizes of chunk and numbers of threads, which must all agree; describes the table, or gives the
 * message. */
static inline dis_status read_text(const char *const *paths, size_t n_paths, const dis_votes_options *o, char *out)
{
    static const struct {
        dis__tuning tuning;
        int threads;
    } ways[] = {{{.chunk = 1 << 19, .round = 16}, 1},
                {{.chunk = 1, .round = 3}, 1},
                {{.chunk = 7, .round = 2}, 2},
                {{.chunk = 64, .round = 5}, 3},
                {{.chunk = 1000, .round = 16}, 7}};
    static char other[ROOM];
    dis_status first = DIS_OK;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        dis_context_options c = dis_context_options_default();
        c.threads = ways[w].threads;
        dis_context *ctx;
        dis_votes *votes = NULL;
        assert_int_equal(dis_context_create(&c, &ctx), DIS_OK);
        const dis_status status = dis__votes_read(ctx, paths, n_paths, o, &ways[w].tuning, &votes);
        char *to = w ? other : out;
        if (status == DIS_OK) {
            describe(votes, to);
            for (size_t i = 0; dis_votes_get_skipped_row(votes, i) && strlen(to) < ROOM - 3000; i++) {
                strcat(to, "\n");
                strcat(to, dis_votes_get_skipped_row(votes, i));
            }
        } else {
            snprintf(to, ROOM, "%s", dis_last_error());
            assert_null(votes);
        }
        dis_votes_destroy(votes);
        dis_context_destroy(ctx);
        if (w == 0) first = status;
        assert_int_equal(status, first);
        if (w) assert_string_equal(other, out);
    }
    return first;
}

/* The message or the description without the folder. */
static inline dis_status read_bytes(const char *name, const char *text, size_t n, const dis_votes_options *o, char *out)
{
    put_file(name, text, n);
    const char *path = in_folder(name);
    const dis_status status = read_text(&path, 1, o, out);
    for (char *at; (at = strstr(out, folder));)
        memmove(at, at + strlen(folder) + 1, strlen(at + strlen(folder) + 1) + 1);
    return status;
}

#endif
