/* dataset_folder.h: the folder of a Hugging Face dataset, data.jsonl and README.md, which an export may replace only if
 * an earlier export wrote them. */
#ifndef DIS_TABLES_LABELS_DATASET_FOLDER_H
#define DIS_TABLES_LABELS_DATASET_FOLDER_H
#include "core/error.h"
#include "dissent/context.h"

/* The last line of README.md. */
#define DIS_DATASET_NOTE "Soft labels: `soft_label` has a probability for each class of `label`, in their order."

/* DIS_EUSAGE: the folder has a README.md or a data.jsonl that dissent did not write, or that was edited. DIS_EIO. */
dis_status dis__dataset_check_folder(dis_context *ctx, const char *folder);

#endif
