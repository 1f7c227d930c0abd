/* A judge's certificate as a page: the verdict, requirements, agreement, bias and class shares, and the files that it was
 * made from. */
#include "dissent/judge.h"
#include "report/page/page.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

enum { SHOWN_CLASSES = 40, NAME = 30 };

typedef struct {
    dis__page page;
    dis_judge_view v;
    dis_certificate_facts f;
} work;

static const char *class_name(const work *w, size_t k)
{
    return dis_names_get(w->f.classes, k, NULL);
}

static void append_metric(dis__markup *m, const dis_metric *x)
{
    if (x->reason) {
        dis__markup_appendf(m, "unknown (%s)", x->reason);
        return;
    }
    dis__markup_append(m, dis__format_fixed(x->value, 2).text);
    if (x->has_interval)
        dis__markup_appendf(m, " (95 %% interval %s to %s)", dis__format_fixed(x->ci_low, 2).text,
                            dis__format_fixed(x->ci_high, 2).text);
}

/* ---- the answer and findings ---- */

static void put_requirements(dis__markup *m, const work *w, size_t met)
{
    if (met == w->f.n_requirements)
        dis__markup_appendf(m, "Certified: the judge meets %s requirement%s. ", met == 1 ? "the" : "all",
                            dis__plural_suffix(met));
    else
        dis__markup_appendf(m, "Not certified: the judge meets %zu of %zu requirement%s. ", met, w->f.n_requirements,
                            dis__plural_suffix(w->f.n_requirements));
}

static void put_test(dis__markup *m, const dis_panel_judge *t)
{
    if (t->n_people_compared == 0) {
        dis__markup_append(m, "No person shares enough items with the judge for the alternative-annotator test. ");
        return;
    }
    dis__markup_appendf(m,
                        "The judge beats %s of %s %s: it is at least as close to the other people. At least half are "
                        "needed. ",
                        dis__format_grouped(t->n_people_represented).text,
                        dis__format_grouped(t->n_people_compared).text,
                        t->n_people_compared == 1 ? "person" : "people");
}

/* Whether the requirements are met; without requirements, whether the alternative-annotator test is passed. */
static void add_verdict(work *w)
{
    const dis_panel_judge *t = &w->v.test;
    dis__markup m = {0};
    size_t met = 0, open = 0;
    for (size_t r = 0; r < w->f.n_requirements; r++) {
        met += w->f.requirements[r].outcome == DIS_REQUIREMENT_MET;
        open += w->f.requirements[r].outcome == DIS_REQUIREMENT_OPEN;
    }
    const char *id = "unknown", *words = "This cannot be told";
    if (w->v.missing_reason) {
        dis__markup_append_capitalized(&m, w->v.missing_reason);
        dis__markup_append(&m, ". Have at least three people label 50 of the items that the judge labelled.");
    } else if (!t->above_chance) {
        id = "no";
        words = "No";
        dis__markup_append(&m, "The judge agrees with people no more than chance. It must not replace a person. Check "
                               "the prompt and that the ids match the items.");
    } else {
        if (w->f.n_requirements) {
            const bool is_open = met < w->f.n_requirements && met + open == w->f.n_requirements;
            id = met == w->f.n_requirements ? "yes" : is_open ? "care" : "no";
            words = met == w->f.n_requirements ? "Yes, it meets the requirements" : is_open ? "Not yet" : "No";
            put_requirements(&m, w, met);
        } else if (t->n_people_compared) {
            id = t->passed ? "yes" : "care";
            words = t->passed ? "Yes, for these people" : "This is not shown";
        }
        put_test(&m, t);
        dis__markup_append(&m, "The test measures similarity to these people, not quality, so keep people on a part of "
                               "the items.");
    }
    dis__page_verdict_set(&w->page, "May the judge replace a person?", id, words, &m);
    dis__markup_free(&m);
}

static void add_agreement_finding(work *w)
{
    const dis_judge_coefficient *c = &w->v.coefficients[DIS_JUDGE_KAPPA];
    dis__markup m = {0};
    dis__markup_append(&m, "Kappa of the judge and a person is ");
    append_metric(&m, &c->judge);
    if (!c->people.reason) {
        dis__markup_append(&m, "; of two people ");
        append_metric(&m, &c->people);
    }
    dis__markup_append(&m, ".");
    dis__page_finding_add(&w->page, &m);
    dis__markup_free(&m);
}

static void add_bias_finding(work *w)
{
    size_t worst = SIZE_MAX;
    for (size_t k = 0; k < w->v.n_classes; k++) {
        const dis_metric *b = &w->v.rates[k].bias;
        const bool biased = !b->reason && b->has_interval && (b->ci_low > 0 || b->ci_high < 0);
        if (biased && (worst == SIZE_MAX || fabs(b->value) > fabs(w->v.rates[worst].bias.value))) worst = k;
    }
    dis__markup m = {0};
    if (worst != SIZE_MAX) {
        const dis_metric *b = &w->v.rates[worst].bias;
        dis__markup_append(&m, "The judge chooses ");
        dis__markup_append_name(&m, class_name(w, worst), strlen(class_name(w, worst)), NAME);
        dis__markup_appendf(&m, " %s often than people, by ", b->value > 0 ? "more" : "less");
        dis__markup_appendf(&m, "%s percentage points (95 %% interval %s to %s).",
                            dis__format_fixed(100 * fabs(b->value), 1).text,
                            dis__format_fixed(100 * fmin(fabs(b->ci_low), fabs(b->ci_high)), 1).text,
                            dis__format_fixed(100 * fmax(fabs(b->ci_low), fabs(b->ci_high)), 1).text);
        dis__page_finding_add(&w->page, &m);
    }
    dis__markup_free(&m);
}

static void add_scope_finding(work *w)
{
    dis__markup m = {0};
    if (w->v.few_people) {
        dis__markup_append(&m, "Fewer than 5 people voted. Intervals hold for new items, but for these people only.");
        dis__page_finding_add(&w->page, &m);
    }
    dis__markup_free(&m);
}

static void add_tiles(work *w)
{
    const dis_metric *kappa = &w->v.coefficients[DIS_JUDGE_KAPPA].judge;
    dis__page_tile_add(&w->page, dis__format_grouped(w->v.n_shared).text, "items with people and the judge");
    dis__page_tile_add(&w->page, dis__format_grouped(w->v.n_people).text, "people");
    dis__page_tile_add(&w->page, kappa->reason ? "-" : dis__format_fixed(kappa->value, 2).text,
                       "kappa of judge and person");
    if (!w->v.consistency.reason)
        dis__page_tile_add(&w->page, dis__format_percent(w->v.consistency.value).text, "equal repeated votes");
}

/* ---- sections ---- */

static void section_requirements(work *w)
{
    if (w->f.n_requirements == 0) return;
    dis__page_section_begin(
        &w->page, "requirements", "Does the judge meet the requirements?",
        "A requirement is met if the whole 95 % interval meets it, and open if the interval contains "
        "the bound.");
    dis__figure f = {.id = "requirement-list",
                     .title = "Requirements",
                     .question = "Which requirements are met?",
                     .wide = true,
                     .open = true};
    dis__markup_append(&f.caption, "For open requirements: the number of further items that would decide it if the "
                                   "value stays the same.");
    dis__data_table_add_column(&f.table, "requirement", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "bound", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "outcome", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(&f.table);
    dis__data_table_add_column(&f.table, "value", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "further items", DIS__CELL_REAL);
    for (size_t r = 0; r < w->f.n_requirements; r++) {
        const dis_requirement *x = &w->f.requirements[r];
        dis__data_table_add_static_text(&f.table, dis_requirement_kind_name(x->kind));
        dis__data_table_add_number(&f.table, x->bound);
        dis__data_table_add_static_text(&f.table, dis_requirement_outcome_name(x->outcome));
        dis__data_table_add_metric(&f.table, &x->figure);
        dis__data_table_add_number(&f.table, isfinite(x->items_needed) ? x->items_needed : (double)NAN);
    }
    dis__page_figure_add(&w->page, &f);
    dis__page_section_end(&w->page);
}

static void draw_agreement(const work *w, dis__figure *f)
{
    static const char *const rows[] = {"kappa, judge and a person", "kappa, two people",
                                       "alpha, judge and a person", "alpha, two people",
                                       "AC1, judge and a person",   "AC1, two people"};
    enum { ROWS = sizeof rows / sizeof *rows };
    double value[ROWS], low[ROWS], high[ROWS];
    if (w->v.coefficients[DIS_JUDGE_KAPPA].people.reason) return;
    for (size_t r = 0; r < ROWS; r++) {
        const dis_judge_coefficient *c = &w->v.coefficients[DIS_JUDGE_KAPPA + r / 2];
        const dis_metric *m = r % 2 ? &c->people : &c->judge;
        value[r] = m->reason ? (double)NAN : m->value;
        low[r] = m->has_interval ? m->ci_low : (double)NAN;
        high[r] = m->has_interval ? m->ci_high : (double)NAN;
    }
    const dis__interval_chart chart = {.row = rows,
                                       .value = value,
                                       .low = low,
                                       .high_end = high,
                                       .n = ROWS,
                                       .high = 1,
                                       .x_title = "agreement, with 95 % interval"};
    dis__interval_chart_draw(&f->chart, &chart, dis__figure_name(f, "dots with intervals"));
}

static void section_agreement(work *w)
{
    static const char *const heads[] = {"judge and a person", "95 % from", "to",         "two people",
                                        "people 95 % from",   "people to", "difference", "difference 95 % from",
                                        "difference to"};
    dis__page_section_begin(&w->page, "agreement", "Agreement",
                            "The judge with a person, and two people with each "
                            "other.");
    dis__figure f = {.id = "coefficients",
                     .title = "Agreement of the judge and of people",
                     .question = "Does the judge agree with people as much as they agree with each other?"};
    dis__markup_append(
        &f.caption, "1: always equal, 0: as by chance. A judge whose interval reaches that of two people is hard to "
                    "tell from a person by its agreement. Difference: judge minus two people, on items with votes of "
                    "two people. The constant judge always gives the most frequent answer.");
    draw_agreement(w, &f);
    dis__data_table_add_column(&f.table, "coefficient", DIS__CELL_TEXT);
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        dis__data_table_add_column(&f.table, heads[h], DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "constant judge", DIS__CELL_REAL);
    for (size_t c = 0; c < DIS_JUDGE_COEFFICIENTS; c++) {
        const dis_judge_coefficient *x = &w->v.coefficients[c];
        dis__data_table_add_static_text(&f.table, strcmp(x->name, "ac1") == 0 ? "AC1" : x->name);
        dis__data_table_add_metric(&f.table, &x->judge);
        dis__data_table_add_metric(&f.table, &x->people);
        dis__data_table_add_metric(&f.table, &x->difference);
        dis__data_table_add_number(&f.table, x->constant);
    }
    dis__page_figure_add(&w->page, &f);
    dis__page_section_end(&w->page);
}

static void draw_biases(const work *w, dis__figure *f)
{
    const char *row[SHOWN_CLASSES];
    double value[SHOWN_CLASSES], low[SHOWN_CLASSES], high[SHOWN_CLASSES];
    size_t n = 0;
    for (size_t k = 0; k < w->v.n_classes && k < SHOWN_CLASSES; k++) {
        const dis_metric *b = &w->v.rates[k].bias;
        if (b->reason) continue;
        row[n] = class_name(w, k);
        value[n] = b->value;
        low[n] = b->has_interval ? b->ci_low : (double)NAN;
        high[n++] = b->has_interval ? b->ci_high : (double)NAN;
    }
    if (n == 0) return;
    const dis__interval_chart chart = {.row = row,
                                       .value = value,
                                       .low = low,
                                       .high_end = high,
                                       .n = n,
                                       .x_title = "share of the judge minus share of people, with 95 % interval"};
    dis__interval_chart_draw(&f->chart, &chart, dis__figure_name(f, "dots with intervals"));
}

static void add_rates(work *w)
{
    dis__figure f = {.id = "rates",
                     .title = "Bias and class shares",
                     .question = "Which classes does the judge choose too often or too rarely?"};
    static const char *const heads[] = {"share of the judge",     "bias",
                                        "bias 95 % from",         "bias to",
                                        "corrected share",        "corrected 95 % from",
                                        "corrected to",           "Rogan-Gladen",
                                        "Rogan-Gladen 95 % from", "Rogan-Gladen to"};
    dis__markup_append(&f.caption,
                       "Bias: share of the judge's answers minus share of people's votes, on items with both. "
                       "Corrected share: prediction-powered estimate of the share among people's answers on "
                       "all items. An interval that does not contain 0 shows a bias.");
    draw_biases(w, &f);
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        dis__data_table_add_column(&f.table, heads[h], DIS__CELL_PERCENT);
    for (size_t k = 0; k < w->v.n_classes && k < SHOWN_CLASSES; k++) {
        const dis_panel_rate *r = &w->v.rates[k];
        dis__data_table_add_text(&f.table, class_name(w, k), strlen(class_name(w, k)));
        dis__data_table_add_number(&f.table, r->raw);
        dis__data_table_add_metric(&f.table, &r->bias);
        dis__data_table_add_metric(&f.table, &r->prediction_powered);
        dis__data_table_add_metric(&f.table, &r->rogan_gladen);
    }
    dis__page_figure_add(&w->page, &f);
}

static void add_contrasts(work *w)
{
    if (w->v.n_contrasts == 0) return;
    dis__figure f = {.id = "contrasts",
                     .title = "Bias by property of the item",
                     .question = "Does the bias depend on a property of the item?",
                     .wide = true,
                     .open = true};
    static const char *const heads[] = {"above", "difference of bias", "from", "to", "p"};
    dis__markup_append(&f.caption,
                       "Bias on items above the value minus bias on the other items. p is corrected over all "
                       "rows.");
    dis__data_table_add_column(&f.table, "property", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        dis__data_table_add_column(&f.table, heads[h], DIS__CELL_REAL);
    for (size_t r = 0; r < w->v.n_contrasts; r++) {
        const dis_judge_contrast *x = &w->v.contrasts[r];
        const char *name = w->f.covariates ? w->f.covariates[x->covariate] : "property";
        dis__data_table_add_text(&f.table, name, strlen(name));
        dis__data_table_add_text(&f.table, class_name(w, x->class_index), strlen(class_name(w, x->class_index)));
        dis__data_table_add_number(&f.table, x->split);
        dis__data_table_add_metric(&f.table, &x->difference);
        dis__data_table_add_number(&f.table, x->p);
    }
    dis__page_figure_add(&w->page, &f);
}

static void section_sources(work *w)
{
    dis__page_section_begin(&w->page, "made", "Appendix: what was certified",
                            "The certificate holds for this judge, this prompt and items like these.");
    dis__figure f = {.id = "sources",
                     .title = "Files",
                     .question = "Which files was the certificate made from?",
                     .wide = true,
                     .open = true};
    dis__markup_append(&f.caption, "Judge ");
    dis__markup_append_name(&f.caption, w->f.judge, strlen(w->f.judge), NAME);
    dis__markup_append(&f.caption, ". A changed file has another SHA-256.");
    dis__data_table_add_column(&f.table, "role", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "file", DIS__CELL_LONG_TEXT);
    dis__data_table_add_column(&f.table, "SHA-256", DIS__CELL_LONG_TEXT);
    for (size_t s = 0; s < w->f.n_sources; s++) {
        const dis_certificate_source *x = &w->f.sources[s];
        const char *const cells[] = {x->role, x->path, x->sha256};
        for (size_t c = 0; c < 3; c++) dis__data_table_add_text(&f.table, cells[c], strlen(cells[c]));
    }
    dis__page_figure_add(&w->page, &f);
    dis__page_section_end(&w->page);
}

/* ---- all ---- */

static dis_status write_page(work *w, const char *path)
{
    dis__markup title = {0}, subtitle = {0};
    dis__markup_append(&title, "Certificate of the judge ");
    dis__markup_append_name(&title, w->f.judge, strlen(w->f.judge), NAME);
    dis__markup_appendf(&subtitle, "%s items, %s people", dis__format_grouped(w->v.n_shared).text,
                        dis__format_grouped(w->v.n_people).text);
    return dis__page_write(&w->page, &title, &subtitle, path);
}

dis_status dis_certificate_write_page(const dis_judge *judge, const dis_certificate_facts *facts, const char *path)
{
    work w = {.v = dis_judge_get_view(judge), .f = dis_certificate_facts_default()};
    DIS_TRY(DIS_OPTIONS_COPY(dis_certificate_facts, &w.f, facts));
    if (!w.f.judge || !w.f.classes)
        return dis__fail(DIS_EUSAGE, "a certificate needs the name of the judge and the classes");
    add_verdict(&w);
    add_agreement_finding(&w);
    add_bias_finding(&w);
    add_scope_finding(&w);
    add_tiles(&w);
    section_requirements(&w);
    section_agreement(&w);
    dis__page_section_begin(&w.page, "bias", "Bias", "A judge can agree with people often and still prefer a class.");
    if (!w.v.missing_reason) {
        add_rates(&w);
        add_contrasts(&w);
    }
    dis__page_section_end(&w.page);
    section_sources(&w);
    const dis_status status = write_page(&w, path);
    dis__page_free(&w.page);
    return status;
}
