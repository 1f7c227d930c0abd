/* value_names.h: names of values in tables. Not part of the public interface. */
#ifndef DIS_TOOL_VALUE_NAMES_H
#define DIS_TOOL_VALUE_NAMES_H
#include "dissent/compare.h"
#include "dissent/evaluate.h"
#include "dissent/perspectives.h"

const char *dis__average_name(dis_average over); /* "votes", "items", "workers" */
const char *
dis__prediction_source_name(dis_prediction_source source); /* "model", "worker's most frequent", "majority of others" */
/* Names of cells and statistics as they stand in JSON; static. */
const char *dis__comparison_cell_name(size_t i);
const char *dis__comparison_statistic_name(size_t i);
/* An arrow for tables that people read: up where higher is better, down where lower is (UTF-8), "" for the others. */
const char *dis__evaluation_metric_arrow(size_t i);

#endif
