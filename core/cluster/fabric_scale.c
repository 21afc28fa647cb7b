/* --link-bw: faster or slower links, by class, by name, by pattern. */
#include "core/cluster/fabric_parts.h"

#include "core/cli/options.h"

#include <math.h>

enum { NEAR_NAMES = 4096, SINGLE_LINKS_MAX = 1 << 25 };

static void scale_link(struct pp_fabric *f, int link, double factor)
{
    if (!f->factors) {
        f->factors = pp_arena_alloc_raw(f->arena, sizeof(double) * (size_t)f->links);
        for (int i = 0; i < f->links; i++)
            f->factors[i] = 1;
        f->scratch = PP_ARRAY(f->arena, int32_t, pp_fabric_route_max(f));
    }
    f->factors[link] *= factor;
}

static enum pp_status scale_class(struct pp_fabric *f, bool is_network, double factor,
                                  struct pp_error *err)
{
    if (f->listed && !is_network)
        return pp_error_set(err, PP_EINVAL,
                            "--link-bw node: the links of a file are all network: name them");
    if (f->listed)
        for (int i = 0; i < f->links; i++)
            scale_link(f, i, factor);
    for (int i = 0; i < PP_LEVELS; i++)
        if (pp_fabric_is_network((enum pp_fabric_level_kind)i) == is_network)
            f->level[i].bytes_per_s *= factor;
    return PP_OK;
}

/* Returns names to choose a suggestion from: the first links of every level. */
static const char **near_names(struct pp_fabric *f)
{
    const char **names = PP_ARRAY(f->arena, const char *, PP_LEVELS *NEAR_NAMES + 1);
    int count = 0;

    for (int i = 0; i < PP_LEVELS; i++)
        for (int j = 0; j < f->level[i].count && j < NEAR_NAMES; j++) {
            char text[PP_LINK_NAME_BYTES];
            names[count++] =
                pp_arena_strdup(f->arena, pp_fabric_link_name(f, f->level[i].first + j, text));
        }
    for (int i = 0; f->listed && i < f->links && i < NEAR_NAMES; i++)
        names[count++] = f->names[i];
    return names;
}

static enum pp_status unknown_name(struct pp_fabric *f, const char *name, struct pp_error *err)
{
    const struct pp_arena_mark mark = pp_arena_mark(f->arena);
    const char **names = near_names(f), *near = pp_suggest(name, names);
    char text[PP_LINK_NAME_BYTES];

    pp_error_set(err, PP_EINVAL, "--link-bw %.60s: no link has this name; ", name);
    if (near)
        pp_error_append(err, "did you mean %s? ", near);
    pp_error_append(err, "links are named ");
    for (int i = 0; i < PP_LEVELS; i++)
        if (f->level[i].count > 0)
            pp_error_append(err, "%s, ", pp_fabric_link_name(f, f->level[i].first, text));
    if (f->listed && f->links > 0)
        pp_error_append(err, "%s, ", f->names[0]);
    pp_arena_release(f->arena, mark);
    return pp_error_append(err, "* stands for any characters; classes are node and network");
}

bool pp_fabric_is_scaled(const struct pp_fabric *f)
{
    return f->factors != NULL;
}

enum pp_status pp_fabric_scale(struct pp_fabric *f, const char *name, double factor,
                               struct pp_error *err)
{
    char text[PP_LINK_NAME_BYTES];
    int found = 0;

    pp_fabric_forget(f->kept);
    if (!(factor > 0) || !isfinite(factor))
        return pp_error_set(err, PP_EINVAL, "--link-bw %.60s: expected a factor above 0", name);
    if (pp_same_name(name, "network") || pp_same_name(name, "node"))
        return scale_class(f, pp_same_name(name, "network"), factor, err);
    if (f->links > SINGLE_LINKS_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--link-bw %.60s: the fabric has %d links, too many to name one: node "
                            "or network",
                            name, f->links);
    for (int i = 0; i < f->links; i++)
        if (pp_name_fits(name, pp_fabric_link_name(f, i, text))) {
            scale_link(f, i, factor);
            found++;
        }
    return found ? PP_OK : unknown_name(f, name, err);
}
