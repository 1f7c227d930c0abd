/* Votes of a synthetic crowd in the export formats of annotation tools: Label Studio (JSON, one record per item) and
 * Amazon Mechanical Turk (batch results, one CSV row per assignment). One vote in 50 is marked as cancelled or
 * rejected, as in real projects. Times follow from the number of the vote. */
#include "core/parallel/pool.h"
#include "votes/synth/synth_internal.h"

enum { MAX_RECORD = 2 * DIS__SYNTH_MAX_TEXT, START_DAY = 20514 /* 2 March 2026, a Monday, in days since 1970 */ };

static const char *const names[] = {"ana", "ben",  "cleo", "dev",  "elif", "finn", "gita", "hugo", "ines",
                                    "jan", "kira", "liam", "mona", "noor", "omar", "pia",  "quin", "rosa",
                                    "sam", "tess", "uma",  "vito", "wen",  "xeni", "yara", "zoe"};
enum { N_NAMES = sizeof names / sizeof *names };

static char *put_two_digits(char *out, uint64_t x)
{
    *out++ = (char)('0' + x / 10);
    *out++ = (char)('0' + x % 10);
    return out;
}

typedef struct {
    uint64_t year, month, day, hour, minute, second, weekday; /* month from 1, weekday from 0: Monday */
} moment;

/* The civil date of `seconds` after the start, by the inverse of Howard Hinnant's days_from_civil. */
static moment moment_of(uint64_t seconds)
{
    const uint64_t day = START_DAY + seconds / 86400 + 719468, era = day / 146097, of_era = day % 146097;
    const uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const uint64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    moment m = {.day = of_year - (153 * month + 2) / 5 + 1,
                .month = month < 10 ? month + 3 : month - 9,
                .hour = seconds % 86400 / 3600,
                .minute = seconds % 3600 / 60,
                .second = seconds % 60,
                .weekday = seconds / 86400 % 7};
    m.year = year + era * 400 + (m.month <= 2);
    return m;
}

static char *put_clock(char *out, moment m)
{
    out = put_two_digits(out, m.hour);
    *out++ = ':';
    out = put_two_digits(out, m.minute);
    *out++ = ':';
    return put_two_digits(out, m.second);
}

static char *put_iso_time(char *out, uint64_t seconds)
{
    const moment m = moment_of(seconds);
    out = dis__synth_put_number(out, m.year);
    *out++ = '-';
    out = put_two_digits(out, m.month);
    *out++ = '-';
    out = put_two_digits(out, m.day);
    *out++ = 'T';
    out = put_clock(out, m);
    return dis__synth_put(out, ".000000Z");
}

static char *put_mturk_time(char *out, uint64_t seconds)
{
    static const char week[][4] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char year[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const moment m = moment_of(seconds);
    out = dis__synth_put(out, week[m.weekday]);
    *out++ = ' ';
    out = dis__synth_put(out, year[m.month - 1]);
    *out++ = ' ';
    out = put_two_digits(out, m.day);
    *out++ = ' ';
    out = put_clock(out, m);
    out = dis__synth_put(out, " PST ");
    return dis__synth_put_number(out, m.year);
}

/* Start and duration of the vote: 3 to 34 s. */
static uint64_t begun(uint64_t vote)
{
    return 9 * 3600 + 40 * vote;
}

static uint64_t duration(const dis__synth *s, uint64_t vote)
{
    return 3 + dis__random_below(s->o.seed, DIS_STREAM_SYNTH_VOTE | UINT64_C(1) << 63, vote, 32);
}

static const char *question_of(const dis__synth *s)
{
    return s->theme ? s->theme->question : "label";
}

static char *put_annotation(const dis__synth *s, const dis__synth_vote *v, char *out)
{
    const uint64_t number = v->item * s->o.votes_per_item + v->slot, seconds = duration(s, number);
    out = dis__synth_put(out, "\n    {\"id\": ");
    out = dis__synth_put_number(out, number + 1);
    out = dis__synth_put(out, ", \"completed_by\": {\"id\": ");
    out = dis__synth_put_number(out, v->worker + 1);
    out = dis__synth_put(out, ", \"email\": \"");
    out = dis__synth_put(out, names[v->worker % N_NAMES]);
    if (v->worker >= N_NAMES) out = dis__synth_put_number(out, v->worker / N_NAMES + 1);
    out = dis__synth_put(out, "@example.org\"}, \"result\": [");
    if (!v->rejected) {
        out = dis__synth_put(out, "{\"id\": \"r");
        out = dis__synth_put_number(out, number + 1);
        out = dis__synth_put(out, "\", \"type\": \"choices\", \"value\": {\"choices\": [\"");
        out = dis__synth_put_label(s, v->label, out);
        out = dis__synth_put(out, "\"]}, \"from_name\": \"");
        out = dis__synth_put(out, question_of(s));
        out = dis__synth_put(out, "\", \"to_name\": \"text\", \"origin\": \"manual\"}");
    }
    out = dis__synth_put(out, "], \"was_cancelled\": ");
    out = dis__synth_put(out, v->rejected ? "true" : "false");
    out = dis__synth_put(out, ", \"ground_truth\": false, \"created_at\": \"");
    out = put_iso_time(out, begun(number) + seconds);
    out = dis__synth_put(out, "\", \"updated_at\": \"");
    out = put_iso_time(out, begun(number) + seconds);
    out = dis__synth_put(out, "\", \"lead_time\": ");
    out = dis__synth_put_number(out, seconds);
    out = dis__synth_put(out, ", \"task\": ");
    out = dis__synth_put_task(s, v->item, out);
    return dis__synth_put(out, "}");
}

dis_status dis__synth_write_label_studio(dis_context *ctx, const dis__synth *s, dis__out *out)
{
    char *room;
    for (uint64_t i = 0; i < s->o.n_items; i++) {
        const dis__synth_item it = dis__synth_item_draw(s, i);
        DIS_TRY(dis__out_reserve(out, MAX_RECORD, &room));
        char *end = dis__synth_put(room, i ? ",\n  {\"id\": " : "[\n  {\"id\": ");
        end = dis__synth_put_task(s, i, end);
        end = dis__synth_put(end, ", \"data\": {\"text\": \"");
        end = dis__synth_put_text(s, i, end);
        end = dis__synth_put(end, "\"}, \"annotations\": [");
        dis__out_advance(out, (size_t)(end - room));
        for (uint64_t slot = 0; slot < s->o.votes_per_item; slot++) {
            const dis__synth_vote v = dis__synth_vote_draw(s, i, slot, &it);
            DIS_TRY(dis__out_reserve(out, MAX_RECORD, &room));
            end = put_annotation(s, &v, slot ? dis__synth_put(room, ",") : room);
            dis__out_advance(out, (size_t)(end - room));
        }
        DIS_TRY(dis__out_printf(out, "\n  ]}"));
        if (i % 4096 == 0) {
            DIS_TRY(dis__check_stop(ctx));
            dis__progress(ctx, "writing votes", (double)i / (double)s->o.n_items);
        }
    }
    return dis__out_printf(out, "\n]\n");
}

/* Row `number` of the batch. */
static char *put_assignment(const dis__synth *s, const dis__synth_vote *v, char *out)
{
    const uint64_t number = v->item * s->o.votes_per_item + v->slot;
    *out++ = '"';
    out = dis__synth_put_task(s, v->item, out);
    out = dis__synth_put(out, "\",\"3TYPE\",\"Choose one answer\",\"3ASG");
    out = dis__synth_put_number(out, number + 1);
    out = dis__synth_put(out, "\",\"A");
    out = dis__synth_put_number(out, 1000 + v->worker);
    out = dis__synth_put(out, v->rejected ? "\",\"Rejected\",\"" : "\",\"Approved\",\"");
    out = put_mturk_time(out, begun(number));
    out = dis__synth_put(out, "\",\"");
    out = put_mturk_time(out, begun(number) + duration(s, number));
    out = dis__synth_put(out, "\",\"");
    out = dis__synth_put_text(s, v->item, out);
    out = dis__synth_put(out, "\",\"");
    out = dis__synth_put_label(s, v->label, out);
    return dis__synth_put(out, v->rejected ? "\",\"\",\"x\"\n" : "\",\"x\",\"\"\n");
}

dis_status dis__synth_write_mturk(dis_context *ctx, const dis__synth *s, dis__out *out)
{
    DIS_TRY(dis__out_printf(out,
                            "\"HITId\",\"HITTypeId\",\"Title\",\"AssignmentId\",\"WorkerId\",\"AssignmentStatus\","
                            "\"AcceptTime\",\"SubmitTime\",\"Input.text\",\"Answer.%s\",\"Approve\",\"Reject\"\n",
                            question_of(s)));
    for (uint64_t i = 0; i < s->o.n_items; i++) {
        const dis__synth_item it = dis__synth_item_draw(s, i);
        for (uint64_t slot = 0; slot < s->o.votes_per_item; slot++) {
            const dis__synth_vote v = dis__synth_vote_draw(s, i, slot, &it);
            char *room;
            DIS_TRY(dis__out_reserve(out, MAX_RECORD, &room));
            dis__out_advance(out, (size_t)(put_assignment(s, &v, room) - room));
        }
        if (i % 4096 == 0) {
            DIS_TRY(dis__check_stop(ctx));
            dis__progress(ctx, "writing votes", (double)i / (double)s->o.n_items);
        }
    }
    return DIS_OK;
}
