/* What commands on votes and labels ask of neural networks, where these are not in the program. */
#include "dissent/device_list.h"
#include "report/model_curves.h"

const dis_device *dis_device_get(size_t i)
{
    (void)i;
    return NULL;
}

const char *dis_device_missing_reason(void)
{
    return NULL;
}

/* Called for the device of --device alone, which the context checks again. */
dis_status dis_device_find(const char *device, dis_precision precision, bool training, const dis_device **out)
{
    static const dis_device cpu = {.name = "cpu", .kind = "cpu", .summary = "CPU", .description = "WebAssembly"};
    (void)device, (void)precision, (void)training;
    *out = &cpu;
    return DIS_OK;
}

int model_curves_add(cli *c, dis_context *ctx, dis_report *report, const char *name, const char *folder)
{
    (void)ctx, (void)report, (void)name;
    return cli_usage(c, "--model %s: this program was built without training, and reads no models", folder);
}
