/* Numbers channels, tags and events for all formats of an export. */
#include "sim/export/walk.h"

static enum pp_status number_channels(struct pp_arena *arena, struct pp_export *e,
                                      struct pp_error *err)
{
    const struct pp_program *p = e->result->program;
    int *out = PP_ARRAY(arena, int, p->ranks), *in = PP_ARRAY(arena, int, p->ranks);

    e->channel_of = PP_ARRAY(arena, int32_t, p->message_count);
    e->out_lane = PP_ARRAY(arena, int, p->channel_count);
    e->in_lane = PP_ARRAY(arena, int, p->channel_count);
    for (int c = 0; c < p->channel_count; c++) {
        const struct pp_channel *channel = &p->channels[c];
        for (int m = channel->first; m < channel->first + channel->count; m++)
            e->channel_of[m] = c;
        e->out_lane[c] = out[channel->source]++;
        e->in_lane[c] = in[channel->dest]++;
        if (LANE_WIRES + e->out_lane[c] >= MAX_LANES || LANE_WIRES + e->in_lane[c] >= MAX_LANES)
            return pp_error_set(err, PP_EINVAL,
                                "rank %d has more channels than other formats number: at most %d",
                                channel->source, MAX_LANES - LANE_WIRES);
    }
    return PP_OK;
}

static enum pp_status number_tags(struct pp_arena *arena, struct pp_export *e, struct pp_error *err)
{
    const struct pp_program *p = e->result->program;
    int64_t tag = 2 * (int64_t)p->message_count;

    e->tag0 = PP_ARRAY(arena, uint32_t, p->collective_count + 1);
    for (int c = 0; c <= p->collective_count && tag <= UINT32_MAX; c++) {
        e->tag0[c] = (uint32_t)tag;
        if (c < p->collective_count)
            tag += 2 * (int64_t)p->groups[p->collectives[c].group].count * e->replicas;
    }
    tag += 2 * (int64_t)pp_program_size(p); /* of barriers */
    if (tag > UINT32_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "%lld tags of messages are more than other formats number: fewer "
                            "micro-batches or replicas",
                            (long long)tag);
    return PP_OK;
}

/* Finds the least latency and the least time per byte of the links that messages take. */
static void find_network(struct pp_export *e)
{
    const struct pp_program *p = e->result->program;
    const struct pp_costs *costs = e->result->costs;
    bool is_known = false;

    if (e->wires == PP_WIRES_FIXED && !costs->is_unit)
        return;
    for (int c = 0; c < p->channel_count; c++) {
        const struct pp_channel *channel = &p->channels[c];
        const int link =
            costs->link ? costs->link[channel->source * costs->ranks + channel->dest] : 0;
        if (!is_known || costs->alpha_ps[link] < e->latency_ps)
            e->latency_ps = costs->alpha_ps[link];
        if (!is_known || costs->s_per_byte[link] < e->s_per_byte)
            e->s_per_byte = costs->s_per_byte[link];
        is_known = true;
    }
    if (!is_known && !costs->is_unit) { /* collectives alone */
        e->latency_ps = costs->alpha_ps[0];
        e->s_per_byte = costs->s_per_byte[0];
    }
}

/* Units: a tick is the billionth of one, or more, until the latency fits into 31 bits. */
static void choose_ticks(struct pp_export *e)
{
    e->ps_per_tick = 1000;
    while (e->wires == PP_WIRES_FIXED && e->latency_ps / e->ps_per_tick >= INT32_MAX)
        e->ps_per_tick *= 10;
}

static void find_events(struct pp_arena *arena, struct pp_export *e)
{
    const struct pp_trace *trace = e->result->trace;

    e->event0 = PP_ARRAY(arena, int, trace->ranks * trace->replicas);
    for (int i = trace->count - 1; i >= 0; i--)
        e->event0[trace->events[i].replica * trace->ranks + trace->events[i].rank] = i;
}

enum pp_status pp_export_open(struct pp_arena *arena, const struct pp_result *result,
                              enum pp_export_wires wires, struct pp_export *export,
                              struct pp_error *err)
{
    const bool has_no_bytes = wires == PP_WIRES_NETWORK && result->config.is_unit;
    const bool is_fixed = wires == PP_WIRES_FIXED || result->config.is_unit;

    if (has_no_bytes)
        wires = PP_WIRES_FIXED;
    *export = (struct pp_export){.result = result, .wires = wires};
    export->replicas = is_fixed ? result->trace->replicas : result->config.layout.dp;
    export->nodes = export->replicas * result->program->ranks;
    find_network(export);
    choose_ticks(export);
    find_events(arena, export);
    PP_TRY(number_channels(arena, export, err));
    return number_tags(arena, export, err);
}
