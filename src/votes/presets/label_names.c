/* Names of questions, controls or features in the files of a preset, for messages. They are read like labels, with the
 * path `label_names` of the row. A key that has a dot names one option of a question ("sentiment.positive") or a part
 * of it ("sentiment.responses"): the question ends at the dot. Keys that the row uses itself, and those of its
 * signature, are left out. Cost: reads the files once. */
#include "votes/read/reader.h"
#include "core/parallel/comm.h"
#include "votes/table/votes_table.h"
#include <stdio.h>
#include <string.h>

/* Whether `name` (n characters) is one of the words of a path or a list of paths. */
static bool has_word(const char *text, const char *name, size_t n)
{
    static const char between[] = " |+.?#[]{}";
    while (text && *text) {
        const size_t length = strcspn(text, between);
        if (length == n && memcmp(text, name, n) == 0) return true;
        text += length + (text[length] != 0);
    }
    return false;
}

static bool is_question(const dis_votes_preset *p, const char *name, size_t n)
{
    const char *const used[] = {p->task, p->worker, p->time, p->text, p->signature};
    if (n == 0 || name[0] == '%') return false;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (has_word(used[i], name, n)) return false;
    return true;
}

static bool has_name(const char *list, const char *name, size_t n)
{
    while (*list) {
        const size_t length = strcspn(list, ",");
        if (length == n && memcmp(list, name, n) == 0) return true;
        list += length + strspn(list + length, ", ");
    }
    return false;
}

/* The names in these files, separated by commas; their number. */
static size_t list_names(dis_context *ctx, const dis_votes_preset *p, const char *const *paths, size_t n_paths,
                         char *out, size_t room)
{
    size_t n_names = 0;
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes = NULL;
    out[0] = 0;
    if (!p->label_names || dis__comm_is_parallel(dis__context_comm(ctx))) return 0;
    for (size_t i = 0; i < n_paths; i++)
        if (strcmp(paths[i], "-") == 0) return 0; /* can be read only once */
    o.preset = p->name;
    o.label = o.worker = p->label_names;
    o.duplicates = DIS_DUPLICATES_ALL;
    o.multiple_labels = DIS_MULTIPLE_ALL;
    if (dis_votes_read(ctx, paths, n_paths, &o, &votes) != DIS_OK) return 0;
    const bool keys = strchr(p->label_names, '#') != NULL;
    for (size_t c = 0; c < votes->n_classes; c++) {
        size_t n;
        const char *name = dis_names_get(votes->classes, c, &n), *dot = keys ? memchr(name, '.', n) : NULL;
        if (dot) n = (size_t)(dot - name);
        if (!is_question(p, name, n) || has_name(out, name, n)) continue;
        dis__text_list_append(out, room, name, n);
        n_names++;
    }
    dis_votes_destroy(votes);
    return n_names;
}

dis_status dis__preset_add_names(dis__reader *r, dis_status status, const char *const *paths, size_t n_paths)
{
    char message[DIS_MESSAGE], names[600];
    const dis_votes_preset *p = r->caller.preset ? dis_votes_preset_find(r->caller.preset) : NULL;
    if (!p || r->caller.label) return status;
    snprintf(message, sizeof message, "%s", dis_last_error());
    const size_t n = list_names(r->ctx, p, paths, n_paths, names, sizeof names);
    if (status == DIS_EUSAGE && n >= 1) return dis__fail(status, "%s; the names are: %s", message, names);
    if (status == DIS_EDATA && n >= 2) {
        message[strcspn(message, "\n")] = 0; /* without suggestions */
        return dis__fail(status, "%s; the file has several questions, choose one with `label`; the names are: %s",
                         message, names);
    }
    dis__set_error(message);
    return status;
}
