/* core/cost/cost.h — costs of instructions: tables filled once, then only indexed.
 *
 * Times are int64 picoseconds, rounded once here, so that engines are exact to the bit. In unit
 * mode one unit of time is one second. Owned by the arena of the run; read-only afterwards. */
#pragma once

#include "core/arena.h"
#include "core/cost/state.h"
#include "core/error.h"
#include "core/op.h"

struct pp_cost {
    int64_t ps;         /* duration */
    int64_t tp_ps;      /* share of ps in exposed tensor-parallel collectives */
    int64_t cp_ps;      /* share of ps in exposed context-parallel messages */
    int64_t ep_ps;      /* share of ps in exposed expert-parallel exchanges */
    int64_t gather_ps;  /* share of ps in exposed gathers and scatters of sharded state */
    int64_t copy_ps;    /* share of ps in exposed copies between memory tiers */
    int64_t bits_ps;    /* F, R, B, I, W of a whole micro-batch: share of ps that quantises saved
                         * values, or restores them */
    int64_t latency_ps; /* collective: share of ps that every bucket pays, whatever its bytes */
    double flops;       /* executed by the tp*cp devices of the program rank together */
    double bytes;       /* p2p, collective: payload per device. Compute: HBM traffic per device */
};

struct pp_cost pp_cost_sum(struct pp_cost a, struct pp_cost b);

/* Memory of one stage per device of the program rank, bytes. */
struct pp_stage_memory {
    double params_bytes, grads_bytes,
        optimizer_bytes;     /* of ONE copy of the stage, after sharding */
    double saved_bytes;      /* saved from F to B/W for one whole micro-batch */
    double checkpoint_bytes; /* the part of saved_bytes kept between F and R when recomputing
                              * (= saved_bytes without recomputation) */
    double whole_bytes;      /* saved by a forward that no R follows; 0 = saved_bytes */
    double weight_grad_frac; /* held from I until W, in saved_bytes; above 1 if gradients of
                              * outputs have more bits than what I frees */
    double kv_bytes;         /* keys and values that a pass of a generating run adds for one whole
                              * micro-batch, until the last pass */
    /* of keys and values on another tier: buffers of COPY.kv-up and COPY.kv-down, and of all blocks
     * in flight while F runs */
    double kv_up_bytes, kv_down_bytes, kv_room_bytes;
    double boundary_bytes; /* activation leaving the stage towards stage+1, one micro-batch
                            * (0 for the last stage); the gradient coming back is as large */
    /* memory that lives only while one op runs */
    double forward_bytes, backward_bytes;  /* F; B or I: of one whole micro-batch */
    double input_bytes;                    /* I, if it differs from B; 0 = as B */
    double recompute_bytes, weights_bytes; /* R; W: saved tensors in full, not in few bits */
    double dense_grad_bytes;               /* B or W: a whole gradient before it is added up */
    /* B or W of one micro-batch, of several: gradients that then take their parameters' place */
    double layer_grads_bytes, chunk_grads_bytes;
    double update_bytes; /* U: until the last U of the rank */
    /* memory on other tiers */
    double resting_frac;  /* share of saved_bytes left while they are quantised; 0 = all of it */
    double moved_frac;    /* share of them that moves; 0 = all of it */
    double inner_frac;    /* share of that which moves block by block inside of F, and of R or B:
                           * all but one block's, which COPY moves */
    double fetched_bytes; /* MOVE.fetch: optimizer buckets on the device, until MOVE.store */
    double up_bytes, down_bytes; /* copied inside of U, which buckets stream through */
    double away_bytes[PP_TIERS]; /* state, by its home tier */
};

/* Buffers of a stage whose gradients are cut, or whose parameters are cut or live on another tier.
 * Its units are gathered or loaded one by one. Per device, bytes. */
struct pp_stage_gathers {
    int units;    /* of a chunk; 1 = the chunk at once, 0 = parameters are whole and here */
    int resident; /* those that the program fetches at once, before the first op of a visit; the
                   * others come inside of each op. 0 = 1 */
    bool is_cut;  /* parameters are gathered, and their gradients scattered by visits */
    double unit_bytes, unit_grads_bytes; /* buffers of an inner unit; its whole gradients */
    double gone_frac;   /* share of a unit whose tensors come and go alone, without the rest */
    double share_bytes; /* share of an inner unit, loaded for its gather */
    double load_bytes, reload_bytes;      /* loaded inside of one F, of one B or I */
    int64_t load_ps, reload_ps;           /* time that these loads take on the link */
    double forward_bytes, backward_bytes; /* gathered inside of one F, of one B or I */
    double scatter_bytes;                 /* scattered inside of one B or W */
    /* gradients that leave for another tier after every visit */
    int part_units;          /* of a chunk in which they leave; 0: they stay */
    double unit_part_bytes;  /* those of an inner unit */
    double part_bytes;       /* moved down inside of one B or W, ... */
    double sum_bytes;        /* and up before it, unless it is the first of its chunk */
    int64_t part_ps, sum_ps; /* time that these take on the link */
};

/* Returns the units of a chunk that come inside of each op. */
static inline int pp_gathers_inside(const struct pp_stage_gathers *gathers)
{
    return gathers->units - (gathers->resident > 1 ? gathers->resident : 1);
}

enum pp_direction { PP_DIR_F, PP_DIR_B };

/* Ring of devices for a gradient sum, in the order in which they pass shares on. It has one
 * position per device of the stage group with tp coordinate 0. Position i receives from i - 1, the
 * first from the last. An all-reduce takes 2 (positions - 1) steps of bytes / positions each. */
struct pp_ring {
    int positions;
    int32_t *device;    /* [position] */
    uint16_t *rank;     /* [position]: pipeline rank */
    int32_t *replica;   /* [position] */
    int64_t *hop_ps;    /* [position]: time of one step into it, alone on its route */
    int64_t *alpha_ps;  /* [position]: latency in hop_ps, which every bucket pays; NULL = 0 */
    int64_t *gather_ps; /* [position]: hop_ps of an all-gather of parameters; NULL = hop_ps */
};

struct pp_costs {
    int stages, splits; /* dimensions of the tables; splits >= 1 */
    int granules;       /* granules per micro-batch; an op covers op.granules of them */
    int ranks;          /* pipeline ranks */
    bool is_unit;       /* unit mode: only compute and C take time */

    /* Costs of ONE WHOLE micro-batch-split: [stage * splits + split]. A granule takes its share.
     * NULL if the kind does not occur. COPY: in either direction. U, AG, RS, AR, BC: [stage]. */
    struct pp_cost *op[PP_OP_KINDS];
    /* Costs of OVERLAP_F_B pairs: [stage of F * stages + stage of B]; if NULL, one entry for all.
     * If that is NULL too: sum of F and B, in which exchanges of experts overlap with compute. */
    struct pp_cost *overlap, *overlap_all;
    /* Copies of saved activations inside of an op, next to its compute: down in F, up in R, B, I.
     * Of one whole micro-batch-split, as above; NULL = none. */
    struct pp_cost *inner[PP_OP_KINDS];
    /* Keys and values of all blocks but one, which move inside of F, of one whole micro-batch:
     * [direction][stage], enum pp_copy_stream. NULL: they stay on the device. */
    struct pp_cost *cached[PP_COPY_UP + 1];
    /* p2p of one whole micro-batch from `stage` (F: to stage+1, B: to stage-1), by link class. A
     * message pays its latency once, and bandwidth by share. */
    int links;                 /* number of link classes, >= 1 */
    const unsigned char *link; /* [source * ranks + dest]: class of a pair of ranks; NULL = all 0 */
    const char *const *link_names;
    int64_t *alpha_ps;  /* [link] */
    double *s_per_byte; /* [link] */

    /* Collectives: ring steps of an all-reduce for --collectives flows; [stage] */
    int sync_ranks;         /* members per stage group: dp * pipelines */
    int64_t *ring_alpha_ps; /* one ring step: latency + bytes/(n*bandwidth), [stage] */
    struct pp_ring *rings;  /* [stage]; NULL where nothing is summed */
    /* [stage] collectives and moves with a purpose; COPY of keys and values of one whole
     * micro-batch. NULL = none */
    struct pp_cost *purpose[PP_PURPOSES];
    struct pp_cost *tied; /* AR of a tied embedding, one entry, or NULL when untied or local */

    struct pp_stage_memory *memory;   /* [stage]; NULL in unit mode */
    struct pp_stage_gathers *gathers; /* [stage]; NULL: parameters and gradients are whole */
    int gather_buffers;               /* gathered units that have room at the same time */
    double other_bytes;               /* per device: context, libraries, workspace */
    enum pp_tier saved_home;          /* tier where saved activations wait for their backward */
    double fragment_frac;             /* allocator's waste with room, of all tensors at the peak */
    double stuck_frac;                /* allocator's least waste, without room */
    double capacity_bytes;            /* memory of a device, 0 = unknown */

    const char *origin; /* "analytic" | "table" | "measured" | "unit" */
    const char *source; /* source of the constants, one line */
    bool is_calibrated;
};

/* Is true if ops may copy between memory tiers while they compute. */
static inline bool pp_costs_have_inner(const struct pp_costs *costs)
{
    return costs->gathers || costs->inner[PP_F] || costs->cached[PP_COPY_UP];
}
/* Is true if parameters, gradients, or keys and values of a stage move inside of its ops. */
static inline bool pp_costs_have_links(const struct pp_costs *costs, int stage)
{
    const struct pp_stage_gathers *g = costs->gathers ? &costs->gathers[stage] : NULL;

    return costs->cached[PP_COPY_UP] ||
           (g && (g->load_ps > 0 || g->reload_ps > 0 || g->part_ps > 0));
}
/* Returns the class whose copies inside of an op take most time, enum pp_state_class. */
static inline int pp_costs_copied_inside(const struct pp_costs *costs, int kind, int stage)
{
    const struct pp_stage_gathers *g =
        costs->gathers && stage < costs->stages ? &costs->gathers[stage] : NULL;
    const bool makes_grads = kind == PP_B || kind == PP_W;

    if (kind == PP_F && costs->cached[PP_COPY_UP] && stage < costs->stages &&
        costs->cached[PP_COPY_UP][stage].ps + costs->cached[PP_COPY_DOWN][stage].ps >
            (g ? g->load_ps : 0))
        return PP_STATE_CACHE;
    if (costs->inner[kind])
        return PP_STATE_ACTIVATIONS;
    return g && makes_grads && g->part_ps > (kind == PP_B ? g->reload_ps : 0) ? PP_STATE_GRADS
                                                                              : PP_STATE_PARAMS;
}
/* Returns `part` of the `whole` parts of a duration, rounded to nearest; cannot overflow. */
int64_t pp_costs_share_ps(int64_t ps, int part, int whole);
/* Returns the passes around a ring: 2 for an all-reduce, 1 for a scatter or gather, else 0. */
int pp_ring_turns(int kind);
/* Returns the time of a collective of that kind whose members start together: all its steps at the
 * pace of the slowest hop. At most INT64_MAX / 4. */
int64_t pp_ring_together_ps(const struct pp_ring *ring, int kind, int buckets);
/* Returns the time of one step of such a collective into `position`; `buckets` 0 or 1 = not cut. */
int64_t pp_ring_hop_ps(const struct pp_ring *ring, int kind, int position, int buckets);
/* Returns duration and shares of one compute or collective op, with its share of granules and
 * splits. A bucket of a collective takes all of its latency and its share of the rest. `fused` is
 * the B of an OVERLAP_F_B pair whose F is `op`, or NULL. Zero for control and posts. */
struct pp_cost pp_costs_op(const struct pp_costs *costs, const struct pp_op *op,
                           const struct pp_op *fused);
/* Returns the duration of an op alone; see pp_costs_op(). */
int64_t pp_costs_op_ps(const struct pp_costs *costs, const struct pp_op *op,
                       const struct pp_op *fused);
/* Returns the time on the wire of a SEND of rank `source` to rank op->peer; C in unit mode. */
struct pp_cost pp_costs_p2p(const struct pp_costs *costs, const struct pp_op *send, int source);
/* Returns the bytes of a message per device. */
double pp_costs_message_bytes(const struct pp_costs *costs, const struct pp_op *op);

/* Parses `--unit F=1,B=2` or `F=1,I=1,W=1[,C=0.1][,FB=…][,R=1]`. B = I + W. B alone gives I = W =
 * B/2, F alone B = 2F. FB = F + B unless given. R is the recomputation of a whole stage. P is the F
 * of a group's prompt, where passes generate. PP_EINVAL: unknown, repeated, negative keys. */
struct pp_unit_costs {
    double f, b, i, w, c, fb, r, p;
    bool has_r, has_p, has_backward; /* is given: R; P; B, I, W or FB */
};
extern const struct pp_unit_costs pp_unit_costs_usual; /* F=1,I=1,W=1 */
enum pp_status pp_unit_costs_parse(const char *text, struct pp_unit_costs *unit,
                                   struct pp_error *err);
struct pp_costs *pp_costs_unit(struct pp_arena *arena, const struct pp_unit_costs *unit, int ranks,
                               int stages, int splits, int granules);
/* Sets the time of the first stages, which read prompts. */
void pp_costs_unit_prompts(const struct pp_unit_costs *unit, int stages, struct pp_costs *costs);
/* Takes the share of each stage from its recomputation, [stage]. */
void pp_costs_unit_share(const double *recompute_frac, struct pp_costs *costs);
