/* Finds the layouts that win on machines with half or twice the bandwidth, memory or FLOP/s. The
 * evaluator simulates the rows at the top again there; layouts far from the best here are not
 * tried. */
#include "core/process/pool.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"

const struct pp_search_what_if pp_search_what_ifs[PP_SEARCH_WHAT_IFS] = {
    {"network x 0.5", {.network = 0.5}},      {"network x 2", {.network = 2}},
    {"links of a node x 0.5", {.node = 0.5}}, {"links of a node x 2", {.node = 2}},
    {"device memory x 0.5", {.memory = 0.5}}, {"device memory x 2", {.memory = 2}},
    {"device FLOP/s x 0.5", {.peak = 0.5}},   {"device FLOP/s x 2", {.peak = 2}},
};

enum { MOST_ROWS = 16 }; /* half and twice of all takes as long as 128 rows */

struct trials {
    struct pp_arena *arena; /* of the search; for the parent alone */
    struct pp_search *search;
    struct pp_search_space *spaces; /* [what-if] */
    bool *is_there;                 /* [what-if] */
    struct pp_outcome *list;        /* [what-if][row]; shared */
    int rows, done;
    struct pp_progress *progress;
};

/* Simulates a row on another machine; without an outcome it does not fit. */
static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct trials *trials = context;
    const int what_if = (int)(item / trials->rows), row = (int)(item % trials->rows);
    const struct pp_search_row *here = &trials->search->rows[row];
    struct pp_outcome *trial = &trials->list[item];
    struct pp_error ignored;

    (void)out;
    *trial = (struct pp_outcome){0};
    if (trials->is_there[what_if] &&
        pp_search_try(scratch, &trials->spaces[what_if], here->point, PP_QUICK, trial, &ignored) ==
            PP_OK &&
        here->is_simulated) /* shared links are assumed to add as much there as here */
        trial->s_per_sample *= here->outcome.step_s / here->dag_s;
}

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err)
{
    struct trials *trials = context;

    (void)text, (void)length, (void)err;
    trials->done++;
    if (death)
        pp_search_lose(trials->arena, trials->search,
                       trials->search->rows[item % trials->rows].point, death);
    return PP_OK;
}

static void tick(void *context)
{
    const struct trials *trials = context;

    pp_progress_show(trials->progress, "other machines",
                     (double)trials->done / (PP_SEARCH_WHAT_IFS * trials->rows));
}

/* Ranks as the search does: a row without room wins only if it is faster by more than a tie. */
static struct pp_search_flip flip_of(const struct trials *trials, int what_if)
{
    const struct pp_outcome *list = &trials->list[what_if * trials->rows];
    struct pp_search_flip flip = {
        .winner = -1, .fits = list[0].fits, .is_tight = !pp_search_has_room(&list[0])};
    double least_s = (double)INFINITY;

    for (int i = 0; i < trials->rows; i++) {
        const double rank_s = pp_search_rank_s(trials->search, &list[i]);
        if (!list[i].fits || rank_s >= least_s)
            continue;
        least_s = rank_s;
        flip.winner = i;
    }
    flip.is_known = flip.winner >= 0;
    if (flip.is_known && flip.fits)
        flip.slower_frac = list[0].s_per_sample / list[flip.winner].s_per_sample - 1;
    return flip;
}

enum pp_status pp_search_flip(struct pp_arena *arena, struct pp_search *search,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct trials trials = {.arena = arena,
                            .search = search,
                            .spaces = PP_ARRAY(scratch, struct pp_search_space, PP_SEARCH_WHAT_IFS),
                            .is_there = PP_ARRAY(scratch, bool, PP_SEARCH_WHAT_IFS),
                            .rows = search->count < MOST_ROWS ? search->count : MOST_ROWS,
                            .progress = &search->progress};
    const struct pp_pool pool = {.items = (int64_t)PP_SEARCH_WHAT_IFS * trials.rows,
                                 .workers = search->jobs,
                                 .context = &trials,
                                 .work = work,
                                 .done = done,
                                 .tick = tick};

    search->flips = PP_ARRAY(arena, struct pp_search_flip, PP_SEARCH_WHAT_IFS);
    if (!trials.rows)
        return PP_OK;
    trials.list = PP_ARRAY(shared, struct pp_outcome, PP_SEARCH_WHAT_IFS * trials.rows);
    for (int i = 0; i < PP_SEARCH_WHAT_IFS; i++) {
        struct pp_error ignored;
        trials.spaces[i].same_levels = &search->space;
        trials.spaces[i].tool = search->space.tool;
        trials.spaces[i].scale = pp_search_what_ifs[i].scale;
        for (int k = 0; k < PP_SEARCH_AXES; k++)
            trials.spaces[i].is_free[k] = search->space.is_free[k];
        for (int k = 0; k < PP_TIER_KNOBS; k++)
            trials.spaces[i].is_tier_free[k] = search->space.is_tier_free[k];
        trials.is_there[i] =
            pp_search_open(scratch, search->space.wish, &trials.spaces[i], &ignored) == PP_OK;
    }
    const enum pp_status status = pp_pool_run(&pool, err);
    pp_progress_clear(&search->progress);
    PP_TRY(status);
    for (int i = 0; i < PP_SEARCH_WHAT_IFS; i++)
        search->flips[i] = flip_of(&trials, i);
    return PP_OK;
}

/* ---- text -------------------------------------------------------------------------------------
 */

static const char *short_layout(struct pp_arena *arena, const struct pp_search *search, int at)
{
    const struct pp_search_point p = pp_search_point(&search->space, search->rows[at].point);

    return pp_arena_printf(arena, "#%d (TP~%d, PP~%d, CP~%d, MBS~%d, %s)", at + 1, p.frame->tp,
                           p.frame->pp, p.frame->cp, p.frame->mbs, p.order->base.schedule_name);
}

/* Returns the name of a what-if, with '~' to keep it on one line. */
static const char *what_if_name(struct pp_arena *arena, int at)
{
    char *name = pp_arena_strdup(arena, pp_search_what_ifs[at].name);

    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '~' : *c;
    return name;
}

/* Returns text if a what-if changes the best row, or NULL. `named`: row in the line above. */
static const char *flip_text(struct pp_arena *arena, const struct pp_search *search, int at,
                             int *named)
{
    const struct pp_search_flip *flip = &search->flips[at];
    const char *name = what_if_name(arena, at);

    if (!flip->is_known)
        return pp_arena_printf(arena, "%s: none of these layouts fits", name);
    if (flip->winner == 0 || (flip->fits && !flip->is_tight && flip->slower_frac <= PP_TIE_FRAC))
        return NULL;
    const char *winner = *named == flip->winner ? pp_arena_printf(arena, "#%d", flip->winner + 1)
                                                : short_layout(arena, search, flip->winner);
    *named = flip->winner;
    if (!flip->fits || flip->slower_frac <= PP_TIE_FRAC)
        return pp_arena_printf(arena, "%s: #1 %s, best is %s", name,
                               flip->fits ? "is tight" : "does not fit", winner);
    return pp_arena_printf(arena, "%s: #1 is %.1f~%% slower than %s", name, 100 * flip->slower_frac,
                           winner);
}

/* Prints the machines on which another row is best, by more than the costs can rank. */
void pp_search_print_flips(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const char *label = "sensitive", *same = "";
    int kept = 0, named = -1;

    for (int i = 0; search->flips && i < PP_SEARCH_WHAT_IFS; i++) {
        const char *text = flip_text(arena, search, i, &named);
        if (text) {
            pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, label, text);
            label = "";
        } else
            same =
                pp_arena_printf(arena, "%s%s%s", same, kept++ ? ", " : "", what_if_name(arena, i));
    }
    if (kept == PP_SEARCH_WHAT_IFS)
        same = "half and twice of network, links of a node, device memory and device FLOP/s";
    if (kept)
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, label,
                          pp_arena_printf(arena, "#1 stays best with %s", same));
}
