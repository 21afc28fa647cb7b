/* Adds the order of work of a row, and its chunks. */
#include "sim/published/parts.h"

#include "schedules/order/schedule.h"
#include "schedules/registry.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum pp_status pp_measure_put_named_schedule(struct pp_measure_writer *w, struct pp_error *err)
{
    const char *cell = w->row->cell[PP_COL_SCHEDULE];

    if (!*cell || pp_measure_given(w, "schedule"))
        return PP_OK;
    const char *name = pp_arena_printf(w->arena, "%.*s", (int)strcspn(cell, " ("), cell);
    if (pp_schedule_find(name)) {
        pp_measure_put(w, "schedule", name);
        return PP_OK;
    }
    const char *near = pp_schedule_suggest(name);
    pp_error_set(err, PP_EINVAL, "schedule \"%.60s\" is not known", cell);
    return near ? pp_error_append(err, "; nearest: %s", near) : PP_EINVAL;
}

/* A schedule with fixed chunks has no other number. With two pipelines a rank has one chunk of
 * each; tables count two. */
enum pp_status pp_measure_check_chunks(const struct pp_measure_writer *w, struct pp_error *err)
{
    const char *name = pp_measure_given(w, "schedule");
    const struct pp_schedule *schedule = name ? pp_schedule_find(name) : NULL;
    const int chunks = schedule ? schedule->chunks : 0;

    if (w->vp <= 1 || chunks == 0 || w->vp == chunks ||
        (schedule->placement == PP_PLACE_TWO_WAY && w->vp == 2 * chunks))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "contradiction: vpp_or_chunks %" PRId64 ", while a rank of schedule %s has "
                        "%d",
                        w->vp, name, chunks);
}

/* Orders whose ranks have as many chunks as the table says. */
#define OF_CHUNKS "interleav|^1f1b-i|breadth|bfs|wave|hanayo"

/* Interleaves chunks of one layer, if no cell states their number; 0 if that fills no stages alike.
 */
static int64_t infer_chunks(struct pp_measure_writer *w)
{
    const double layers = pp_measure_number(w->row, PP_COL_LAYERS);

    if (!pp_measure_matches(w->row->cell[PP_COL_SCHEDULE], "interleav|^1f1b-i"))
        return 0;
    for (int ends = 0; ends <= 2; ends += 2) { /* embedding and head may count as layers */
        const int64_t chunks = isfinite(layers) ? ((int64_t)layers + ends) / w->pp : 0;
        if (chunks > 1 && chunks * w->pp == (int64_t)layers + ends) {
            pp_measure_infer(w, "vp", chunks, "not stated: one layer a chunk");
            return chunks;
        }
    }
    return 0;
}

enum pp_status pp_measure_put_schedule(struct pp_measure_writer *w, struct pp_error *err)
{
    const char *cell = w->row->cell[PP_COL_SCHEDULE], *chunks = w->row->cell[PP_COL_VP];
    const bool has_chunks = pp_measure_matches(cell, OF_CHUNKS) || (!*cell && *chunks);

    w->vp = 1;
    if (strcmp(chunks, "none") != 0)
        PP_TRY(pp_measure_int(w->row, PP_COL_VP, 4096, 1, &w->vp, err));
    if (w->pp == 1) {
        pp_measure_put(w, "schedule", "1f1b");
        return PP_OK;
    }
    if (!strcmp(cell, "none"))
        return pp_error_set(err, PP_EINVAL, "contradiction: schedule none with pp %" PRId64, w->pp);
    if (!*cell && !*chunks)
        return pp_error_set(err, PP_EINVAL, "missing: schedule");
    if (has_chunks && !*chunks && (w->vp = infer_chunks(w)) == 0)
        return pp_error_set(err, PP_EINVAL, "missing: %s", pp_measure_name(w->row, PP_COL_VP));
    if (has_chunks && w->vp == 1) /* one chunk: nothing is interleaved */
        pp_measure_put(w, "schedule", "1f1b");
    else if (!*cell)
        pp_measure_put(w, "schedule", "interleaved");
    if (has_chunks && w->vp > 1)
        pp_measure_put_int(w, "vp", w->vp);
    return PP_OK;
}

void pp_measure_put_head(struct pp_measure_writer *w, int64_t layers)
{
    const char *name = pp_measure_given(w, "schedule");
    const struct pp_schedule *schedule = name ? pp_schedule_find(name) : NULL;
    const int64_t chunks = schedule && schedule->chunks > 0 ? schedule->chunks : w->vp,
                  stages = w->pp * chunks;

    if (w->pp == 1 || layers % stages == 0 || (layers + 2) % stages != 0 ||
        pp_measure_given(w, "head"))
        return;
    pp_measure_put(w, "head", "counted");
    pp_measure_note(w, pp_arena_printf(w->arena,
                                       "head counted: %" PRId64 " layers with embedding and head "
                                       "are a multiple of %" PRId64 " stages",
                                       layers, stages));
}
