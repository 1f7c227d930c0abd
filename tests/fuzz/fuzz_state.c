/* State files: any bytes are accepted or refused; a state that is accepted can be asked. Bytes that are a safetensors
 * file get the checksums that belong to them, or nothing would get past these. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "io/tensors/checked_tensors.h"
#include "labels/fit_state.h"

static char *text_of(const char *text, size_t n)
{
    char *copy = calloc(n + 1, 1);
    MUST(copy);
    memcpy(copy, text, n);
    return copy;
}

static bool is_checksum(const char *text)
{
    return strncmp(text, "checksum", 8) == 0;
}

/* The same tensors and metadata with new checksums, as the file `path`. */
static void write_checked(const dis__safetensors *file, const char *path)
{
    const dis__json_value *m = file->metadata;
    const size_t n_pairs = m ? m->n : 0;
    dis__tensor *tensor = calloc(file->n_tensors + 1, sizeof *tensor);
    const char *(*pair)[2] = calloc(n_pairs + 1, sizeof *pair);
    size_t n = 0, n_copied = 0;
    MUST(tensor && pair);
    for (size_t i = 0; i < file->n_tensors; i++) {
        tensor[n] = file->tensors[i];
        tensor[n].name = text_of(file->tensors[i].name, file->tensors[i].name_length);
        if (is_checksum(tensor[n].name))
            free((void *)(uintptr_t)tensor[n].name);
        else
            n++;
    }
    for (size_t i = 0; i < n_pairs; i++) {
        const dis__json_value *key = m + 1 + 2 * i;
        char *name = text_of(key->text, key->length);
        if (is_checksum(name)) {
            free(name);
            continue;
        }
        pair[n_copied][0] = name;
        pair[n_copied++][1] = text_of(key[1].text, key[1].length);
    }
    dis__out *out;
    MUST(dis__out_open(path, &out) == DIS_OK);
    MUST(dis__out_finish(out, dis__checked_write(out, tensor, n, (const char *const(*)[2])pair, n_copied)) == DIS_OK);
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)tensor[i].name);
    for (size_t i = 0; i < n_copied; i++)
        for (int k = 0; k < 2; k++) free((void *)(uintptr_t)pair[i][k]);
    free(tensor);
    free(pair);
}

static const char *state_file(const uint8_t *data, size_t size)
{
    dis__safetensors file;
    const char *path = fuzz_file("s", data, size);
    if (dis__safetensors_open("s", data, size, &file) != DIS_OK) return path;
    write_checked(&file, path);
    dis__safetensors_close(&file);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis_state *state;
    if (dis_state_read(NULL, state_file(data, size), &state) != DIS_OK) return 0;
    static const char *const texts[] = {"a", "b"};
    dis_names *names;
    MUST(dis_names_create(texts, 2, &names) == DIS_OK);
    const dis_votes_view v = {
        .n_items = 2, .n_workers = 2, .n_classes = 2, .tasks = names, .workers = names, .classes = names};
    double values[8];
    bool found;
    (void)dis__state_get(state, "m", "p", "wvt", &v, values, &found);
    (void)dis__state_get(state, "m", "q", "i", &v, values, &found);
    dis_names_destroy(names);
    dis_state_destroy(state);
    return 0;
}
