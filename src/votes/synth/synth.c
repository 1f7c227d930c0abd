/* Crowds whose truth is known. Every number is a function of (seed, what, index): vote v of item i can be made without
 * any other vote, so rows stream in any order (shuffled ones by a permutation of row numbers) and threads share the
 * rows out.
 *
 * Models, with a[w] the chance that worker w is right, drawn around `accuracy` with standard deviation `spread`:
 *   one-coin     right with a[w], else any other class (Dawid & Skene 1979 with one parameter per worker)
 *   dawid-skene  a[w] differs by class, and a wrong vote goes to the worker's favourite mistake for that class half the
 * time: a full confusion matrix per worker, never stored spammer      a share of workers votes without looking, half of
 * them always the same class, half of them at random (the picture behind MACE, Hovy et al. 2013); the others are
 * one-coin difficulty   GLAD (Whitehill et al. 2009): the odds of being right are odds[w] to the power of the item's
 * ease, which is 1/4, 1/2, 1, 2 or 4, so that square roots suffice The arithmetic is +, -, *, / and square root alone,
 * which IEEE 754 rounds the same everywhere: the same options give the same bytes on every machine, whatever its
 * mathematical library.
 *
 * Cost: two or three Philox blocks, one small permutation and some 15 formatted bytes per vote; memory for the rows
 * under way. */
#include "dissent/synth.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include "core/options/sized_structs.h"
#include "io/output/output_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUND_JOBS = 16, JOB_ROWS = 8192, MAX_ROW = 64, WORDS_OF_CLASS = 24, WORDS_OF_ALL = 120, MAX_TEXT = 400 };

typedef struct {
    uint64_t truth;
    uint32_t ease; /* 0 .. 4, for the difficulty model */
} item;

typedef struct synth synth;
typedef uint64_t (*vote_function)(const synth *s, uint64_t w, const item *it, dis_random_block b);

struct synth {
    dis_synth_options o;
    vote_function vote;
    uint64_t n_votes;
    int worker_bits, row_bits; /* of the permutations */
};

static double unit(uint32_t word)
{
    return (double)word * 0x1p-32;
}

/* Mean 0, standard deviation 1, within 3.5: the sum of four uniform numbers, which needs no logarithm. */
static double bell(dis_random_block b)
{
    return (unit(b.word[0]) + unit(b.word[1]) + unit(b.word[2]) + unit(b.word[3]) - (2 - 0x1p-31)) * 1.7320508075688772;
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* A permutation of 0 .. n - 1 with no table: a Feistel network over the smallest even number of bits that holds n,
 * walked until it lands below n (fewer than 4 steps on average). Four rounds of a multiplicative hash. */
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

static double worker_accuracy(const synth *s, uint64_t w)
{
    const dis_random_block b = dis__philox(w, DIS_STREAM_SYNTH_WORKER, s->o.seed);
    return within(s->o.accuracy + s->o.spread * bell(b), .5 / (double)s->o.n_classes, .999);
}

/* Any class but `truth`. */
static uint64_t another(const synth *s, uint64_t truth, uint32_t word)
{
    if (s->o.n_classes == 1) return truth;
    const uint64_t k = (uint64_t)word * (s->o.n_classes - 1) >> 32;
    return k + (k >= truth);
}

static uint64_t vote_one_coin(const synth *s, uint64_t w, const item *it, dis_random_block b)
{
    return unit(b.word[0]) < worker_accuracy(s, w) ? it->truth : another(s, it->truth, b.word[1]);
}

static uint64_t vote_dawid_skene(const synth *s, uint64_t w, const item *it, dis_random_block b)
{
    /* What the worker does with this class; the high half of the stream is free for such keys. */
    const dis_random_block own = dis__philox(w, DIS_STREAM_SYNTH_WORKER | (it->truth + 1) << 32, s->o.seed);
    const double tilt = (unit(own.word[0]) - .5) * 2 * s->o.spread;
    const double right = within(worker_accuracy(s, w) + tilt, .5 / (double)s->o.n_classes, .999);
    if (unit(b.word[0]) < right) return it->truth;
    return another(s, it->truth, b.word[2] >> 31 ? own.word[1] : b.word[1]);
}

static uint64_t vote_spammer(const synth *s, uint64_t w, const item *it, dis_random_block b)
{
    const dis_random_block own = dis__philox(w, DIS_STREAM_SYNTH_WORKER | (uint64_t)1 << 32, s->o.seed);
    if (unit(own.word[0]) >= s->o.spammers) return vote_one_coin(s, w, it, b);
    return (uint64_t)(own.word[1] >> 31 ? own.word[2] : b.word[1]) * s->o.n_classes >> 32;
}

static uint64_t vote_difficulty(const synth *s, uint64_t w, const item *it, dis_random_block b)
{
    const double a = worker_accuracy(s, w);
    double odds = a / (1 - a);
    for (uint32_t e = it->ease; e < 2; e++) odds = sqrt(odds);
    for (uint32_t e = it->ease; e > 2; e--) odds *= odds;
    return unit(b.word[0]) * (1 + odds) < odds ? it->truth : another(s, it->truth, b.word[1]);
}

static const struct {
    dis_synth_model info;
    vote_function vote;
} models[] = {
    {{"dawid-skene", "one confusion matrix per worker"}, vote_dawid_skene},
    {{"one-coin", "one accuracy per worker; mistakes go anywhere"}, vote_one_coin},
    {{"spammer", "one-coin, but a share of workers votes without looking"}, vote_spammer},
    {{"difficulty", "items differ in how easy they are, workers in skill (GLAD)"}, vote_difficulty},
};
enum { N_MODELS = sizeof models / sizeof *models };

const dis_synth_model *dis_synth_model_at(size_t i)
{
    return i < N_MODELS ? &models[i].info : NULL;
}

DIS_OPTIONS_DEFAULTS(dis_synth_options, .size = sizeof(dis_synth_options), .model = "dawid-skene", .n_items = 1000,
                     .n_workers = 50, .n_classes = 4, .votes_per_item = 5, .accuracy = .7, .spread = .15,
                     .spammers = .2, .n_features = 16)

static item make_item(const synth *s, uint64_t i)
{
    const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_ITEM, s->o.seed);
    return (item){.truth = (uint64_t)b.word[0] * s->o.n_classes >> 32,
                  .ease = (uint32_t)((uint64_t)b.word[1] * 5 >> 32)};
}

static char *put_number(char *out, uint64_t x)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n) *out++ = digits[--n];
    return out;
}

/* Row r of the votes file. */
static char *put_vote(const synth *s, uint64_t r, item *it, uint64_t *it_is, char *out)
{
    const uint64_t v = s->o.shuffle ? permute(r, s->n_votes, s->row_bits, s->o.seed) : r;
    const uint64_t i = v / s->o.votes_per_item;
    if (*it_is != i) {
        *it = make_item(s, i);
        *it_is = i;
    }
    /* Each item has a permutation of the workers of its own, so that nobody votes on it twice. */
    const uint64_t key = (i + 1) * 0x9E3779B97F4A7C15u ^ s->o.seed;
    const uint64_t w = permute(v % s->o.votes_per_item, s->o.n_workers, s->worker_bits, key);
    *out++ = 't';
    out = put_number(out, i);
    *out++ = ',';
    *out++ = 'w';
    out = put_number(out, w);
    *out++ = ',';
    out = put_number(out, s->vote(s, w, it, dis__philox(v, DIS_STREAM_SYNTH_VOTE, s->o.seed)));
    *out++ = '\n';
    return out;
}

typedef struct {
    const synth *s;
    uint64_t first, n; /* rows of this round */
    char *bytes;       /* (ROUND_JOBS, JOB_ROWS * MAX_ROW) */
    size_t used[ROUND_JOBS];
} vote_round;

static dis_status vote_job(void *arg, size_t j, int thread)
{
    (void)thread;
    vote_round *r = arg;
    char *const bytes = r->bytes + j * JOB_ROWS * MAX_ROW, *out = bytes;
    item it = {0};
    uint64_t it_is = UINT64_MAX;
    const uint64_t last = r->n < (j + 1) * JOB_ROWS ? r->n : (j + 1) * JOB_ROWS;
    for (uint64_t row = j * JOB_ROWS; row < last; row++) out = put_vote(r->s, r->first + row, &it, &it_is, out);
    r->used[j] = (size_t)(out - bytes);
    return DIS_OK;
}

static dis_status write_votes(dis_context *ctx, const synth *s, dis__out *out, char *bytes)
{
    DIS_TRY(dis__out_printf(out, "task,worker,label\n"));
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

static char *put_gold(const synth *s, uint64_t i, char *out)
{
    *out++ = 't';
    out = put_number(out, i);
    *out++ = ',';
    out = put_number(out, make_item(s, i).truth);
    *out++ = '\n';
    return out;
}

/* Words of two or three syllables; which ones a word has follows from its number. */
static char *put_word(uint64_t number, char *out)
{
    static const char onset[] = "bdfgklmnprstvz", vowel[] = "aeiou";
    number = number * 2 + 71;
    for (int syllable = 0; syllable < 2 || (syllable < 3 && number); syllable++) {
        *out++ = onset[number % (sizeof onset - 1)];
        number /= sizeof onset - 1;
        *out++ = vowel[number % (sizeof vowel - 1)];
        number /= sizeof vowel - 1;
    }
    return out;
}

/* Items that are hard for people look like a second class too: how much of what tells the class comes from that one.
 * Only the difficulty model knows hard items. */
typedef struct {
    uint64_t truth, rival;
    double rival_share; /* of the rival */
} likeness;

static likeness likeness_of(const synth *s, uint64_t i)
{
    static const double shares[] = {.48, .4, .25, .1, 0};
    const item it = make_item(s, i);
    likeness l = {.truth = it.truth, .rival = it.truth};
    if (s->vote == vote_difficulty && s->o.n_classes > 1) {
        l.rival = dis__random_below(s->o.seed, DIS_STREAM_SYNTH_CONTENT | UINT64_C(1) << 63, i, s->o.n_classes - 1);
        l.rival += l.rival >= l.truth;
        l.rival_share = shares[it.ease];
    }
    return l;
}

/* 8 to 15 words, a third of them from the vocabulary of the true class or of its rival. */
static char *put_text(const synth *s, uint64_t i, char *out)
{
    const likeness l = likeness_of(s, i);
    const uint64_t n = 8 + dis__random_below(s->o.seed, DIS_STREAM_SYNTH_CONTENT, i, 8);
    *out++ = 't';
    out = put_number(out, i);
    for (uint64_t j = 0; j < n; j++) {
        const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | (j + 1) << 32, s->o.seed);
        const bool own = unit(b.word[0]) < 1. / 3;
        const uint64_t class = unit(b.word[2]) < l.rival_share ? l.rival : l.truth;
        *out++ = j ? ' ' : ',';
        out = put_word(own ? WORDS_OF_ALL + class * WORDS_OF_CLASS + ((uint64_t)b.word[1] * WORDS_OF_CLASS >> 32)
                           : (uint64_t)b.word[1] * WORDS_OF_ALL >> 32,
                       out);
    }
    *out++ = '\n';
    return out;
}

/* A bell around the mean of the true class, drawn towards its rival's; means are bells too. */
static char *put_features(const synth *s, uint64_t i, char *out)
{
    enum { MEANS = 1 << 20 }; /* keeps the streams of means and of noise apart */
    const likeness l = likeness_of(s, i);
    for (uint64_t j = 0; j < s->o.n_features; j++) {
        const uint64_t stream = DIS_STREAM_SYNTH_CONTENT | (MEANS + j) << 32;
        double mean = bell(dis__philox(l.truth, stream, s->o.seed));
        if (l.rival_share > 0) mean += l.rival_share * (bell(dis__philox(l.rival, stream, s->o.seed)) - mean);
        const double noise = bell(dis__philox(i, DIS_STREAM_SYNTH_CONTENT | (2 * MEANS + j) << 32, s->o.seed));
        const float x = (float)(.75 * mean + noise);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        for (int byte = 0; byte < 4; byte++) *out++ = (char)(bits >> 8 * byte); /* little-endian anywhere */
    }
    return out;
}

static dis_status put_npy_header(const synth *s, dis__out *out)
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
static dis_status write_items(dis_context *ctx, const synth *s, dis__out *out, const char *what, size_t max,
                              char *(*put)(const synth *s, uint64_t i, char *out))
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

static dis_status write_text(dis_context *ctx, const synth *s, const char *path)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = dis__out_printf(out, "task,text\n");
    if (status == DIS_OK) status = write_items(ctx, s, out, "writing texts", MAX_TEXT, put_text);
    return dis__out_finish(out, status);
}

static dis_status write_features(dis_context *ctx, const synth *s, const char *path)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    dis_status status = put_npy_header(s, out);
    if (status == DIS_OK)
        status = write_items(ctx, s, out, "writing features", (size_t)s->o.n_features * 4, put_features);
    return dis__out_finish(out, status);
}

static dis_status write_gold(dis_context *ctx, const synth *s, const char *path)
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

static dis_status check(const dis_synth_options *o, synth *s)
{
    enum { MAX_FEATURES = DIS_OUT_BUFFER / 4 };
    *s = (synth){.o = *o};
    for (size_t m = 0; m < N_MODELS; m++)
        if (o->model && strcmp(o->model, models[m].info.name) == 0) s->vote = models[m].vote;
    if (!s->vote)
        return dis__fail(DIS_EUSAGE, "no crowd model \"%s\"; there are: dawid-skene, one-coin, spammer, difficulty",
                         o->model ? o->model : "");
    DIS_TRY(check_count("items", o->n_items, 1, 4294967294u));
    DIS_TRY(check_count("workers", o->n_workers, 1, 4294967294u));
    DIS_TRY(check_count("classes", o->n_classes, 1, 65535));
    DIS_TRY(check_count("votes per item", o->votes_per_item, 1, o->n_workers));
    DIS_TRY(check_share("accuracy", o->accuracy, 1));
    DIS_TRY(check_share("spread", o->spread, .5));
    DIS_TRY(check_share("spammers", o->spammers, 1));
    if (o->features) DIS_TRY(check_count("features", o->n_features, 1, MAX_FEATURES));
    s->n_votes = o->n_items * o->votes_per_item;
    s->worker_bits = even_bits(o->n_workers);
    s->row_bits = even_bits(s->n_votes);
    return DIS_OK;
}

dis_status dis_synth_write(dis_context *ctx, const dis_synth_options *options, const char *votes, const char *gold)
{
    dis_synth_options o = dis_synth_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_synth_options, &o, options));
    synth s;
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
    if (status == DIS_OK) status = dis__out_finish(out, write_votes(ctx, &s, out, bytes));
    dis__free(bytes);
    if (status == DIS_OK && gold) status = write_gold(ctx, &s, gold);
    if (status == DIS_OK && s.o.text) status = write_text(ctx, &s, s.o.text);
    if (status == DIS_OK && s.o.features) status = write_features(ctx, &s, s.o.features);
    return status;
}
