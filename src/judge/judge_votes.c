/* The votes of people and of one judge, from a table that may hold repeated votes: the first vote of a person or of the
 * judge on an item counts, further votes of the judge tell how consistent it is. Cost: O(votes). */
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

static size_t label_of(const dis_votes_view *v, uint64_t t)
{
    return v->label8 ? v->label8[t] : v->label16[t];
}

/* ---- which worker ---- */

dis_status dis__judge_find(const dis_votes_view *v, const bool *person, const char *name, uint32_t *out)
{
    char list[400] = "";
    size_t n = 0;
    for (size_t w = 0; w < v->n_workers; w++) {
        size_t length;
        const char *text = dis_names_get(v->workers, w, &length);
        if (person[w]) continue;
        if (name && strcmp(text, name) == 0) {
            *out = (uint32_t)w;
            return DIS_OK;
        }
        dis__text_list_append(list, sizeof list, text, length);
        *out = (uint32_t)w;
        n++;
    }
    if (n == 0) return dis__fail(DIS_EDATA, "all annotators are people; a judge is needed as well");
    if (name) return dis__fail(DIS_EUSAGE, "no judge is called \"%s\"; judges in these votes: %s", name, list);
    return n == 1 ? DIS_OK : dis__fail(DIS_EUSAGE, "the votes have %zu judges: %s; name one with `judge`", n, list);
}

/* ---- first votes ---- */

/* Share of equal pairs among n_votes votes with these counts. */
static double equal_pairs(const uint32_t *count, size_t n_classes, double n_votes)
{
    double sum = 0;
    for (size_t k = 0; k < n_classes; k++) sum += (double)count[k] * ((double)count[k] - 1);
    return sum / (n_votes * (n_votes - 1));
}

typedef struct {
    const dis_votes_view *from;
    const uint32_t *number; /* (n_workers) of a person; UINT32_MAX: not a person */
    uint64_t *seen;         /* (n_people) 1 + the last item on which the person was seen */
    uint32_t *count;        /* (n_classes) votes of the judge */
} reading;

static void read_item(const reading *r, size_t i, dis__judge_votes *out)
{
    const dis_votes_view *v = r->from;
    uint64_t at = out->start[i];
    double votes = 0;
    out->answer[i] = -1;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const uint32_t who = r->number[v->worker[t]];
        const size_t label = label_of(v, t);
        if (v->worker[t] == out->worker) {
            if (votes++ == 0) out->answer[i] = (int32_t)label;
            r->count[label]++;
        } else if (who != UINT32_MAX && r->seen[who] != i + 1) {
            r->seen[who] = i + 1;
            out->person[at] = who;
            out->label[at++] = (uint32_t)label;
        }
    }
    out->start[i + 1] = at;
    out->repeats[i] = votes > 1 ? equal_pairs(r->count, v->n_classes, votes) : (double)NAN;
    out->n_repeated += votes > 1;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) r->count[label_of(v, t)] = 0;
}

static dis_status read_all(const dis_votes_view *v, const bool *person, dis__judge_votes *out)
{
    uint32_t *number = NULL;
    reading r = {.from = v};
    dis_status status = dis__alloc_array(&number, v->n_workers, sizeof *number);
    if (status == DIS_OK) status = dis__alloc_zeroed(&r.seen, v->n_workers, sizeof *r.seen);
    if (status == DIS_OK) status = dis__alloc_zeroed(&r.count, v->n_classes, sizeof *r.count);
    if (status == DIS_OK) {
        for (size_t w = 0; w < v->n_workers; w++) number[w] = person[w] ? (uint32_t)out->n_people++ : UINT32_MAX;
        r.number = number;
        out->start[0] = 0;
        for (size_t i = 0; i < v->n_items; i++) {
            read_item(&r, i, out);
            const size_t people = dis__judge_n_votes(out, i);
            out->n_answers += out->answer[i] >= 0;
            out->n_shared += out->answer[i] >= 0 && people > 0;
            out->n_two += out->answer[i] >= 0 && people > 1;
        }
    }
    dis__free(number);
    dis__free(r.seen);
    dis__free(r.count);
    return status;
}

dis_status dis__judge_votes_read(const dis_votes_view *votes, const bool *person, uint32_t worker,
                                 dis__judge_votes *out)
{
    *out = (dis__judge_votes){.n_items = votes->n_items, .n_classes = votes->n_classes, .worker = worker};
    if (!votes->start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; one row per vote with a worker column is needed");
    dis_status status = dis__alloc_array(&out->answer, out->n_items, sizeof *out->answer);
    if (status == DIS_OK) status = dis__alloc_array(&out->start, out->n_items + 1, sizeof *out->start);
    if (status == DIS_OK) status = dis__alloc_array(&out->person, votes->n_votes, sizeof *out->person);
    if (status == DIS_OK) status = dis__alloc_array(&out->label, votes->n_votes, sizeof *out->label);
    if (status == DIS_OK) status = dis__alloc_array(&out->repeats, out->n_items, sizeof *out->repeats);
    if (status == DIS_OK) status = read_all(votes, person, out);
    if (status != DIS_OK) dis__judge_votes_destroy(out);
    return status;
}

dis_status dis__judge_votes_create(const dis_votes_view *votes, const bool *person, const char *name,
                                   dis__judge_votes *out)
{
    uint32_t worker;
    *out = (dis__judge_votes){0};
    if (votes->start && votes->n_classes < 2)
        return dis__fail(DIS_EDATA, "all votes are for one class; a judge cannot be compared with people");
    if (votes->start) DIS_TRY(dis__judge_find(votes, person, name, &worker));
    return dis__judge_votes_read(votes, person, votes->start ? worker : UINT32_MAX, out);
}

void dis__judge_votes_destroy(dis__judge_votes *votes)
{
    dis__free(votes->answer);
    dis__free(votes->start);
    dis__free(votes->person);
    dis__free(votes->label);
    dis__free(votes->repeats);
    *votes = (dis__judge_votes){0};
}

double dis__judge_people_share(const dis__judge_votes *v, size_t i, size_t class_index)
{
    double n = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) n += v->label[t] == class_index;
    return n / (double)dis__judge_n_votes(v, i);
}

/* ---- a table ---- */

dis_status dis__judge_votes_table(dis_context *ctx, const dis__judge_votes *v, const dis_names *classes,
                                  dis_votes **out)
{
    const size_t n = (size_t)v->start[v->n_items] + (size_t)v->n_answers;
    uint32_t *task = NULL, *worker = NULL;
    uint16_t *label = NULL;
    dis_status status = dis__alloc_array(&task, n, sizeof *task);
    if (status == DIS_OK) status = dis__alloc_array(&worker, n, sizeof *worker);
    if (status == DIS_OK) status = dis__alloc_array(&label, n, sizeof *label);
    if (status == DIS_OK) {
        size_t at = 0;
        for (size_t i = 0; i < v->n_items; i++) {
            for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
                task[at] = (uint32_t)i;
                worker[at] = v->person[t];
                label[at++] = (uint16_t)v->label[t];
            }
            if (v->answer[i] < 0) continue;
            task[at] = (uint32_t)i;
            worker[at] = (uint32_t)v->n_people;
            label[at++] = (uint16_t)v->answer[i];
        }
        const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                         .n_votes = n,
                                         .n_items = v->n_items,
                                         .n_workers = v->n_people + 1,
                                         .n_classes = v->n_classes,
                                         .task = task,
                                         .worker = worker,
                                         .label = label,
                                         .classes = classes};
        status = dis_votes_create_from_arrays(ctx, &arrays, out);
    }
    dis__free(task);
    dis__free(worker);
    dis__free(label);
    return status;
}
