/* Rows of tokens in the order of their experts. Counting sort: it keeps the order of tokens. */
#include "kernels/cpu/routes.h"

#include <string.h>

bool pp_routes_has(const int32_t *chosen, int count, int e)
{
    for (int k = 0; k < count; k++)
        if (chosen[k] == e)
            return true;
    return false;
}

static bool is_held(const struct pp_routing *r, int e)
{
    return r->held == 0 || (e >= r->first_expert && e < r->first_expert + r->held);
}

/* Marks in `row` the choices that have a place, and counts them: begin[e + 1] of expert e. */
static void take(const struct pp_routing *r)
{
    const int choices = r->tokens * r->top_k;

    memset(r->begin, 0, sizeof(*r->begin) * (size_t)(r->experts + 1));
    if (r->capacity > 0 && r->before)
        memcpy(r->so_far, r->before, sizeof(*r->so_far) * (size_t)r->batch * (size_t)r->experts);
    else if (r->capacity > 0)
        memset(r->so_far, 0, sizeof(*r->so_far) * (size_t)r->batch * (size_t)r->experts);
    for (int i = 0; i < r->batch * choices; i++) {
        const int e = r->expert[i];
        int32_t *sent = r->capacity > 0 ? &r->so_far[i / choices * r->experts + e] : NULL;
        const bool has_room = !sent || (*sent)++ < r->capacity,
                   has_place = has_room && is_held(r, e);

        r->row[i] = has_place ? 0 : -1;
        r->begin[e + 1] += has_place;
    }
}

void pp_routes_order(const struct pp_routing *r)
{
    const int choices = r->batch * r->tokens * r->top_k;

    take(r);
    for (int e = 0; e < r->experts; e++)
        r->begin[e + 1] += r->begin[e];
    for (int i = r->begin[r->experts]; i < r->rows; i++)
        r->from[i] = -1;
    for (int i = 0; i < choices; i++)
        if (r->row[i] >= 0) {
            r->row[i] = r->begin[r->expert[i]]++;
            r->from[r->row[i]] = i;
        }
    for (int e = r->experts; e > 0; e--)
        r->begin[e] = r->begin[e - 1];
    r->begin[0] = 0;
}

void pp_routes_count(void *stream, const struct pp_routing *r, int from, int until, double *counts)
{
    const int rows = r->begin[r->experts];

    (void)stream;
    for (int e = 0; e < r->experts; e++)
        counts[e] += r->begin[e + 1] - r->begin[e];
    counts[r->experts] += (r->first_expert == 0 ? r->batch * r->tokens * r->top_k : 0) - rows;
    counts[r->experts + 1] += rows - (r->begin[until] - r->begin[from]);
}
