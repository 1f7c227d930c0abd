/* experiments.h: parts of an experiment that its commands show. Not part of the public interface. */
#ifndef DIS_TOOL_EXPERIMENTS_H
#define DIS_TOOL_EXPERIMENTS_H
#include "dissent/experiment.h"

/* Row i, NULL past the end. */
const dis_experiment_part *dis__experiment_part_get(size_t i);
/* Key i of a part; false past the end. */
bool dis__experiment_key_get(size_t part, size_t i, dis_experiment_key *out);
/* `key`: the beginning of a key, of the file or of the store, that one run alone has. DIS_EUSAGE: none, or several. The
 * caller destroys it. */
dis_status dis__run_record_read(dis_context *ctx, dis_experiment *experiment, const char *key, dis_run_record **out);
void dis__run_record_destroy(dis_run_record *record);
/* DIS_EUSAGE: `path` is the experiment's file, one of its files of data, or the database of its store, through links
 * too. What writes a table or a report asks this first. */
dis_status dis__experiment_check_output(const dis_experiment *experiment, const char *path);

#endif
