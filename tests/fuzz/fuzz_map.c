/* Votes by the mapper: the first bytes choose the container, the preset or paths and the rules. Any size of chunk must
 * give the same table or message; a table that is read is whole; paths themselves come from the input too. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_check_votes.h"
#include "votes/mapper/record_path.h"
#include "votes/read/reader.h"
#include "votes/mapper/parse_time.h"
#include <math.h>

/* A line of the input as a text of its own; what follows it stays. */
static const char *next_line(const uint8_t **data, size_t *size, char *room, size_t n)
{
    size_t used = 0;
    while (used < *size && (*data)[used] != '\n') used++;
    const size_t length = used < n - 1 ? used : n - 1;
    memcpy(room, *data, length);
    room[length] = 0;
    *data += used + (used < *size);
    *size -= used + (used < *size);
    return length && strlen(room) == length ? room : NULL;
}

/* The first byte: container and rules; the second: preset, or 255 for three lines of paths before the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"json", "jsonl", "csv", "tsv"};
    static const dis_drop_rule rule[] = {{"a[].b", "x*"}};
    if (size < 3) return 0;
    char lines[4][64];
    dis_votes_options o = dis_votes_options_default();
    o.format = formats[data[0] & 3];
    o.duplicates = (dis_duplicates)(data[0] >> 2 & 3);
    o.multiple_labels = (dis_multiple_labels)(data[0] >> 4 & 3) % 3;
    o.lenient = data[0] >> 6 & 1;
    o.renormalise = data[0] >> 7;
    const uint8_t chosen = data[1], more = data[2];
    data += 3;
    size -= 3;
    size_t n_presets = 0;
    while (dis_votes_preset_get(n_presets)) n_presets++;
    if (chosen < 2 * n_presets) {
        o.preset = dis_votes_preset_get(chosen / 2)->name;
        if (chosen & 1) o.label = "x";
        if (dis_votes_preset_get(chosen / 2)->format) o.format = NULL; /* its own */
    } else {
        o.input = (dis_input)(more & 7) <= DIS_INPUT_WIDE ? (dis_input)(more & 7) : DIS_INPUT_VOTES;
        o.no_header = more >> 3 & 1;
        o.keep = rule;
        o.n_keep = more >> 4 & 1;
        o.delimiter = more >> 5 & 1 ? ';' : 0;
        o.task = next_line(&data, &size, lines[0], sizeof *lines);
        o.worker = next_line(&data, &size, lines[1], sizeof *lines);
        o.label = next_line(&data, &size, lines[2], sizeof *lines);
        o.time = more >> 6 & 1 ? next_line(&data, &size, lines[3], sizeof *lines) : NULL;
        if (more >> 7) o.records = "a";
    }
    double seconds;
    if (size < 64 && dis__parse_time((const char *)data, size, &seconds)) MUST(!isnan(seconds));
    const dis__tuning one_chunk = {.chunk = 1 << 19, .round = 16}, tiny = {.chunk = 1 + more, .round = 3, .bucket = 30};
    const char *path = fuzz_file("a", data, size);
    dis_votes *a = NULL, *b = NULL;
    char message[2048] = "";
    const dis_status status = dis__votes_read(NULL, &path, 1, &o, &one_chunk, &a);
    if (status != DIS_OK) snprintf(message, sizeof message, "%s", dis_last_error());
    MUST(status != DIS_EBUG);
    MUST(status == dis__votes_read(NULL, &path, 1, &o, &tiny, &b));
    if (status != DIS_OK) {
        MUST(strcmp(message, dis_last_error()) == 0 && message[0]);
        return 0;
    }
    check_votes(a);
    MUST(dis_votes_get_view(a).n_votes == dis_votes_get_view(b).n_votes &&
         dis_votes_get_view(a).n_items == dis_votes_get_view(b).n_items);
    dis_votes_destroy(a);
    dis_votes_destroy(b);
    return 0;
}
