/* Colours, dashes and symbols. Looks differ in lightness or shape, too, for grey printers. */
#include "plots/figure.h"

#include "core/op.h"

struct line_style {
    unsigned rgb;
    const char *dash; /* in a paper; on a screen the first lines are solid */
};
/* Neighbours are 16 or more apart in lightness (L*), all 5 or more: distinct without dashes. */
static const struct line_style LINES[PP_STYLES] = {
    {0x1b3a6b, "1"},      {0xe8862a, "(8,3)"}, {0x1c867f, "(2,2)"}, {0x9c1637, "(8,3,2,3)"},
    {0x8fc6f2, "(14,4)"}, {0x7a4fb0, "(4,3)"}, {0x9b9424, "(2,4)"}, {0x111111, "(12,3,2,3,2,3)"},
};
/* gnuplot's point types: shapes that differ in grey first, then their open or filled siblings.
 * Their number and that of the colours have no common factor, so that pairs repeat late. */
static const int SYMBOLS[] = {7, 5, 9, 11, 13, 3, 6, 1, 4, 8, 15, 10, 12};
enum { SYMBOLS_COUNT = PP_COUNT(SYMBOLS) };

struct pp_line_look pp_style_look(int i)
{
    const int round = i / PP_STYLES;

    return (struct pp_line_look){i % PP_STYLES, i, round, i + 3 * round};
}

void pp_style_define_line(const struct pp_figure *f, int i, struct pp_line_look look)
{
    static const char *const DASHES[] = {"1", "(6,3)", "(2,2)", "(9,3,2,3)"}; /* on a screen */
    const struct line_style *line = &LINES[look.colour % PP_STYLES];
    const char *dash =
        f->target->is_paper ? LINES[look.paper_dash % PP_STYLES].dash : DASHES[look.dash % 4];
    const int symbol = SYMBOLS[look.symbol % SYMBOLS_COUNT];
    const bool is_filled = symbol >= 5 && symbol % 2 == 1;
    const double size = (f->target->is_paper ? 0.65 : 0.85) * (is_filled ? 1 : 1.25);

    fprintf(f->script, "set style line %d lc rgb '#%06x' lw %g dt %s pt %d ps %.3g\n", i + 1,
            line->rgb, f->target->is_paper ? 1.2 : 1.8, dash, symbol, pp_figure_point(f, size));
}

void pp_style_define(const struct pp_figure *f)
{
    for (int i = 0; i < PP_STYLES; i++)
        pp_style_define_line(f, i, pp_style_look(i));
    fprintf(f->script,
            "set border 3 lw %g lc rgb '#404040'\n"
            "set tics nomirror scale 0.6 textcolor rgb '#202020'\n"
            "set grid ytics lw 0.5 lc rgb '#dcdcdc' dt 1\n"
            "set key noautotitle\n",
            f->target->is_paper ? 0.7 : 1.0);
}

/* Colours of a kind. In grey, no two ranges of F, B, I, W, R, U touch: luminance in percent. */
struct op_style {
    unsigned dark, light;
};
static const struct op_style OPS[] = {
    [PP_R] = {0xf3ead9, 0xfaf4e8}, /* 92 - 96 */
    [PP_F] = {0xa8cbea, 0xcfe3f6}, /* 78 - 88 */
    [PP_W] = {0xa0ab45, 0xb7c25e}, /* 63 - 72 */
    [PP_I] = {0x347f76, 0x4b948a}, /* 43 - 52 */
    [PP_B] = {0x8f3f0e, 0xab5420}, /* 30 - 39 */
    [PP_U] = {0x26262e, 0x3a3a44}, /* 15 - 23 */
    [PP_Q] = {0x8a7bb0, 0xa598c4}, [PP_DQ] = {0x8a7bb0, 0xa598c4},
};

static unsigned mix(unsigned dark, unsigned light, double share, int shift)
{
    const double a = dark >> shift & 0xff, b = light >> shift & 0xff;

    return (unsigned)(a + share * (b - a) + 0.5) << shift;
}

unsigned pp_style_op_rgb(int kind, double shade)
{
    static const struct op_style OTHER = {0x9a9a9a, 0xb4b4b4};
    const bool is_known = kind >= 0 && kind < (int)PP_COUNT(OPS) && OPS[kind].light;
    const struct op_style *s = is_known ? &OPS[kind] : &OTHER;

    return mix(s->dark, s->light, shade, 16) | mix(s->dark, s->light, shade, 8) |
           mix(s->dark, s->light, shade, 0);
}

/* Idle time is white; waiting and communication lie between the kinds of ops in lightness. */
static const unsigned PARTS[PP_TIME_PARTS] = {
    [PP_TIME_TP_COMM] = 0x6a51a3, [PP_TIME_CP_COMM] = 0x9e86c8, [PP_TIME_EP_COMM] = 0xc9b8e0,
    [PP_TIME_P2P] = 0xd9a441,     [PP_TIME_DP_SYNC] = 0x1c6f8c, [PP_TIME_MOVES] = 0x77848f,
    [PP_TIME_BUBBLE] = 0xffffff};
static const uint8_t COMPUTED[PP_TIME_PARTS] = {[PP_TIME_FORWARD] = PP_F,
                                                [PP_TIME_BACKWARD] = PP_B,
                                                [PP_TIME_RECOMPUTE] = PP_R,
                                                [PP_TIME_OPTIMIZER] = PP_U};

unsigned pp_style_part_rgb(enum pp_time_part part)
{
    return PARTS[part] ? PARTS[part] : pp_style_op_rgb(COMPUTED[part], 0.5);
}
