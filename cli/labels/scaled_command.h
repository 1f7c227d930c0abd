/* scaled_command.h: what labels, agree and review do with votes of a scale of its own (dissent/scaled.h): the votes are
 * read, dis_scaled_run makes all tables and measures, and each subcommand shows its part of them.
 *
 *     if (votes_input_is_scaled(&v->reading)) return scaled_command_run(&job);
 */
#ifndef DIS_CLI_SCALED_COMMAND_H
#define DIS_CLI_SCALED_COMMAND_H
#include "output/metric_table.h"
#include "input/groups_input.h"
#include "input/votes_input.h"

/* An option that has no meaning here. */
typedef struct {
    bool given;
    const char *name;
} scaled_unused;

typedef struct scaled_command scaled_command;
struct scaled_command {
    cli *c;
    const cli_command *command;
    const cli_common *common;
    votes_input in;
    const cli_list *method; /* NULL: none can be named */
    const char *combine;
    uint64_t resamples, seed;
    const char *table;                           /* that goes to `output`; NULL: the measures do */
    const char *output, *format;                 /* format NULL: by the name; */
    bool people;                                 /* for people: the measures, or the first rows of items and workers */
    const char *labels, *items, *workers, *json; /* files, NULL: none */
    const cli_list *covariates;                  /* of comparisons, NAME=COLUMNS; NULL: none can be named */
    const cli_groups_values *groups;             /* of annotators; NULL: none can be named */
    const char *append, *save_state;             /* states of comparisons; NULL: none */
    uint64_t top;                                /* rows; 0: 20 for people, else all */
    /* Writes the result instead of the tables above; an exit code, errors are reported already. NULL: tables */
    int (*write)(scaled_command *job, dis_context *ctx, const dis_scaled *result);
    const void *user;
    const scaled_unused *unused; /* (n_unused) */
    size_t n_unused;
};

/* Covariates of comparisons and groups of annotators, for dis_scaled_options. */
typedef struct {
    dis_scaled_covariate *row; /* (n) */
    char (*name)[CLI_SAFE];
    size_t n;
    groups_input groups;
} scaled_covariates;
/* Before votes are read; then from the files of the votes. Exit codes. */
int scaled_covariates_check(const scaled_command *job, scaled_covariates *x);
int scaled_covariates_read(const scaled_command *job, dis_context *ctx, scaled_covariates *x);
void scaled_covariates_free(scaled_covariates *x);

/* An exit code, errors are reported already. */
int scaled_command_run(scaled_command *job);

#endif
