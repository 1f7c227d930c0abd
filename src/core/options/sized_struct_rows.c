/* The list of option structs and views that callers can name. The row of each is defined next to the code that fills
 * the struct. Lookup is linear: a few hundred instructions. */
#include "core/options/sized_structs.h"
#include <string.h>

/* The library of web/ has no training. */
#ifdef DIS_WITHOUT_TRAINING
#define TRAINING_OPTIONS(X)
#define TRAINING_VIEWS(X)
#else
#define TRAINING_OPTIONS(X)       \
    X(dis_embed_options)          \
    X(dis_examples)               \
    X(dis_experiment_options)     \
    X(dis_experiment_run_options) \
    X(dis_folds_options)          \
    X(dis_model_train_options)    \
    X(dis_train_runs_options)
#define TRAINING_VIEWS(X)        \
    X(dis_encoder_view)          \
    X(dis_experiment_table_view) \
    X(dis_experiment_view)       \
    X(dis_model_view)            \
    X(dis_train_runs_view)
#endif

#define OPTIONS(X)                 \
    X(dis_agreement_options)       \
    X(dis_alignment_options)       \
    X(dis_certificate_facts)       \
    X(dis_combination)             \
    X(dis_comparison_input)        \
    X(dis_comparison_options)      \
    X(dis_comparison_votes)        \
    X(dis_context_options)         \
    X(dis_drift_options)           \
    X(dis_evaluation_input)        \
    X(dis_evaluation_options)      \
    X(dis_evaluation_votes)        \
    X(dis_fit_options)             \
    X(dis_gold_options)            \
    X(dis_gold_view)               \
    X(dis_group_agreement_options) \
    X(dis_items_options)           \
    X(dis_items_view)              \
    X(dis_judge_options)           \
    X(dis_judge_sample_options)    \
    X(dis_label_plan)              \
    X(dis_label_result_options)    \
    X(dis_labels_export_options)   \
    X(dis_labels_read_options)     \
    X(dis_labels_view)             \
    X(dis_panel_options)           \
    X(dis_prediction_sets_input)   \
    X(dis_prediction_sets_options) \
    X(dis_perspectives_options)    \
    X(dis_report_options)          \
    X(dis_report_test)             \
    X(dis_review_options)          \
    X(dis_scaled_options)          \
    X(dis_study_options)           \
    X(dis_study_plan)              \
    X(dis_synth_options)           \
    X(dis_tokenizer_options)       \
    X(dis_views)                   \
    X(dis_views_distances_options) \
    X(dis_votes_arrays)            \
    X(dis_votes_columns)           \
    X(dis_votes_options)           \
    X(dis_votes_write_options)     \
    X(dis_watch_options)           \
    X(dis_watch_read_options)      \
    X(dis_watch_vote)              \
    X(dis_worker_groups_options)   \
    X(dis_worker_table_options)    \
    TRAINING_OPTIONS(X)

#define VIEWS(X)                 \
    X(dis_agreement_view)        \
    X(dis_alignment_view)        \
    X(dis_certificate_view)      \
    X(dis_comparison_view)       \
    X(dis_drift_view)            \
    X(dis_evaluation_view)       \
    X(dis_fit_view)              \
    X(dis_gold_view)             \
    X(dis_group_agreement_view)  \
    X(dis_group_evaluation_view) \
    X(dis_incremental_view)      \
    X(dis_items_view)            \
    X(dis_judge_view)            \
    X(dis_label_result_view)     \
    X(dis_labels_view)           \
    X(dis_panel_view)            \
    X(dis_perspectives_view)     \
    X(dis_prediction_sets_view)  \
    X(dis_review_view)           \
    X(dis_scaled_view)           \
    X(dis_tokenizer_view)        \
    X(dis_tokens_view)           \
    X(dis_views_distances_view)  \
    X(dis_votes_notes)           \
    X(dis_votes_view)            \
    X(dis_watch_view)            \
    X(dis_worker_groups_view)    \
    X(dis_worker_table_view)     \
    TRAINING_VIEWS(X)

#define DECLARE(type) extern const dis__options_row dis__defaults_of_##type;
OPTIONS(DECLARE)
#undef DECLARE
#define DECLARE(type) extern const dis__view_row dis__row_of_##type;
VIEWS(DECLARE)
#undef DECLARE

#define ROW(type) &dis__defaults_of_##type,
static const dis__options_row *const options_rows[] = {OPTIONS(ROW)};
#undef ROW
#define ROW(type) &dis__row_of_##type,
static const dis__view_row *const view_rows[] = {VIEWS(ROW)};
#undef ROW

dis_status dis_options_init(const char *type, void *options, size_t size)
{
    for (size_t i = 0; i < sizeof options_rows / sizeof *options_rows; i++) {
        const dis__options_row *row = options_rows[i];
        if (strcmp(row->type, type) != 0) continue;
        dis__sized_copy(options, size, row->defaults, row->size);
        if (size >= sizeof size) memcpy(options, &size, sizeof size);
        return DIS_OK;
    }
    return dis__fail(DIS_EUSAGE, "%s is not the name of a struct of options", type);
}

dis_status dis_view_init(const char *type, void *view, size_t size, const void *object)
{
    for (size_t i = 0; i < sizeof view_rows / sizeof *view_rows; i++) {
        if (strcmp(view_rows[i]->type, type) != 0) continue;
        view_rows[i]->write(view, size, object);
        return DIS_OK;
    }
    return dis__fail(DIS_EUSAGE, "%s is not the name of a view", type);
}
