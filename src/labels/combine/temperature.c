/* Temperature scaling of the views, then their weighted mean (Wright & Augenstein 2022 eq. 5-7): overconfident views
 * are flattened before they are averaged. temperature_search.c chooses the temperatures; `fixed=1.5` is the value at
 * which the released code stops.
 *
 * Cost: that of temperature_search.c and one more pass. */
#include "labels/combine/tempering.h"

typedef struct {
    dis_reals weights;
    dis__temperature_search_options temper;
} temperature_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    DIS_OPTIONS_TEMPERATURE_SEARCH(temperature_options),
};

static dis_status run_temperature(const dis__combine_args *args)
{
    const temperature_options *o = args->options;
    DIS_TRY(dis__temperature_search_run(args, &o->temper));
    const dis__temperatures t = {.value = args->temperature, .by_view = 1, .floor = DIS_LOG_FLOOR};
    return dis__tempered_mean_compute(args, &t);
}

const dis__combiner dis__combiner_temperature = {
    .info = {.name = "temperature",
             .summary = "mean after temperature scaling that makes the label sets agree",
             .source = "Wright & Augenstein 2022 eq. 5-7 and its released code",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(temperature_options),
    .run = run_temperature,
};
