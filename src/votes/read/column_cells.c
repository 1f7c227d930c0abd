/* The texts of a column in memory: see column_cells.h. Cells of every type of dissent/columns.h are converted to texts
 * in place, numbers to texts in a separate buffer. Plain texts (1 to 64 KiB of ASCII, nearly all) need no further
 * check; plain texts of up to 8 bytes are represented by their word only.
 *
 * Cost per cell: its text read once, 8 bytes at a time. */
#include "votes/read/column_cells.h"
#include "core/memory/memory.h"
#include "votes/collect/fast_rows.h"
#include <math.h>

enum { NUMBER_END = DIS_REAL_TEXT };

static bool bit_at(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static size_t write_number(uint64_t magnitude, bool negative, char room[DIS_CELL_BYTES], const char **text)
{
    char *p = room + NUMBER_END;
    do {
        *--p = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude);
    if (negative) *--p = '-';
    *text = p;
    return (size_t)(room + NUMBER_END - p);
}

static dis_text signed_text(int64_t x, char room[DIS_CELL_BYTES])
{
    dis_text t;
    t.n = write_number(x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0, room, &t.bytes);
    return t;
}

static dis_text unsigned_text(uint64_t x, char room[DIS_CELL_BYTES])
{
    dis_text t;
    t.n = write_number(x, false, room, &t.bytes);
    return t;
}

/* A word in the buffer, with 8 readable bytes for any length. */
static dis_text word_text(const char *word, char room[DIS_CELL_BYTES])
{
    const size_t n = strlen(word);
    memcpy(room, word, n);
    return (dis_text){.bytes = room, .n = n};
}

static dis_text real_text(double x, char room[DIS_CELL_BYTES])
{
    if (isnan(x)) return (dis_text){0};
    if (isinf(x)) return word_text(x < 0 ? "-inf" : "inf", room);
    return (dis_text){.bytes = room, .n = dis__format_real(x, room)};
}

/* An integer as an index of cells; SIZE_MAX: negative. */
static size_t index_at(const dis_cells *c, size_t i)
{
    int64_t x = -1;
    switch (c->kind) {
    case DIS_CELLS_INT8: x = 1 * ((const int8_t *)c->values)[i]; break; /* a number, not a character */
    case DIS_CELLS_INT16: x = ((const int16_t *)c->values)[i]; break;
    case DIS_CELLS_INT32: x = ((const int32_t *)c->values)[i]; break;
    case DIS_CELLS_INT64: x = ((const int64_t *)c->values)[i]; break;
    case DIS_CELLS_UINT8: return ((const uint8_t *)c->values)[i];
    case DIS_CELLS_UINT16: return ((const uint16_t *)c->values)[i];
    case DIS_CELLS_UINT32: return ((const uint32_t *)c->values)[i];
    case DIS_CELLS_UINT64: return (size_t)((const uint64_t *)c->values)[i];
    case DIS_CELLS_TEXTS:
    case DIS_CELLS_STRING:
    case DIS_CELLS_LARGE_STRING:
    case DIS_CELLS_STRING_VIEW:
    case DIS_CELLS_FLOAT:
    case DIS_CELLS_DOUBLE:
    case DIS_CELLS_BOOL: break;
    }
    return x < 0 ? SIZE_MAX : (size_t)x;
}

static dis_text between(const char *bytes, int64_t begin, int64_t end)
{
    if (begin < 0 || end < begin) return (dis_text){.bytes = "", .n = DIS_CELL_BROKEN};
    return (dis_text){.bytes = begin == end ? "" : bytes + begin, .n = (size_t)(end - begin)};
}

static dis_text view_text(const dis_cells *c, const char *view)
{
    enum { INSIDE = 12 };
    int32_t n, buffer, offset;
    memcpy(&n, view, sizeof n);
    if (n < 0) return (dis_text){.bytes = "", .n = DIS_CELL_BROKEN};
    if (n <= INSIDE) return (dis_text){.bytes = view + 4, .n = (size_t)n};
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    if (buffer < 0 || (size_t)buffer >= c->n_buffers || offset < 0 || c->buffer_size[buffer] < (int64_t)offset + n)
        return (dis_text){.bytes = "", .n = DIS_CELL_BROKEN};
    return (dis_text){.bytes = (const char *)c->buffers[buffer] + offset, .n = (size_t)n};
}

/* The text of cell i; bytes NULL: missing. Numbers are written into `room`. */
static dis_text cell_text(const dis_cells *c, size_t i, char room[DIS_CELL_BYTES])
{
    i += c->offset;
    if (c->valid && !bit_at(c->valid, i)) return (dis_text){0};
    if (c->dictionary) {
        const size_t k = index_at(c, i);
        if (k >= c->dictionary->n) return (dis_text){.bytes = "", .n = DIS_CELL_BROKEN};
        c = c->dictionary;
        i = k + c->offset;
        if (c->valid && !bit_at(c->valid, i)) return (dis_text){0};
    }
    switch (c->kind) {
    case DIS_CELLS_TEXTS: return ((const dis_text *)c->values)[i];
    case DIS_CELLS_STRING: {
        const int32_t *at = (const int32_t *)c->values + i;
        return between(c->bytes, at[0], at[1]);
    }
    case DIS_CELLS_LARGE_STRING: {
        const int64_t *at = (const int64_t *)c->values + i;
        return between(c->bytes, at[0], at[1]);
    }
    case DIS_CELLS_STRING_VIEW: return view_text(c, (const char *)c->values + 16 * i);
    case DIS_CELLS_INT8: return signed_text(((const int8_t *)c->values)[i], room);
    case DIS_CELLS_INT16: return signed_text(((const int16_t *)c->values)[i], room);
    case DIS_CELLS_INT32: return signed_text(((const int32_t *)c->values)[i], room);
    case DIS_CELLS_INT64: return signed_text(((const int64_t *)c->values)[i], room);
    case DIS_CELLS_UINT8: return unsigned_text(((const uint8_t *)c->values)[i], room);
    case DIS_CELLS_UINT16: return unsigned_text(((const uint16_t *)c->values)[i], room);
    case DIS_CELLS_UINT32: return unsigned_text(((const uint32_t *)c->values)[i], room);
    case DIS_CELLS_UINT64: return unsigned_text(((const uint64_t *)c->values)[i], room);
    case DIS_CELLS_FLOAT: return real_text((double)((const float *)c->values)[i], room);
    case DIS_CELLS_DOUBLE: return real_text(((const double *)c->values)[i], room);
    case DIS_CELLS_BOOL: return word_text(bit_at(c->values, i) ? "true" : "false", room);
    }
    return (dis_text){.bytes = "", .n = DIS_CELL_BROKEN};
}

/* ---- plain texts ---- */

#define EVERY_BYTE(x) (0x0101010101010101u * (x))

/* Whether all 8 bytes are ASCII and not NUL. */
static inline bool plain_word(uint64_t word)
{
    return ((word | (word - EVERY_BYTE(1u))) & EVERY_BYTE(0x80u)) == 0;
}

static inline uint64_t first_bytes(size_t n)
{
    return n >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * n) - 1;
}

/* Sets word and odd of row i; room: bytes that may be read from the start of its text. */
static inline void weigh(dis__column_block *c, size_t i, size_t room)
{
    const char *text = c->text[i].bytes;
    const size_t n = c->text[i].n;
    bool plain;
    if (n - 1 < DIS_ID_INLINE) {
        uint64_t word = 0;
        if (room >= sizeof word)
            word = dis__load64(text) & first_bytes(n);
        else
            memcpy(&word, text, n);
        c->word[i] = word;
        plain = plain_word(word | (EVERY_BYTE(1u) & ~first_bytes(n)));
    } else if (n - 1 < DIS_MAX_ID) {
        plain = plain_word(dis__load64(text + n - 8));
        for (size_t k = 0; k + 8 < n; k += 8) plain = plain && plain_word(dis__load64(text + k));
    } else {
        plain = false;
    }
    c->is_special |= (uint64_t)!plain << i;
}

/* ---- blocks of rows ---- */

/* The piece that contains a row. */
static size_t piece_of(const dis__vote_column *c, size_t row)
{
    const size_t *first = c->first;
    size_t low = 0, high = c->cells.n_pieces;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *(first[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

/* Copies cells first .. last - 1 of a piece into rows i .. of a block. Texts in one buffer, the most frequent type, use
 * a fast path: all except those at its end have room for a word. */
static void read_texts(const dis_cells *p, size_t first, size_t last, dis__column_block *out, size_t i)
{
    const bool wide = p->kind == DIS_CELLS_LARGE_STRING;
    const int32_t *at32 = (const int32_t *)p->values + p->offset;
    const int64_t *at64 = (const int64_t *)p->values + p->offset;
    const int64_t end = wide ? at64[p->n] : at32[p->n];
    for (size_t k = first; k < last; k++, i++) {
        const int64_t a = wide ? at64[k] : at32[k], z = wide ? at64[k + 1] : at32[k + 1];
        out->text[i] = between(p->bytes, a, z);
        if (p->valid && !bit_at(p->valid, p->offset + k)) out->text[i] = (dis_text){0};
        weigh(out, i, end > a ? (size_t)(end - a) : out->text[i].n);
    }
}

void dis__column_read_block(const dis__vote_column *c, size_t row, size_t n, dis__column_block *out)
{
    size_t k = piece_of(c, row);
    out->is_stable = true;
    out->is_special = 0;
    for (size_t i = 0; i < n; k++) {
        const size_t begin = c->first[k], end = c->first[k + 1];
        const size_t last = row + n < end ? row + n : end;
        const dis_cells *piece = &c->cells.piece[k], *texts = piece->dictionary ? piece->dictionary : piece;
        const bool is_stable = texts->kind <= DIS_CELLS_STRING_VIEW;
        if (row + i >= last) continue; /* an empty piece */
        if (piece->kind == DIS_CELLS_STRING || piece->kind == DIS_CELLS_LARGE_STRING) {
            read_texts(piece, row + i - begin, last - begin, out, i);
            i = last - row;
        }
        for (; row + i < last; i++) {
            out->text[i] = cell_text(piece, row + i - begin, out->number[i]);
            weigh(out, i, is_stable ? out->text[i].n : 8);
        }
        out->is_stable = out->is_stable && is_stable;
    }
}

dis_text dis__column_text(const dis__vote_column *c, size_t row, char room[DIS_CELL_BYTES])
{
    const size_t k = piece_of(c, row);
    return cell_text(&c->cells.piece[k], row - c->first[k], room);
}
