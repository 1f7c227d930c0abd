/* Comparisons of two things: scores by the model of Bradley and Terry (1952).
 *
 *     predictor of a against b, by annotator w:   x = r_w (s_a - s_b) + g_w + sum_j beta_j x_j
 *
 * s: scores, with a penalty `penalty` s^2 (choix' alpha); the tie parameter and coefficients (of covariates divided by
 * their root mean square) have the same penalty. r_w: reliability, prior N(1, spread^2): 0 is an annotator who says
 * nothing, below 0 one who prefers the opposite (Chen et al. 2013). g_w: preference for the side shown first, prior
 * N(0, side_spread^2). beta: covariates such as the difference of the lengths; `position` is 1 in all comparisons.
 * tie_models.c has the probabilities of the outcomes given x. reliability=no and sides=no set r_w = 1 and g_w = 0.
 *
 * Scores are centered within each component of the graph of comparisons. pairs.h lists the parts. */
#include "scaled/pairs/pairs.h"
#include <string.h>

static const dis_option options[] = {
    {.key = "reliability",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, reliability),
     .default_value = "yes",
     .choices = "no|yes",
     .summary = "estimate a reliability per annotator"},
    {.key = "penalty",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, penalty),
     .default_value = ".01",
     .low = 1e-9,
     .high = 1e6,
     .summary = "penalty on squared scores and coefficients; keeps scores of candidates that always win finite"},
    {.key = "ties",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, ties),
     .default_value = "half",
     .choices = DIS_TIE_MODEL_NAMES,
     .summary = "half a win for each, or a model with a tie parameter"},
    {.key = "position",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, position),
     .default_value = "no",
     .choices = "no|yes",
     .summary = "estimate the advantage of being shown first"},
    {.key = "sides",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, sides),
     .default_value = "no",
     .choices = "no|yes",
     .summary = "estimate a preference for the first position per annotator"},
    {.key = "camps",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__pairs_options, camps),
     .default_value = "1",
     .low = 1,
     .high = DIS_PAIRS_MAX_CAMPS,
     .summary = "latent camps of annotators, each with its own scores"},
    {.key = "restarts",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__pairs_options, restarts),
     .default_value = "10",
     .low = 1,
     .high = 1000,
     .summary = "random starts of the camps"},
    {.key = "permutations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__pairs_options, permutations),
     .default_value = "99",
     .low = 0,
     .high = 1e6,
     .summary = "replications for p-values of camps and groups; 0: none"},
    {.key = "spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, spread),
     .default_value = ".5",
     .low = 1e-3,
     .high = 100,
     .summary = "prior standard deviation of reliabilities around 1"},
    {.key = "side_spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, side_spread),
     .default_value = "1",
     .low = 1e-3,
     .high = 100,
     .summary = "prior standard deviation of side preferences around 0"},
    {.key = "preferences",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, preferences),
     .default_value = "no",
     .choices = "no|yes",
     .summary = "probability of each preference (table preferences)"},
    {.key = "iterations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__pairs_options, iterations),
     .default_value = "200",
     .low = 1,
     .high = 1e9,
     .summary = "maximum number of iterations"},
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, tolerance),
     .default_value = "1e-10",
     .low = 0,
     .high = 1,
     .summary = "stop when the relative change of the objective is smaller; 0: never"},
};

static dis_status init_model(dis__pairs *m, const dis__pair_cells *cells, dis__pair_model *model)
{
    double ties = 0;
    for (size_t i = 0; i < cells->n; i++) ties += cells->cell[i].n[2];
    const dis__tie_model *row = dis__tie_model_get((size_t)m->o->ties);
    if (!row) return dis__fail(DIS_EBUG, "no model of ties %d", m->o->ties);
    const bool has_tie = row->has_parameter && ties > 0;
    *model = (dis__pair_model){.n_things = m->n_things,
                               .n_x = m->n_x,
                               .ties = row->has_parameter && !has_tie ? dis__tie_model_get(0) : row,
                               .has_tie = has_tie,
                               .penalty = m->o->penalty,
                               .cells = cells};
    return DIS_OK;
}

/* From a saved fit of the same model, from its scores, or from scores of 0; *scaled NULL: no saved fit. */
static dis_status start_parameters(const dis__pair_model *model, const dis__pair_saved *saved, dis_scaled *out,
                                   double **parameter, const double **scaled)
{
    const size_t n = dis__pair_n_parameters(model);
    const bool same =
        saved && saved->ties == model->ties && saved->has_tie == model->has_tie && saved->n_x == model->n_x;
    DIS_TRY(dis__scaled_allocate(out, parameter, n, sizeof **parameter));
    if (model->has_tie) (*parameter)[model->n_things] = model->ties->start;
    if (saved) memcpy(*parameter, saved->parameter, (same ? n : model->n_things) * sizeof **parameter);
    *scaled = same ? saved->scaled : NULL;
    return DIS_OK;
}

/* The model without parameters of annotators: for ranks, camps and groups. */
static dis_status fit_plain(dis__pairs *m, dis_scaled *out)
{
    dis__pair_space space;
    int iterations;
    bool converged;
    const double *scaled;
    DIS_TRY(init_model(m, &m->merged, &m->plain));
    DIS_TRY(start_parameters(&m->plain, m->start ? &m->start->plain : NULL, out, &m->plain_parameter, &scaled));
    DIS_TRY(dis__pair_space_allocate(&m->plain, m->plain.cells->n, out, &space));
    DIS_TRY(dis__pair_maximise(m->args->ctx, &m->plain, m->plain_parameter, m->o->tolerance, m->o->iterations, &space,
                               &iterations, &converged));
    out->iterations = iterations;
    out->converged = converged;
    return dis__pair_errors_compute(m, &m->plain, m->plain_parameter, scaled, out, &m->plain_errors);
}

static dis_status fit_requested(dis__pairs *m, dis_scaled *out)
{
    const size_t n_workers = m->n_workers;
    const double *scaled;
    if (!m->o->reliability && !m->o->sides) {
        m->model = m->plain;
        m->parameter = m->plain_parameter;
        m->errors = m->plain_errors;
        return DIS_OK;
    }
    DIS_TRY(init_model(m, &m->by_worker, &m->model));
    DIS_TRY(start_parameters(&m->model, m->start ? &m->start->model : NULL, out, &m->parameter, &scaled));
    if (m->o->reliability) DIS_TRY(dis__scaled_allocate(out, &m->reliability, n_workers, sizeof *m->reliability));
    if (m->o->sides) DIS_TRY(dis__scaled_allocate(out, &m->side, n_workers, sizeof *m->side));
    m->model.reliability = m->reliability;
    m->model.side = m->side;
    DIS_TRY(dis__pairs_fit(m, out));
    return dis__pair_errors_compute(m, &m->model, m->parameter, scaled, out, &m->errors);
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    dis__pairs m = {.args = args, .o = args->options};
    DIS_TRY(dis__pairs_read(&m, out));
    if (args->o->append) DIS_TRY(dis__pair_state_join(&m, args->o->append, out));
    DIS_TRY(dis__pair_cells_make(&m, out));
    DIS_TRY(dis__pairs_find_components(&m, out));
    DIS_TRY(fit_plain(&m, out));
    DIS_TRY(fit_requested(&m, out));
    DIS_TRY(dis__pairs_add_results(&m, out));
    return args->o->state_file ? dis__pair_state_write(&m, args->o->state_file) : DIS_OK;
}

const dis__scaled_row dis__scaled_pairs = {
    .model = {.name = "bradley-terry",
              .summary = "scores of candidates from comparisons: ties, covariates, reliability and camps of annotators",
              .source = "Bradley & Terry 1952; Rao & Kupper 1967; Davidson 1970; Chen et al. 2013",
              .options = options,
              .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(dis__pairs_options),
    .run = run,
};
