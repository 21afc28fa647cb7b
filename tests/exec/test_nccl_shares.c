/* Parts of a group by NCCL, with its stub: gathered from all members, summed and
 * scattered, or swapped. */
#include "kernels/numbers.h"
#include "tests/exec/nccl_rig.h"

enum { PROCESSES = 3, COUNT = 40 };
static const struct pp_nccl_group GROUP = {"tp of rank 0", (const int[]){0, 1, 2}, PROCESSES, true};
static const struct pp_nccl_plan PLAN = {
    .processes = PROCESSES, .groups = &GROUP, .group_count = 1, .timeout_s = 60};

/* Small whole numbers, which bf16 has exactly, too. */
static float value_of(int process, int i)
{
    return (float)((process * 7 + i * 3) % 32);
}

static void issue(struct rig *r, enum pp_nccl_kind kind, enum pp_nccl_type type, const void *from,
                  void *to, size_t count)
{
    const struct pp_nccl_piece piece = {.at = to, .count = count, .from = from};
    const struct pp_nccl_operation operation = {
        .kind = kind, .type = type, .pieces = &piece, .count = 1};

    rig_ok(r, pp_nccl_issue(r->nccl, &operation, r->stream, &r->err));
}

/* [PROCESSES * COUNT] elements of this process. */
static void *part_of(const struct rig *r, bool is_bf16)
{
    float values[PROCESSES * COUNT];
    uint16_t halves[PROCESSES * COUNT];
    const size_t bytes = is_bf16 ? sizeof halves : sizeof values;
    void *memory = rig_memory(bytes);

    for (int i = 0; i < PROCESSES * COUNT; i++) {
        values[i] = value_of(r->plan.process, i);
        halves[i] = pp_bf16_round(values[i]);
    }
    rig_put(memory, is_bf16 ? (void *)halves : values, bytes);
    return memory;
}

static void gather(struct rig *r)
{
    float all[PROCESSES * COUNT];
    void *memory = rig_memory(sizeof all);

    issue(r, PP_NCCL_GATHER, PP_NCCL_BYTES, part_of(r, false), memory, COUNT * sizeof *all);
    rig_ok(r, pp_nccl_finish(r->nccl, r->stream, &r->err));
    rig_cuda(cudaMemcpy(all, memory, sizeof all, cudaMemcpyDeviceToHost));
    for (int i = 0; i < PROCESSES * COUNT; i++)
        rig_must(all[i] == value_of(i / COUNT, i % COUNT), "element %d is %g", i, (double)all[i]);
}

static float sum_of(int i)
{
    float sum = 0;

    for (int process = 0; process < PROCESSES; process++)
        sum += value_of(process, i);
    return sum;
}

/* A share of the sum, or all of it out of place. */
static void add_up(struct rig *r, enum pp_nccl_kind kind, bool is_bf16)
{
    const bool is_share = kind == PP_NCCL_SCATTER;
    const int count = is_share ? COUNT : PROCESSES * COUNT,
              first = is_share ? r->plan.process * COUNT : 0;
    float values[PROCESSES * COUNT];
    uint16_t halves[PROCESSES * COUNT];
    const size_t bytes = (size_t)count * (is_bf16 ? sizeof *halves : sizeof *values);
    void *memory = rig_memory(bytes);

    issue(r, kind, is_bf16 ? PP_NCCL_BF16 : PP_NCCL_FLOAT, part_of(r, is_bf16), memory,
          (size_t)count);
    rig_ok(r, pp_nccl_finish(r->nccl, r->stream, &r->err));
    rig_cuda(cudaMemcpy(is_bf16 ? (void *)halves : values, memory, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++) {
        const float value = is_bf16 ? pp_bf16_value(halves[i]) : values[i];
        rig_must(value == sum_of(first + i), "element %d is %g", first + i, (double)value);
    }
}

/* Each other member gets a part of its own, and gives one. */
static void swap(struct rig *r)
{
    const int own = r->plan.process;
    struct pp_nccl_piece pieces[PROCESSES - 1];
    float all[PROCESSES * COUNT], *from = part_of(r, false), *to = rig_memory(sizeof all);
    int count = 0;

    for (int other = 0; other < PROCESSES; other++)
        if (other != own)
            pieces[count++] = (struct pp_nccl_piece){.at = to + other * COUNT,
                                                     .count = COUNT * sizeof *all,
                                                     .root = other,
                                                     .from = from + other * COUNT};
    const struct pp_nccl_operation operation = {
        .kind = PP_NCCL_SWAP, .type = PP_NCCL_BYTES, .pieces = pieces, .count = count};
    rig_ok(r, pp_nccl_issue(r->nccl, &operation, r->stream, &r->err));
    rig_ok(r, pp_nccl_finish(r->nccl, r->stream, &r->err));
    rig_cuda(cudaMemcpy(all, to, sizeof all, cudaMemcpyDeviceToHost));
    for (int i = 0; i < PROCESSES * COUNT; i++)
        rig_must(i / COUNT == own || all[i] == value_of(i / COUNT, own * COUNT + i % COUNT),
                 "element %d is %g", i, (double)all[i]);
}

static void exchange(struct rig *r)
{
    pp_nccl_share_device(r->plan.process, true);
    pp_nccl_connect_early();
    rig_ok(r, rig_open(r));
    gather(r);
    swap(r);
    for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
        add_up(r, PP_NCCL_SCATTER, is_bf16);
        add_up(r, PP_NCCL_SUM, is_bf16);
    }
    rig_ok(r, pp_nccl_close(r->nccl, &r->err));
}

Test(nccl_shares, members_gather_scatter_and_swap_parts)
{
    rig_run(&PLAN, exchange, -1);
}
