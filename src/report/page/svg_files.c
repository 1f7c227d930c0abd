/* Charts as SVG files: what stands in the page, with the name space, its style sheet and the colour of its paper. Cost:
 * a copy of each chart. */
#include "tool/files.h"
#include "report/page/svg_files.h"
#include "core/memory/memory.h"
#include "core/system_calls.h"
#include "io/output/output_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Letters and digits of a title in lower case; one dash for everything between them. Entities are skipped. */
static void name_of(const char *title, char out[DIS__SVG_FILE_NAME])
{
    size_t n = 0;
    bool gap = false;
    for (const char *c = title; *c && n + 2 < DIS__SVG_FILE_NAME - 8; c++) {
        if (*c == '&' && strchr(c, ';')) c = strchr(c, ';');
        const bool large = *c >= 'A' && *c <= 'Z',
                   plain = large || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (!plain) {
            gap = n > 0;
            continue;
        }
        if (gap) out[n++] = '-';
        gap = false;
        out[n++] = (char)(large ? *c - 'A' + 'a' : *c);
    }
    memcpy(out + n, n ? "" : "figure", n ? 1 : sizeof "figure");
}

/* name, name-2, name-3, ... : the first that no other drawing has. */
static void number_name(const dis__svg_files *d, char name[DIS__SVG_FILE_NAME])
{
    const size_t n = strlen(name);
    for (size_t number = 2;; number++) {
        bool is_used = false;
        for (size_t i = 0; i < d->n; i++) is_used |= strcmp(d->file[i].name, name) == 0;
        if (!is_used) return;
        snprintf(name + n, DIS__SVG_FILE_NAME - n, "-%zu", number);
    }
}

/* from .. end: <svg ...> ... </svg>, as it stands in the page. */
static dis_status add_one(dis__svg_files *d, const char *title, const char *from, const char *end)
{
    static const char tag[] = "<svg";
    const char *tag_end = memchr(from, '>', (size_t)(end - from));
    if (!tag_end) return dis__fail(DIS_EBUG, "a chart without an end to its first tag");
    DIS_TRY(dis__reserve(&d->file, &d->capacity, d->n, d->n + 1, sizeof *d->file));
    dis__svg_file *one = &d->file[d->n];
    *one = (dis__svg_file){.name = ""};
    name_of(title, one->name);
    number_name(d, one->name);
    d->n++;
    dis__markup_append(&one->svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    dis__markup_append_n(&one->svg, from + strlen(tag), (size_t)(tag_end + 1 - from) - strlen(tag));
    dis__markup_appendf(&one->svg, "\n<style>\n%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>",
                        dis__chart_style);
    dis__markup_append_n(&one->svg, tag_end + 1, (size_t)(end - tag_end - 1));
    dis__markup_append(&one->svg, "\n");
    return one->svg.status;
}

void dis__svg_files_add(dis__svg_files *svg_files, const dis__figure *f)
{
    static const char close[] = "</svg>";
    dis__markup chart = {0};
    dis__markup_append_markup(&chart, &f->chart);
    dis__markup_append_n(&chart, "", 1); /* to be searched as a string */
    dis_status status = chart.status;
    for (const char *at = chart.bytes; status == DIS_OK && (at = strstr(at, "<svg"));) {
        const char *end = strstr(at, close);
        if (!end) break;
        end += strlen(close);
        status = add_one(svg_files, f->title, at, end);
        at = end;
    }
    if (svg_files->status == DIS_OK) svg_files->status = status;
    dis__markup_free(&chart);
}

static dis_status path_of(const dis__svg_file *one, const char *folder, const char *prefix, char **path)
{
    const size_t n = strlen(folder) + strlen(prefix) + strlen(one->name) + sizeof "/-.svg";
    DIS_TRY(dis__alloc_array(path, n, 1));
    snprintf(*path, n, "%s/%s-%s.svg", folder, prefix, one->name);
    return DIS_OK;
}

static dis_status check_one(const dis__svg_file *one, const char *folder, const char *prefix)
{
    char *path;
    DIS_TRY(path_of(one, folder, prefix, &path));
    const dis_status status = dis__file_check_replace(path, DIS__OUTPUT_CHART);
    dis__free(path);
    return status;
}

static dis_status write_one(const dis__svg_file *one, const char *folder, const char *prefix)
{
    char *path;
    dis__out *out;
    DIS_TRY(path_of(one, folder, prefix, &path));
    dis_status status = dis__out_open(path, &out);
    if (status == DIS_OK) status = dis__out_finish(out, dis__out_write(out, one->svg.bytes, one->svg.n));
    dis__free(path);
    return status;
}

dis_status dis__svg_files_write(const dis__svg_files *svg_files, const char *folder, const char *prefix)
{
    DIS_TRY(svg_files->status);
    if (dis__sys_mkdir(folder) != 0 && errno != EEXIST) return dis__fail_io("make the folder", folder);
    char name[DIS__SVG_FILE_NAME];
    name_of(prefix, name);
    for (size_t i = 0; i < svg_files->n; i++) DIS_TRY(check_one(&svg_files->file[i], folder, name));
    for (size_t i = 0; i < svg_files->n; i++) DIS_TRY(write_one(&svg_files->file[i], folder, name));
    return DIS_OK;
}

void dis__svg_files_free(dis__svg_files *svg_files)
{
    for (size_t i = 0; i < svg_files->n; i++) dis__markup_free(&svg_files->file[i].svg);
    dis__free(svg_files->file);
    *svg_files = (dis__svg_files){0};
}
