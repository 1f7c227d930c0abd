/* Reading votes: what comes out, what is refused and where. Each file is read by several threads and in chunks of
 * several sizes, which must agree. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/random/random.h"
#include "support/fault_walk.h"
#include "support/sanitized.h"
#include "support/votes_read_support.h"

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
         TEXT("task,worker,reply\nt,w,x\n"),
         {DEFAULTS},
         "a.csv:1: no column \"label\"; the columns are: task, worker, reply"},
        {"a.csv", TEXT("task,worker,label,task\nt,w,x,t\n"), {DEFAULTS}, "a.csv:1:19: two columns are called \"task\""},
        {"a.csv", TEXT(HEAD "t,w,x\nt,w\n"), {DEFAULTS}, "a.csv:3:1: 2 fields where the header has 3"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,v,x,\n"), {DEFAULTS}, "a.csv:3:1: 4 fields where the header has 3"},
        {"a.csv", TEXT(HEAD "t,w,x\n\nt,v,x\n"), {DEFAULTS}, "a.csv:3:1: a blank line"},
        /* two rows of two and four fields have as many separators as two of three */
        {"a.csv", TEXT(HEAD "t,w\nt,v,x,y\nt,u,x\n"), {DEFAULTS}, "a.csv:2:1: 2 fields"},
        {"a.csv", TEXT(HEAD "t,w,x\rt,v,x\n"), {DEFAULTS}, "a.csv:2:6: a lone CR"},
        {"a.csv", TEXT(HEAD "t,w,x\r"), {DEFAULTS}, "a.csv:2:6: a lone CR"},
        {"a.csv", TEXT(HEAD "t,w,x\"\n"), {DEFAULTS}, "a.csv:2:6: a quote within a field"},
        {"a.csv", TEXT(HEAD "t,w,\"x\n"), {DEFAULTS}, "a.csv:2:5: this quote is never closed"},
        {"a.csv", TEXT(HEAD "t,w,\"x\"y\n"), {DEFAULTS}, "a.csv:2:8: text after a closing quote"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,\0,x\n"), {DEFAULTS}, "a.csv:3:3: a NUL byte"},
        {"a.csv", TEXT(HEAD "t,w,x\nt,\xff,x\n"), {DEFAULTS}, "a.csv:3:3: invalid UTF-8 (byte 0xff)"},
        {"a.csv",
         TEXT(HEAD "t,w,x\nt,v,\n"),
         {DEFAULTS},
         "a.csv:3:5: an empty label; if it means \"no vote\", set `na` \"\""},
        {"a.csv", TEXT(HEAD ",w,x\n"), {DEFAULTS}, "a.csv:2:1: an empty task"},
        {"a.csv", TEXT(HEAD "t,,x\n"), {DEFAULTS}, "a.csv:2:3: an empty worker"},
        {"a.csv",
         TEXT(HEAD "t,w,x\nt,v,y\nu,w,x\nt,w,y\n"),
         {DEFAULTS},
         "a.csv:5:3: worker \"w\" has already voted on task \"t\" (line 2); choose the vote"},
        {"a.csv",
         TEXT(HEAD "t,w,yes\nt,v,perhaps\n"),
         {DEFAULTS, .classes = yes_no, .n_classes = 3},
         "a.csv:3:5: the label \"perhaps\" is not among the declared classes"},
        {"a.csv",
         TEXT(HEAD "t,w,skip\n"),
         {DEFAULTS, .na = skip_na, .n_na = 1},
         "a.csv: no votes are left: of 1 rows, 1 have no label"},
        {"a.csv", TEXT(HEAD "t,w,x\n"), {DEFAULTS, .min_votes = 2}, "a.csv: no votes are left"},
        {"a.csv", TEXT(HEAD "t,w,x\n"), {DEFAULTS, .drop = rejected, .n_drop = 1}, "a.csv:1: no column \"status\""},
        {"a.jsonl",
         TEXT("{\"task\": 1, \"worker\": 2, \"label\": [\"a\", \"b\"]}\n"),
         {DEFAULTS},
         "a.jsonl:1:35: a list of labels; a vote has one"},
        {"a.jsonl",
         TEXT("{\"task\": 1, \"worker\": 2, \"label\": 1}\n{\"task\": 1, \"worker\": 2 \"label\": 1}\n"),
         {DEFAULTS},
         "a.jsonl:2:25: "},
        {"a.jsonl", TEXT("{\"task\": 1, \"worker\": 2}\n"), {DEFAULTS}, "a.jsonl:1:1: no key \"label\""},
        {"a.jsonl",
         TEXT("{\"task\": {}, \"worker\": 2, \"label\": 1}\n"),
         {DEFAULTS},
         "a.jsonl:1:10: \"task\" must be a text or a number"},
        {"a.jsonl", TEXT("[1]\n"), {DEFAULTS}, "a.jsonl:1:1: a line must be one object"},
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
         "c.csv:3:1: the task \"x\" is repeated"},
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
        {"a.csv",
         TEXT("PK\x03\x04xxxx"),
         {DEFAULTS},
         "a.csv: this is an Excel workbook, another spreadsheet or a zip archive"},
        {"a.csv", TEXT("\x80\x04\x95xxxx"), {DEFAULTS}, "a.csv: this is a Python pickle, which can run code"},
        {"a.csv", TEXT("\xff\xfet\0\0\xd8"), {DEFAULTS}, "a.csv:1: invalid UTF-16"},
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
    const char *missing = in_folder("missing.csv");
    assert_int_equal(dis_votes_read(NULL, &missing, 1, NULL, NULL), DIS_EIO);
    assert_int_equal(dis_votes_read(NULL, (const char *const[]){folder}, 1, NULL, NULL), DIS_EIO);
}

static void lenient_skips_and_reports(void **state)
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
    assert_string_equal(out,
                        "x z | t:w=x,s=x,q=z, | rows 8 bad 5\n"
                        "a.csv:3:1: 2 fields where the header has 3; quote fields that hold a separator\n"
                        "a.csv:4:1: an empty task; every vote needs one\n"
                        "a.csv:8:2: text after a closing quote; double the quotes that belong to the text\n"
                        "a.csv:9:1: invalid UTF-8 (byte 0xff); save the file as UTF-8, or if it is Windows-1252 or "
                        "Latin-1, convert it: iconv -f WINDOWS-1252 -t UTF-8 a.csv > utf8.csv\n"
                        "a.csv:11:4: a lone CR; end lines with LF or CRLF");
    /* many bad rows: the first 20 messages */
    char *text = malloc(ROOM);
    size_t n = (size_t)snprintf(text, ROOM, HEAD "t,w,x\n");
    for (int i = 0; i < 500; i++) n += (size_t)snprintf(text + n, ROOM - n, "bad%d\n", i);
    put_file("a.csv", text, n);
    free(text);
    const char *path = in_folder("a.csv");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &votes), DIS_OK);
    assert_int_equal(dis_votes_get_notes(votes).bad_rows, 500);
    assert_non_null(strstr(dis_votes_get_skipped_row(votes, 19), "a.csv:22:1: "));
    assert_null(dis_votes_get_skipped_row(votes, 20));
    dis_votes_destroy(votes);
}

static void several_files_and_archives(void **state)
{
    (void)state;
    static char out[ROOM], one[ROOM];
    put_file("1.csv", TEXT(HEAD "b,x,1\na,y,0\n"));
    put_file("2.csv", TEXT("label,worker,task\n1,x,a\n1,z,b\n"));
    put_file("3.jsonl", TEXT("{\"task\": \"c\", \"worker\": \"x\", \"label\": 2}\n"));
    const char *const paths[] = {in_folder("1.csv"), in_folder("2.csv"), in_folder("3.jsonl")};
    const dis_votes_options o = {DEFAULTS};
    assert_int_equal(read_text(paths, 3, &o, out), DIS_OK);
    assert_string_equal(out, "0 1 2 | b:x=1,z=1, a:y=0,x=1, c:x=2, | rows 5 ties 1");
    put_file("2.csv", TEXT("label,worker,task\n1,x,b\n"));
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
            put_file("packed", archives[a].bytes, cut);
            const char *path = in_folder("packed");
            dis_votes *votes;
            assert_int_equal(dis_votes_read(NULL, &path, 1, NULL, &votes), DIS_EDATA);
            if (!strstr(dis_last_error(), "archive is damaged or truncated"))
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
#define DRAW(n) dis__random_below(42, p, draw++, n)
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
        const dis_votes_options o = {DEFAULTS, .duplicates = DIS_DUPLICATES_ALL, .lenient = lenient,
                                     .allow_many_classes = true};
        const dis_status status = read_bytes("a.csv", text, n, &o, out);

        /* the votes in the order of the file, by dis__csv alone */
        const dis__input in = dis__input_from_bytes("a.csv", text, n);
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
        const char *path = in_folder("a.csv");
        dis_votes *table;
        assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &table), DIS_OK);
        const dis_votes_view v = dis_votes_get_view(table);
        assert_int_equal(v.n_votes, votes);
        assert_int_equal(dis_votes_get_notes(table).bad_rows, bad);
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
        put_file("a.csv", text, n);
        const char *path = in_folder("a.csv");
        dis_votes *votes = NULL;
        const dis_votes_options many = {DEFAULTS, .allow_many_classes = true};
        assert_int_equal(dis_votes_read(NULL, &path, 1, &many, &votes), over ? DIS_ELIMIT : DIS_OK);
        if (!over) {
            const dis_votes_view v = dis_votes_get_view(votes);
            assert_int_equal(v.n_classes, DIS_MAX_CLASSES);
            assert_int_equal(v.label16[DIS_MAX_CLASSES - 1], DIS_MAX_CLASSES - 1);
            assert_string_equal(dis_names_get(v.classes, 10, NULL), "10"); /* by value */
        }
        dis_votes_destroy(votes);
    }
    free(text);
}

static void gold_labels(void **state)
{
    (void)state;
    put_file("v.csv", TEXT(HEAD "t1,w,a\nt2,w,b\nt3,w,a\n"));
    const char *path = in_folder("v.csv");
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
        {"g.csv", TEXT("task,label\nt1,c\n"), "g.csv:2:4: the gold label \"c\" is not a class"},
        {"g.csv", TEXT("task,label\nt1,a\nt1,b\n"), "g.csv:3:4: task \"t1\" has two gold labels"},
        {"g.csv", TEXT("task,note\nt1,a\n"), "g.csv:1: no column \"label\""},
        {"g.csv", TEXT("task,label\nt1\n"), "g.csv:2:1: 1 field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t gold[3] = {7, 7, 7};
        size_t unknown = 7;
        put_file(cases[i].name, cases[i].text, cases[i].n);
        const dis_status status = dis_votes_read_gold(NULL, in_folder(cases[i].name), NULL, votes, gold, &unknown);
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
    for (size_t i = 0; dis_votes_preset_get(i); i++) {
        const dis_votes_preset *p = dis_votes_preset_get(i);
        assert_true(p->name && p->summary && dis_votes_preset_find(p->name) == p);
        if (p->signature) assert_non_null(p->tool);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(p->name, dis_votes_preset_get(k)->name);
    }
    static char out[ROOM];
    put_file(
        "snow.tsv",
        TEXT("!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\nX\tA1\t266\t1\t1\nY\tA2\t266\t0\t1\n"));
    const char *path = in_folder("snow.tsv");
    for (size_t i = 0; dis_votes_preset_get(i); i++) {
        const dis_votes_preset *p = dis_votes_preset_get(i);
        if (strcmp(p->name, "snow") != 0) continue;
        const dis_votes_options o = {DEFAULTS,        .input = p->input,   .format = "tsv",
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
        put_file(cases[i].name, cases[i].text, cases[i].n);
        fault_path = in_folder(cases[i].name);
        fault_options = cases[i].o;
        walk_faults(read_once, NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(lenient_skips_and_reports),
        cmocka_unit_test(several_files_and_archives),
        cmocka_unit_test(random_csv_is_read_as_by_a_plain_reader),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(gold_labels),
        cmocka_unit_test(presets_are_settings),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
