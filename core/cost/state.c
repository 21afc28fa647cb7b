/* Sharded state: meshes as text, ZeRO stages, and the rules between classes. */
#include "core/cost/state.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>

const char *const pp_state_class_names[PP_STATE_CLASSES] = {"p", "g", "os", "a", "kv"};
const char *const pp_gather_names[] = {"layer", "chunk", NULL};
const char *const pp_evict_names[] = {"belady", "lru", "fifo", NULL};

static const char *const words[PP_STATE_SHARDED] = {"parameters", "gradients",
                                                    "the optimizer state"};
static const struct pp_mesh whole = {1, 1};
enum { MESH_MAX = 1 << 20, MESH_TEXT_BYTES = 32 };

/* ---- ZeRO ------------------------------------------------------------------------------------ */

struct pp_state_spec pp_state_spec_zero(int zero, struct pp_mesh replicas)
{
    return (struct pp_state_spec){
        .replicas = replicas,
        .shard = {[PP_STATE_PARAMS] = zero >= 3 ? replicas : whole,
                  [PP_STATE_GRADS] = zero >= 2 ? replicas : whole,
                  [PP_STATE_OPTIMIZER] = zero >= 1 ? replicas : whole},
        .buffers = 2,
    };
}

struct pp_state_spec pp_state_with_zero(const struct pp_state_spec *spec, int zero)
{
    const struct pp_state_spec meshes = pp_state_spec_zero(zero, spec->replicas);
    struct pp_state_spec changed = *spec;

    memcpy(changed.shard, meshes.shard, sizeof(changed.shard));
    return changed;
}

int pp_state_zero(const struct pp_state_spec *spec)
{
    for (int zero = 0; zero <= 3; zero++) {
        const struct pp_state_spec like = pp_state_spec_zero(zero, spec->replicas);
        bool is_like = true;
        for (int c = 0; c < PP_STATE_SHARDED; c++)
            is_like &= pp_mesh_is_same(like.shard[c], spec->shard[c]);
        if (is_like)
            return zero;
    }
    return -1;
}

/* ---- movements ------------------------------------------------------------------------------- */

static enum pp_tier tier_at(const struct pp_state_spec *spec, enum pp_state_class what, int end)
{
    if (end == PP_AT_HOME)
        return spec->home[what];
    return end == PP_AT_UPDATE && spec->is_cpu_update ? PP_TIER_HOST : PP_TIER_DEVICE;
}

struct pp_move pp_state_move(const struct pp_state_spec *spec, enum pp_purpose purpose)
{
    const struct pp_purpose_row *row = &pp_purposes[purpose];
    const enum pp_state_class what = (enum pp_state_class)row->what;

    return (struct pp_move){what, tier_at(spec, what, row->from), tier_at(spec, what, row->to)};
}

/* Is true if a movement is omitted because the host updates its own copy. */
static bool is_spared(const struct pp_state_spec *spec, enum pp_purpose purpose)
{
    switch (purpose) {
    case PP_FOR_GRADS: /* they have left after their visits */
        return pp_state_moved(spec, PP_STATE_GRADS) >= pp_state_moved(spec, PP_STATE_OPTIMIZER);
    case PP_FOR_FETCH:
    case PP_FOR_STORE:
        return spec->is_cpu_update;
    case PP_FOR_HOME: /* the host has updated all that lives there */
        return pp_state_is_updated_at_home(spec) &&
               pp_state_moved(spec, PP_STATE_PARAMS) <= pp_state_moved(spec, PP_STATE_OPTIMIZER);
    case PP_FOR_PARAMS: /* all that the host updates lives there */
        return pp_state_is_updated_at_home(spec) &&
               pp_state_moved(spec, PP_STATE_PARAMS) >= pp_state_moved(spec, PP_STATE_OPTIMIZER);
    default:
        return false;
    }
}

bool pp_state_moves(const struct pp_state_spec *spec, enum pp_purpose purpose)
{
    const struct pp_move move = pp_state_move(spec, purpose);

    if (purpose == PP_FOR_UPDATE)
        return pp_state_has_host_stream(spec);
    return move.from != move.to && !is_spared(spec, purpose);
}

/* ---- text ------------------------------------------------------------------------------------ */

struct pp_mesh pp_mesh_within(struct pp_mesh fine, struct pp_mesh coarse)
{
    if (pp_mesh_size(coarse) == 1)
        return pp_mesh_size(fine) == 1 ? whole : fine;
    return (struct pp_mesh){fine.in_node / coarse.in_node, fine.nodes / coarse.nodes};
}

static enum pp_status parse_count(const char *text, size_t length, int *count)
{
    char number[16];
    int64_t value;
    struct pp_error ignored;

    if (length == 0 || length >= sizeof(number))
        return PP_EINVAL;
    memcpy(number, text, length);
    number[length] = '\0';
    PP_TRY(pp_units_parse_int(number, 1, MESH_MAX, &value, &ignored));
    *count = (int)value;
    return PP_OK;
}

enum pp_status pp_mesh_parse(const char *text, struct pp_mesh *mesh, struct pp_error *err)
{
    const char *cross = strchr(text, 'x');
    const size_t first = cross ? (size_t)(cross - text) : strlen(text);

    mesh->nodes = 1;
    if (parse_count(text, first, &mesh->in_node) != PP_OK ||
        (cross && parse_count(cross + 1, strlen(cross + 1), &mesh->nodes) != PP_OK) ||
        (int64_t)mesh->in_node * mesh->nodes > MESH_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "'%.40s' is no mesh: expected AxB (A devices in each of B nodes, such "
                            "as 8x4), or A for Ax1",
                            text);
    return PP_OK;
}

/* Parses one "class=mesh". */
static enum pp_status parse_class(const char *text, size_t length,
                                  struct pp_mesh shard[PP_STATE_SHARDED], struct pp_error *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t name = equals ? (size_t)(equals - text) : length;
    char mesh[64] = "";

    for (int c = 0; c < PP_STATE_SHARDED; c++) {
        if (strlen(pp_state_class_names[c]) != name ||
            memcmp(pp_state_class_names[c], text, name) != 0)
            continue;
        if (shard[c].in_node)
            return pp_error_set(err, PP_EINVAL, "%s is given twice", pp_state_class_names[c]);
        if (equals)
            snprintf(mesh, sizeof(mesh), "%.*s", (int)(length - name - 1), equals + 1);
        return pp_mesh_parse(mesh, &shard[c], err) == PP_OK
                   ? PP_OK
                   : pp_error_prefix(err, "%s=", pp_state_class_names[c]);
    }
    return pp_error_set(err, PP_EINVAL,
                        "unknown class '%.*s': expected p (parameters), g (gradients) or os "
                        "(optimizer state), such as p=1,g=1,os=8x4",
                        (int)(name < 40 ? name : 40), text);
}

enum pp_status pp_state_parse(const char *text, struct pp_mesh shard[PP_STATE_SHARDED],
                              struct pp_error *err)
{
    memset(shard, 0, sizeof(*shard) * PP_STATE_SHARDED);
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        PP_TRY(parse_class(at, length, shard, err));
        at += length;
        if (!*at)
            return PP_OK;
    }
}

static const char *mesh_text(struct pp_mesh mesh, char text[MESH_TEXT_BYTES])
{
    if (pp_mesh_size(mesh) == 1)
        mesh = whole;
    snprintf(text, MESH_TEXT_BYTES, "%dx%d", mesh.in_node, mesh.nodes);
    return text;
}

const char *pp_state_print(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES])
{
    char p[MESH_TEXT_BYTES], g[MESH_TEXT_BYTES], os[MESH_TEXT_BYTES];

    snprintf(text, PP_STATE_TEXT_BYTES, "p=%s,g=%s,os=%s",
             mesh_text(spec->shard[PP_STATE_PARAMS], p), mesh_text(spec->shard[PP_STATE_GRADS], g),
             mesh_text(spec->shard[PP_STATE_OPTIMIZER], os));
    return text;
}

const char *pp_state_unit(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES])
{
    char bytes[PP_UNITS_TEXT_BYTES];

    if (!(spec->gather_bytes > 0))
        return pp_gather_names[spec->gather];
    snprintf(text, PP_STATE_TEXT_BYTES, "piece of %s",
             pp_units_print(spec->gather_bytes, PP_UNIT_BYTES, bytes));
    return text;
}

const char *pp_state_name(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES])
{
    const int zero = pp_state_zero(spec);

    if (zero < 0)
        return pp_state_print(spec, text);
    snprintf(text, PP_STATE_TEXT_BYTES, "ZeRO %d", zero);
    return text;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Appends "; nearest: 2, 4", the divisors of `of` next to `value`. */
static enum pp_status add_divisors(struct pp_error *err, int value, int of)
{
    int below = value < of ? value : of, above = value;

    while (of % below != 0)
        below--;
    while (above < of && of % above != 0)
        above++;
    if (above > of || above == below)
        return pp_error_append(err, "; nearest: %d", below);
    return pp_error_append(err, "; nearest: %d, %d", below, above);
}

static enum pp_status check_divides(const char *class, struct pp_mesh mesh, struct pp_mesh replicas,
                                    struct pp_error *err)
{
    char text[MESH_TEXT_BYTES], all[MESH_TEXT_BYTES];
    const bool is_node = replicas.in_node % mesh.in_node != 0;

    mesh_text(mesh, text);
    if (is_node || replicas.nodes % mesh.nodes != 0) {
        const int value = is_node ? mesh.in_node : mesh.nodes,
                  of = is_node ? replicas.in_node : replicas.nodes;
        if (mesh.nodes == 1 && replicas.nodes == 1)
            pp_error_set(err, PP_EINVAL, "%s=%d does not divide the %d copies of a stage", class,
                         value, of);
        else
            pp_error_set(err, PP_EINVAL,
                         "%s=%s: the replicas of a stage are a mesh of %s, and %d does "
                         "not divide its %d %s",
                         class, text, mesh_text(replicas, all), value, of,
                         is_node ? "devices a node" : "nodes");
        return add_divisors(err, value, of);
    }
    if (mesh.nodes > 1 && mesh.in_node != replicas.in_node)
        return pp_error_set(err, PP_EINVAL,
                            "%s=%s: a mesh that crosses nodes takes all %d replicas of each; "
                            "nearest: %dx%d, %dx1",
                            class, text, replicas.in_node, replicas.in_node, mesh.nodes,
                            mesh.in_node);
    return PP_OK;
}

/* Checks that `fine` is cut in whole shards of `coarse`. */
static enum pp_status check_nested(const struct pp_state_spec *spec, int coarse, int fine,
                                   struct pp_error *err)
{
    const struct pp_mesh a = spec->shard[coarse], b = spec->shard[fine];
    char coarse_text[MESH_TEXT_BYTES], fine_text[MESH_TEXT_BYTES];

    if (pp_mesh_size(a) == 1 || pp_mesh_fits(a, b))
        return PP_OK;
    mesh_text(a, coarse_text);
    return pp_error_set(err, PP_EINVAL,
                        "%s=%s: the shards of %s (%s=%s) are cut into whole shards of %s; "
                        "nearest: %s=%s",
                        pp_state_class_names[fine], mesh_text(b, fine_text), words[coarse],
                        pp_state_class_names[coarse], coarse_text, words[fine],
                        pp_state_class_names[fine], coarse_text);
}

static enum pp_status check_secondary(const struct pp_state_spec *spec, struct pp_error *err)
{
    const struct pp_mesh params = spec->shard[PP_STATE_PARAMS], mesh = spec->secondary;
    char text[MESH_TEXT_BYTES], params_text[MESH_TEXT_BYTES];

    if (!mesh.in_node)
        return PP_OK;
    PP_TRY(check_divides("--secondary", mesh, spec->replicas, err));
    if (pp_mesh_size(mesh) < pp_mesh_size(params) && pp_mesh_fits(mesh, params))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--secondary=%s: a second copy is cut more coarsely than the parameters "
                        "(p=%s), in whole shards of it",
                        mesh_text(mesh, text), mesh_text(params, params_text));
}

enum pp_status pp_state_complete(struct pp_state_spec *spec, struct pp_error *err)
{
    struct pp_mesh *shard = spec->shard;

    for (int c = 0; c < PP_STATE_SHARDED; c++)
        if (!shard[c].in_node)
            shard[c] = c == 0 ? whole : shard[c - 1];
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        PP_TRY(check_divides(pp_state_class_names[c], shard[c], spec->replicas, err));
    PP_TRY(check_nested(spec, PP_STATE_PARAMS, PP_STATE_GRADS, err));
    PP_TRY(check_nested(spec, PP_STATE_GRADS, PP_STATE_OPTIMIZER, err));
    if (!pp_mesh_is_same(shard[PP_STATE_GRADS], shard[PP_STATE_PARAMS]) &&
        !pp_mesh_is_same(shard[PP_STATE_GRADS], shard[PP_STATE_OPTIMIZER])) {
        char g[MESH_TEXT_BYTES], p[MESH_TEXT_BYTES], os[MESH_TEXT_BYTES];
        return pp_error_set(err, PP_EINVAL,
                            "g=%s: gradients are cut like parameters or like the optimizer state; "
                            "nearest: g=%s, g=%s",
                            mesh_text(shard[PP_STATE_GRADS], g),
                            mesh_text(shard[PP_STATE_PARAMS], p),
                            mesh_text(shard[PP_STATE_OPTIMIZER], os));
    }
    return check_secondary(spec, err);
}
