/* The usual names of the columns of votes, in one table: files, JSON keys, tables in memory and gold files all use it.
 *
 * Names are compared by their letters and digits alone: item_id, "Item ID", item-id, item.id and itemId are one name.
 * A role has ranks of names: the standard name is alone on the first rank, specific names come next, and words that
 * often mean something else (id, value) are last. The best rank that occurs decides. Two names of that rank are
 * ambiguous, unless one of them is the other with "id" at its end: question_id takes precedence over question. */
#include "dissent/votes.h"
#include "tool/table_columns.h"
#include <string.h>

enum { RANKS = 4, LONGEST = 32 };

/* Rank by rank, separated by spaces. Names of the first rank are compared byte by byte. */
static const char *const names_of[DIS_COLUMN_ROLES][RANKS] = {
    [DIS_ROLE_TASK] = {"task", "",
                       "task_id item item_id example example_id document document_id doc doc_id sample sample_id "
                       "question question_id text_id sentence_id unit unit_id hit_id instance instance_id image_id "
                       "post_id tweet_id comment_id message_id record_id case_id stimulus stimulus_id query_id "
                       "passage_id snippet_id utterance_id pair_id object_id item_name item_no item_number",
                       "id uid"},
    [DIS_ROLE_WORKER] = {"worker", "performer",
                         "worker_id worker_name annotator annotator_id annotator_name rater rater_id coder coder_id "
                         "judge judge_id labeler labeler_id labeller labeller_id participant participant_id reviewer "
                         "reviewer_id assessor assessor_id evaluator evaluator_id grader grader_id respondent "
                         "respondent_id crowdworker crowdworker_id turker turker_id annotated_by labeled_by "
                         "labelled_by rated_by",
                         "user user_id user_name person person_id created_by"},
    [DIS_ROLE_LABEL] = {"label", "",
                        "answer category rating choice response annotation judgment judgement class sentiment tag "
                        "vote verdict decision",
                        "value score result"},
    [DIS_ROLE_GOLD] = {"label", "gold",
                       "gold_label gold_standard truth ground_truth true_label expert expert_label reference "
                       "reference_label correct correct_label correct_answer target y_true",
                       "answer category rating choice response class sentiment tag value"},
};

/* Letters and digits in lower case; bytes of other scripts are kept. Returns the number of bytes, at most LONGEST. */
static size_t compact(const char *text, size_t n, char out[LONGEST])
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
        if (used == LONGEST) return 0;
        out[used++] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return used;
}

const char *dis__role_name(dis_role role)
{
    static const char *const names[] = {"task", "worker", "label", "gold"};
    return (unsigned)role < DIS_COLUMN_ROLES ? names[role] : NULL;
}

bool dis__role_synonym(dis_role role, size_t i, dis_synonym *out)
{
    if ((unsigned)role >= DIS_COLUMN_ROLES) return false;
    for (int rank = 0; rank < RANKS; rank++)
        for (const char *p = names_of[role][rank]; *p;) {
            const size_t n = strcspn(p, " ");
            if (i-- == 0) {
                *out = (dis_synonym){.text = p, .n = n, .rank = rank};
                return true;
            }
            p += n + (p[n] == ' ');
        }
    return false;
}

/* The rank of a column's name in a role, RANKS: not one of its names. */
static int rank_of(dis_role role, const char *name, size_t n, const char *small, size_t n_small)
{
    dis_synonym s;
    for (size_t i = 0; dis__role_synonym(role, i, &s); i++) {
        char other[LONGEST];
        if (n == s.n && memcmp(name, s.text, n) == 0) return s.rank;
        const size_t n_other = compact(s.text, s.n, other);
        /* the standard name in another spelling is a synonym of the second rank */
        if (n_small && n_small == n_other && memcmp(small, other, n_other) == 0) return s.rank ? s.rank : 1;
    }
    return RANKS;
}

/* Whether `with` is `without` followed by "id". */
static bool is_id_of(const dis_column_name *with, const dis_column_name *without)
{
    char a[LONGEST], b[LONGEST];
    const size_t n = compact(with->text, with->n, a), m = compact(without->text, without->n, b);
    return n == m + 2 && memcmp(a, b, m) == 0 && memcmp(a + m, "id", 2) == 0;
}

size_t dis_role_find(dis_role role, const dis_column_name *names, size_t n, size_t found[2])
{
    int best = RANKS;
    size_t n_found = 0;
    if ((unsigned)role >= DIS_COLUMN_ROLES) return 0;
    for (size_t i = 0; i < n; i++) {
        char small[LONGEST];
        const size_t n_small = compact(names[i].text, names[i].n, small);
        const int rank = rank_of(role, names[i].text, names[i].n, small, n_small);
        if (rank >= RANKS || rank > best) continue;
        if (rank < best) n_found = 0;
        best = rank;
        if (n_found == 1 && is_id_of(&names[found[0]], &names[i])) continue;
        if (n_found == 1 && is_id_of(&names[i], &names[found[0]])) n_found = 0;
        if (n_found < 2) found[n_found] = i;
        n_found++;
    }
    return n_found < 2 ? n_found : 2;
}
