/* Memory of operations in addition to their arguments: bytes of args->work, and scratch memory for one operation. */
#include "nn/cuda/common/cuda_host.h"

void dis__cuda_reserve_scratch(dis__cuda_session *s, size_t bytes)
{
    if (bytes > s->scratch_bytes) s->scratch_bytes = (bytes + 255) / 256 * 256;
}

static size_t (*const work[DIS_N_OPS])(dis__cuda_session *s, const void *args) = {
    [DIS_OP_packed_attention] = dis__cuda_packed_attention_work,
    [DIS_OP_packed_attention_grad] = dis__cuda_packed_attention_grad_work,
    [DIS_OP_conv] = dis__cuda_conv_work,
    [DIS_OP_conv_grad] = dis__cuda_conv_grad_work,
    [DIS_OP_recurrent] = dis__cuda_recurrent_work,
    [DIS_OP_recurrent_grad] = dis__cuda_recurrent_grad_work,
    [DIS_OP_batchnorm] = dis__cuda_batchnorm_work,
};

size_t dis__cuda_plan(void *session, dis__op op, const void *args)
{
    return work[op] ? work[op](session, args) : 0;
}
