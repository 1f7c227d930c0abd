/* bench_tokens FOLDER TEXTS THREADS REPEATS: the texts of a file, one per line, through the tokenizer of a folder, all
 * in one call as users of encode_batch do. Prints {"seconds": [...], "processor_seconds": [...], "tokens": n, "texts":
 * n, "open_seconds": s}. */
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_REPEATS = 100 };

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*n + 1);
    if (bytes && fread(bytes, 1, *n, f) != *n) *n = 0;
    fclose(f);
    return bytes;
}

static dis_token_text *cut_lines(const char *bytes, size_t n, size_t *n_texts)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n';
    dis_token_text *texts = calloc(lines + 1, sizeof *texts);
    for (size_t at = 0; texts && at < n;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - bytes) - at : n - at;
        texts[(*n_texts)++] = (dis_token_text){.first = bytes + at, .n_first = length};
        at += length + 1;
    }
    return texts;
}

static void print_list(const char *name, const double *x, int n)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < n; i++) printf("%s%.9g", i ? ", " : "", x[i]);
    printf("], ");
}

int main(int argc, char **argv)
{
    dis_context *ctx;
    dis_tokenizer *t;
    size_t n_bytes, n_texts = 0, n_tokens = 0;
    double wall[MAX_REPEATS], processor[MAX_REPEATS];
    if (argc != 5) return 2;
    dis_context_options o = dis_context_options_default();
    o.threads = atoi(argv[3]);
    const int repeats = atoi(argv[4]) < MAX_REPEATS ? atoi(argv[4]) : MAX_REPEATS;
    char *bytes = read_all(argv[2], &n_bytes);
    dis_token_text *texts = bytes ? cut_lines(bytes, n_bytes, &n_texts) : NULL;
    const double begin = now(CLOCK_MONOTONIC);
    if (!texts || dis_context_create(&o, &ctx) != DIS_OK || dis_tokenizer_read(ctx, argv[1], &t) != DIS_OK) {
        fprintf(stderr, "%s\n", texts ? dis_last_error() : "cannot read the texts");
        return 1;
    }
    const double open = now(CLOCK_MONOTONIC) - begin;
    for (int r = 0; r < repeats; r++) {
        const double a = now(CLOCK_MONOTONIC), b = now(CLOCK_PROCESS_CPUTIME_ID);
        dis_tokens *tokens;
        if (dis_tokenizer_encode(ctx, t, texts, n_texts, NULL, &tokens) != DIS_OK) {
            fprintf(stderr, "%s\n", dis_last_error());
            return 1;
        }
        wall[r] = now(CLOCK_MONOTONIC) - a;
        processor[r] = now(CLOCK_PROCESS_CPUTIME_ID) - b;
        n_tokens = dis_tokens_get_view(tokens).text_start[n_texts];
        dis_tokens_destroy(tokens);
    }
    printf("{");
    print_list("seconds", wall, repeats);
    print_list("processor_seconds", processor, repeats);
    printf("\"tokens\": %zu, \"texts\": %zu, \"open_seconds\": %.6g}\n", n_tokens, n_texts, open);
    dis_tokenizer_destroy(t);
    dis_context_destroy(ctx);
    free(texts);
    free(bytes);
    return 0;
}
