/* Votes by the mapper: what paths lead to in JSON, lines and tables; what is refused, where, and with which remedy;
 * times; every allocation and system call failing in turn. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "io/json/json_split.h"
#include "support/sanitized.h"
#include "votes/mapper/record_path.h"
#include "votes/mapper/parse_time.h"
#include "support/votes_read_support.h"
#include <math.h>

#define TWL .task = "t", .worker = "w", .label = "l"
static const char *const empty_na[] = {""}, *const abc[] = {"a", "b", "c"};
static const dis_drop_rule cancelled[] = {{"v[].off", "true"}}, done[] = {{"v[].s", "done"}}, starred[] = {{"t", "x*"}};

static void reads(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n;
        dis_votes_options o;
        const char *expected;
    } cases[] = {
        /* containers */
        {"a.json",
         TEXT("[{\"task\":1,\"worker\":2,\"label\":3},\n {\"task\":1,\"worker\":3,\"label\":4}]"),
         {DEFAULTS},
         "3 4 | 1:2=3,3=4, | rows 2 ties 1"},
        {"a.json",
         TEXT("{\"x\": {\"w\": 1, \"l\": \"a\"}, \"y\\u00e9\": {\"w\": 1, \"l\": \"b\"}}"),
         {DEFAULTS, .task = "#", .worker = "w", .label = "l"},
         "a b | x:1=a, y\xc3\xa9:1=b, | rows 2"},
        {"a.json",
         TEXT("{\"t\":1,\"w\":2,\"l\":3}\n\n{\"t\":1,\n\"w\":3,\"l\":3}"),
         {DEFAULTS, TWL},
         "3 | 1:2=3,3=3, | rows 2"},
        {"a.json",
         TEXT("{\"a\":{\"skip\":[1,\"]\\\"\"],\"b\":[{\"t\":1,\"w\":2,\"l\":3}]},\"z\":0}"),
         {DEFAULTS, TWL, .records = "a.b"},
         "3 | 1:2=3, | rows 1"},
        {"a.jsonl",
         TEXT("{\"t\":1,\"v\":[{\"w\":2,\"l\":3}]}\r\n{\"t\":1,\"v\":[]}"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].l"},
         "3 | 1:2=3, | rows 1"},
        /* lists in step, lists within lists, members, parts */
        {"a.json",
         TEXT("[{\"t\":1,\"u\":[\"p\",\"q\"],\"v\":[\"a\",\"b\"]}]"),
         {DEFAULTS, .task = "t", .worker = "u[]", .label = "v[]"},
         "a b | 1:p=a,q=b, | rows 2 ties 1"},
        {"a.json",
         TEXT("{\"7\":{\"u\":\"p,q\",\"v\":\"0, 1\"}}"),
         {DEFAULTS, .task = "#", .worker = "u[,]", .label = "v[,]"},
         "0 1 | 7:p=0,q=1, | rows 2 ties 1"},
        {"a.json",
         TEXT("{\"7\":{\"v\":{\"p\":\"a\",\"q\":\"b\"}}}"),
         {DEFAULTS, .task = "#", .worker = "v{}#", .label = "v{}"},
         "a b | 7:p=a,q=b, | rows 2 ties 1"},
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[\"a\",\"b\",\"a\"]}]"),
         {DEFAULTS, .task = "t", .worker = "v[]#", .label = "v[]"},
         "a b | 1:0=a,1=b,2=a, | rows 3"},
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[{\"w\":5,\"r\":[{\"k\":\"x\",\"c\":[\"a\"]},{\"k\":\"y\",\"c\":[\"b\"]}]}]}]"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].r[k=y].c[]"},
         "b | 1:5=b, | rows 1"},
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[{\"w\":5,\"off\":true,\"l\":\"a\"},{\"w\":6,\"off\":false,\"l\":\"b\"}]}]"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].l", .drop = cancelled, .n_drop = 1},
         "b | 1:6=b, | rows 2 dropped 1"},
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[{\"w\":5,\"s\":\"draft\",\"l\":\"a\"},{\"w\":6,\"s\":\"done\",\"l\":\"b\"},{\"w\":7,"
              "\"l\":\"b\"}]}]"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].l", .keep = done, .n_keep = 1},
         "b | 1:6=b,7=b, | rows 3 dropped 1"},
        {"a.jsonl",
         TEXT("{\"t\":\"x1\",\"w\":1,\"l\":1}\n{\"t\":\"y1\",\"w\":1,\"l\":2}\n"),
         {DEFAULTS, TWL, .keep = starred, .n_keep = 1},
         "1 | x1:1=1, | rows 2 dropped 1"},
        /* keys with dots, alternatives, optional steps, joined ids, JSON in texts */
        {"a.jsonl",
         TEXT("{\"a.b\":1,\"c\":{\"d.e\":2},\"l\":3}\n"),
         {DEFAULTS, .task = "a.b", .worker = "c.d.e", .label = "l"},
         "3 | 1:2=3, | rows 1"},
        {"a.jsonl",
         TEXT("{\"t\":1,\"u\":{\"email\":\"e\"},\"l\":3}\n{\"t\":1,\"who\":9,\"l\":3}\n"),
         {DEFAULTS, .task = "t", .worker = "u|who.email|id?", .label = "l"},
         "3 | 1:e=3,9=3, | rows 2"},
        {"a.jsonl",
         TEXT("{\"q\":1,\"m\":\"x/y\",\"w\":2,\"l\":3}\n"),
         {DEFAULTS, .task = "q + m", .worker = "w", .label = "l"},
         "3 | 1/x/y:2=3, | rows 1"},
        {"a.csv",
         TEXT("t,w,j\n1,5,\"[{\"\"k\"\":\"\"T0\"\",\"\"v\"\":\"\"a\"\"}]\"\n1,6,\"[{\"\"k\"\":\"\"T0\"\",\"\"v\"\":"
              "\"\"b\"\"}]\"\n"),
         {DEFAULTS, .task = "t", .worker = "w", .label = "j[k=T0].v"},
         "a b | 1:5=a,6=b, | rows 2 ties 1"},
        {"a.csv",
         TEXT("t,w,s.x,s.y\n1,5,1,\n1,6,,1\n"),
         {DEFAULTS, .task = "t", .worker = "w", .label = "s{}#"},
         "x y | 1:5=x,6=y, | rows 2 ties 1"},
        {"a.csv",
         TEXT("a.b,w,l\n1,5,x\n"),
         {DEFAULTS, .task = "a.b", .worker = "w", .label = "l"},
         "x | 1:5=x, | rows 1"},
        {"sub.ann.jsonl",
         TEXT("{\"id\":1,\"l\":\"x\"}\n"),
         {DEFAULTS, .task = "id", .worker = "$file", .label = "l"},
         "x | 1:sub=x, | rows 1"},
        /* several labels at once */
        {"a.jsonl",
         TEXT("{\"t\":1,\"w\":2,\"l\":[\"b\",\"a\",\"b\"]}\n{\"t\":1,\"w\":3,\"l\":[\"a\"]}\n"),
         {DEFAULTS, TWL, .multiple_labels = DIS_MULTIPLE_JOIN},
         "a a+b | 1:2=a+b,3=a, | rows 2 ties 1"},
        {"a.jsonl",
         TEXT("{\"t\":1,\"w\":2,\"l\":[\"b\",\"a\"]}\n"),
         {DEFAULTS, TWL, .multiple_labels = DIS_MULTIPLE_ALL},
         "a b | 1:2=b,2=a, | rows 2 twice 1 ties 1"},
        /* nothing at all */
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[{\"w\":5,\"r\":[]},{\"w\":6,\"r\":[\"a\"]}]}]"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].r[]", .na = empty_na, .n_na = 1},
         "a | 1:6=a, | rows 2 na 1"},
        /* tables: delimiters, no header, wide */
        {"a.csv", TEXT("task;worker;label\nt;w;1,5\n"), {DEFAULTS, .delimiter = ';'}, "1,5 | t:w=1,5, | rows 1"},
        {"a.tsv",
         TEXT("t1\t\"\tDET,,X\r\n\r\nt2\tb\tX,X,\r\n"),
         {DEFAULTS, .no_header = true, .task = "0", .worker = "2[,]#", .label = "2[,]", .na = empty_na, .n_na = 1},
         "DET X | t1:0=DET,2=X, t2:0=X,1=X, | rows 6 na 2 ties 1"},
        {"a.csv",
         TEXT("id,ann,bob\nt1,a,b\nt2,,b\n"),
         {DEFAULTS, .input = DIS_INPUT_WIDE},
         "a b | t1:ann=a,bob=b, t2:bob=b, | rows 3 ties 1"},
        {"a.csv",
         TEXT("no,w1,w2,text\nt1,a,b,x\nt2,,b,y\n"),
         {DEFAULTS, .input = DIS_INPUT_WIDE, .worker = "w*"},
         "a b | t1:w1=a,w2=b, t2:w2=b, | rows 3 ties 1"},
        {"a.csv",
         TEXT("x,id,b,a\n9,t1,p,q\n"),
         {DEFAULTS, .input = DIS_INPUT_WIDE, .worker = "a,b"},
         "p q | t1:b=p,a=q, | rows 2 ties 1"},
        /* counts and soft votes */
        {"a.jsonl",
         TEXT("{\"u\":\"x\",\"c\":{\"b\":3}}\n{\"u\":\"y\",\"c\":{\"a\":1,\"b\":1}}\n"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .task = "u", .label = "c{}"},
         "a b | x:0,3, y:1,1, | rows 2 ties 1"},
        {"a.json",
         TEXT("[{\"u\":\"x\",\"c\":[3,0,1]}]"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .task = "u", .label = "c[]", .classes = abc, .n_classes = 3},
         "a b c | x:3,0,1, | rows 1"},
        {"a.jsonl",
         TEXT("{\"task\":\"x\",\"w\":1,\"p\":{\"a\":60,\"b\":40}}\n{\"task\":\"x\",\"w\":2,\"p\":{\"a\":20,\"b\":80}}"
              "\n"),
         {DEFAULTS, .input = DIS_INPUT_SOFT, .worker = "w", .renormalise = true},
         "a b | x:0.8,1.2, | rows 2 scaled 2"},
        /* by time */
        {"a.jsonl",
         TEXT("{\"t\":1,\"w\":2,\"l\":\"new\",\"d\":\"2026-01-02T10:00:00Z\"}\n"
              "{\"t\":1,\"w\":2,\"l\":\"old\",\"d\":\"2026-01-02T10:30:00+02:00\"}\n{\"t\":1,\"w\":3,\"l\":\"old\"}\n"),
         {DEFAULTS, TWL, .time = "d", .duplicates = DIS_DUPLICATES_LAST},
         "new old | 1:2=new,3=old, | rows 3 twice 1 ties 1"},
        {"a.csv",
         TEXT("task,worker,label,when\n1,2,b,20\n1,2,a,10\n"),
         {DEFAULTS, .time = "when", .duplicates = DIS_DUPLICATES_FIRST},
         "a b | 1:2=a, | rows 2 twice 1"},
        {"a.csv",
         TEXT("task,worker,label,when\n1,2,b,\n1,2,a,x\n"),
         {DEFAULTS, .time = "#", .duplicates = DIS_DUPLICATES_LAST},
         "a b | 1:2=a, | rows 2 twice 1"},
        /* lenient */
        {"a.json",
         TEXT("[{\"t\":1,\"w\":2,\"l\":\"a\"},{\"t\":1,\"w\":\"\",\"l\":\"a\"},{\"t\":3},{\"t\":1,\"t\":2}]"),
         {DEFAULTS, TWL, .lenient = true},
         "a | 1:2=a, | rows 4 bad 3"},
    };
    static char out[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_file(cases[i].name, cases[i].text, cases[i].n);
        const char *path = in_folder(cases[i].name);
        const dis_status status = read_text(&path, 1, &cases[i].o, out);
        if (status != DIS_OK || !strstr(out, cases[i].expected))
            printf("case %zu: %s\n  not %s\n", i, out, cases[i].expected);
        assert_int_equal(status, DIS_OK);
        out[strcspn(out, "\n")] = 0; /* messages of skipped rows follow */
        assert_string_equal(out, cases[i].expected);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n;
        dis_votes_options o;
        dis_status status;
        const char *message;
    } cases[] = {
        {"a.json",
         TEXT("[{\"t\":1,\"v\":[{\"u\":2,\n\"l\":3}]}]"),
         {DEFAULTS, .task = "t", .worker = "v[].who", .label = "v[].l"},
         DIS_EDATA,
         "a.json:1:14: no key \"who\" within v[0]; the keys are: u, l; name the one to use with `worker`"},
        {"a.json",
         TEXT("[{\"t\":1,\"v\":7}]"),
         {DEFAULTS, .task = "t", .worker = "v[].w", .label = "v[].l"},
         DIS_EDATA,
         "a.json:1:13: v is no list"},
        {"a.json",
         TEXT("[{\"t\":1,\n\"u\":[1,2],\"v\":[3]}]"),
         {DEFAULTS, .task = "t", .worker = "u[]", .label = "v[]"},
         DIS_EDATA,
         "parallel lists must have the same length"},
        {"a.json",
         TEXT("[{\"t\":1,\"w\":2,\"l\":{\"x\":1}}]"),
         {DEFAULTS, TWL},
         DIS_EDATA,
         "a.json:1:19: \"l\" must be a text or a number"},
        {"a.json",
         TEXT("[{\"t\":1,\"w\":2,\"l\":3},]"),
         {DEFAULTS, TWL},
         DIS_EDATA,
         "a.json:1:22: a value is missing; is there a comma too many?"},
        {"a.json", TEXT("[{\"t\":1,\"w\":2,\"l\":3}"), {DEFAULTS, TWL}, DIS_EDATA, "the list does not end"},
        {"a.json", TEXT("[{\"t\":1,\"w\":2,\"l\":\"3}"), {DEFAULTS, TWL}, DIS_EDATA, "is the file complete?"},
        {"a.json", TEXT("[{\"t\":1,\"w\":2,\"l\":3}] x"), {DEFAULTS, TWL}, DIS_EDATA, "unexpected text after"},
        {"a.json", TEXT("[\n{\"t\":1,\n \"w\":2,\"l\":tru}]"), {DEFAULTS, TWL}, DIS_EDATA, "a.json:3:12: "},
        {"a.json",
         TEXT("{\"x\":{\"w\":1,\"l\":2},,}"),
         {DEFAULTS, .task = "#", .worker = "w", .label = "l"},
         DIS_EDATA,
         "a key in double quotes is missing"},
        {"a.json", TEXT("7"), {DEFAULTS, TWL}, DIS_EDATA, "JSON with votes begins with [ or {"},
        {"a.json", TEXT("{\"a\":1}"), {DEFAULTS, TWL, .records = "b"}, DIS_EDATA, "no such key as `records` names"},
        {"a.jsonl",
         TEXT("{\"t\":1,\"w\":2,\"l\":[\"a\",\"b\"]}\n"),
         {DEFAULTS, .task = "t", .worker = "w", .label = "l[]"},
         DIS_EDATA,
         "worker \"2\" gave task \"1\" 2 labels (\"a\", \"b\")"},
        {"a.json",
         TEXT("[{\"t\":1,\"w\":2,\"l\":3},\n{\"t\":1,\"w\":2,\"l\":4}]"),
         {DEFAULTS, TWL},
         DIS_EDATA,
         "a.json:2:18: worker \"2\" has already voted on task \"1\" (line 1)"},
        {"a.jsonl",
         TEXT("{\"t\":1,\"w\":2,\"l\":3,\"d\":5}\n{\"t\":1,\"w\":2,\"l\":4,\"d\":\"soon\"}\n"),
         {DEFAULTS, TWL, .time = "d", .duplicates = DIS_DUPLICATES_LAST},
         DIS_EDATA,
         "a.jsonl:2:24: worker \"2\" answered"},
        {"a.csv",
         TEXT("t,w,l\n1,2,3\n"),
         {DEFAULTS, .task = "t[", .worker = "w", .label = "l"},
         DIS_EUSAGE,
         "the path of the task, \"t[\": [ without its ] at character 2"},
        {"a.csv",
         TEXT("t,w,l\n1,2,3\n"),
         {DEFAULTS, .task = "t#", .worker = "w", .label = "l"},
         DIS_EUSAGE,
         "# stands behind"},
        {"a.csv",
         TEXT("t,w,l\n1,2,3\n"),
         {DEFAULTS, .task = "t", .worker = "w", .label = "l[] + t"},
         DIS_EUSAGE,
         "has several parts"},
        {"a.csv",
         TEXT("id,a,b\n1,2,3\n"),
         {DEFAULTS, .input = DIS_INPUT_WIDE, .label = "a"},
         DIS_EUSAGE,
         "leave `label` out"},
        {"a.csv",
         TEXT("t,w,l\n1,2,3\n"),
         {DEFAULTS, .preset = "label-stdio"},
         DIS_EUSAGE,
         "did you mean label-studio?"},
        {"a.csv", TEXT("t,w,l\n1,2,3\n"), {DEFAULTS, .preset = "potato"}, DIS_EUSAGE, "`label` is required"},
        {"a.csv", TEXT("t,w,l\n1,2,3\n"), {DEFAULTS, .delimiter = '"'}, DIS_EUSAGE, "invalid delimiter"},
        /* what a file looks like */
        {"a.json",
         TEXT("[{\"id\":1,\"data\":{},\"annotations\":[]}]"),
         {DEFAULTS},
         DIS_EDATA,
         "this looks like a Label Studio export: use `preset` label-studio"},
        {"a.csv",
         TEXT("HITId,WorkerId,AssignmentStatus,Answer.x\n1,2,Approved,y\n"),
         {DEFAULTS},
         DIS_EDATA,
         "this looks like MTurk batch results: use `preset` mturk and `label` NAME"},
        {"a.csv",
         TEXT("id,ann,bob\n1,x,y\n2,x,x\n3,y,y\n"),
         {DEFAULTS},
         DIS_EDATA,
         "`input` \"wide\" `task` \"id\" `worker` \"ann,bob\""},
        {"a.csv",
         TEXT("id,ann,bob\n1,x,y\n2,x,x\n3,y,y\n"),
         {DEFAULTS, .input = DIS_INPUT_MACE},
         DIS_EDATA,
         "a.csv:1: the first row looks like a header"},
        {"a.csv",
         TEXT("i1,x,y\ni2,x,x\ni3,y,y\ni4,y,y\n"),
         {DEFAULTS, .input = DIS_INPUT_MACE},
         DIS_EDATA,
         "a.csv:1:1: the first column looks like ids"},
        {"a.csv", TEXT("t,w,l\n1,2,3\n"), {DEFAULTS}, DIS_EDATA, "no column \"task\""},
        {"a.json",
         TEXT("[{\"u\":\"x\",\"c\":{\"a\":-1}}]"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .task = "u", .label = "c{}"},
         DIS_EDATA,
         "a.json:1:20: \"-1\" is not a count"},
        {"a.json",
         TEXT("[{\"u\":\"x\",\"c\":1}]"),
         {DEFAULTS, .input = DIS_INPUT_COUNTS, .task = "u", .label = "c"},
         DIS_EUSAGE,
         "end it in {} or []"},
    };
    static char out[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_file(cases[i].name, cases[i].text, cases[i].n);
        const char *path = in_folder(cases[i].name);
        const dis_status status = read_text(&path, 1, &cases[i].o, out);
        if (status != cases[i].status || !strstr(out, cases[i].message))
            printf("case %zu: %s\n  not %s\n", i, out, cases[i].message);
        assert_int_equal(status, cases[i].status);
        assert_non_null(strstr(out, cases[i].message));
    }
}

static void knows_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* NAN: none */
    } cases[] = {
        {"0", 0},
        {"1772355600.5", 1772355600.5},
        {"1772355600500", 1772355600.5},
        {"1970-01-02", 86400},
        {"2026-03-01T09:00:00Z", 1772355600},
        {"2026-03-01T09:00:00.250000Z", 1772355600.25},
        {"2026-03-01T10:00:00+01:00", 1772355600},
        {"2026-03-01 09:00:00 UTC", 1772355600},
        {"3/1/2026 09:00:00", 1772355600},
        {"Sun Mar 01 01:00:00 PST 2026", 1772355600},
        {"2024-02-29T00:00:00", 1709164800},
        {"2026-13-01", NAN},
        {"2026-03-01T09", NAN},
        {"yesterday", NAN},
        {"", NAN},
        {"2026-03-01T09:00:00 XYZ", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds;
        const bool good = dis__parse_time(cases[i].text, strlen(cases[i].text), &seconds);
        assert_int_equal(good, !isnan(cases[i].seconds));
        if (good) assert_true(fabs(seconds - cases[i].seconds) < 1e-6);
    }
}

static void fits_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {{"*", "", true},         {"a*", "abc", true}, {"a*c", "abc", true}, {"a*c", "acb", false},
                 {"*a*b*", "xaxb", true}, {"", "", true},      {"", "a", false},     {"a", "ab", false},
                 {"**", "ab", true},      {"a*a", "a", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(dis__glob(cases[i].pattern, strlen(cases[i].pattern), cases[i].text, strlen(cases[i].text)),
                         cases[i].fits);
}

/* A large array: every vote is there, and the parser never holds more than a record. */
static void reads_many_records(void **state)
{
    (void)state;
    const size_t n = SANITIZED ? 20000 : 200000;
    FILE *f = fopen(in_folder("many.json"), "w");
    assert_non_null(f);
    fputs("[", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s{\"id\": %zu, \"v\": [{\"w\": \"a rather long name %zu\", \"l\": %zu}, {\"w\": 7, \"l\": 0}]}\n",
                i ? "," : "", i, i % 1000, i % 3);
    fputs("]", f);
    assert_int_equal(fclose(f), 0);
    const dis_votes_options o = {DEFAULTS, .task = "id", .worker = "v[].w", .label = "v[].l"};
    const char *path = in_folder("many.json");
    dis_votes *votes;
    assert_int_equal(dis_votes_read(NULL, &path, 1, &o, &votes), DIS_OK);
    const dis_votes_view v = dis_votes_get_view(votes);
    assert_int_equal(v.n_items, n);
    assert_int_equal(v.n_votes, 2 * n);
    assert_int_equal(v.n_workers, 1001);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(v.start[i], 2 * i);
        assert_int_equal(v.label8[2 * i], i % 3);
    }
    dis_votes_destroy(votes);
}

static const char *fault_path;
static dis_votes_options fault_options;
static dis_status read_once(void *arg)
{
    (void)arg;
    static const dis__tuning tuning = {.chunk = 20, .round = 3};
    dis_votes *votes = NULL;
    const dis_status status = dis__votes_read(NULL, &fault_path, 1, &fault_options, &tuning, &votes);
    if (status == DIS_OK) dis_votes_destroy(votes);
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
        {"f.json",
         TEXT("[{\"id\":1,\"data\":{},\"annotations\":[{\"completed_by\":\"a long name of \\u00e9 "
              "worker\",\"updated_at\":1,"
              "\"result\":[{\"type\":\"choices\",\"from_name\":\"x\",\"value\":{\"choices\":[\"b\",\"a long label, "
              "longer than "
              "others\"]}}]}]}]"),
         {DEFAULTS, .preset = "label-studio", .label = "x", .multiple_labels = DIS_MULTIPLE_JOIN,
          .duplicates = DIS_DUPLICATES_LAST}},
        {"f.csv",
         TEXT("t,w,j\n1,5,\"[{\"\"v\"\":\"\"a\"\"}]\"\nbad\n"),
         {DEFAULTS, .task = "t + w", .worker = "w", .label = "j[].v", .lenient = true}},
        {"f.tsv", TEXT("t1\ta\tDET,,X\n"), {DEFAULTS, .preset = "gimpel"}},
        {"f.csv", TEXT("id,ann,bob\nt1,a,b\nt2,,b\n"), {DEFAULTS, .input = DIS_INPUT_WIDE}},
        {"f.csv", TEXT("a,b,b\na,b,b\n"), {DEFAULTS, .input = DIS_INPUT_MACE}},
        {"f.jsonl",
         TEXT("{\"uid\":\"x\",\"label_counter\":{\"b\":3,\"a class of its own\":2}}\n"),
         {DEFAULTS, .preset = "chaosnli"}},
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
        cmocka_unit_test(knows_times),
        cmocka_unit_test(fits_patterns),
        cmocka_unit_test(reads_many_records),
        cmocka_unit_test(survives_every_fault),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
