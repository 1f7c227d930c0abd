/* JUnit XML. Texts are escaped; characters that XML does not allow become U+FFFD. */
#include "tool/junit.h"
#include "io/output/output_file.h"
#include <string.h>

static dis_status write_escaped(dis__out *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
        if (c < 0x20) entity = c == '\t' || c == '\n' || c == '\r' ? " " : "\xEF\xBF\xBD";
        DIS_TRY(entity ? dis__out_write(out, entity, strlen(entity)) : dis__out_write(out, p, 1));
    }
    return DIS_OK;
}

static dis_status write_case(dis__out *out, const char *suite, const dis__junit_case *c)
{
    DIS_TRY(dis__out_printf(out, "  <testcase classname=\""));
    DIS_TRY(write_escaped(out, suite));
    DIS_TRY(dis__out_printf(out, "\" name=\""));
    DIS_TRY(write_escaped(out, c->name));
    if (!c->failure) return dis__out_printf(out, "\"/>\n");
    DIS_TRY(dis__out_printf(out, "\">\n    <failure message=\""));
    DIS_TRY(write_escaped(out, c->failure));
    return dis__out_printf(out, "\"/>\n  </testcase>\n");
}

static dis_status write_suite(dis__out *out, const char *suite, const dis__junit_case *cases, size_t n)
{
    size_t failures = 0;
    for (size_t i = 0; i < n; i++) failures += cases[i].failure != NULL;
    DIS_TRY(dis__out_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""));
    DIS_TRY(write_escaped(out, suite));
    DIS_TRY(dis__out_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", n, failures));
    for (size_t i = 0; i < n; i++) DIS_TRY(write_case(out, suite, &cases[i]));
    return dis__out_printf(out, "</testsuite>\n");
}

dis_status dis__junit_write(const char *path, const char *suite, const dis__junit_case *cases, size_t n)
{
    dis__out *out;
    DIS_TRY(dis__out_open(path, &out));
    return dis__out_finish(out, write_suite(out, suite, cases, n));
}
