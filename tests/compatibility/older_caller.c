/* A caller compiled against an older, shorter dis_evaluation_options: it knows nothing of `ordinal` and what follows.
 * Beside the struct on the stack lie bytes that the library must not take for fields. */
#include "older_caller.h"
#include <string.h>

typedef struct {
    size_t size;
    uint64_t seed, resamples;
    double fraction;
} older_options;

dis_status dis_evaluation_run(dis_context *ctx, const void *input, const older_options *options, void **out);

dis_status evaluate_as_older_caller(const void *input, uint64_t seed, uint64_t resamples, void **out)
{
    struct {
        older_options o;
        unsigned char beside[256];
    } frame;
    memset(&frame, 0xa5, sizeof frame);
    frame.o = (older_options){.size = sizeof(older_options), .seed = seed, .resamples = resamples, .fraction = 1};
    return dis_evaluation_run(NULL, input, &frame.o, out);
}
