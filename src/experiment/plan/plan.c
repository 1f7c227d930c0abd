/* An experiment's file into a plan. */
#include "experiment/plan/plan_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "nn/devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat st;
    return dis__os_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Where data is looked for when it is not beside the file: as told, by the environment, in ../shared/data of the folder
 * that the experiments' folder is in, or of the current one. */
static dis_status choose_folders(dis__plan_internal *p, const char *path, const char *data_folder)
{
    const char *slash = strrchr(path, '/'), *environment = getenv("DISSENT_DATA");
    dis__form *form = &p->form;
    DIS_TRY(
        dis__plan_format_text(&p->memory, &form->folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : "."));
    if (slash == path) form->folder = "/";
    if (!data_folder && environment && *environment) data_folder = environment;
    if (data_folder) return dis__plan_format_text(&p->memory, &form->data_folder, "%s", data_folder);
    const char *beside;
    DIS_TRY(dis__plan_format_text(&p->memory, &beside, "%s/../../shared/data", form->folder));
    static const char *const here = "../shared/data";
    form->data_folder = is_folder(beside) ? beside : is_folder(here) ? here : form->folder;
    return DIS_OK;
}

/* Runs on another device are different runs. A plan can be read, and results shown, on machines without that device. */
static dis_status choose_device(dis_context *ctx, dis__plan_internal *p)
{
    const char *machine, *precision;
    DIS_TRY(dis__device_words(ctx, &machine, &precision));
    return precision ? dis__plan_format_text(&p->memory, &p->device, "%s %s", machine, precision) : DIS_OK;
}

static dis_status read_file(dis_context *ctx, const char *path, const char *data_folder, dis__plan_internal *p)
{
    DIS_TRY(dis__yaml_read(ctx, path, &p->yaml));
    p->form.yaml = &p->yaml;
    p->form.memory = &p->memory;
    DIS_TRY(choose_folders(p, path, data_folder));
    DIS_TRY(choose_device(ctx, p));
    DIS_TRY(dis__record_read(&p->form, &dis__file_schema, p->yaml.node, &p->file));
    DIS_TRY(dis__plan_add_labels(p));
    DIS_TRY(dis__plan_add_data(ctx, p));
    DIS_TRY(dis__plan_add_measures(p));
    DIS_TRY(dis__plan_add_cells(p));
    DIS_TRY(dis__plan_add_runs(p));
    static const dis__significance_part usual = {.resamples = 1000, .fraction = 1};
    const dis__significance_part *s = p->file.significance ? p->file.significance : &usual;
    dis__plan *plan = &p->plan;
    plan->name = p->file.name;
    plan->about = p->file.about ? p->file.about : "";
    plan->paper = p->file.paper ? p->file.paper : "";
    plan->size = p->file.size ? p->file.size : "";
    plan->path = p->yaml.path;
    plan->keep_predictions = p->file.keep_predictions;
    plan->resamples = s->resamples;
    plan->fraction = s->fraction;
    plan->pool_seeds = s->pool_seeds;
    plan->pool_folds = p->file.pool_folds;
    plan->data_folder = p->form.data_folder;
    return DIS_OK;
}

static dis_status read_plan(dis_context *ctx, const char *path, const char *data_folder, bool lenient, dis__plan **out)
{
    dis__plan_internal *p;
    DIS_TRY(dis__alloc_zeroed(&p, 1, sizeof *p));
    p->form.lenient = lenient;
    const dis_status status = read_file(ctx, path, data_folder, p);
    if (status != DIS_OK) {
        dis__plan_destroy(&p->plan);
        return status;
    }
    p->plan.n_files = p->key_text.n_files;
    p->plan.file = p->key_text.path;
    *out = &p->plan;
    return DIS_OK;
}

dis_status dis__plan_read(dis_context *ctx, const char *path, const char *data_folder, dis__plan **out)
{
    return read_plan(ctx, path, data_folder, false, out);
}

dis_status dis__plan_read_some(dis_context *ctx, const char *path, const char *data_folder, dis__plan **out)
{
    return read_plan(ctx, path, data_folder, true, out);
}

const char *dis__plan_missing(const dis__plan *plan, size_t cell)
{
    const dis__missing *missing = dis__plan_internal_of(plan)->cell[cell].missing;
    return missing ? missing->message : NULL;
}

void dis__plan_destroy(dis__plan *plan)
{
    if (!plan) return;
    dis__plan_internal *p = (dis__plan_internal *)plan;
    dis__free(p->cell);
    dis__free(p->cells);
    dis__run_key_free(&p->key_text);
    dis__plan_memory_free(&p->memory);
    dis__yaml_free(&p->yaml);
    dis__free(p);
}
