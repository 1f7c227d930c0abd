/* figure_model.h: shared by the charts of predictions. */
#ifndef DIS_REPORT_FIGURE_MODEL_H
#define DIS_REPORT_FIGURE_MODEL_H
#include "report/report_internal.h"

bool dis__evaluation_has(const dis_evaluation_view *e, dis_evaluation_metric i);
void dis__report_append_model_name(dis__markup *m, const dis__report_job *job, size_t i);

/* figure_model.c: each adds itself to the open section, or nothing if it is empty. */
void dis__figure_reliability(dis__report_job *job);
dis_status dis__figure_entropies(dis__report_job *job, size_t model);
dis_status dis__figure_divergences(dis__report_job *job);
dis_status dis__figure_confusion(dis__report_job *job, size_t model);
void dis__figure_classes(dis__report_job *job);

#endif
