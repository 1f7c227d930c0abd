/* The row of the stand-in device, "cuda:0": EM passes and resamples, no networks. */
#include "devices/stand_in.h"
#include "dissent/version.h"
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) dis__device_plugin dis_device_plugin;

size_t dis_device_plugin(const dis__device_host *host, dis__device_row *rows, size_t room, char why[DIS_DEVICE_WHY])
{
    if (room < 1 || host->size != sizeof *host || host->row_size != sizeof *rows ||
        strcmp(host->version, DIS_VERSION) != 0) {
        snprintf(why, DIS_DEVICE_WHY, "another version");
        return 0;
    }
    rows[0] = (dis__device_row){.name = "cuda:0", .machine = "cuda", .host = host};
    stand_in_add_em(&rows[0]);
    stand_in_add_bootstrap(&rows[0]);
    return 1;
}
