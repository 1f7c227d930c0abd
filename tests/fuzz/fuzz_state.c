/* State files: any bytes are taken or refused; a state that is taken can be asked. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "labels/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis_state *state;
    if (dis_state_read(NULL, fuzz_file("s", data, size), &state) != DIS_OK) return 0;
    static const char *const texts[] = {"a", "b"};
    dis_names *names;
    MUST(dis_names_create(texts, 2, &names) == DIS_OK);
    const dis_votes_view v = {
        .n_items = 2, .n_workers = 2, .n_classes = 2, .tasks = names, .workers = names, .classes = names};
    double values[8];
    bool found;
    (void)dis__state_fill(state, "m", "p", "wvt", &v, values, &found);
    (void)dis__state_fill(state, "m", "q", "i", &v, values, &found);
    dis_names_destroy(names);
    dis_state_destroy(state);
    return 0;
}
