/* Reads and writes of a tier's file, piece by piece. While a piece is in flight the one before it
 * is verified, or the next
 * one is summed. */
#define _GNU_SOURCE /* sync_file_range */
#include "exec/host/futex.h"
#include "exec/tiers/checksum.h"
#include "exec/tiers/parts.h"
#include "exec/tiers/requests.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct transfer {
    struct pp_tier_file *file;
    struct pp_tier_lane *lane;
    struct pp_tier_queue *queue;
    char *memory;
    size_t begin, end; /* bytes of the file */
    bool is_write;
    enum pp_tier_fault fault; /* of the first piece */
    struct pp_error *err;
    struct piece {
        size_t begin, end; /* bytes of the transfer; the file's part starts at a block */
        char *target;      /* of the request: the caller's memory or a bounce buffer */
        struct pp_tier_request request;
    } pieces[PP_TIER_IN_FLIGHT];
};

/* ---- lanes ------------------------------------------------------------------------------------
 */
static struct pp_tier_lane *lane_take(struct pp_tier_file *file)
{
    for (;;) {
        const unsigned seen = atomic_load(&file->given_back);

        for (int i = 0; i < PP_TIER_LANES; i++)
            if (!atomic_exchange(&file->lanes[i].is_taken, true))
                return &file->lanes[i];
        pp_futex_wait(&file->given_back, seen, -1);
    }
}

static void lane_give_back(struct pp_tier_file *file, struct pp_tier_lane *lane)
{
    atomic_store(&lane->is_taken, false);
    pp_futex_change(&file->given_back);
}

/* ---- messages ---------------------------------------------------------------------------------
 */
static enum pp_status refuse(const struct transfer *t, size_t offset, const char *what)
{
    return pp_error_set(t->err, PP_EFAIL, "nvme of %s in %s: %s at byte %zu: %s", t->file->owner,
                        t->file->dir, t->is_write ? "writing" : "reading", offset, what);
}

static enum pp_status refuse_result(const struct transfer *t, const struct piece *piece)
{
    const struct pp_tier_request *r = &piece->request;

    if (r->result < 0)
        return refuse(t, (size_t)r->offset, strerror((int)-r->result));
    refuse(t, (size_t)r->offset, "short: ");
    return pp_error_append(t->err, "%zd of %zu bytes", r->result, r->bytes);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */
static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Begin of the block of a byte. */
static size_t block_begin(size_t offset)
{
    return offset / PP_TIER_BLOCK * PP_TIER_BLOCK;
}

static size_t sectors(size_t bytes)
{
    return (bytes + PP_TIER_SECTOR - 1) / PP_TIER_SECTOR * PP_TIER_SECTOR;
}

/* Bytes of the file that a piece reads: whole blocks, as they were written. */
static enum pp_status stored_bytes(const struct transfer *t, const struct piece *piece,
                                   size_t *bytes)
{
    for (size_t at = block_begin(piece->begin); at < piece->end; at += PP_TIER_BLOCK) {
        const size_t filled = t->file->filled[at / PP_TIER_BLOCK];

        if (at + filled < least(piece->end, at + PP_TIER_BLOCK))
            return refuse(t, at + filled, "read before written");
        *bytes = at + filled - block_begin(piece->begin);
    }
    return PP_OK;
}

static void sum_blocks(const struct transfer *t, const struct piece *piece)
{
    for (size_t at = piece->begin; at < piece->end; at += PP_TIER_BLOCK)
        t->file->sums[at / PP_TIER_BLOCK] = pp_tier_checksum(piece->target + (at - piece->begin),
                                                             least(piece->end - at, PP_TIER_BLOCK));
}

/* Blocks of a piece hold nothing while they are written, and if that fails. */
static void fill_blocks(const struct transfer *t, const struct piece *piece, bool is_written)
{
    for (size_t at = piece->begin; at < piece->end; at += PP_TIER_BLOCK)
        t->file->filled[at / PP_TIER_BLOCK] =
            is_written ? (uint32_t)least(piece->end - at, PP_TIER_BLOCK) : 0;
}

static enum pp_status verify_blocks(const struct transfer *t, const struct piece *piece)
{
    const size_t begin = block_begin(piece->begin);

    for (size_t at = begin; at < piece->end; at += PP_TIER_BLOCK) {
        const size_t block = at / PP_TIER_BLOCK;

        if (pp_tier_checksum(piece->target + (at - begin), t->file->filled[block]) !=
            t->file->sums[block])
            return refuse(t, at, "the checksum differs: the bytes are not those that were written");
    }
    return PP_OK;
}

/* ---- pieces -----------------------------------------------------------------------------------
 */
static bool is_aligned(const void *memory, size_t bytes)
{
    return ((uintptr_t)memory | bytes) % PP_TIER_SECTOR == 0;
}

static void post(struct transfer *t, struct piece *piece, size_t bytes)
{
    piece->request = (struct pp_tier_request){
        .fd = t->file->fd,
        .is_write = t->is_write,
        .memory = piece->target,
        .bytes = bytes,
        .offset = (off_t)block_begin(piece->begin),
    };
    pp_tier_request_post(t->file->is_direct ? t->queue : NULL, &piece->request);
}

static enum pp_status begin_write(struct transfer *t, struct piece *piece, char *bounce)
{
    char *memory = t->memory + (piece->begin - t->begin);
    const size_t bytes = piece->end - piece->begin, padded = sectors(bytes);

    piece->target = is_aligned(memory, bytes) ? memory : bounce;
    if (piece->target == bounce) {
        memcpy(bounce, memory, bytes);
        memset(bounce + bytes, 0, padded - bytes);
    }
    fill_blocks(t, piece, false);
    sum_blocks(t, piece);
    post(t, piece, padded);
    return PP_OK;
}

static enum pp_status begin_read(struct transfer *t, struct piece *piece, char *bounce)
{
    char *memory = t->memory + (piece->begin - t->begin);
    size_t bytes = 0;

    PP_TRY(stored_bytes(t, piece, &bytes));
    const bool is_whole = bytes == piece->end - piece->begin;
    piece->target = is_whole && is_aligned(memory, bytes) ? memory : bounce;
    post(t, piece, sectors(bytes));
    return PP_OK;
}

/* Pieces are cut at multiples of PP_TIER_PIECE from the begin of the transfer's first block. */
static enum pp_status begin_piece(struct transfer *t, size_t index)
{
    struct piece *piece = &t->pieces[index % PP_TIER_IN_FLIGHT];
    char *bounce = t->lane->bounce[index % PP_TIER_IN_FLIGHT];
    const size_t begin = block_begin(t->begin) + index * PP_TIER_PIECE;

    piece->begin = index == 0 ? t->begin : begin;
    piece->end = least(begin + PP_TIER_PIECE, t->end);
    return t->is_write ? begin_write(t, piece, bounce) : begin_read(t, piece, bounce);
}

/* Leaves a file that the page cache holds outside of it. */
static void leave_cache(const struct transfer *t, const struct pp_tier_request *r)
{
    if (t->file->is_direct)
        return;
    if (t->is_write)
        sync_file_range(r->fd, r->offset, (off_t)r->bytes, SYNC_FILE_RANGE_WRITE);
    posix_fadvise(r->fd, r->offset, (off_t)r->bytes, POSIX_FADV_DONTNEED);
}

static enum pp_status finish_piece(struct transfer *t, size_t index)
{
    struct piece *piece = &t->pieces[index % PP_TIER_IN_FLIGHT];
    struct pp_tier_request *r = &piece->request;

    pp_tier_request_await(t->queue, r);
    pp_tier_fault_spoil(&t->fault, &r->result);
    if (r->result != (ssize_t)r->bytes)
        return refuse_result(t, piece);
    leave_cache(t, r);
    if (t->is_write) {
        fill_blocks(t, piece, true);
        return PP_OK;
    }
    PP_TRY(verify_blocks(t, piece));
    char *memory = t->memory + (piece->begin - t->begin);
    if (piece->target != memory)
        memcpy(memory, piece->target + piece->begin % PP_TIER_BLOCK, piece->end - piece->begin);
    return PP_OK;
}

/* After an error no piece begins, but those in flight are awaited: they have the caller's memory.
 */
static enum pp_status run(struct transfer *t)
{
    const size_t bytes = t->end - block_begin(t->begin);
    const size_t pieces = (bytes + PP_TIER_PIECE - 1) / PP_TIER_PIECE;
    enum pp_status status = PP_OK;
    size_t begun = 0;

    for (size_t done = 0; done < pieces && done <= begun; done++) {
        while (status == PP_OK && begun < pieces && begun < done + PP_TIER_IN_FLIGHT) {
            status = begin_piece(t, begun);
            begun += status == PP_OK;
        }
        if (done == begun)
            break;
        if (status == PP_OK)
            status = finish_piece(t, done);
        else
            pp_tier_request_await(t->queue, &t->pieces[done % PP_TIER_IN_FLIGHT].request);
    }
    return status;
}

static enum pp_status transfer(struct pp_tier_file *file, size_t offset, size_t bytes, char *memory,
                               bool is_write, struct pp_error *err)
{
    struct transfer t = {.file = file,
                         .memory = memory,
                         .begin = offset,
                         .end = offset + bytes,
                         .is_write = is_write,
                         .err = err};

    assert(offset <= file->bytes && bytes <= file->bytes - offset);
    if (bytes == 0)
        return PP_OK;
    t.lane = lane_take(file);
    t.queue = pp_tier_queue_take();
    t.fault = pp_tier_fault_take(file, is_write);
    if (t.fault == PP_TIER_FLIP)
        pp_tier_fault_flip(file, offset / PP_TIER_BLOCK, t.lane->bounce[0]);
    const enum pp_status status = run(&t);
    pp_tier_queue_give_back(t.queue);
    lane_give_back(file, t.lane);
    return status;
}

enum pp_status pp_tier_file_write(struct pp_tier_file *file, size_t offset, size_t bytes,
                                  const void *memory, struct pp_error *err)
{
    assert(offset % PP_TIER_BLOCK == 0);
    return transfer(file, offset, bytes, (char *)(uintptr_t)memory, true, err);
}

enum pp_status pp_tier_file_read(struct pp_tier_file *file, size_t offset, size_t bytes,
                                 void *memory, struct pp_error *err)
{
    const enum pp_status status = transfer(file, offset, bytes, memory, false, err);

    if (status != PP_OK)
        memset(memory, 0xff, bytes);
    return status;
}
