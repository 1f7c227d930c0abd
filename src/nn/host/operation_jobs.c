/* How each operation is divided into jobs: one row per operation. */
#include "nn/host/operation_jobs.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "nn/cpu/gemm.h"

enum { COLUMNS = 128 }; /* a job over columns has full cache lines of them */

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

static dis__cut rows(size_t n, size_t work)
{
    return (dis__cut){n, work, 1};
}

static dis__cut columns(size_t n, size_t work)
{
    return (dis__cut){n, work, COLUMNS};
}

/* ---- products ---- */

/* n divided into equal parts of at most `max`, multiples of `unit` if there are several. */
static size_t even_part(size_t n, size_t max, size_t unit)
{
    const size_t size = parts(n, parts(n, max));
    return size == n ? n : parts(size, unit) * unit;
}

size_t dis__product_tiles(dis__product_args *args, int n_threads)
{
    /* High and as wide as a packed strip, since each tile packs its strip again; smaller if there are too few tiles for
     * the threads. A tile of some million operations is worth a separate job; smaller ones would spend more time
     * packing than multiplying. */
    enum { SMALLEST = 1 << 23, HIGH = 2048, LOW = 96, NARROW = 128 };
    const size_t few = n_threads > 1 ? 2 * (size_t)n_threads : 1;
    if (args->m == 0 || args->n == 0) return 0;
    size_t high = even_part(args->m, HIGH, 24), wide = even_part(args->n, DIS_GEMM_NC, DIS_GEMM_NR);
    while (parts(args->m, high) * parts(args->n, wide) < few) {
        if (dis__saturating_size(high * wide, args->k, 0) < 2 * SMALLEST) break;
        if (wide >= NARROW && wide >= high / 4)
            wide = even_part(wide, parts(wide, 2), DIS_GEMM_NR);
        else if (high >= LOW)
            high = even_part(high, parts(high, 2), 24);
        else
            break;
    }
    args->tile_rows = high;
    args->tile_cols = wide;
    return parts(args->m, high) * parts(args->n, wide);
}

static dis__cut cut_product(void *args, int n_threads)
{
    dis__product_args *a = args;
    const size_t tiles = dis__product_tiles(a, n_threads);
    return rows(tiles, tiles ? dis__saturating_size(a->m * a->n / tiles / 8, a->k ? a->k : 1, 1) : 0);
}

/* ---- the others ---- */

#define CUT(name, type)                                    \
    static dis__cut cut_##name(void *args, int n_threads); \
    static dis__cut cut_##name##_(const type *a);          \
    static dis__cut cut_##name(void *args, int n_threads)  \
    {                                                      \
        (void)n_threads;                                   \
        return cut_##name##_(args);                        \
    }                                                      \
    static dis__cut cut_##name##_(const type *a)

/* clang-format off */
CUT(column_sums, dis__column_sums_args) { return columns(a->n_cols, a->n_rows); }
CUT(activate, dis__activate_args) { return rows(a->n, 16); }
CUT(activate_grad, dis__activate_args) { return rows(a->n, a->act == DIS_ACT_GELU ? 16 : 2); }
CUT(gather, dis__gather_args) { return rows(a->n_rows, a->width * a->per); }
CUT(gather_grad, dis__gather_args) { return columns(a->width, a->n_rows * a->per * 2); }
CUT(layernorm, dis__layernorm_args) { return rows(a->n_rows, 4 * a->width); }
CUT(layernorm_grad, dis__layernorm_args) { return rows(a->n_rows, 6 * a->width); }
CUT(layernorm_param_grad, dis__layernorm_args) { return columns(a->width, 4 * a->n_rows); }
CUT(dropout, dis__dropout_args) { return rows(parts(a->n, DIS_DROPOUT_BLOCK), 4 * DIS_DROPOUT_BLOCK); }
CUT(add, dis__add_args) { return rows(a->n, 1); }
CUT(shift, dis__shift_args) { return rows(a->n_rows, a->width); }
CUT(copy_columns, dis__copy_columns_args) { return rows(a->n_rows, a->width); }
CUT(pool, dis__pool_args) { return rows(a->n_rows, a->per * a->width); }
CUT(pool_grad, dis__pool_args) { return rows(a->n_rows, a->per * a->width); }
CUT(softmax_pool, dis__softmax_pool_args) { return rows(a->n_rows, a->per * (a->width + 8)); }
CUT(softmax_pool_grad, dis__softmax_pool_args) { return rows(a->n_rows, 2 * a->per * (a->width + 8)); }
CUT(one_hot, dis__one_hot_args) { return rows(a->n_rows, a->n_classes); }
CUT(soft_loss, dis__soft_loss_args) { return rows(a->n_rows, 16 * a->n_classes); }
CUT(soft_loss_grad, dis__soft_loss_args) { return rows(a->n_rows, 8 * a->n_classes); }
CUT(confusion, dis__confusion_args) { return rows(a->n_rows, 16 * a->n_classes * (a->n_classes + 1)); }
CUT(confusion_grad, dis__confusion_args) { return rows(a->n_rows, 24 * a->n_classes * (a->n_classes + 1)); }
CUT(pair_terms, dis__pair_terms_args) { return rows(a->n_pairs, 3 * a->width + 16); }
CUT(pair_terms_grad, dis__pair_terms_args) { return columns(a->width, 6 * a->n_pairs); }
CUT(head_loss, dis__head_loss_args) { (void)a; return rows(1, 1); }
CUT(total_loss, dis__total_loss_args) { (void)a; return rows(1, 1); }
CUT(lookup_conv, dis__lookup_conv_args) { return rows(a->n, a->places * a->kernel * a->out); }
CUT(lookup_conv_grad, dis__lookup_conv_args) { return columns(a->out, a->n * a->places * a->kernel * 2); }
CUT(window, dis__window_args) { return rows(a->n, a->height * a->width * a->channels); }
CUT(batch_stats, dis__batchnorm_args) { return columns(a->width, 4 * a->n_rows); }
CUT(batchnorm, dis__batchnorm_args) { return rows(a->n_rows, 4 * a->width); }
CUT(batchnorm_grad, dis__batchnorm_args) { return rows(a->n_rows, 6 * a->width); }
CUT(update, dis__update_args) { return rows(a->n, 4); }
CUT(square_sums, dis__square_sums_args) { return rows(parts(a->n, DIS_SQUARES_BLOCK), DIS_SQUARES_BLOCK); }
CUT(clip, dis__clip_args) { (void)a; return rows(1, 1); }
CUT(start, dis__start_args) { return rows(a->n, 8); }
CUT(batch_rows, dis__batch_rows_args) { return rows(a->n_rows, a->height * a->width * a->channels); }
CUT(batch_spans, dis__batch_spans_args) { return rows(a->n_spans, 64); }
/* clang-format on */

CUT(crowd_loss, dis__crowd_args)
{
    const size_t k = a->n_classes, votes = a->n_rows ? a->n_votes / a->n_rows + 1 : 1;
    const size_t work = k * 16 + votes * k * (a->kind == DIS_CROWD_MW ? k + 16 : 16);
    return rows(a->n_rows, a->d_logits ? 2 * work : work);
}

CUT(crowd_param_grad, dis__crowd_args)
{
    return rows(a->n_groups, (a->n_votes / (a->n_groups + 1) + 1) * a->n_classes * a->n_classes);
}

CUT(recurrent, dis__recurrent_args)
{
    const size_t work = dis__saturating_size(a->n_times * DIS_RECURRENT_BLOCK, a->n_hidden * a->n_hidden / 2 + 1, 0);
    return rows(parts(a->n_rows, DIS_RECURRENT_BLOCK) * a->n_directions, work);
}

CUT(padded_attention, dis__padded_attention_args)
{
    const size_t d = a->channels / a->n_heads;
    return rows(a->n_rows * a->n_heads, a->n_times * (a->n_times + 8) * d / 4 + 1);
}

CUT(packed_attention, dis__packed_attention_args)
{
    const size_t mean = a->n_rows ? a->n_tokens / a->n_rows + 1 : 1, d = a->channels / a->n_heads;
    return rows(a->n_rows * a->n_heads, mean * (mean + 8) * d / 4 + 1);
}

/* ---- convolutions ---- */

enum { PARTS = 16 }; /* of the weight's gradient, maximum */

static size_t kernel_size(const dis__conv_args *a)
{
    return dis__saturating_size(a->kernel_h * a->kernel_w, a->channels, 0);
}

static dis__cut cut_conv(void *args, int n_threads)
{
    (void)n_threads;
    dis__conv_args *a = args;
    const size_t places = a->out_h * a->out_w, k = kernel_size(a);
    a->group = places && places < DIS_CONV_ROWS ? DIS_CONV_ROWS / places : 1;
    return rows(parts(a->n, a->group), dis__saturating_size(a->group * places, a->out * k / 8 + k, 0));
}

/* The weight's gradient is stored in parts, which the device adds in order. */
static dis__cut cut_conv_grad(void *args, int n_threads)
{
    (void)n_threads;
    dis__conv_args *a = args;
    const size_t places = a->out_h * a->out_w, k = kernel_size(a);
    const size_t n_parts = dis__n_jobs(dis__saturating_size(a->n, places, 0), DIS_CONV_ROWS, PARTS);
    a->n_parts = n_parts < a->n ? n_parts : a->n;
    if (a->n_parts == 0) return rows(0, 0);
    return rows(a->n_parts, dis__saturating_size(a->n * places / a->n_parts + 1, a->out * k / 4 + k, 0));
}

/* ---- memory ---- */

static size_t scratch_classes(const void *args, size_t real, size_t times)
{
    const dis__soft_loss_args *a = args;
    (void)times;
    return dis__saturating_size(a->n_classes, real, 0);
}

static size_t scratch_crowd(const void *args, size_t real, size_t times)
{
    const dis__crowd_args *a = args;
    (void)times;
    return dis__saturating_size(a->n_classes, 3 * real, 0);
}

static size_t scratch_confusion(const void *args, size_t real, size_t times)
{
    const dis__confusion_args *a = args;
    (void)times;
    return dis__saturating_size(a->n_classes, 4 * real, 0);
}

static size_t scratch_recurrent(const void *args, size_t real, size_t times)
{
    const dis__recurrent_args *a = args;
    const size_t packed =
        dis__saturating_size(dis__saturating_size(a->n_state * a->n_hidden, 1, 16), a->n_hidden + 16, 0);
    const size_t block = DIS_RECURRENT_BLOCK * (DIS_RECURRENT_GATES + 1) * a->n_hidden;
    return dis__saturating_size(dis__saturating_size(packed, 1, block), real, times);
}

static size_t scratch_padded_attention(const void *args, size_t real, size_t times)
{
    const dis__padded_attention_args *a = args;
    if (a->value_only) return 0;
    return dis__saturating_size(dis__saturating_size(a->n_times, a->n_times, 0), 2 * real, times);
}

static size_t scratch_packed_attention(const void *args, size_t real, size_t times)
{
    const dis__packed_attention_args *a = args;
    const size_t square = dis__saturating_size(a->longest, a->longest, a->longest);
    return dis__saturating_size(square, 3 * real, times);
}

static size_t work_packed_attention_grad(const void *args, size_t real)
{
    const dis__packed_attention_args *a = args;
    return dis__saturating_size(dis__saturating_size(a->n_rows, a->n_buckets, 0), a->n_heads * real, 0);
}

static size_t scratch_conv(const void *args, size_t real, size_t times)
{
    return dis__saturating_size(dis__saturating_size(kernel_size(args), DIS_CONV_ROWS, 0), real, times);
}

static size_t work_conv_grad(const void *args, size_t real)
{
    const dis__conv_args *a = args;
    return dis__saturating_size(dis__saturating_size(kernel_size(a), a->out, 0), PARTS * real, 0);
}

/* ---- the table ---- */

typedef struct {
    size_t size; /* of the arguments */
    dis__cut (*cut)(void *args, int n_threads);
    size_t (*scratch)(const void *args, size_t real, size_t times); /* NULL: the requirements of GEMMs */
    size_t (*work)(const void *args, size_t real);                  /* NULL: none */
} row;

#define ROW(name, type, cut_, scratch_, work_) \
    [DIS_OP_##name] = {.size = sizeof(type), .cut = (cut_), .scratch = (scratch_), .work = (work_)}
static const row table[DIS_N_OPS] = {
    ROW(product, dis__product_args, cut_product, NULL, NULL),
    ROW(column_sums, dis__column_sums_args, cut_column_sums, NULL, NULL),
    ROW(activate, dis__activate_args, cut_activate, NULL, NULL),
    ROW(activate_grad, dis__activate_args, cut_activate_grad, NULL, NULL),
    ROW(gather, dis__gather_args, cut_gather, NULL, NULL),
    ROW(gather_grad, dis__gather_args, cut_gather_grad, NULL, NULL),
    ROW(layernorm, dis__layernorm_args, cut_layernorm, NULL, NULL),
    ROW(layernorm_grad, dis__layernorm_args, cut_layernorm_grad, NULL, NULL),
    ROW(layernorm_param_grad, dis__layernorm_args, cut_layernorm_param_grad, NULL, NULL),
    ROW(dropout, dis__dropout_args, cut_dropout, NULL, NULL),
    ROW(add, dis__add_args, cut_add, NULL, NULL),
    ROW(shift, dis__shift_args, cut_shift, NULL, NULL),
    ROW(copy_columns, dis__copy_columns_args, cut_copy_columns, NULL, NULL),
    ROW(pool, dis__pool_args, cut_pool, NULL, NULL),
    ROW(pool_grad, dis__pool_args, cut_pool_grad, NULL, NULL),
    ROW(softmax_pool, dis__softmax_pool_args, cut_softmax_pool, NULL, NULL),
    ROW(softmax_pool_grad, dis__softmax_pool_args, cut_softmax_pool_grad, NULL, NULL),
    ROW(one_hot, dis__one_hot_args, cut_one_hot, NULL, NULL),
    ROW(soft_loss, dis__soft_loss_args, cut_soft_loss, scratch_classes, NULL),
    ROW(soft_loss_grad, dis__soft_loss_args, cut_soft_loss_grad, scratch_classes, NULL),
    ROW(crowd_loss, dis__crowd_args, cut_crowd_loss, scratch_crowd, NULL),
    ROW(crowd_param_grad, dis__crowd_args, cut_crowd_param_grad, scratch_crowd, NULL),
    ROW(confusion, dis__confusion_args, cut_confusion, scratch_confusion, NULL),
    ROW(confusion_grad, dis__confusion_args, cut_confusion_grad, scratch_confusion, NULL),
    ROW(pair_terms, dis__pair_terms_args, cut_pair_terms, NULL, NULL),
    ROW(pair_terms_grad, dis__pair_terms_args, cut_pair_terms_grad, NULL, NULL),
    ROW(head_loss, dis__head_loss_args, cut_head_loss, NULL, NULL),
    ROW(total_loss, dis__total_loss_args, cut_total_loss, NULL, NULL),
    ROW(recurrent, dis__recurrent_args, cut_recurrent, scratch_recurrent, NULL),
    ROW(recurrent_grad, dis__recurrent_args, cut_recurrent, scratch_recurrent, NULL),
    ROW(padded_attention, dis__padded_attention_args, cut_padded_attention, scratch_padded_attention, NULL),
    ROW(padded_attention_grad, dis__padded_attention_args, cut_padded_attention, scratch_padded_attention, NULL),
    ROW(packed_attention, dis__packed_attention_args, cut_packed_attention, scratch_packed_attention, NULL),
    ROW(packed_attention_grad, dis__packed_attention_args, cut_packed_attention, scratch_packed_attention,
        work_packed_attention_grad),
    ROW(conv, dis__conv_args, cut_conv, scratch_conv, NULL),
    ROW(conv_grad, dis__conv_args, cut_conv_grad, scratch_conv, work_conv_grad),
    ROW(lookup_conv, dis__lookup_conv_args, cut_lookup_conv, NULL, NULL),
    ROW(lookup_conv_grad, dis__lookup_conv_args, cut_lookup_conv_grad, NULL, NULL),
    ROW(window, dis__window_args, cut_window, NULL, NULL),
    ROW(window_grad, dis__window_args, cut_window, NULL, NULL),
    ROW(shortcut, dis__window_args, cut_window, NULL, NULL),
    ROW(shortcut_grad, dis__window_args, cut_window, NULL, NULL),
    ROW(batch_stats, dis__batchnorm_args, cut_batch_stats, NULL, NULL),
    ROW(batchnorm, dis__batchnorm_args, cut_batchnorm, NULL, NULL),
    ROW(batchnorm_sums, dis__batchnorm_args, cut_batch_stats, NULL, NULL),
    ROW(batchnorm_grad, dis__batchnorm_args, cut_batchnorm_grad, NULL, NULL),
    ROW(update, dis__update_args, cut_update, NULL, NULL),
    ROW(square_sums, dis__square_sums_args, cut_square_sums, NULL, NULL),
    ROW(clip, dis__clip_args, cut_clip, NULL, NULL),
    ROW(start, dis__start_args, cut_start, NULL, NULL),
    ROW(batch_rows, dis__batch_rows_args, cut_batch_rows, NULL, NULL),
    ROW(batch_spans, dis__batch_spans_args, cut_batch_spans, NULL, NULL),
};

dis__cut dis__cut_of(dis__op op, void *args, int n_threads)
{
    return table[op].cut(args, n_threads);
}

size_t dis__args_size(dis__op op)
{
    return table[op].size;
}

size_t dis__scratch_of(dis__op op, const void *args, size_t real, size_t times)
{
    return table[op].scratch ? table[op].scratch(args, real, times) : times;
}

size_t dis__work_of(dis__op op, const void *args, size_t real)
{
    return table[op].work ? table[op].work(args, real) : 0;
}

bool dis__parts_of(dis__op op, const void *args, dis__column_sums_args *sums)
{
    const dis__conv_args *c = args;
    const dis__packed_attention_args *t = args;
    if (op == DIS_OP_conv_grad && c->d_weight) {
        const size_t n = kernel_size(c) * c->out;
        *sums = (dis__column_sums_args){.x = c->work, .n_rows = c->n_parts, .n_cols = n, .ld = n, .out = c->d_weight};
        return true;
    }
    if (op == DIS_OP_packed_attention_grad && t->d_bias) {
        const size_t n = t->n_buckets * t->n_heads;
        *sums = (dis__column_sums_args){.x = t->work, .n_rows = t->n_rows, .n_cols = n, .ld = n, .out = t->d_bias};
        return true;
    }
    return false;
}
