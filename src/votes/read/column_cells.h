/* column_cells.h: the cells of a column in memory (dissent/columns.h) as texts, a block of rows at a time. */
#ifndef DIS_VOTES_READ_COLUMN_CELLS_H
#define DIS_VOTES_READ_COLUMN_CELLS_H
#include "dissent/columns.h"
#include "core/numbers/decimal.h"

enum { DIS_COLUMN_BLOCK = 64, DIS_CELL_BYTES = DIS_REAL_TEXT + 8 };

/* Marks a text whose end offset is invalid: no text is as long. */
#define DIS_CELL_BROKEN SIZE_MAX

typedef struct {
    dis_column cells;
    size_t *first; /* (n_pieces + 1) row that each piece begins with */
} dis__vote_column;

/* The texts of one column in a block of rows. */
typedef struct {
    dis_text text[DIS_COLUMN_BLOCK];
    uint64_t word[DIS_COLUMN_BLOCK];               /* for plain texts of up to 8 bytes: padded with zeros */
    uint64_t is_special;                           /* one bit per row: its text is not plain */
    char number[DIS_COLUMN_BLOCK][DIS_CELL_BYTES]; /* 8 bytes may be read from the start of a text */
    bool is_stable;                                /* texts are in the column, not in `number` */
} dis__column_block;

/* Rows row .. row + n - 1, n up to DIS_COLUMN_BLOCK. */
void dis__column_read_block(const dis__vote_column *c, size_t row, size_t n, dis__column_block *out);

/* The text of one row; bytes NULL: missing. Numbers are written into `room`. */
dis_text dis__column_text(const dis__vote_column *c, size_t row, char room[DIS_CELL_BYTES]);

#endif
