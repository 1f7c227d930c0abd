/* Plans: any bytes as an experiment's file are taken or refused with a message; a plan that is taken is consistent.
 * Paths in it are looked for in an empty folder, beside a file of data that every plan may name. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "experiment/plan/plan.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char votes[] = "task,worker,label\n1,a,x\n1,b,y\n2,a,y\n";
    if (memchr(data, '/', size)) return 0; /* only files of the folder */
    fuzz_file("b", (const uint8_t *)votes, sizeof votes - 1);
    const char *path = fuzz_file("a", data, size);
    dis__plan *plan = NULL;
    const dis_status status = dis__plan_read(NULL, path, fuzz_folder, &plan);
    if (status != DIS_OK) {
        MUST(!plan && dis_last_error()[0]);
        return 0;
    }
    MUST(plan->n_cells && plan->n_measures && plan->n_runs >= plan->n_cells && plan->name[0]);
    for (size_t c = 0; c < plan->n_cells; c++)
        MUST(plan->cell[c].name[0] && (plan->cell[c].baseline == SIZE_MAX || plan->cell[c].baseline < plan->n_cells));
    for (size_t r = 0; r < plan->n_runs; r++) MUST(plan->run[r].cell < plan->n_cells && strlen(plan->run[r].key) == 64);
    dis__plan_destroy(plan);
    return 0;
}
