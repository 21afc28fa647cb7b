/* Traffic of the links of a step, by class and by link. */
#include "sim/run/links_parts.h"

#include "core/hash.h"
#include "core/map64.h"
#include "sim/config/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes --------------------------------------------------------------------------------- */

/* Pattern of a name, "node3.nic0.up" -> "node*.nic*.up", and its hash. */
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
    struct pp_map64 index; /* by the hash of the name, or the next free key */
};

static struct pp_link_class *class_of(struct classes *c, const char *name)
{
    char pattern[PP_LINK_NAME_BYTES];
    uint64_t key = pattern_of(name, pattern);
    int at = *pp_map64_at(&c->index, key, c->count);

    while (at < c->count && strcmp(c->list[at].name, pattern) != 0)
        at = *pp_map64_at(&c->index, ++key, c->count);
    if (at < c->count)
        return &c->list[at];
    struct pp_link_class *class = PP_PUSH(c->arena, c->list, c->count, c->capacity);
    *class = (struct pp_link_class){.number = at};
    memcpy(class->name, pattern, sizeof(pattern));
    return class;
}

/* Class of a link. Each form of a name is looked up once: `class_of_form` is a class + 1, or 0. */
static struct pp_link_class *class_of_link(struct classes *c, const struct pp_fabric *fabric,
                                           int link, int class_of_form[PP_LINK_FORMS])
{
    const int form = pp_fabric_link_form(fabric, link);
    char text[PP_LINK_NAME_BYTES];

    if (form >= 0 && class_of_form[form])
        return &c->list[class_of_form[form] - 1];
    struct pp_link_class *class = class_of(c, pp_fabric_link_name(fabric, link, text));
    if (form >= 0)
        class_of_form[form] = class->number + 1;
    return class;
}

#define TIE_FRAC 1e-9
/* Adds every used link to `links`, with its class; returns their number. */
static int sort_into_classes(const struct pp_traffic *t, struct classes *c,
                             struct pp_used_link *links)
{
    const struct pp_link_inputs *in = t->in;
    const struct pp_fabric *fabric = in->network->fabric;
    int class_of_form[PP_LINK_FORMS] = {0}, count = 0;
    char text[PP_LINK_NAME_BYTES];

    for (int i = 0; i < t->links.count; i++) {
        if (t->bytes[i] <= 0)
            continue;
        const double bytes = t->bytes[i] / in->steps;
        const double bytes_per_s = t->links.value[i].bytes_per_s;
        const double frac = bytes / (bytes_per_s * in->iteration_s);
        struct pp_link_class *class = class_of_link(c, fabric, t->links.link[i], class_of_form);
        class->count++;
        class->bytes += bytes;
        class->mean_frac += frac;
        if (frac > class->max_frac * (1 + TIE_FRAC)) /* of equals the first */
            snprintf(class->hottest, sizeof(class->hottest), "%s",
                     pp_fabric_link_name(fabric, t->links.link[i], text));
        class->max_frac = frac > class->max_frac ? frac : class->max_frac;
        links[count++] = (struct pp_used_link){.link = t->links.link[i],
                                               .class = class->number,
                                               .bytes_per_s = bytes_per_s,
                                               .frac = frac};
    }
    return count;
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

/* ---- single links ---------------------------------------------------------------------------- */

/* Orders links by class, then by falling use. Equal use, up to rounding, keeps their order. */
static int by_class(const void *a, const void *b)
{
    const struct pp_used_link *x = a, *y = b;

    if (x->class != y->class)
        return x->class - y->class;
    if (fabs(x->frac - y->frac) > TIE_FRAC * fmax(x->frac, y->frac))
        return x->frac > y->frac ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

/* Finds the classes, sorted, and the used links in order of their first use. */
static struct pp_used_link *find_links(struct pp_arena *arena, const struct pp_link_inputs *in,
                                       struct pp_link_loads *loads, int *count)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_traffic t = pp_traffic_make(scratch, in, 1, NULL, 0);
    struct classes classes = {.arena = arena, .index = pp_map64_create(scratch, 64)};

    pp_traffic_all(&t);
    struct pp_used_link *links = PP_ARRAY(arena, struct pp_used_link, t.links.count + 1);
    *count = sort_into_classes(&t, &classes, links);
    *loads = finish(&classes);
    return links;
}

struct pp_used_link *pp_used_links(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   struct pp_link_loads *loads, int *count)
{
    struct pp_used_link *links = find_links(arena, in, loads, count);
    int *place = PP_ARRAY(arena, int, loads->count + 1); /* sorted place of each class */

    for (int k = 0; k < loads->count; k++)
        place[loads->classes[k].number] = k;
    for (int i = 0; i < *count; i++)
        links[i].class = place[links[i].class];
    if (*count)
        qsort(links, (size_t)*count, sizeof(*links), by_class);
    return links;
}

struct pp_link_loads pp_link_loads(struct pp_arena *arena, const struct pp_link_inputs *in)
{
    struct pp_link_loads loads;
    int count;

    find_links(arena, in, &loads, &count);
    return loads;
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
