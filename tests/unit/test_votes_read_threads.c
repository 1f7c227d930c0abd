/* Reading votes: what comes out, what is refused and where, and that neither threads nor the size of chunks make a
 * difference. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "core/random.h"
#include "fault_walk.h"
#include "sanitized.h"
#include "votes/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 16 };
#define TEXT(s) s, sizeof s - 1

static char folder[] = "/tmp/dissent-read-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][256];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void put(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* A table as text: "classes | task: worker=label, ..." and what was noted. */
static void describe(const dis_votes *votes, char *out)
{
    const dis_votes_view v = dis_votes_look(votes);
    const dis_votes_notes notes = dis_votes_read_notes(votes);
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
    } noted[] = {{"bad", notes.bad_rows},        {"na", notes.na},
                 {"dropped", notes.dropped},     {"twice", notes.duplicates},
                 {"scaled", notes.renormalised}, {"left out", notes.items_left_out},
                 {"ties", notes.ties},           {"alike", notes.look_alike_classes}};
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        if (noted[i].count)
            n += (size_t)snprintf(out + n, ROOM - n, " %s %llu", noted[i].what, (unsigned long long)noted[i].count);
}

/* Reads with several sizes of chunk and numbers of threads, which must all agree; describes the table, or gives the
 * message. */
static dis_status read_text(const char *const *paths, size_t n_paths, const dis_votes_options *o, char *out)
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
            for (size_t i = 0; dis_votes_skipped(votes, i) && strlen(to) < ROOM - 3000; i++) {
                strcat(to, "\n");
                strcat(to, dis_votes_skipped(votes, i));
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
static dis_status read_bytes(const char *name, const char *text, size_t n, const dis_votes_options *o, char *out)
{
    put(name, text, n);
    const char *path = path_of(name);
    const dis_status status = read_text(&path, 1, o, out);
    for (char *at; (at = strstr(out, folder));)
        memmove(at, at + strlen(folder) + 1, strlen(at + strlen(folder) + 1) + 1);
    return status;
}

#define DEFAULTS .size = sizeof(dis_votes_options)
static const char *const empty_na[] = {""}, *const skip_na[] = {"skip"}, *const yes_no[] = {"yes", "no", "maybe"};
static const dis_drop_rule rejected[] = {{"status", "Rejected"}};

static void reads(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n;
        dis_votes_options o;
        const char *expected;
    } cases[] = {
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,yes\nt1,w2,no\nt2,w1,no\n"),
         {DEFAULTS},
         "no yes | t1:w1=yes,w2=no, t2:w1=no, | rows 3 ties 1"},
        {"a.csv",
         TEXT("\xef\xbb\xbflabel,performer,extra,task\r\n10,w1,,t1\r\n9,w2,\"x,\"\"y\n\",t1"),
         {DEFAULTS},
         "9 10 | t1:w1=10,w2=9, | rows 2 ties 1"},
        {"a.tsv",
         TEXT("task\tworker\tlabel\n\"t\t1\"\tw\t-1\nt2\tw\t1\nt2\tv\t+0\n"),
         {DEFAULTS},
         "-1 +0 1 | t\t1:w=-1, t2:w=1,v=+0, | rows 3 ties 1"},
        /* ids that begin or end like others */
        {"a.csv",
         TEXT("task,worker,label\nabcdefgh12345678,w,x\nabcdefgh,w,x\n12345678,w,x\nabcdefgh12345678,v,x\n"
              "12345678,v,y\nabcdefgh1,v,x\nabcdefgh12345678,u,x\nabcdefgh123456789,v,x\nabcdefgh1,w,x\n"
              "12345678,abcdefgh12345678,x\nabcdefgh,12345678,y\nabcdefgh123456789,w,x\n"),
         {DEFAULTS},
         "x y | abcdefgh12345678:w=x,v=x,u=x, abcdefgh:w=x,12345678=y, 12345678:w=x,v=y,abcdefgh12345678=x, "
         "abcdefgh1:v=x,w=x, abcdefgh123456789:v=x,w=x, | rows 12 ties 1"},
        /* quoted and plain, short and long, the same id */
        {"a.csv",
         TEXT("task,worker,label\n\"a\",\"the worker's name is \"\"Bob\"\" and "
              "long\",x\na,\"b\"\"\",x\n\"a\",\"b\"\"\",y\n"
              "b,\"the worker's name is \"\"Bob\"\" and long\",y\n"),
         {DEFAULTS, .duplicates = DIS_DUPLICATES_LAST},
         "x y | a:the worker's name is \"Bob\" and long=x,b\"=y, b:the worker's name is \"Bob\" and long=y, | rows 4 "
         "twice 1 "
         "ties 1"},
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,a\nt1,w1,b\nt1,w2,a\nt1,w1,c\n"),
         {DEFAULTS, .duplicates = DIS_DUPLICATES_FIRST},
         "a b c | t1:w1=a,w2=a, | rows 4 twice 2"},
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,a\nt1,w1,b\nt1,w2,a\nt1,w1,c\n"),
         {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL},
         "a b c | t1:w1=a,w1=b,w2=a,w1=c, | rows 4 twice 2"},
        /* a task or worker with nothing but NA is not there; neither is a label that is NA a class */
        {"a.csv",
         TEXT("task,worker,label\nt0,w0,\nt1,w1,a\nt1,w0,\nt2,w2,b\n"),
         {DEFAULTS, .na = empty_na, .n_na = 1},
         "a b | t1:w1=a, t2:w2=b, | rows 4 na 2"},
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,yes\nt1,w2,skip\nt2,w2,no\n"),
         {DEFAULTS, .na = skip_na, .n_na = 1, .classes = yes_no, .n_classes = 3},
         "yes no maybe | t1:w1=yes, t2:w2=no, | rows 3 na 1"},
        {"a.csv",
         TEXT("HIT,who,status,a\nt1,w1,Approved,x\nt1,w2,Rejected,y\nt2,w1,Submitted,x\n"),
         {DEFAULTS, .task = "HIT", .worker = "who", .label = "a", .drop = rejected, .n_drop = 1},
         "x | t1:w1=x, t2:w1=x, | rows 3 dropped 1"},
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,0\nt1,w2,0.0\nt1,w3,0\n"),
         {DEFAULTS},
         "0 0.0 | t1:w1=0,w2=0.0,w3=0, | rows 3 alike 1"},
        {"a.csv",
         TEXT("task,worker,label\nt1,w1,a\nt2,w1,a\nt2,w2,b\nt3,w3,b\n"),
         {DEFAULTS, .min_votes = 2},
         "a b | t2:w1=a,w2=b, | rows 4 left out 2 ties 1"},
        {"a.jsonl",
         TEXT("{\"task\": 7, \"worker\": \"w\\u00e9\", \"label\": true}\r\n{\"label\": \"x\", \"task\": \"7\", "
              "\"worker\": 1.50}\n"),
         {DEFAULTS},
         "true x | 7:w\xc3\xa9=true,1.50=x, | rows 2 ties 1"},
        {"a.jsonl",
         TEXT("{\"task\": 7, \"worker\": 1, \"label\": null}\n{\"task\": 7, \"performer\": 2, \"label\": 3}"),
         {DEFAULTS, .na = empty_na, .n_na = 1},
         "3 | 7:2=3, | rows 2 na 1"},
        {"wide.csv",
         TEXT("1,,0\n\n,1,\n"),
         {DEFAULTS, .input = DIS_INPUT_MACE},
         "0 1 | 0:0=1,2=0, 2:1=1, | rows 3 ties 1"},
        {"c.csv",
         TEXT("task,b,a\nx,1,2\ny,0,.5\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS},
         "a b | x:2,1, y:0.5,0, | rows 2"},
        {"c.csv",
         TEXT("task,b,a\nx,1,2\nx,2,1\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .duplicates = DIS_DUPLICATES_ALL},
         "a b | x:3,3, | rows 2 twice 1 ties 1"},
        {"c.csv",
         TEXT("task,b,a\nx,1,2\nx,2,1\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .duplicates = DIS_DUPLICATES_LAST},
         "a b | x:1,2, | rows 2 twice 1"},
        {"s.csv",
         TEXT("task,worker,p:a,p:b\nx,w,.25,.75\nx,v,1,0\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT},
         "a b | x:1.25,0.75, | rows 2"},
        {"s.csv",
         TEXT("task,worker,a,b\nx,w,.1,.9\nx,w,.3,.1\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT, .renormalise = true, .duplicates = DIS_DUPLICATES_LAST},
         "a b | x:0.75,0.25, | rows 2 twice 1 scaled 1"},
    };
    static char out[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_bytes(cases[i].name, cases[i].text, cases[i].n, &cases[i].o, out) != DIS_OK)
            fail_msg("case %zu: %s", i, out);
        assert_string_equal(out, cases[i].expected);
    }
}

#define HEAD "task,worker,label\n"

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n;
        dis_votes_options o;
        const char *message; /* how it begins */
    } cases[] = {
        {"a.csv", TEXT(""), {DEFAULTS}, "a.csv: the file is empty"},
        {"a.csv", TEXT(HEAD), {DEFAULTS}, "a.csv: a header and no rows"},
        {"a.csv",
         TEXT("task,worker,answer\nt,w,x\n"),
         {DEFAULTS},
         "a.csv:1: no column \"label\"; the columns are: task, worker, answer"},
        {"a.csv", TEXT("task,worker,label,task\nt,w,x,t\n"), {DEFAULTS}, "a.csv:1:19: a second column called \"task\""},
        {"a.csv", TEXT(HEAD "t,w,x\nt,w\n"), {DEFAULTS}, "a.csv:3:1: 2 fields where the header has 3"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,v,x,\n"), {DEFAULTS}, "a.csv:3:1: 4 fields where the header has 3"},
        {"a.csv", TEXT(HEAD "t,w,x\n\nt,v,x\n"), {DEFAULTS}, "a.csv:3:1: a blank line"},
        /* two rows of two and four fields have as many separators as two of three */
        {"a.csv", TEXT(HEAD "t,w\nt,v,x,y\nt,u,x\n"), {DEFAULTS}, "a.csv:2:1: 2 fields"},
        {"a.csv", TEXT(HEAD "t,w,x\rt,v,x\n"), {DEFAULTS}, "a.csv:2:6: a lone CR"},
        {"a.csv", TEXT(HEAD "t,w,x\r"), {DEFAULTS}, "a.csv:2:6: a lone CR"},
        {"a.csv", TEXT(HEAD "t,w,x\"\n"), {DEFAULTS}, "a.csv:2:6: a quote within a field"},
        {"a.csv", TEXT(HEAD "t,w,\"x\n"), {DEFAULTS}, "a.csv:2:5: this quote is never closed"},
        {"a.csv", TEXT(HEAD "t,w,\"x\"y\n"), {DEFAULTS}, "a.csv:2:8: text behind a closing quote"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,\0,x\n"), {DEFAULTS}, "a.csv:3:3: a NUL byte"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,\xff,x\n"), {DEFAULTS}, "a.csv:3:3: invalid UTF-8 (byte 0xff)"},
        {"a.csv",
         TEXT(HEAD "t,w,x\nt,v,\n"),
         {DEFAULTS},
         "a.csv:3:5: an empty label; if it means \"no vote\", say --na \"\""},
        {"a.csv", TEXT(HEAD ",w,x\n"), {DEFAULTS}, "a.csv:2:1: an empty task"},
        {"a.csv", TEXT(HEAD "t,,x\n"), {DEFAULTS}, "a.csv:2:3: an empty worker"},
        {"a.csv",
         TEXT(HEAD "t,w,x\nt,v,y\nu,w,x\nt,w,y\n"),
         {DEFAULTS},
         "a.csv:5:3: worker \"w\" has already voted on task \"t\" (line 2); say which"},
        {"a.csv",
         TEXT(HEAD "t,w,yes\nt,v,perhaps\n"),
         {DEFAULTS, .classes = yes_no, .n_classes = 3},
         "a.csv:3:5: the label \"perhaps\" is not among the declared classes"},
        {"a.csv",
         TEXT(HEAD "t,w,skip\n"),
         {DEFAULTS, .na = skip_na, .n_na = 1},
         "a.csv: no votes are left: of 1 rows 1 have no label"},
        {"a.csv", TEXT(HEAD "t,w,x\n"), {DEFAULTS, .min_votes = 2}, "a.csv: no votes are left"},
        {"a.csv", TEXT(HEAD "t,w,x\n"), {DEFAULTS, .drop = rejected, .n_drop = 1}, "a.csv:1: no column \"status\""},
        {"a.jsonl",
         TEXT("{\"task\": 1, \"worker\": 2, \"label\": [\"a\", \"b\"]}\n"),
         {DEFAULTS},
         "a.jsonl:1:35: a list of labels; votes with several"},
        {"a.jsonl",
         TEXT("{\"task\": 1, \"worker\": 2, \"label\": 1}\n{\"task\": 1, \"worker\": 2 \"label\": 1}\n"),
         {DEFAULTS},
         "a.jsonl:2:25: "},
        {"a.jsonl", TEXT("{\"task\": 1, \"worker\": 2}\n"), {DEFAULTS}, "a.jsonl:1:1: no key \"label\""},
        {"a.jsonl",
         TEXT("{\"task\": {}, \"worker\": 2, \"label\": 1}\n"),
         {DEFAULTS},
         "a.jsonl:1:10: \"task\" must be a text or a number"},
        {"a.jsonl", TEXT("[1]\n"), {DEFAULTS}, "a.jsonl:1:1: a line must hold one object"},
        {"a.jsonl", TEXT("\n"), {DEFAULTS}, "a.jsonl:1:1: a blank line"},
        {"w.csv",
         TEXT("1,2\n1\n"),
         {DEFAULTS, .input = DIS_INPUT_MACE},
         "w.csv:2:1: 1 cells where the first row has 2"},
        {"c.csv",
         TEXT("task,a,b\nx,1,-1\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS},
         "c.csv:2:5: \"-1\" is not a count"},
        {"c.csv",
         TEXT("task,a,b\nx,1,nan\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS},
         "c.csv:2:5: \"nan\" is not a count"},
        {"c.csv",
         TEXT("task,a,b\nx,1,1\nx,1,1\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS},
         "c.csv:3:1: the task \"x\" comes a second time"},
        {"c.csv",
         TEXT("task,a,b\nx,1,1\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .classes = yes_no, .n_classes = 3},
         "c.csv:1:6: the class \"a\" is not among the declared ones"},
        {"s.csv",
         TEXT("task,worker,a,b\nx,w,.5,.4\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT},
         "s.csv:2:1: the row sums to 0.9, not to 1"},
        {"s.csv",
         TEXT("task,worker,a,b\nx,w,0,0\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT, .renormalise = true},
         "s.csv:2:1: a row of zeros"},
        {"s.csv",
         TEXT("task,worker,a,b\nx,w,0,1\nx,w,0,1\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT},
         "s.csv:3:3: this worker has already voted"},
        {"a.csv", TEXT("PK\x03\x04xxxx"), {DEFAULTS}, "a.csv: this is a zip archive (PyTorch .pt"},
        {"a.csv", TEXT("\x80\x04\x95xxxx"), {DEFAULTS}, "a.csv: this is a Python pickle, which can run code"},
        {"a.csv", TEXT("\xff\xfet\0a\0"), {DEFAULTS}, "a.csv: this is UTF-16 text"},
    };
    static char out[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_bytes(cases[i].name, cases[i].text, cases[i].n, &cases[i].o, out) != DIS_EDATA)
            fail_msg("case %zu, %s: %s", i, cases[i].message, out);
        if (strncmp(out, cases[i].message, strlen(cases[i].message)) != 0) assert_string_equal(out, cases[i].message);
    }
    const dis_votes_options wrong[] = {{DEFAULTS, .format = "xml"},
                                       {DEFAULTS, .input = (dis_input)9},
                                       {DEFAULTS, .format = "npy"},
                                       {DEFAULTS, .classes = (const char *const[]){"a", "a"}, .n_classes = 2},
                                       {DEFAULTS, .classes = skip_na, .n_classes = 1, .na = skip_na, .n_na = 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_bytes("a.csv", TEXT(HEAD "t,w,x\n"), &wrong[i], out), DIS_EUSAGE);
    assert_int_equal(dis_votes_read(NULL, NULL, 0, NULL, NULL), DIS_EUSAGE);
    const char *missing = path_of("missing.csv");
    assert_int_equal(dis_votes_read(NULL, &missing, 1, NULL, NULL), DIS_EIO);
    assert_int_equal(dis_votes_read(NULL, (const char *const[]){folder}, 1, NULL, NULL), DIS_EIO);
}

static void lenient_skips_and_says_so(void **state)
{
    (void)state;
    static char out[ROOM];
    const dis_votes_options o = {DEFAULTS, .lenient = true};
    assert_int_equal(
        read_bytes("a.csv",
                   TEXT(HEAD
                        "t,w,x\nt,v\n,w,only\nt,\"u\nt,v,y\nt,u,\n\"t\"2,s,x\n\xff,s,x\nt,s,x\r\nt,r\r,x\nt,q,z\n"),
                   &o, out),
        DIS_OK);
    /* the quote of line 5 is closed by the next one there is, in line 8 */
    assert_string_equal(out, "x z | t:w=x,s=x,q=z, | rows 8 bad 5\n"
                             "a.csv:3:1: 2 fields where the header has 3; quote fields that hold a separator\n"
                             "a.csv:4:1: an empty task; every vote needs one\n"
                             "a.csv:8:2: text behind a closing quote; double the quotes that belong to the text\n"
                             "a.csv:9:1: invalid UTF-8 (byte 0xff); save the file as UTF-8\n"
                             "a.csv:11:4: a lone CR; end lines with LF or CRLF");
    /* many bad rows: the first 20 messages */
    char *text = malloc(ROOM);
    size_t n = (size_t)snprintf(text, ROOM, HEAD "t,w,x\n");
    for (int i = 0; i < 500; i++) n += (size_t)snprintf(text + n, ROOM - n, "bad%d\n", i);
    put("a.csv", text, n);
    free(text);
    const char *path = path_of("a.csv");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &votes), DIS_OK);
    assert_int_equal(dis_votes_read_notes(votes).bad_rows, 500);
    assert_non_null(strstr(dis_votes_skipped(votes, 19), "a.csv:22:1: "));
    assert_null(dis_votes_skipped(votes, 20));
    dis_votes_destroy(votes);
}

static void several_files_and_archives(void **state)
{
    (void)state;
    static char out[ROOM], one[ROOM];
    put("1.csv", TEXT(HEAD "b,x,1\na,y,0\n"));
    put("2.csv", TEXT("label,worker,task\n1,x,a\n1,z,b\n"));
    put("3.jsonl", TEXT("{\"task\": \"c\", \"worker\": \"x\", \"label\": 2}\n"));
    const char *const paths[] = {path_of("1.csv"), path_of("2.csv"), path_of("3.jsonl")};
    const dis_votes_options o = {DEFAULTS};
    assert_int_equal(read_text(paths, 3, &o, out), DIS_OK);
    assert_string_equal(out, "0 1 2 | b:x=1,z=1, a:y=0,x=1, c:x=2, | rows 5 ties 1");
    put("2.csv", TEXT("label,worker,task\n1,x,b\n"));
    assert_int_equal(read_text(paths, 2, &o, out), DIS_EDATA);
    assert_non_null(strstr(out, "2.csv:2:3: worker \"x\" has already voted on task \"b\" ("));

    static const char gz[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x49\x2c\xce\xd6\x29\xcf\x2f\xca\x4e\x2d\xd2\xc9\x49\x4c"
        "\x4a\xcd\xe1\x4a\xd4\xa9\xd0\x31\xe4\x4a\x04\x00\x80\x32\x88\xa4\x19\x00\x00\x00\x1f\x8b\x08\x00\x00"
        "\x00\x00\x00\x02\x03\xd3\xa9\xd4\x31\xe0\x4a\xd2\xa9\xd0\x31\xe4\x02\x00\x25\xca\x7c\x50\x0b\x00\x00"
        "\x00";
    static const char zst[] =
        "\x28\xb5\x2f\xfd\x04\x58\xc9\x00\x00\x74\x61\x73\x6b\x2c\x77\x6f\x72\x6b\x65\x72\x2c\x6c\x61\x62\x65\x6c"
        "\x0a\x61\x2c\x78\x2c\x31\x0a\x61\xdd\x9b\x14\x20\x28\xb5\x2f\xfd\x04\x58\x59\x00\x00\x2c\x79\x2c\x30"
        "\x0a\x62\x2c\x78\x2c\x31\x0a\xab\x42\x1e\x64";
    static const struct {
        const char *bytes;
        size_t n, member; /* bytes of the first member */
    } archives[] = {{gz, sizeof gz - 1, 45}, {zst, sizeof zst - 1, 38}};
    for (size_t a = 0; a < 2; a++) {
        const dis_status status = read_bytes("packed", archives[a].bytes, archives[a].n, &o, one);
        if (status == DIS_EDATA && strstr(one, "this build has no")) continue;
        assert_int_equal(status, DIS_OK);
        assert_string_equal(one, "0 1 | a:x=1,y=0, b:x=1, | rows 3 ties 1");
        for (size_t cut = 5; cut < archives[a].n; cut++) { /* cut short anywhere but between members: damaged */
            if (cut == archives[a].member) continue;
            put("packed", archives[a].bytes, cut);
            const char *path = path_of("packed");
            dis_votes *votes;
            assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_EDATA);
            if (!strstr(dis_last_error(), "archive is damaged or cut short"))
                fail_msg("cut at %zu: %s", cut, dis_last_error());
        }
    }
}

static void random_csv_is_read_as_by_a_plain_reader(void **state)
{
    (void)state;
    enum { PROBLEMS = SANITIZED ? 60 : 600 };
    static const char *const ids[] = {"a",
                                      "b",
                                      "\"a\"",
                                      "\"b,\"",
                                      "\"x\ny\"",
                                      "\"x\r\ny\"",
                                      "\"he said \"\"no\"\" twice\"",
                                      "a name of more than sixteen bytes",
                                      "\"a name of more than sixteen bytes\"",
                                      "\xc3\xa9",
                                      "\xe2\x82\xac\xe2\x82\xac",
                                      "\"\"\"\"",
                                      "0123456789abcdef",
                                      "0123456789abcdefg",
                                      " a",
                                      "''"};
    static const char *const damage[] = {"\"", "\r", "\xff", ",", "\n", "x"};
    static char text[ROOM], out[ROOM];
    for (uint64_t p = 0; p < PROBLEMS; p++) {
        uint64_t draw = 0;
#define DRAW(n) dis__below(42, p, draw++, n)
        size_t n = (size_t)snprintf(text, ROOM, "task,worker,label%s", DRAW(2) ? "\r\n" : "\n");
        const size_t n_rows = 1 + DRAW(40), variety = 1 + DRAW(sizeof ids / sizeof *ids);
        for (size_t r = 0; r < n_rows; r++) {
            const char *task = ids[DRAW(variety)], *worker = ids[DRAW(variety)], *label = ids[DRAW(variety)];
            const bool cut = r + 1 == n_rows && DRAW(2), crlf = DRAW(3) == 0;
            n += (size_t)snprintf(text + n, ROOM - n, "%s,%s,%s%s", task, worker, label,
                                  cut    ? ""
                                  : crlf ? "\r\n"
                                         : "\n");
        }
        const bool lenient = DRAW(2);
        for (uint64_t d = lenient ? DRAW(4) : 0; d; d--) {
            const size_t at = 19 + DRAW(n - 19);
            text[at] = *damage[DRAW(sizeof damage / sizeof *damage)];
        }
        const dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL, .lenient = lenient};
        const dis_status status = read_bytes("a.csv", text, n, &o, out);

        /* the votes in the order of the file, by dis__csv alone */
        const dis__input in = dis__input_of_bytes("a.csv", text, n);
        dis__csv csv;
        dis__csv_open(&csv, &in, ',');
        assert_int_equal(dis__csv_header(&csv), DIS_OK);
        size_t votes = 0, bad = 0;
        static char want[400][3][64];
        for (bool more = true;;) {
            const dis_status s = dis__csv_next(&csv, &more);
            if (!more) break;
            if (s == DIS_OK && csv.field[0].n && csv.field[1].n && csv.field[2].n) {
                for (int c = 0; c < 3; c++)
                    snprintf(want[votes][c], 64, "%.*s", (int)csv.field[c].n, csv.field[c].text);
                votes++;
            } else {
                bad++;
            }
        }
        dis__csv_close(&csv);
        if (votes == 0 || (bad && !lenient)) {
            assert_int_equal(status, DIS_EDATA);
            continue;
        }
        if (status != DIS_OK) fail_msg("problem %llu: %s\n%s", (unsigned long long)p, out, text);
        const char *path = path_of("a.csv");
        dis_votes *table;
        assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &table), DIS_OK);
        const dis_votes_view v = dis_votes_look(table);
        assert_int_equal(v.n_votes, votes);
        assert_int_equal(dis_votes_read_notes(table).bad_rows, bad);
        size_t seen = 0, tasks = 0;
        for (size_t i = 0; i < votes; i++) { /* tasks in order of first appearance, votes in order within */
            bool before = false;
            for (size_t k = 0; k < i; k++) before = before || strcmp(want[k][0], want[i][0]) == 0;
            if (before) continue;
            assert_string_equal(dis_names_get(v.tasks, tasks, NULL), want[i][0]);
            assert_int_equal(v.start[tasks], seen);
            for (size_t k = i; k < votes; k++) {
                if (strcmp(want[k][0], want[i][0]) != 0) continue;
                assert_string_equal(dis_names_get(v.workers, v.worker[seen], NULL), want[k][1]);
                assert_string_equal(dis_names_get(v.classes, v.label8[seen], NULL), want[k][2]);
                seen++;
            }
            tasks++;
        }
        assert_int_equal(v.n_items, tasks);
        dis_votes_destroy(table);
    }
}

/* A file of some thousand rows: ids of 0 to 40 bytes, mostly short; in runs or scattered; few labels or many; columns in any
 * order, perhaps one more; quotes and CRLF never, seldom or often. */
static size_t random_rows(uint64_t p, char *text)
{
    uint64_t draw = 0;
#define DRAW_ROWS(n) dis__below(43, p, draw++, n)
    static const char *const heads[] = {"task,worker,label", "task,worker,label", "label,task,worker",
                                        "task,more,worker,label"};
    static const unsigned often[] = {0, 0, 2, 30};
    const unsigned quoted = often[DRAW_ROWS(4)], crlf = often[DRAW_ROWS(4)], long_ids = often[DRAW_ROWS(4)],
                   odd = often[DRAW_ROWS(3)];
    const char *head = heads[DRAW_ROWS(4)];
    const size_t n_rows = 1 + DRAW_ROWS(3000), run = 1 + DRAW_ROWS(6), n_ids = 1 + DRAW_ROWS(2000);
    const size_t n_labels = 1 + DRAW_ROWS(p % 2 ? 5 : 40);
    size_t n = (size_t)sprintf(text, "%s\n", head);
    for (size_t r = 0; r < n_rows; r++) {
        for (const char *column = head; column; column = strchr(column, ',') ? strchr(column, ',') + 1 : NULL) {
            char id[64];
            const size_t number = column[0] == 'l'   ? DRAW_ROWS(n_labels)
                                  : column[0] == 'w' ? DRAW_ROWS(300)
                                  : run == 1         ? DRAW_ROWS(n_ids)
                                                     : r / run;
            size_t length = (size_t)sprintf(id, "%c%zu", column[0], number);
            if (number % 100 < long_ids) {
                memset(id + length, 'x', 40 - length);
                length += number % (40 - length);
            }
            if (DRAW_ROWS(1000) < odd) length = 0;
            const bool quote = DRAW_ROWS(100) < quoted;
            n += (size_t)sprintf(text + n, quote ? "\"%.*s\"," : "%.*s,", (int)length, id);
        }
        n--; /* the last comma */
        n += (size_t)sprintf(text + n, DRAW_ROWS(100) < crlf ? "\r\n" : "\n");
    }
    return n;
#undef DRAW_ROWS
}

static void assert_same_tables(const dis_votes *a, const dis_votes *b)
{
    const dis_votes_view v = dis_votes_look(a), w = dis_votes_look(b);
    const dis_votes_notes n = dis_votes_read_notes(a), m = dis_votes_read_notes(b);
    assert_memory_equal(&n, &m, sizeof n);
    assert_int_equal(v.n_votes, w.n_votes);
    assert_int_equal(v.n_items, w.n_items);
    assert_int_equal(v.n_workers, w.n_workers);
    assert_int_equal(v.n_classes, w.n_classes);
    assert_memory_equal(v.start, w.start, (v.n_items + 1) * sizeof *v.start);
    assert_memory_equal(v.worker, w.worker, v.n_votes * sizeof *v.worker);
    assert_memory_equal(v.label8, w.label8, v.n_votes);
    const dis_names *const names[][2] = {{v.tasks, w.tasks}, {v.workers, w.workers}, {v.classes, w.classes}};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < dis_names_count(names[k][0]); i++)
            assert_string_equal(dis_names_get(names[k][0], i, NULL), dis_names_get(names[k][1], i, NULL));
}

/* With a drop rule every row goes the careful way; without one, most go the fast way, which differs by instruction set. */
static void fast_and_careful_agree(void **state)
{
    (void)state;
    enum { PROBLEMS = SANITIZED ? 12 : 120 };
    static const dis_drop_rule never[] = {{"label", "no label is like this"}};
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    static const dis__tuning tunings[] = {{.chunk = 1 << 19, .round = 2}, {.chunk = 3000, .round = 4}};
    char *text = malloc(3000 * 200);
    for (uint64_t p = 0; p < PROBLEMS; p++) {
        put("rows.csv", text, random_rows(p, text));
        const char *path = path_of("rows.csv");
        dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL, .lenient = p % 3 != 0};
        dis_votes_options careful = o;
        careful.drop = never;
        careful.n_drop = 1;
        dis_votes *want = NULL;
        const dis_status expected = dis__votes_read(NULL, &path, 1, &careful, &tunings[0], &want);
        char message[1000];
        snprintf(message, sizeof message, "%s", dis_last_error());
        for (size_t way = 0; way < 6; way++) {
            setenv("DISSENT_ISA", sets[way / 2], 1);
            dis_context_options c = dis_context_options_default();
            c.threads = way % 2 ? 3 : 1;
            dis_context *ctx;
            dis_votes *votes = NULL;
            assert_int_equal(dis_context_create(&c, &ctx), DIS_OK);
            assert_int_equal(dis__votes_read(ctx, &path, 1, &o, &tunings[way % 2], &votes), expected);
            if (expected == DIS_OK)
                assert_same_tables(votes, want);
            else
                assert_string_equal(dis_last_error(), message);
            dis_votes_destroy(votes);
            dis_context_destroy(ctx);
        }
        unsetenv("DISSENT_ISA");
        dis_votes_destroy(want);
    }
    free(text);
}

/* Many ids, more than one round of chunks, in runs, shuffled and by worker; the same bytes for 1, 2, 3, 7 and 16
 * threads. */
static void large_tables_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { VOTES = 60000 };
    char *text = malloc(VOTES * 64);
    for (int shape = 0; shape < 3; shape++) {
        size_t n = (size_t)sprintf(text, "task,worker,label\n");
        static uint32_t task[VOTES], worker[VOTES];
        for (uint32_t i = 0; i < VOTES; i++) {
            const uint32_t j = shape == 1 ? (uint32_t)(i * 7919ull % VOTES) : i;
            task[i] = shape == 2 ? j % 9000 : j / 4;
            worker[i] = shape == 2 ? j / 9000 : j % 4 * 5000 + task[i] % 5000;
            n += (size_t)sprintf(text + n, "item-%u%s,w%u,%u\n", task[i], task[i] % 3 ? "" : "-with-a-long-name",
                                 worker[i], (task[i] + worker[i]) % 5);
        }
        put("big.csv", text, n);
        const char *path = path_of("big.csv");
        dis_votes *first = NULL;
        static const int threads[] = {1, 2, 3, 7, 16};
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            dis_context_options c = dis_context_options_default();
            c.threads = threads[t];
            dis_context *ctx;
            dis_votes *votes;
            assert_int_equal(dis_context_create(&c, &ctx), DIS_OK);
            const dis__tuning tuning = {.chunk = t % 2 ? 5000 : 1 << 19, .round = t % 2 ? 4 : 16};
            assert_int_equal(dis__votes_read(ctx, &path, 1, NULL, &tuning, &votes), DIS_OK);
            dis_context_destroy(ctx);
            const dis_votes_view v = dis_votes_look(votes);
            if (!first) {
                first = votes;
                assert_int_equal(v.n_votes, VOTES);
                uint64_t *next = malloc(v.n_items * sizeof *next);
                memcpy(next, v.start, v.n_items * sizeof *next);
                static uint32_t item_of[VOTES];
                uint32_t items = 0;
                memset(item_of, 0, sizeof item_of);
                for (uint32_t i = 0; i < VOTES; i++) {
                    if (!item_of[task[i]]) item_of[task[i]] = ++items;
                    const uint64_t at = next[item_of[task[i]] - 1]++;
                    char name[16];
                    snprintf(name, sizeof name, "w%u", worker[i]);
                    assert_string_equal(dis_names_get(v.workers, v.worker[at], NULL), name);
                    assert_int_equal(v.label8[at], (task[i] + worker[i]) % 5);
                }
                assert_int_equal(v.n_items, items);
                free(next);
                continue;
            }
            const dis_votes_view f = dis_votes_look(first);
            assert_int_equal(v.n_items, f.n_items);
            assert_int_equal(v.n_workers, f.n_workers);
            assert_memory_equal(v.start, f.start, (v.n_items + 1) * sizeof *v.start);
            assert_memory_equal(v.worker, f.worker, v.n_votes * sizeof *v.worker);
            assert_memory_equal(v.label8, f.label8, v.n_votes);
            for (size_t i = 0; i < v.n_items; i++)
                assert_string_equal(dis_names_get(v.tasks, i, NULL), dis_names_get(f.tasks, i, NULL));
            dis_votes_destroy(votes);
        }
        dis_votes_destroy(first);
    }
    free(text);
}

static void limits_hold(void **state)
{
    (void)state;
    static char out[ROOM];
    char *text = malloc(DIS_MAX_CLASSES * 24 + 200000);
    for (size_t over = 0; over < 2; over++) { /* an id */
        size_t n = (size_t)sprintf(text, HEAD);
        memset(text + n, 'x', DIS_MAX_ID + over);
        n += DIS_MAX_ID + over;
        n += (size_t)sprintf(text + n, ",w,a\nt,w,a\n");
        assert_int_equal(read_bytes("a.csv", text, n, NULL, out), over ? DIS_EDATA : DIS_OK);
        if (over) assert_string_equal(out, "a.csv:2:1: a task of more than 65536 bytes; shorten it");
    }
    for (size_t over = 0; over < 2; over++) { /* classes */
        size_t n = (size_t)sprintf(text, HEAD);
        for (size_t i = 0; i < DIS_MAX_CLASSES + over; i++) n += (size_t)sprintf(text + n, "t%zu,w,%zu\n", i, i);
        put("a.csv", text, n);
        const char *path = path_of("a.csv");
        dis_votes *votes = NULL;
        assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), over ? DIS_ELIMIT : DIS_OK);
        if (!over) {
            const dis_votes_view v = dis_votes_look(votes);
            assert_int_equal(v.n_classes, DIS_MAX_CLASSES);
            assert_int_equal(v.label16[DIS_MAX_CLASSES - 1], DIS_MAX_CLASSES - 1);
            assert_string_equal(dis_names_get(v.classes, 10, NULL), "10"); /* by value */
        }
        dis_votes_destroy(votes);
    }
    free(text);
}

/* Ids that collide under hashes without a key (sums, and multiplication by 31 as in Java): "Aa" and "BB" in all orders.
 * Were they to collide here, this would take minutes. */
static void colliding_ids_do_no_harm(void **state)
{
    (void)state;
    enum { PAIRS = 16 };
    char *text = malloc((1u << PAIRS) * (2 * PAIRS + 8) + 100);
    size_t n = (size_t)sprintf(text, "task,worker,label\n");
    for (uint32_t i = 0; i < 1u << PAIRS; i++) {
        for (int p = 0; p < PAIRS; p++) n += (size_t)sprintf(text + n, "%s", i >> p & 1 ? "Aa" : "BB");
        n += (size_t)sprintf(text + n, ",w,x\n");
    }
    put("a.csv", text, n);
    free(text);
    const char *path = path_of("a.csv");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_OK);
    assert_int_equal(dis_votes_look(votes).n_items, 1u << PAIRS);
    dis_votes_destroy(votes);
}

/* Long stretches of one task and worker, then many at once: rounds that find no room for their new ids are read again,
 * and the ids are numbered as if nothing had happened. Some ids are long, some are quoted. */
static void bursts_of_new_ids(void **state)
{
    (void)state;
    static char text[1 << 16], out[ROOM], id[64];
    size_t n = (size_t)sprintf(text, "task,worker,label\n");
    static const char *const forms[] = {"%zx", "%zxabcdefg", "%zx-and-more-than-sixteen-bytes",
                                        "\"%zx, a quoted task\""};
    for (size_t i = 0, k = 0; i < 2400; i++) {
        const bool burst = i % 800 >= 500;
        k += burst;
        sprintf(id, forms[i / 800 + (k % 50 == 49)], k);
        n += (size_t)sprintf(text + n, "%s,w%zu,x\n", burst ? id : "t", burst ? k : 0);
    }
    const dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL};
    assert_int_equal(read_bytes("a.csv", text, n, &o, out), DIS_OK);
    assert_non_null(strstr(out, "| t:w0=x,w0=x,"));
    assert_non_null(strstr(out, " 1:w1=x, 2:w2=x, 3:w3=x,"));
    assert_non_null(strstr(out, " 12dabcdefg:w301=x,"));
    assert_non_null(strstr(out, "| rows 2400 twice 1499"));
    dis_votes *votes;
    const char *path = path_of("a.csv");
    assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_look(votes);
    assert_int_equal(v.n_items, 901);
    assert_int_equal(v.n_workers, 901);
    for (size_t k = 0; k < v.n_workers; k++) { /* as they appear */
        sprintf(id, "w%zu", k);
        assert_string_equal(dis_names_get(v.workers, k, NULL), id);
    }
    dis_votes_destroy(votes);
}

static void gold_labels(void **state)
{
    (void)state;
    put("v.csv", TEXT(HEAD "t1,w,a\nt2,w,b\nt3,w,a\n"));
    const char *path = path_of("v.csv");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_OK);
    static const struct {
        const char *name, *text;
        size_t n;
        const char *message; /* NULL: fine */
    } cases[] = {
        {"g.csv", TEXT("task,label\nt3,b\nt9,zzz\nt1,a\nt1,a\n"), NULL},
        {"g.jsonl",
         TEXT("{\"task\": \"t3\", \"label\": \"b\"}\n{\"task\": \"t9\", \"label\": 1}\n{\"label\": \"a\", \"task\": "
              "\"t1\"}"),
         NULL},
        {"g.csv", TEXT("task,label\nt1,c\n"), "g.csv:2:4: the gold label \"c\" is no class"},
        {"g.csv", TEXT("task,label\nt1,a\nt1,b\n"), "g.csv:3:4: task \"t1\" has two gold labels"},
        {"g.csv", TEXT("task,truth\nt1,a\n"), "g.csv:1: no column \"label\""},
        {"g.csv", TEXT("task,label\nt1\n"), "g.csv:2:1: 1 fields"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t gold[3] = {7, 7, 7};
        size_t unknown = 7;
        put(cases[i].name, cases[i].text, cases[i].n);
        const dis_status status = dis_gold_read(NULL, path_of(cases[i].name), votes, gold, &unknown);
        if (cases[i].message) {
            assert_int_equal(status, DIS_EDATA);
            assert_non_null(strstr(dis_last_error(), cases[i].message));
            assert_true(gold[0] == 7 && unknown == 7);
        } else {
            assert_int_equal(status, DIS_OK);
            assert_true(gold[0] == 0 && gold[1] == -1 && gold[2] == 1 && unknown == 1);
        }
    }
    dis_votes_destroy(votes);
}

static void presets_are_settings(void **state)
{
    (void)state;
    for (size_t i = 0; dis_votes_preset_at(i); i++) {
        const dis_votes_preset *p = dis_votes_preset_at(i);
        assert_true(p->name && p->summary && p->format);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(p->name, dis_votes_preset_at(k)->name);
    }
    static char out[ROOM];
    put("snow.tsv",
        TEXT("!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\nX\tA1\t266\t1\t1\nY\tA2\t266\t0\t1\n"));
    const char *path = path_of("snow.tsv");
    for (size_t i = 0; dis_votes_preset_at(i); i++) {
        const dis_votes_preset *p = dis_votes_preset_at(i);
        if (strcmp(p->name, "snow") != 0) continue;
        const dis_votes_options o = {DEFAULTS,        .input = p->input,   .format = p->format,
                                     .task = p->task, .worker = p->worker, .label = p->label};
        assert_int_equal(read_text(&path, 1, &o, out), DIS_OK);
        assert_string_equal(out, "0 1 | 266:A1=1,A2=0, | rows 2 ties 1");
    }
}

static const char *fault_path;
static dis_votes_options fault_options;
static dis_status read_once(void *arg)
{
    (void)arg;
    const dis__tuning tuning = {.chunk = 40, .round = 2};
    dis_votes *votes = NULL;
    const dis_status status = dis__votes_read(NULL, &fault_path, 1, &fault_options, &tuning, &votes);
    assert_true((status == DIS_OK) == (votes != NULL));
    dis_votes_destroy(votes);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n;
        dis_votes_options o;
    } cases[] = {
        {"f.csv",
         TEXT(HEAD "t,w,x\nu,\"a long name with \"\"quotes\"\" in it\",y\nt,v\nv,w,x\nt,x,y\n"),
         {DEFAULTS, .lenient = true}},
        {"f.csv",
         TEXT(HEAD "t,w,x\nt,w,y\nu,v,x\nv,v,x\nv,w,x\n"),
         {DEFAULTS, .duplicates = DIS_DUPLICATES_LAST, .min_votes = 2}},
        {"f.jsonl", TEXT("{\"task\": 1, \"worker\": \"\\u00e9-a-long-name-indeed\", \"label\": 1}\n"), {DEFAULTS}},
        {"f.csv", TEXT("1,,2\n,1,2\n"), {DEFAULTS, .input = DIS_INPUT_MACE}},
        {"f.csv", TEXT("task,a,b\nx,1,2\ny,2,3\n"), {DEFAULTS, .input = DIS_INPUT_COUNTS}},
        {"f.csv",
         TEXT("task,worker,a,b\nx,w,1,0\ny,w,0,1\nx,w,0,1\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT, .duplicates = DIS_DUPLICATES_LAST}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(cases[i].name, cases[i].text, cases[i].n);
        fault_path = path_of(cases[i].name);
        fault_options = cases[i].o;
        walk_faults(read_once, NULL, NULL);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(lenient_skips_and_says_so),
        cmocka_unit_test(several_files_and_archives),
        cmocka_unit_test(random_csv_is_read_as_by_a_plain_reader),
        cmocka_unit_test(fast_and_careful_agree),
        cmocka_unit_test(large_tables_do_not_depend_on_threads),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(colliding_ids_do_no_harm),
        cmocka_unit_test(bursts_of_new_ids),
        cmocka_unit_test(gold_labels),
        cmocka_unit_test(presets_are_settings),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
