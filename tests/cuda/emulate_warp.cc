/* tests/cuda/emulate_warp.cc — what the lanes of a warp do together: shuffles, votes, tensor cores,
 * loads of matrices; and copies that land late. */
#include "kernels/numbers.h"
#include "tests/cuda/emulate_parts.h"

static struct block &b = pp_emulated_block;
static const unsigned ALL = ~0u; /* lanes */

/* ---- when all lanes have come ---------------------------------------------------------------- */

static void need_all(const struct warp *w)
{
    if (w->waiting != ALL)
        pp_emulated_fail(b.now,
                         "tensor cores and ldmatrix need all lanes, but those of mask %#x "
                         "are not there",
                         ~w->waiting);
}

static void unpack(uint32_t word, float *first, float *second)
{
    *first = pp_bf16_value((uint16_t)word);
    *second = pp_bf16_value((uint16_t)(word >> 16));
}

/* Layouts: kernels/cuda/device/mma.cuh. Products are exact in float, sums go over k in order. */
static void multiply(struct warp *w)
{
    float a[16][16], bt[8][16], b_rows[16][8];

    need_all(w);
    for (int lane = 0; lane < LANES; lane++) {
        const struct fragment *f = &w->fragments[lane];
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; i++) {
            float *at = &a[g + i % 2 * 8][2 * t + i / 2 * 8];
            unpack(f->a[i], &at[0], &at[1]);
        }
        for (int i = 0; i < 2; i++)
            unpack(f->b[i], &bt[g][2 * t + i * 8], &bt[g][2 * t + i * 8 + 1]);
    }
    for (int k = 0; k < 16; k++)
        for (int j = 0; j < 8; j++)
            b_rows[k][j] = bt[j][k];
    for (int i = 0; i < 16; i++) {
        struct fragment *row = &w->fragments[i % 8 * 4]; /* of 4 lanes */
        float sums[8];
        for (int j = 0; j < 8; j++)
            sums[j] = row[j / 2].d[i / 8 * 2 + j % 2];
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 8; j++)
                sums[j] += a[i][k] * b_rows[k][j];
        for (int j = 0; j < 8; j++)
            row[j / 2].d[i / 8 * 2 + j % 2] = sums[j];
    }
}

/* Rows are read when all lanes are there, into a[]: of matrix i, a lane's two elements of row
 * lane / 4. */
static void load(struct warp *w)
{
    need_all(w);
    for (int lane = 0; lane < LANES; lane++)
        if ((uintptr_t)w->fragments[lane].row % 16)
            pp_emulated_fail(b.now, "lane %d gives ldmatrix a row that is not aligned to 16 bytes",
                             lane);
    for (int i = 0; i < 4; i++)
        for (int row = 0; row < 8; row++) {
            uint32_t words[4];
            memcpy(words, w->fragments[i * 8 + row].row, sizeof words);
            for (int t = 0; t < 4; t++)
                w->fragments[row * 4 + t].a[i] = words[t];
        }
}

/* In the transposed form the lane's two elements are of column lane / 4: they lie with the lanes of
 * two rows. */
static void transpose(struct warp *w)
{
    uint32_t rows[LANES][4];

    for (int lane = 0; lane < LANES; lane++)
        memcpy(rows[lane], w->fragments[lane].a, sizeof rows[lane]);
    for (int lane = 0; lane < LANES; lane++) {
        const int g = lane / 4, t = lane % 4, shift = g % 2 * 16;
        const uint32_t *const first = rows[2 * t * 4 + g / 2];
        const uint32_t *const second = rows[(2 * t + 1) * 4 + g / 2];
        for (int i = 0; i < 4; i++)
            w->fragments[lane].a[i] = (first[i] >> shift & 0xffff) | (second[i] >> shift & 0xffff)
                                                                         << 16;
    }
}

/* ---- meetings -------------------------------------------------------------------------------- */

void pp_emulated_complete(struct warp *w, const struct thread *but)
{
    for (uint32_t gone = ~w->waiting; gone; gone &= gone - 1)
        w->given[w->turn][__builtin_ctz(gone)] = UINT64_MAX;
    w->given[w->turn][LANES] = 0; /* not joined */
    if (w->kind == PP_MMA)
        multiply(w);
    else if (w->kind == PP_LDMATRIX || w->kind == PP_LDMATRIX_TRANS)
        load(w);
    if (w->kind == PP_LDMATRIX_TRANS)
        transpose(w);
    w->turn ^= 1;
    w->votes[w->turn] = 0;
    pp_emulated_release(w, but);
}

uint64_t *pp_emulated_meet(enum pp_emulated_meeting kind, unsigned mask, uint64_t given,
                           uint32_t *votes)
{
    const struct thread *self = b.now;
    struct warp *w = &b.warps[self->warp];
    const int turn = w->turn;

    if (mask != ALL)
        pp_emulated_fail(self, "mask %#x: only full ones are emulated", mask);
    if (w->waiting && w->kind != kind)
        pp_emulated_fail(self, "lanes of its warp (mask %#x) wait at something else", w->waiting);
    w->kind = kind;
    w->waiting |= 1u << self->lane;
    w->given[turn][self->lane] = given;
    if (kind == PP_VOTE)
        w->votes[turn] |= (uint32_t)given << self->lane;
    if (w->waiting == w->alive)
        pp_emulated_complete(w, self);
    else
        pp_emulated_yield();
    if (votes)
        *votes = w->votes[turn];
    return w->given[turn];
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

void pp_mma_bf16(float d[4], const uint32_t a_[4], const uint32_t b_[2])
{
    struct fragment *f = &b.warps[b.now->warp].fragments[b.now->lane];

    memcpy(f->a, a_, sizeof f->a);
    memcpy(f->b, b_, sizeof f->b);
    memcpy(f->d, d, sizeof f->d);
    pp_emulated_meet(PP_MMA, ALL, 0, NULL);
    memcpy(d, f->d, sizeof f->d);
}

static void load_lane(enum pp_emulated_meeting kind, uint32_t r[4], const void *shared)
{
    struct fragment *f = &b.warps[b.now->warp].fragments[b.now->lane];

    f->row = shared;
    pp_emulated_meet(kind, ALL, 0, NULL);
    memcpy(r, f->a, sizeof f->a);
}

void pp_ldmatrix_x4(uint32_t r[4], const void *shared)
{
    load_lane(PP_LDMATRIX, r, shared);
}

void pp_ldmatrix_x4_trans(uint32_t r[4], const void *shared)
{
    load_lane(PP_LDMATRIX_TRANS, r, shared);
}

/* ---- copies ---------------------------------------------------------------------------------- */

void pp_cp_async_16(void *shared, const void *global, bool is_valid)
{
    const struct thread *self = b.now;
    struct copies *copies = &b.copies[self - b.thread];

    if ((uintptr_t)shared % 16 || (is_valid && (uintptr_t)global % 16))
        pp_emulated_fail(self, "an asynchronous copy is not aligned to 16 bytes");
    memset(shared, 0xff, 16);
    copies->in_flight.push_back({shared, is_valid ? global : NULL, copies->groups});
    b.has_copies = true;
}

void pp_cp_async_commit(void)
{
    b.copies[b.now - b.thread].groups++;
    b.has_copies = true;
}

void pp_emulated_land(unsigned groups_in_flight)
{
    struct copies *copies = &b.copies[b.now - b.thread];
    size_t left = 0;

    for (const struct copy &copy : copies->in_flight) {
        if (copy.group + groups_in_flight >= copies->groups)
            copies->in_flight[left++] = copy;
        else if (copy.global)
            memcpy(copy.shared, copy.global, 16);
        else
            memset(copy.shared, 0, 16);
    }
    copies->in_flight.resize(left);
}
