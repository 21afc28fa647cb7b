/* Traffic of the links of a step, by class and by link. */
#include "sim/run/links_parts.h"

#include "core/hash.h"
#include "sim/config/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes --------------------------------------------------------------------------------- */

/* "node3.nic0.up" -> "node*.nic*.up", and the hash of that. */
static uint32_t pattern_of(const char *name, char pattern[PP_LINK_NAME_BYTES])
{
    size_t used = 0;

    for (const char *c = name; *c; c++) {
        const bool is_digit = *c >= '0' && *c <= '9';
        if (is_digit && used && pattern[used - 1] == '*')
            continue;
        pattern[used++] = is_digit ? '*' : *c;
    }
    pattern[used] = '\0';
    return (uint32_t)pp_hash(PP_HASH_OF_NOTHING, pattern, used);
}

struct classes {
    struct pp_arena *arena;
    struct pp_link_class *list;
    int count, capacity;
    int32_t *slots; /* open addressing, index + 1 */
    uint32_t mask;
};

static void rehash(struct classes *c)
{
    char pattern[PP_LINK_NAME_BYTES];

    c->mask = c->mask ? 2 * c->mask + 1 : 63;
    c->slots = PP_ARRAY(c->arena, int32_t, c->mask + 1);
    for (int i = 0; i < c->count; i++) {
        uint32_t at = pattern_of(c->list[i].name, pattern) & c->mask;
        while (c->slots[at])
            at = (at + 1) & c->mask;
        c->slots[at] = i + 1;
    }
}

static struct pp_link_class *class_of(struct classes *c, const char *name)
{
    char pattern[PP_LINK_NAME_BYTES];

    if (2 * (uint32_t)c->count >= c->mask)
        rehash(c);
    uint32_t at = pattern_of(name, pattern) & c->mask;
    for (; c->slots[at]; at = (at + 1) & c->mask)
        if (!strcmp(c->list[c->slots[at] - 1].name, pattern))
            return &c->list[c->slots[at] - 1];
    struct pp_link_class *class = PP_PUSH(c->arena, c->list, c->count, c->capacity);
    c->slots[at] = c->count;
    *class = (struct pp_link_class){0};
    memcpy(class->name, pattern, sizeof(pattern));
    return class;
}

#define TIE_FRAC 1e-9
/* The class of every used link goes into `links`, where that is asked for. */
static void sort_into_classes(const struct pp_traffic *t, struct classes *c,
                              struct pp_used_link *links, int *count)
{
    const struct pp_link_inputs *in = t->in;
    char text[PP_LINK_NAME_BYTES];

    for (int i = 0; i < t->links.count; i++) {
        if (t->bytes[i] <= 0)
            continue;
        const char *name = pp_fabric_link_name(in->network->fabric, t->links.link[i], text);
        const double bytes = t->bytes[i] / in->steps;
        const double bytes_per_s = t->links.value[i].bytes_per_s;
        const double frac = bytes / (bytes_per_s * in->iteration_s);
        struct pp_link_class *class = class_of(c, name);
        class->count++;
        class->bytes += bytes;
        class->mean_frac += frac;
        if (frac > class->max_frac * (1 + TIE_FRAC)) /* of equals the first */
            snprintf(class->hottest, sizeof(class->hottest), "%s", name);
        class->max_frac = frac > class->max_frac ? frac : class->max_frac;
        if (links)
            links[(*count)++] = (struct pp_used_link){.link = t->links.link[i],
                                                      .class = (int)(class - c->list),
                                                      .bytes_per_s = bytes_per_s,
                                                      .frac = frac};
    }
}

static int by_use(const void *a, const void *b)
{
    const struct pp_link_class *x = a, *y = b;

    return x->max_frac != y->max_frac ? (x->max_frac > y->max_frac ? -1 : 1)
                                      : strcmp(x->name, y->name);
}

static struct pp_link_loads finish(struct classes *classes)
{
    for (int i = 0; i < classes->count; i++) {
        struct pp_link_class *class = &classes->list[i];
        class->mean_frac = fmin(class->mean_frac / class->count, class->max_frac); /* rounding */
        if (class->count == 1)
            memcpy(class->name, class->hottest, sizeof(class->name));
    }
    if (classes->count)
        qsort(classes->list, (size_t)classes->count, sizeof(*classes->list), by_use);
    return (struct pp_link_loads){.count = classes->count, .classes = classes->list};
}

struct pp_link_loads pp_link_loads(struct pp_arena *arena, const struct pp_link_inputs *in)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_traffic t = pp_traffic_make(scratch, in);
    struct classes classes = {.arena = arena};

    pp_traffic_all(&t);
    sort_into_classes(&t, &classes, NULL, NULL);
    return finish(&classes);
}

/* ---- single links ---------------------------------------------------------------------------- */

/* By class, then from the most used link down. Links of equal use, up to rounding, keep the order
 * of the fabric. */
static int by_class(const void *a, const void *b)
{
    const struct pp_used_link *x = a, *y = b;

    if (x->class != y->class)
        return x->class - y->class;
    if (fabs(x->frac - y->frac) > TIE_FRAC * fmax(x->frac, y->frac))
        return x->frac > y->frac ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

struct pp_used_link *pp_used_links(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   struct pp_link_loads *loads, int *count)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_traffic t = pp_traffic_make(scratch, in);
    struct classes classes = {.arena = arena};

    pp_traffic_all(&t);
    struct pp_used_link *links = PP_ARRAY(arena, struct pp_used_link, t.links.count + 1);
    *count = 0;
    sort_into_classes(&t, &classes, links, count);
    struct pp_link_class *before =
        pp_arena_grow(scratch, classes.list, sizeof(*before) * (size_t)classes.count,
                      sizeof(*before) * ((size_t)classes.count + 1));
    *loads = finish(&classes);
    int *place = PP_ARRAY(scratch, int, classes.count + 1); /* sorted place of each class */
    for (int i = 0; i < classes.count; i++)
        for (int k = 0; k < classes.count; k++)
            if (!strcmp(before[i].hottest, loads->classes[k].hottest))
                place[i] = k;
    for (int i = 0; i < *count; i++)
        links[i].class = place[links[i].class];
    if (*count)
        qsort(links, (size_t)*count, sizeof(*links), by_class);
    return links;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct pp_link_inputs pp_link_inputs_of(const struct pp_result *r)
{
    const struct pp_config *c = &r->config;

    return (struct pp_link_inputs){.program = r->program,
                                   .costs = r->costs,
                                   .network = c->engine_options.network,
                                   .gpus_per_node = c->cluster.gpus_per_node,
                                   .has_flows = c->engine_options.eval.ring_flows,
                                   .is_flat = c->costs.algorithm == PP_ALGORITHM_RING,
                                   .steps = pp_steps_in_list(c) ? c->engine_options.eval.steps : 1,
                                   .iteration_s = r->metrics.iteration_s};
}

struct pp_link_loads pp_links_of(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_link_inputs in = pp_link_inputs_of(r);

    return in.network ? pp_link_loads(arena, &in) : (struct pp_link_loads){0};
}
