/* sim/emit/settings.h — shared by the files of the frameworks. A framework is its settings, its
 * differences from the run, and a syntax. Internal to sim/emit. */
#pragma once

#include "schedules/order/schedule.h"
#include "sim/emit/emit.h"

/* Emitted run, as the framework will run it. */
struct pp_emit_job {
    struct pp_arena *arena;
    const struct pp_emit_tool *tool;
    const struct pp_config *config; /* as asked for */
    const char *path;               /* of the fragment, NULL = stdout */
    /* the run's own schedule, or the nearest that the framework has */
    const struct pp_schedule *schedule;  /* NULL: a program file */
    const struct pp_schedule_call *call; /* NULL: the order is read from list_path */
    const char *list_path;
    struct pp_shape shape;   /* of that schedule */
    struct pp_layout layout; /* with vp, pp of that shape */
    const int *blocks;       /* [stage] */
};
static inline int pp_emit_stages(const struct pp_emit_job *job)
{
    return pp_shape_stages(&job->shape);
}

static inline bool pp_emit_has_pipeline(const struct pp_emit_job *job)
{
    return job->layout.pp > 1;
}

/* Returns the schedule's option of this name; 0 if it has none. */
static inline int pp_emit_option(const struct pp_emit_job *job, const char *name)
{
    return pp_schedule_option_value(job->schedule, &job->shape, name);
}

/* Setting of a fragment. Fragments have settings in order of printing, sections together. */
struct pp_emit_setting {
    const char *section; /* "parallelism", "model.model_config"; "" = none */
    const char *name;
    enum { PP_EMIT_INT, PP_EMIT_BOOL, PP_EMIT_TEXT, PP_EMIT_LIST, PP_EMIT_NUMBER } type;
    int64_t integer;  /* INT, BOOL */
    const char *text; /* TEXT: quoted if the syntax has quotes; LIST: already in that syntax;
                       * NUMBER: its decimal digits */
};
struct pp_emission {
    struct pp_arena *arena;
    const char **remarks; /* sentences of at most a few lines, in order */
    int remark_count, remark_capacity;
    struct pp_emit_setting *settings;
    int count, capacity;
    const char *section; /* of the next setting */
};

/* ---- sim/emit/settings.c: add a setting ------------------------------------------------------ */
void pp_emit_section(struct pp_emission *emission, const char *section);
void pp_emit_int(struct pp_emission *emission, const char *name, int64_t value);
/* These leave out 0 (a dimension that the model lacks), a degree of 1, or a flag of false. */
void pp_emit_given(struct pp_emission *emission, const char *name, int64_t value);
void pp_emit_degree(struct pp_emission *emission, const char *name, int64_t degree);
void pp_emit_flag(struct pp_emission *emission, const char *name, bool is);
void pp_emit_bool(struct pp_emission *emission, const char *name, bool is);
/* These leave out NULL; pp_emit_remark() also leaves out an empty text. */
void pp_emit_remark(struct pp_emission *emission, const char *text);
/* Adds a sentence on what the framework does otherwise than asked, with the nearest that it can. */
void pp_emit_differs(struct pp_emission *emission, const char *text);
void pp_emit_text(struct pp_emission *emission, const char *name, const char *text);
void pp_emit_list(struct pp_emission *emission, const char *name, const char *text);
/* Leaves out a share of all. */
void pp_emit_share(struct pp_emission *emission, const char *name, double frac);

/* Part of a framework's fragment. */
struct pp_emit_part {
    void (*put)(const struct pp_emit_job *job, struct pp_emission *emission);
    void (*differs)(const struct pp_emit_job *job, struct pp_emission *emission);
    /* Returns why it cannot run the degrees, with the nearest that it can, or NULL. May be NULL. */
    const char *(*refuses)(const struct pp_emit_job *job);
};

/* ---- sim/emit/text.c ------------------------------------------------------------------------- */
/* Prints arguments as an array of bash named ARGS; sections are comments. */
void pp_emit_shell(const struct pp_emission *emission, FILE *out);
void pp_emit_toml(const struct pp_emission *emission, FILE *out);
/* Dots in a section nest. Remarks are an array "_comment", as JSON has no comments. */
void pp_emit_json(const struct pp_emission *emission, FILE *out);
void pp_emit_yaml(const struct pp_emission *emission, FILE *out);

/* Tiers off the device on which a framework can keep a class of state. */
#define PP_EMIT_ON(tier) (1u << (tier))
struct pp_emit_home {
    enum pp_state_class class;
    unsigned tiers;   /* bits of PP_EMIT_ON */
    const char *lack; /* sentence if another tier is asked for */
};

struct pp_emit_tool {
    const char *name, *title;
    const struct pp_tool *software; /* what it runs */
    void (*print)(const struct pp_emission *emission, FILE *out);
    const struct pp_emit_part *const *parts; /* NULL-terminated */
    /* Classes that may leave the device, or have their own sentence why not. The first row that
     * lacks the tier is printed. A class without a row stays on the device. */
    const struct pp_emit_home *homes;
    int home_count;
    const char *stays; /* sentence for classes without a row; NULL: a general one */
    /* Adds remarks on how to start the framework, and on its further settings. */
    void (*launch)(const struct pp_emit_job *job, struct pp_emission *emission);
    /* Is true if it reads the order of such a run from a file; NULL = never. */
    bool (*reads)(const struct pp_config *config);
};
extern const struct pp_emit_tool pp_emit_deepspeed, pp_emit_megatron, pp_emit_nanotron,
    pp_emit_torchtitan;
extern const struct pp_emit_part pp_emit_megatron_layout, pp_emit_megatron_model,
    pp_emit_megatron_state;
bool pp_emit_megatron_is_fsdp(const struct pp_emit_job *job);
/* Adds settings that divide blocks over stages. */
void pp_emit_torchtitan_split(const struct pp_emit_job *job, struct pp_emission *emission);
/* Is true if stages are lists of modules. */
bool pp_emit_torchtitan_is_listed(const struct pp_emit_job *job);

/* ---- sim/emit/schedule.c --------------------------------------------------------------------- */
/* Sets schedule, call, shape, layout and blocks. PP_EINVAL if no schedule of the framework fits. */
enum pp_status pp_emit_choose(struct pp_emit_job *job, struct pp_error *err);
/* Is true if the framework runs another order than was simulated. */
bool pp_emit_is_other(const struct pp_emit_job *job);
const char *pp_emit_say_schedule(const struct pp_emit_job *job);

/* ---- sim/emit/values.c: settings and gaps of several frameworks ------------------------------ */
/* Is true if stages from `from` to before `to` have equally many blocks. */
bool pp_emit_is_even(const struct pp_emit_job *job, int from, int to);
enum pp_precision pp_emit_precision(const struct pp_emit_job *job);
/* Is true if all but narrower matrices are bf16. */
bool pp_emit_is_bf16(const struct pp_emit_job *job);
bool pp_emit_is_fp16(const struct pp_emit_job *job);
/* Returns the number of devices that hold the same parameters, over which state may be cut. */
int pp_emit_replicas(const struct pp_emit_job *job);
int pp_emit_nodes(const struct pp_emit_job *job); /* used nodes of the cluster */
int pp_emit_node_gpus(const struct pp_emit_job *job);
/* Returns the number of devices over which a class is cut; 1 if there is one replica. */
int pp_emit_cut(const struct pp_emit_job *job, enum pp_state_class class);
bool pp_emit_is_sequence_parallel(const struct pp_emit_job *job);
const char *pp_emit_say_barrier(const struct pp_emit_job *job);
const char *pp_emit_say_head(const struct pp_emit_job *job);
const char *pp_emit_say_graph(const struct pp_emit_job *job);
/* Returns the sentence on the first home of state that the framework lacks; NULL: none. */
const char *pp_emit_say_home(const struct pp_emit_job *job);
const char *pp_emit_say_bits(const struct pp_emit_job *job);
/* ... on when recomputation runs; without a word it may run when it does there. */
const char *pp_emit_say_again(const struct pp_emit_job *job);
const char *pp_emit_say_split(const struct pp_emit_job *job);
const char *pp_emit_say_tiers(const struct pp_emit_job *job);
const char *pp_emit_say_map(const struct pp_emit_job *job);
/* Closes a stream of open_memstream(); returns its text, in the arena. */
const char *pp_emit_keep(const struct pp_emit_job *job, FILE *out, char **text);
