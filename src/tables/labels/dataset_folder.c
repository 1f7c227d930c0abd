#include "tables/labels/dataset_folder.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include <string.h>
#include <sys/stat.h>

/* Whether every line of a README.md is one that an export writes. If it was edited, the edits would be lost. */
static bool is_own_card(const dis__input *in)
{
    static const char *const lines[] = {"---",
                                        "configs:",
                                        "- config_name: default",
                                        "  data_files:",
                                        "  - split: train",
                                        "    path: data.jsonl",
                                        "dataset_info:",
                                        "  features:",
                                        "  - name: task",
                                        "    dtype: string",
                                        "  - name: text",
                                        "  - name: label",
                                        "    dtype:",
                                        "      class_label:",
                                        "        names:",
                                        "  - name: soft_label",
                                        "    sequence: float64",
                                        DIS_DATASET_NOTE};
    static const char class_line[] = "          \'";
    const char *at = in->bytes, *end = in->bytes + in->n;
    bool own = in->n > 0;
    while (own && at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        const size_t n = (size_t)((lf ? lf : end) - at);
        own = n > sizeof class_line && memcmp(at, class_line, sizeof class_line - 1) == 0;
        for (size_t i = 0; i < sizeof lines / sizeof *lines && !own; i++)
            own = strlen(lines[i]) == n && memcmp(lines[i], at, n) == 0;
        at += n + 1;
    }
    return own;
}

/* Files in the folder that were not written by an earlier export stay. */
static dis_status check_card(dis_context *ctx, const char *card, const char *data)
{
    struct stat st;
    dis__input in;
    if (dis__os_link_stat(card, &st) != 0)
        return dis__os_link_stat(data, &st) == 0 ? dis__fail_foreign_file(data) : DIS_OK;
    dis_status status = dis__input_open_regular(ctx, card, DIS_CONFIG_FILE, &in);
    if (status == DIS_EDATA || status == DIS_ELIMIT) return dis__fail_foreign_file(card);
    DIS_TRY(status);
    const bool own = is_own_card(&in);
    status = dis__input_finish(&in, DIS_OK);
    return status == DIS_OK && !own ? dis__fail_foreign_file(card) : status;
}

dis_status dis__dataset_check_folder(dis_context *ctx, const char *folder)
{
    char *card = NULL, *data = NULL;
    dis_status status = dis__path_join(folder, "README.md", &card);
    if (status == DIS_OK) status = dis__path_join(folder, "data.jsonl", &data);
    if (status == DIS_OK) status = check_card(ctx, card, data);
    dis__free(card);
    dis__free(data);
    return status;
}
