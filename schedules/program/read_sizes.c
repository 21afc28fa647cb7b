/* schedules/program/read_sizes.c — sizes, level and mode from cells, checked against metadata. */
#include "schedules/program/freeze.h"

struct place { /* place of the largest value seen */
    int value, rank, position;
};

struct census {
    struct place stage, id; /* id: the last granule */
    int64_t covered;        /* granules of all cells */
    int splits, granules, versions;
    bool has_backward, has_other; /* has_other: kinds beyond F B I W R */
};

static void see(struct place *place, int value, int rank, int position)
{
    if (value > place->value)
        *place = (struct place){value, rank, position};
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

static void count_op(struct census *census, const struct pp_op *op, int rank, int position)
{
    const bool is_backward = op->kind == PP_B || op->kind == PP_I || op->kind == PP_W;

    if (op->kind != PP_BAR)
        see(&census->stage, max(op->stage, op->peer), rank, position);
    if (op->mb >= 0) { /* else granules counts buckets */
        see(&census->id, op->mb + op->granules - 1, rank, position);
        census->covered += op->granules;
        census->splits = max(census->splits, op->split + 1);
        census->granules = max(census->granules, op->granules);
    }
    if (pp_op_is_compute(op->kind)) /* of other kinds it is a purpose */
        census->versions = max(census->versions, op->version + 1);
    census->has_backward |= is_backward;
    census->has_other |= !(is_backward || op->kind == PP_F || op->kind == PP_R) || op->slot >= 0;
}

/* Replaces a size by that of the metadata, which must not be smaller. Stages and micro-batches that
 * never occur need a placement. A compute-only file has no more than its cells. */
static enum pp_status settle(const struct pp_reading *reading, enum pp_meta_size which, int *size)
{
    const int given = reading->meta.sizes[which];

    if (given == 0)
        return PP_OK;
    if (given < *size)
        return pp_error_set(reading->err, PP_EPROGRAM, "%s:%d: %s: %d, but the cells need %d",
                            reading->file, reading->meta.lines[which], pp_meta_size_names[which],
                            given, *size);
    const bool needs_cells = which == PP_META_STAGES || which == PP_META_MICRO_BATCHES;
    if (given > *size &&
        ((needs_cells && !reading->meta.rank_of) || reading->meta.level == PP_LEVEL_COMPUTE))
        return pp_error_set(reading->err, PP_EPROGRAM, "%s:%d: %s: %d, but the cells have %d",
                            reading->file, reading->meta.lines[which], pp_meta_size_names[which],
                            given, *size);
    *size = given;
    return PP_OK;
}

static enum pp_status settle_ids(struct pp_reading *reading, const struct census *census)
{
    struct pp_program_head *head = &reading->head;
    const int ids = census->id.value + 1;

    if (census->id.value < 0)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s: no cell names a micro-batch: expected cells like 0F0",
                            reading->file);
    if (ids > PP_MAX_GRANULES)
        return pp_reading_error(reading, census->id.rank, census->id.position,
                                "micro-batch ids are below %d", PP_MAX_GRANULES);
    head->micro_batches = (ids + head->granules - 1) / head->granules;
    if (ids % head->granules != 0 && !reading->meta.rank_of)
        return pp_reading_error(reading, census->id.rank, census->id.position,
                                "granules 0 to %d are no whole number of micro-batches of %d each",
                                ids - 1, head->granules);
    PP_TRY(settle(reading, PP_META_MICRO_BATCHES, &head->micro_batches));
    if ((int64_t)head->micro_batches * head->granules > PP_MAX_GRANULES)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s:%d: micro_batches: %d of %d granules: at most %d granules",
                            reading->file, reading->meta.lines[PP_META_MICRO_BATCHES],
                            head->micro_batches, head->granules, PP_MAX_GRANULES);
    return PP_OK;
}

/* Checks that every stage and every id up to the largest occur with a micro-batch. Memory and time
 * are bounded by the cells, not by the numbers in them. */
static enum pp_status check_gaps(const struct pp_reading *reading, const struct census *census)
{
    const struct pp_orders *lists = reading->lists;
    const struct place *largest[2] = {&census->id, &census->stage};
    static const char *const names[2] = {"micro-batch", "stage"};
    bool *seen[2];

    for (int k = 0; k < 2; k++) {
        const int64_t size =
            census->covered < largest[k]->value ? census->covered : largest[k]->value;
        seen[k] = PP_ARRAY(reading->scratch, bool, size + 1);
        for (int r = 0; r < lists->ranks; r++)
            for (int at = 0; at < lists->count[r]; at++) {
                const struct pp_op *op = &lists->ops[r][at];
                const int first = k == 0 ? op->mb : op->stage;
                const int count = op->mb < 0 ? 0 : k == 0 ? op->granules : op->granules != 0;
                for (int value = first; value < first + count && value <= size; value++)
                    seen[k][value] = true;
            }
        for (int64_t value = 0; value <= size; value++)
            if (!seen[k][value])
                return pp_reading_error(reading, largest[k]->rank, largest[k]->position,
                                        "%s %d occurs here, but %s %lld nowhere: they are counted "
                                        "from 0 without gaps",
                                        names[k], largest[k]->value, names[k], (long long)value);
    }
    return PP_OK;
}

static enum pp_status settle_level(struct pp_reading *reading, const struct census *census)
{
    struct pp_program_head *head = &reading->head;
    const struct pp_meta *meta = &reading->meta;

    head->level = census->has_other || meta->is_given ? PP_LEVEL_LOWERED : PP_LEVEL_COMPUTE;
    head->mode = census->has_backward ? PP_MODE_TRAIN : PP_MODE_INFER;
    if (meta->level == PP_LEVEL_COMPUTE && census->has_other)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s: level: compute, but there are other cells than F, B, I, W, R",
                            reading->file);
    if (meta->level == PP_LEVEL_COMPUTE && meta->rank_of)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s:%d: placement: a compute-only program has the one of its cells",
                            reading->file, meta->placement_line);
    if (meta->level == PP_LEVEL_COMPUTE && meta->state_line > 0)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s:%d: state: a compute-only program neither gathers nor scatters",
                            reading->file, meta->state_line);
    if (meta->mode == PP_MODE_INFER && census->has_backward)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s: mode: infer, but there are backward cells", reading->file);
    if (meta->level >= 0)
        head->level = (enum pp_program_level)meta->level;
    if (meta->mode >= 0)
        head->mode = (enum pp_program_mode)meta->mode;
    head->state = meta->state;
    return PP_OK;
}

enum pp_status pp_reading_sizes(struct pp_reading *reading)
{
    struct census census = {
        .stage.value = -1, .id.value = -1, .splits = 1, .granules = 1, .versions = 1};
    struct pp_program_head *head = &reading->head;
    const struct pp_orders *lists = reading->lists;
    const int rows = head->ranks;

    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++)
            count_op(&census, &lists->ops[r][at], r, at);
    head->stages = census.stage.value + 1;
    head->splits = census.splits;
    head->granules = census.granules;
    head->versions = census.versions;
    head->pipelines = 1; /* read_infer.c sets it */
    PP_TRY(settle(reading, PP_META_RANKS, &head->ranks));
    if (head->ranks != rows)
        return pp_error_set(reading->err, PP_EPROGRAM, "%s:%d: ranks: %d, but there are %d rows",
                            reading->file, reading->meta.lines[PP_META_RANKS], head->ranks, rows);
    PP_TRY(settle(reading, PP_META_STAGES, &head->stages));
    PP_TRY(settle(reading, PP_META_SPLITS, &head->splits));
    PP_TRY(settle(reading, PP_META_GRANULES, &head->granules));
    PP_TRY(settle(reading, PP_META_VERSIONS, &head->versions));
    head->passes = reading->meta.sizes[PP_META_PASSES];
    PP_TRY(settle_ids(reading, &census));
    if (!reading->meta.rank_of)
        PP_TRY(check_gaps(reading, &census));
    return settle_level(reading, &census);
}
