/* Gold labels and groups from any bytes: the first byte chooses the format. What is read is whole: names different,
 * labels in range, and every task found again has its group. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "dissent/dissent.h"
#include "tool/table_columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "a.tsv", "a.jsonl"};
    if (size < 1) return 0;
    const char *path = fuzz_file(names[data[0] % 3], data + 1, size - 1);
    dis_gold *gold = NULL;
    if (dis_gold_read(NULL, path, NULL, &gold) != DIS_OK) {
        MUST(!gold && dis_last_error()[0]);
        gold = NULL;
    } else {
        const dis_gold_view v = dis_gold_get_view(gold);
        const size_t n_classes = dis_names_count(v.classes);
        MUST(v.n_items > 0 && dis_names_count(v.tasks) == v.n_items);
        for (size_t i = 0; i < v.n_items; i++) MUST(v.label[i] >= 0 && (size_t)v.label[i] < n_classes);
        for (size_t i = 0; i < v.n_items && i < 300; i++) {
            size_t n;
            const char *name = dis_names_get(v.tasks, i, &n);
            MUST(dis_names_find(v.tasks, name, n) == i);
        }
    }
    static const char *const task_names[] = {"a"};
    dis_names *tasks;
    uint32_t group = 7;
    size_t n_groups = 0;
    MUST(dis_names_create(task_names, 1, &tasks) == DIS_OK);
    if (dis__item_groups_read(NULL, path, tasks, &group, &n_groups) == DIS_OK)
        MUST(group < n_groups);
    else
        MUST(group == 7 && n_groups == 0 && dis_last_error()[0]);
    dis_names_destroy(tasks);
    dis_gold_destroy(gold);
    return 0;
}
