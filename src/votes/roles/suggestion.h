/* suggestion.h: suggestions at the end of a message, one per line, as fields of the caller's options:
 *
 *       `task` "item no" `worker` "who" `label` "antwort"
 *
 * The command line shows such a line as a complete command, Python as arguments. In values, \" and \\ stand for " and
 * \. A field without a value is a flag. */
#ifndef DIS_VOTES_ROLES_SUGGESTION_H
#define DIS_VOTES_ROLES_SUGGESTION_H
#include "votes/roles/role_guess.h"

typedef struct {
    char text[1200]; /* lines, each preceded by a newline; "" without advice */
    size_t n, line;  /* start of the last line */
    bool full;       /* the last line did not fit and is omitted */
} dis__suggestion;

void dis__suggestion_begin_line(dis__suggestion *advice);
void dis__suggestion_add_value(dis__suggestion *advice, const char *field, const char *value, size_t n);
void dis__suggestion_add_flag(dis__suggestion *advice, const char *field);

/* Adds a line per label column of the guess. numbered: columns are named by their indices, since there is no header.
 * known: see dis__guess_long(); these columns are not named. */
void dis__suggest_long_table(dis__suggestion *advice, const dis__survey *survey, const dis__long_guess *guess,
                             bool numbered, const size_t known[3]);
/* Adds a suggestion for one row per worker and a column per item, as surveys are exported. Rows that repeat the header
 * are dropped. */
void dis__suggest_survey_table(dis__suggestion *advice, const dis__survey *survey, const dis__wide_guess *guess,
                               size_t worker);
void dis__suggest_wide_table(dis__suggestion *advice, const dis__survey *survey, const dis__wide_guess *guess);

#endif
