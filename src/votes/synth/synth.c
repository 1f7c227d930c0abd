/* Synthetic crowds with known true classes. Every random number is a function of (seed, purpose, index): vote v of item
 * i can be generated without any other vote, so rows stream in any order (shuffled ones by a permutation of row
 * numbers) and threads share the rows.
 *
 * Models, with a[w] the accuracy of worker w, drawn around `accuracy` with standard deviation `spread`:
 *   one-coin     correct with probability a[w], otherwise any other class (Dawid & Skene 1979 with one parameter per
 *                worker)
 *   dawid-skene  a[w] differs by class, and half of the wrong votes are the worker's most frequent error for that
 *                class: a full confusion matrix per worker, never stored
 *   spammer      a share of workers ignores the items, half of them always the same class, half of them at random
 *                (as in MACE, Hovy et al. 2013); the others are one-coin
 *   difficulty   GLAD (Whitehill et al. 2009): the odds of a correct vote are odds[w] to the power of the item's ease,
 *                which
 *                is 1/4, 1/2, 1, 2 or 4, so that square roots suffice
 *   ambiguous    items look like a second class to a share of readers (0 to .45); a worker votes for the apparent class
 *                with probability a[w], otherwise any other class; a share of workers ignores the items as above
 * Only +, -, *, / and square root are used, which IEEE 754 rounds identically everywhere: the same options give the
 * same bytes on every machine, with any mathematical library.
 *
 * Cost: two or three Philox blocks, one small permutation and some 15 formatted bytes per vote; memory for the rows of
 * one round. */
#include "dissent/synth.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "votes/synth/synth_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUND_JOBS = 16, JOB_ROWS = 8192, MAX_ROW = 80, MAX_TEXT = DIS__SYNTH_MAX_TEXT + 32 };

/* Mean 0, standard deviation 1, within 3.5: the sum of four uniform variables, which needs no logarithm. */
static double bell(dis_random_block b)
{
    return (dis__synth_unit(b.word[0]) + dis__synth_unit(b.word[1]) + dis__synth_unit(b.word[2]) +
            dis__synth_unit(b.word[3]) - (2 - 0x1p-31)) *
           1.7320508075688772;
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* A permutation of 0 .. n - 1 with no table: a Feistel network over the smallest even number of bits that holds n,
 * iterated until the result is below n (fewer than 4 steps on average). Four rounds of a multiplicative hash. */
static int even_bits(uint64_t n)
{
    int bits = 2;
    while (bits < 64 && (n - 1) >> bits) bits += 2;
    return bits;
}

static uint64_t permute(uint64_t x, uint64_t n, int bits, uint64_t key)
{
    const int half = bits / 2;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t h = (right + round * 0x9E3779B97F4A7C15u + key) * 0xD6E8FEB86659FD93u;
            h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
            const uint64_t next = (left ^ h >> 32) & mask;
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return x;
}

static double worker_accuracy(const dis__synth *s, uint64_t w)
{
    const dis_random_block b = dis__philox(w, DIS_STREAM_SYNTH_WORKER, s->o.seed);
    return within(s->o.accuracy + s->o.spread * bell(b), .5 / (double)s->o.n_classes, .999);
}

/* Any class except `truth`. */
static uint64_t another(const dis__synth *s, uint64_t truth, uint32_t word)
{
    if (s->o.n_classes == 1) return truth;
    const uint64_t k = (uint64_t)word * (s->o.n_classes - 1) >> 32;
    return k + (k >= truth);
}

static uint64_t vote_one_coin(const dis__synth *s, uint64_t w, const dis__synth_item *it, dis_random_block b)
{
    return dis__synth_unit(b.word[0]) < worker_accuracy(s, w) ? it->truth : another(s, it->truth, b.word[1]);
}

static uint64_t vote_dawid_skene(const dis__synth *s, uint64_t w, const dis__synth_item *it, dis_random_block b)
{
    /* Probabilities of the worker for this class; the high half of the stream is free for such keys. */
    const dis_random_block own = dis__philox(w, DIS_STREAM_SYNTH_WORKER | (it->truth + 1) << 32, s->o.seed);
    const double tilt = (dis__synth_unit(own.word[0]) - .5) * 2 * s->o.spread;
    const double right = within(worker_accuracy(s, w) + tilt, .5 / (double)s->o.n_classes, .999);
    if (dis__synth_unit(b.word[0]) < right) return it->truth;
    return another(s, it->truth, b.word[2] >> 31 ? own.word[1] : b.word[1]);
}

/* Whether worker w ignores the items, and votes for which class. */
static bool votes_blindly(const dis__synth *s, uint64_t w, dis_random_block b, uint64_t *label)
{
    const dis_random_block own = dis__philox(w, DIS_STREAM_SYNTH_WORKER | (uint64_t)1 << 32, s->o.seed);
    *label = (uint64_t)(own.word[1] >> 31 ? own.word[2] : b.word[1]) * s->o.n_classes >> 32;
    return dis__synth_unit(own.word[0]) < s->o.spammers;
}

static uint64_t vote_spammer(const dis__synth *s, uint64_t w, const dis__synth_item *it, dis_random_block b)
{
    uint64_t label;
    return votes_blindly(s, w, b, &label) ? label : vote_one_coin(s, w, it, b);
}

static uint64_t vote_difficulty(const dis__synth *s, uint64_t w, const dis__synth_item *it, dis_random_block b)
{
    const double a = worker_accuracy(s, w);
    double odds = a / (1 - a);
    for (uint32_t e = it->ease; e < 2; e++) odds = sqrt(odds);
    for (uint32_t e = it->ease; e > 2; e--) odds *= odds;
    return dis__synth_unit(b.word[0]) * (1 + odds) < odds ? it->truth : another(s, it->truth, b.word[1]);
}

/* The class that a reader perceives: the item's own, or its rival. The rival is perceived by `share` of the fraction of
 * readers in a crowd who perceive it. */
static uint64_t class_seen(const dis__synth *s, const dis__synth_item *it, double share, uint32_t word)
{
    const dis__synth_likeness l = dis__synth_likeness_draw(s, it->index);
    return dis__synth_unit(word) < share * l.rival_share ? l.rival : it->truth;
}

static uint64_t vote_ambiguous(const dis__synth *s, uint64_t w, const dis__synth_item *it, dis_random_block b)
{
    uint64_t label;
    if (votes_blindly(s, w, b, &label)) return label;
    const uint64_t seen = class_seen(s, it, 1, b.word[2]);
    return dis__synth_unit(b.word[0]) < worker_accuracy(s, w) ? seen : another(s, seen, b.word[1]);
}

static const struct {
    dis_synth_model info;
    dis__synth_vote_function vote;
    bool hard_items;
} models[] = {
    {{"dawid-skene", "one confusion matrix per annotator"}, vote_dawid_skene, false},
    {{"one-coin", "one accuracy per annotator; errors are uniform over the other classes"}, vote_one_coin, false},
    {{"spammer", "one-coin with a share of annotators who vote at random"}, vote_spammer, false},
    {{"difficulty", "GLAD: ability per annotator, difficulty per item"}, vote_difficulty, true},
    {{"ambiguous", "items can be mistaken for a second class; a share of annotators votes at random"},
     vote_ambiguous,
     true},
};
enum { N_MODELS = sizeof models / sizeof *models };

const dis_synth_model *dis_synth_model_get(size_t i)
{
    return i < N_MODELS ? &models[i].info : NULL;
}

DIS_OPTIONS_DEFAULTS(dis_synth_options, .size = sizeof(dis_synth_options), .model = "dawid-skene", .n_items = 1000,
                     .n_workers = 50, .n_classes = 4, .votes_per_item = 5, .accuracy = .7, .spread = .15,
                     .spammers = .2, .n_features = 16)

dis__synth_item dis__synth_item_draw(const dis__synth *s, uint64_t i)
{
    const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_ITEM, s->o.seed);
    return (dis__synth_item){.index = i,
                             .truth = (uint64_t)b.word[0] * s->o.n_classes >> 32,
                             .ease = (uint32_t)((uint64_t)b.word[1] * 5 >> 32)};
}

char *dis__synth_put_number(char *out, uint64_t x)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n) *out++ = digits[--n];
    return out;
}

char *dis__synth_put_label(const dis__synth *s, uint64_t label, char *out)
{
    return s->theme ? dis__synth_put(out, s->theme->classes[label]) : dis__synth_put_number(out, label);
}

char *dis__synth_put_task(const dis__synth *s, uint64_t i, char *out)
{
    if (s->format == DIS__SYNTH_LABEL_STUDIO) return dis__synth_put_number(out, i + 1);
    return dis__synth_put_number(dis__synth_put(out, s->format == DIS__SYNTH_MTURK ? "3HIT" : "t"), i);
}

/* Judges vote on all items. They come in four kinds, in turn: accurate with the majority's perception; biased towards
 * the last class; copying the previous judge in three votes of five; random. */
static uint64_t judge_vote(const dis__synth *s, uint64_t j, const dis__synth_item *it)
{
    const dis_random_block b = dis__philox(it->index, DIS_STREAM_SYNTH_VOTE | (j + 1) << 32, s->o.seed);
    const uint64_t seen = class_seen(s, it, .5, b.word[2]), kind = j % 4;
    if (kind == 3) return (uint64_t)b.word[1] * s->o.n_classes >> 32;
    if (kind == 2 && dis__synth_unit(b.word[3]) < .6) return judge_vote(s, j - 1, it);
    if (kind == 1 && dis__synth_unit(b.word[3]) < .3) return s->o.n_classes - 1;
    return dis__synth_unit(b.word[0]) < (kind == 2 ? .75 : .9) ? seen : another(s, seen, b.word[1]);
}

dis__synth_vote dis__synth_vote_draw(const dis__synth *s, uint64_t i, uint64_t slot, const dis__synth_item *it)
{
    dis__synth_vote v = {.item = i, .slot = slot};
    /* People vote on the first items, judges on all. */
    const uint64_t people = i < s->o.human_items ? s->o.votes_per_item : 0;
    if (slot >= people) {
        v.judge = true;
        v.worker = slot - people;
        v.label = judge_vote(s, v.worker, it);
        return v;
    }
    /* Each item has its own permutation of the workers, so that no one votes on it twice. */
    const uint64_t key = (i + 1) * 0x9E3779B97F4A7C15u ^ s->o.seed;
    const dis_random_block b = dis__philox(i * s->o.votes_per_item + slot, DIS_STREAM_SYNTH_VOTE, s->o.seed);
    v.worker = permute(slot, s->o.n_workers, s->worker_bits, key);
    v.label = s->vote(s, v.worker, it, b);
    v.rejected = dis__synth_unit(b.word[3]) < .02;
    return v;
}

/* Row r of the votes file. */
static char *put_vote(const dis__synth *s, uint64_t r, dis__synth_item *it, uint64_t *it_is, char *out)
{
    const uint64_t row = s->o.shuffle ? permute(r, s->n_votes, s->row_bits, s->o.seed) : r;
    const uint64_t both = s->o.votes_per_item + s->o.n_judges, of_both = s->o.human_items * both;
    const uint64_t i = row < of_both ? row / both : s->o.human_items + (row - of_both) / s->o.n_judges;
    const uint64_t slot = row < of_both ? row % both : (row - of_both) % s->o.n_judges;
    if (*it_is != i) {
        *it = dis__synth_item_draw(s, i);
        *it_is = i;
    }
    const dis__synth_vote v = dis__synth_vote_draw(s, i, slot, it);
    out = dis__synth_put_task(s, i, out);
    out = dis__synth_put(out, v.judge ? ",judge" : ",w");
    out = dis__synth_put_number(out, v.worker + v.judge);
    *out++ = ',';
    out = dis__synth_put_label(s, v.label, out);
    if (s->o.n_judges) out = dis__synth_put(out, v.judge ? ",llm" : ",human");
    *out++ = '\n';
    return out;
}

typedef struct {
    const dis__synth *s;
    uint64_t first, n; /* rows of this round */
    char *bytes;       /* (ROUND_JOBS, JOB_ROWS * MAX_ROW) */
    size_t used[ROUND_JOBS];
} vote_round;

static dis_status vote_job(void *arg, size_t j, int thread)
{
    (void)thread;
    vote_round *r = arg;
    char *const bytes = r->bytes + j * JOB_ROWS * MAX_ROW, *out = bytes;
    dis__synth_item it = {0};
    uint64_t it_is = UINT64_MAX;
    const uint64_t last = r->n < (j + 1) * JOB_ROWS ? r->n : (j + 1) * JOB_ROWS;
    for (uint64_t row = j * JOB_ROWS; row < last; row++) out = put_vote(r->s, r->first + row, &it, &it_is, out);
    r->used[j] = (size_t)(out - bytes);
    return DIS_OK;
}

static dis_status write_votes(dis_context *ctx, const dis__synth *s, dis__out *out, char *bytes)
{
    DIS_TRY(dis__out_printf(out, s->o.n_judges ? "task,worker,label,kind\n" : "task,worker,label\n"));
    vote_round r = {.s = s, .bytes = bytes};
    for (; r.first < s->n_votes; r.first += r.n) {
        const uint64_t left = s->n_votes - r.first;
        r.n = left < (uint64_t)ROUND_JOBS * JOB_ROWS ? left : (uint64_t)ROUND_JOBS * JOB_ROWS;
        const size_t n_jobs = (size_t)((r.n + JOB_ROWS - 1) / JOB_ROWS);
        DIS_TRY(dis__check_stop(ctx));
        DIS_TRY(dis__run_jobs(ctx, n_jobs, vote_job, &r));
        for (size_t j = 0; j < n_jobs; j++) DIS_TRY(dis__out_write(out, bytes + j * JOB_ROWS * MAX_ROW, r.used[j]));
        dis__progress(ctx, "writing votes", (double)(r.first + r.n) / (double)s->n_votes);
    }
    return DIS_OK;
}

static char *put_gold(const dis__synth *s, uint64_t i, char *out)
{
    out = dis__synth_put_task(s, i, out);
    *out++ = ',';
    out = dis__synth_put_label(s, dis__synth_item_draw(s, i).truth, out);
    *out++ = '\n';
    return out;
}

dis__synth_likeness dis__synth_likeness_draw(const dis__synth *s, uint64_t i)
{
    static const double shares[] = {.48, .4, .25, .1, 0}, ambiguous[] = {.45, .3, .15, .05, 0};
    const dis__synth_item it = dis__synth_item_draw(s, i);
    dis__synth_likeness l = {.truth = it.truth, .rival = it.truth};
    if (s->hard_items && s->o.n_classes > 1) {
        l.rival = dis__random_below(s->o.seed, DIS_STREAM_SYNTH_CONTENT | UINT64_C(1) << 63, i, s->o.n_classes - 1);
        l.rival += l.rival >= l.truth;
        l.rival_share = s->vote == vote_ambiguous ? ambiguous[it.ease] : shares[it.ease];
    }
    return l;
}

static char *put_text_row(const dis__synth *s, uint64_t i, char *out)
{
    out = dis__synth_put_task(s, i, out);
    out = dis__synth_put(out, s->theme ? ",\"" : ",");
    out = dis__synth_put_text(s, i, out);
    return dis__synth_put(out, s->theme ? "\"\n" : "\n");
}

/* A bell curve around the mean of the true class, shifted towards its rival's; means are bell curves too. */
static char *put_features(const dis__synth *s, uint64_t i, char *out)
{
    enum { MEANS = 1 << 20 }; /* separates the streams of means and of noise */
    const dis__synth_likeness l = dis__synth_likeness_draw(s, i);
    for (uint64_t j = 0; j < s->o.n_features; j++) {
        const uint64_t stream = DIS_STREAM_SYNTH_CONTENT | (MEANS + j) << 32;
        double mean = bell(dis__philox(l.truth, stream, s->o.seed));
        if (l.rival_share > 0) mean += l.rival_share * (bell(dis__philox(l.rival, stream, s->o.seed)) - mean);
        const double noise = bell(dis__philox(i, DIS_STREAM_SYNTH_CONTENT | (2 * MEANS + j) << 32, s->o.seed));
        const float x = (float)(.75 * mean + noise);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        for (int byte = 0; byte < 4; byte++) *out++ = (char)(bits >> 8 * byte); /* little-endian on every machine */
    }
    return out;
}

static dis_status put_npy_header(const dis__synth *s, dis__out *out)
{
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int n =
        snprintf(header + 10, sizeof header - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu, %llu), }",
                 (unsigned long long)s->o.n_items, (unsigned long long)s->o.n_features);
    header[10 + n] = ' ';
    header[sizeof header - 1] = '\n';
    return dis__out_write(out, header, sizeof header);
}

/* A file with one record per item. */
static dis_status write_items(dis_context *ctx, const dis__synth *s, dis__out *out, const char *what, size_t max,
                              char *(*put)(const dis__synth *s, uint64_t i, char *out))
{
    for (uint64_t i = 0; i < s->o.n_items; i++) {
        char *room;
        DIS_TRY(dis__out_reserve(out, max, &room));
        dis__out_advance(out, (size_t)(put(s, i, room) - room));
        if (i % 65536 == 0) {
            DIS_TRY(dis__check_stop(ctx));
            dis__progress(ctx, what, (double)i / (double)s->o.n_items);
        }
    }
    return DIS_OK;
}

static dis_status write_text(dis_context *ctx, const dis__synth *s, const char *path)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = dis__out_printf(out, "task,text\n");
    if (status == DIS_OK) status = write_items(ctx, s, out, "writing texts", MAX_TEXT, put_text_row);
    return dis__out_finish(out, status);
}

static dis_status write_features(dis_context *ctx, const dis__synth *s, const char *path)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = put_npy_header(s, out);
    if (status == DIS_OK)
        status = write_items(ctx, s, out, "writing features", (size_t)s->o.n_features * 4, put_features);
    return dis__out_finish(out, status);
}

static dis_status write_gold(dis_context *ctx, const dis__synth *s, const char *path)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = dis__out_printf(out, "task,label\n");
    if (status == DIS_OK) status = write_items(ctx, s, out, "writing the truth", MAX_ROW, put_gold);
    return dis__out_finish(out, status);
}

static dis_status check_count(const char *what, uint64_t n, uint64_t low, uint64_t high)
{
    if (n >= low && n <= high) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "%s must be between %llu and %llu, not %llu", what, (unsigned long long)low,
                     (unsigned long long)high, (unsigned long long)n);
}

static dis_status check_share(const char *what, double x, double high)
{
    if (x >= 0 && x <= high) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "%s must be between 0 and %g, not %g", what, high, x);
}

static dis_status check_exports(dis__synth *s)
{
    static const char *const formats[] = {"votes", "label-studio", "mturk"};
    const char *const to = s->o.to ? s->o.to : formats[0];
    size_t format = 0;
    while (format < 3 && strcmp(to, formats[format]) != 0) format++;
    if (format == 3) return dis__fail(DIS_EUSAGE, "no format \"%s\" of votes; formats: votes, label-studio, mturk", to);
    s->format = (dis__synth_format)format;
    if (s->format == DIS__SYNTH_VOTES) return DIS_OK;
    if (s->o.n_judges) return dis__fail(DIS_EUSAGE, "judges are written as votes only, not in the format %s", to);
    if (s->o.shuffle)
        return dis__fail(DIS_EUSAGE, "rows in random order are written as votes only, not in the format %s", to);
    return DIS_OK;
}

static dis_status check_theme(dis__synth *s)
{
    if (!s->o.theme) return DIS_OK;
    s->theme = dis__synth_theme_find(s->o.theme);
    if (!s->theme) return dis__fail(DIS_EUSAGE, "no theme \"%s\"; themes: tickets, reviews", s->o.theme);
    if (s->o.n_classes <= s->theme->n_classes) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "the theme %s has %llu classes, not %llu", s->o.theme,
                     (unsigned long long)s->theme->n_classes, (unsigned long long)s->o.n_classes);
}

static dis_status check(const dis_synth_options *o, dis__synth *s)
{
    enum { MAX_FEATURES = DIS_OUT_BUFFER / 4 };
    *s = (dis__synth){.o = *o};
    for (size_t m = 0; m < N_MODELS; m++)
        if (o->model && strcmp(o->model, models[m].info.name) == 0) {
            s->vote = models[m].vote;
            s->hard_items = models[m].hard_items;
        }
    if (!s->vote)
        return dis__fail(DIS_EUSAGE,
                         "no crowd model \"%s\"; models: dawid-skene, one-coin, spammer, difficulty, ambiguous",
                         o->model ? o->model : "");
    DIS_TRY(check_count("items", o->n_items, 1, 4294967294u));
    DIS_TRY(check_count("workers", o->n_workers, 1, 4294967294u));
    DIS_TRY(check_count("classes", o->n_classes, 1, 65535));
    DIS_TRY(check_count("votes per item", o->votes_per_item, 1, o->n_workers));
    DIS_TRY(check_share("accuracy", o->accuracy, 1));
    DIS_TRY(check_share("spread", o->spread, .5));
    DIS_TRY(check_share("spammers", o->spammers, 1));
    if (o->features) DIS_TRY(check_count("features", o->n_features, 1, MAX_FEATURES));
    DIS_TRY(check_count("judges", o->n_judges, 0, 64));
    DIS_TRY(check_theme(s));
    DIS_TRY(check_exports(s));
    if (!o->human_items) s->o.human_items = o->n_items;
    if (!o->n_judges && s->o.human_items != o->n_items)
        return dis__fail(DIS_EUSAGE,
                         "items without votes of people need judges; set the number of judges, or leave out "
                         "the number of human items");
    DIS_TRY(check_count("human items", s->o.human_items, 1, o->n_items));
    s->n_votes = s->o.human_items * o->votes_per_item + o->n_items * o->n_judges;
    s->worker_bits = even_bits(o->n_workers);
    s->row_bits = even_bits(s->n_votes);
    return DIS_OK;
}

dis_status dis_synth_write(dis_context *ctx, const dis_synth_options *options, const char *votes, const char *gold)
{
    dis_synth_options o = dis_synth_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_synth_options, &o, options));
    dis__synth s;
    DIS_TRY(check(&o, &s));
    const char *paths[] = {votes, gold, s.o.text, s.o.features};
    int to_stdout = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) to_stdout += paths[i] && strcmp(paths[i], "-") == 0;
    if (to_stdout > 1)
        return dis__fail(DIS_EUSAGE, "only one of votes, gold, text and features can go to standard output");

    char *bytes;
    DIS_TRY(dis__alloc_array(&bytes, (size_t)ROUND_JOBS * JOB_ROWS, MAX_ROW));
    dis__out *out;
    dis_status status = dis__out_open(votes, &out);
    if (status == DIS_OK) {
        if (s.format == DIS__SYNTH_LABEL_STUDIO)
            status = dis__synth_write_label_studio(ctx, &s, out);
        else if (s.format == DIS__SYNTH_MTURK)
            status = dis__synth_write_mturk(ctx, &s, out);
        else
            status = write_votes(ctx, &s, out, bytes);
        status = dis__out_finish(out, status);
    }
    dis__free(bytes);
    if (status == DIS_OK && gold) status = write_gold(ctx, &s, gold);
    if (status == DIS_OK && s.o.text) status = write_text(ctx, &s, s.o.text);
    if (status == DIS_OK && s.o.features) status = write_features(ctx, &s, s.o.features);
    return status;
}
