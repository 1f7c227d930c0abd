/* record_reader.h: iterates over the records of a file of any format.
 *
 *     dis__record_reader source;
 *     DIS_TRY(dis__record_reader_open(&source, reader, &input));
 *     while ((status = dis__record_reader_next(&source, &record)) == DIS_OK && record) ...
 *     dis__record_reader_close(&source);
 */
#ifndef DIS_VOTES_MAPPER_RECORD_READER_H
#define DIS_VOTES_MAPPER_RECORD_READER_H
#include "io/json/json_records.h"
#include "votes/mapper/record_walk.h"
#include "votes/read/reader.h"

typedef struct {
    dis__reader *reader;
    dis__input *input;
    dis__vote_file file; /* for positions */
    bool table;          /* CSV or TSV */
    bool raw;            /* lines of cells without quotes and header, with any number of cells */
    dis__csv csv;
    dis__json_records values;
    dis__json json, key;
    dis__mapped_record record;
    char **column; /* (n_columns) names of columns of a table without a header, */
    size_t n_columns, column_capacity, header_capacity;
    bool *used; /* (n_columns) see dis__mapped_record */
    char number[24];
    uint64_t n_records;
    const char *passed; /* the input before this may be released */
    dis__row_problem problem;
} dis__record_reader;

dis_status dis__record_reader_open(dis__record_reader *source, dis__reader *reader, dis__input *input);
void dis__record_reader_close(dis__record_reader *source);
/* *record is NULL at the end. DIS_EDATA with a message; *go_on: the next call continues after the bad record. */
dis_status dis__record_reader_next(dis__record_reader *source, dis__mapped_record **record, bool *go_on);
/* DIS_EDATA with the position of source->problem. */
dis_status dis__record_reader_fail(dis__record_reader *source);

/* Columns of a table that are named by paths of the mapping: {} skips them. */
dis_status dis__record_reader_mark_columns(dis__record_reader *source, const dis__mapping *mapping);

/* Iterates over all answers of all inputs, in order. Under lenient, bad records are skipped, and counted with `count`;
 * so are answers for which `on_answer` returns DIS_EDATA. */
typedef struct {
    dis__reader *reader;
    const dis__mapping *mapping;
    dis__answer_callback on_answer;
    void *user;
    bool count;                 /* count dropped and skipped answers in the notes of the table */
    dis__record_reader *source; /* the current record, for positions */
    size_t input;               /* its index */
} dis__mapping_run;
dis_status dis__mapping_run_all(dis__mapping_run *run);

/* mapped_votes.c: whether votes are read by the mapper, and reading them. *cause: the option that requires it, as
 * reader_cause of dis_votes_notes; NULL: the format of the files requires it. */
dis_status dis__needs_mapper(const dis__reader *reader, bool *needed, const char **cause);
dis_status dis__read_mapped(dis__reader *reader);
/* mapped_counts.c: counts and soft votes by the mapper. */
dis_status dis__read_mapped_counts(dis__reader *reader);
/* mturk_answers.c: with the preset mturk, finds the path of the question named by `label`. DIS_EDATA: none, or an
 * unknown question. */
dis_status dis__mturk_apply(dis__reader *reader);
/* check_named_columns.c: DIS_EDATA if a column or path that the caller names for times or rules exists nowhere in a
 * file. */
dis_status dis__check_named_columns(dis__reader *reader, const dis_votes_options *caller);
/* detect_preset.c: DIS_EDATA that suggests a preset, if a file lacks the usual columns and matches one; otherwise
 * DIS_OK. */
dis_status dis__suggest_preset(dis__reader *reader, dis__input *input);
/* The same for a table that is about to be read in MACE's format: a header or a column of ids is DIS_EDATA. */
dis_status dis__check_wide(dis__reader *reader, const dis__input *input, const char *format);
/* After DIS_EDATA from reading with a preset: adds to the message which other preset the file matches, if any. */
dis_status dis__suggest_other_preset(dis__reader *reader);

#endif
