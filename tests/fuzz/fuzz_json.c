/* JSON: any bytes are taken or refused with a message; a tree that is taken is consistent. */
#include "fuzz.h"
#include "io/json/json_read.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis__json json = {0};
    const dis__json_position place = {.file = "f", .line = 1, .column = 1};
    const dis__json_value *root = NULL;
    const dis_status status = dis__json_parse(&json, (const char *)data, size, &place, &root);
    if (status == DIS_OK) {
        MUST(root == json.values && root->skip == json.n_values);
        for (size_t i = 0; i < json.n_values; i++) {
            const dis__json_value *v = &json.values[i];
            MUST(v->at < size && i + v->skip <= json.n_values);
            if (v->kind == DIS_JSON_NUMBER) MUST(isfinite(v->number));
            if (v->kind == DIS_JSON_STRING) MUST(v->length == 0 || !memchr(v->text, 0, v->length));
        }
    } else {
        MUST(status == DIS_EDATA && strncmp(dis_last_error(), "f:", 2) == 0 && strstr(dis_last_error(), "(byte "));
    }
    dis__json_free(&json);
    return 0;
}
