/* CSV: the first byte chooses the separator. Reading goes on behind bad rows and comes to an end; what was read can be
 * written with every field quoted, and reads back equal. */
#include "fuzz.h"
#include "io/csv/csv.h"
#include <string.h>

static char *written;
static size_t n_written, room;

static void put(char c)
{
    if (n_written == room) {
        room = room ? 2 * room : 4096;
        written = realloc(written, room);
        MUST(written);
    }
    written[n_written++] = c;
}

static void put_row(const dis__csv *csv)
{
    for (size_t i = 0; i < csv->n_fields; i++) {
        if (i) put(csv->separator);
        put('"');
        for (size_t k = 0; k < csv->field[i].n; k++) {
            if (csv->field[i].text[k] == '"') put('"');
            put(csv->field[i].text[k]);
        }
        put('"');
    }
    put('\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const char separator = data[0] % 2 ? '\t' : ',';
    const dis__input in = dis__input_from_bytes("fuzz", (const char *)data + 1, size - 1);
    dis__csv csv;
    dis__csv_open(&csv, &in, separator);
    size_t good = 0, rows = 0;
    n_written = 0;
    for (bool more = true;; rows++) {
        const char *before = csv.next;
        const dis_status status = dis__csv_next(&csv, &more);
        if (!more) break;
        MUST(status == DIS_OK || status == DIS_EDATA);
        MUST(csv.next > before && csv.next <= csv.end);
        if (status != DIS_OK) continue;
        good++;
        put_row(&csv);
    }
    MUST(rows <= size);
    dis__csv_close(&csv);

    const dis__input again = dis__input_from_bytes("fuzz", written ? written : "", n_written);
    dis__csv back;
    dis__csv_open(&back, &again, separator);
    dis__csv_open(&csv, &in, separator);
    for (bool more = true;;) {
        const dis_status status = dis__csv_next(&csv, &more);
        if (!more) break;
        if (status != DIS_OK) continue;
        bool has_row;
        MUST(dis__csv_next(&back, &has_row) == DIS_OK && has_row);
        MUST(csv.n_fields == back.n_fields);
        for (size_t i = 0; i < csv.n_fields; i++)
            MUST(csv.field[i].n == back.field[i].n &&
                 memcmp(csv.field[i].text, back.field[i].text, csv.field[i].n) == 0);
        good--;
    }
    MUST(good == 0);
    dis__csv_close(&csv);
    dis__csv_close(&back);
    return 0;
}
