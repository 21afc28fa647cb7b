/* plots/figure.h — a figure as a gnuplot script: its output, its size, its looks.
 *
 * Every kind of picture opens a figure, writes data blocks and plot commands to `script`, and
 * closes it. The script is self-contained: data inline, terminal and output at its top, gnuplot >=
 * 5.4. Closing renders it (plots/gnuplot.h), or writes it for the format ".gp". */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/text/terminal.h"
#include "traces/metrics.h"

#include <stdbool.h>
#include <stdio.h>

enum pp_plot_format {
    PP_PLOT_TERMINAL, /* characters */
    PP_PLOT_PNG,
    PP_PLOT_PDF,
    PP_PLOT_SVG,
    PP_PLOT_TEX,    /* text set by LaTeX, graphics in NAME-graphics.pdf */
    PP_PLOT_SCRIPT, /* a gnuplot script that makes a PDF */
};

struct pp_plot_target {
    enum pp_plot_format format;
    const char *path;            /* NULL for the terminal */
    bool is_paper;               /* a column of a paper: 3.3 in wide, 8 pt, no title, lines that
                                  * differ in more than colour */
    const char *title;           /* NULL: title of the kind of picture; "": none */
    double width_in, height_in;  /* 0: size of the kind of picture */
    struct pp_terminal terminal; /* properties of `out` */
    FILE *out;                   /* receives the characters */
};
/* Fills format and path from a name: .png .pdf .svg .tex .gp; NULL, "none" and "-" are the
 * terminal. PP_EINVAL for other suffixes. */
enum pp_status pp_plot_target_parse(const char *path, struct pp_plot_target *target,
                                    struct pp_error *err);

/* Reads a size, "6x4", "6x4in", "15x10cm"; NULL keeps it. PP_EINVAL has the expected form. */
enum pp_status pp_plot_size_parse(const char *text, struct pp_plot_target *target,
                                  struct pp_error *err);
struct pp_figure;
/* "ps" in a script for a symbol of that size: 1 is 5 pt across. Width 1 of lines is 0.75 pt. */
double pp_figure_point(const struct pp_figure *figure, double size);
/* Average width of a typeset character in inches, to see whether a label fits. */
double pp_figure_character_in(const struct pp_figure *figure);

struct pp_figure {
    struct pp_arena *arena;
    const struct pp_plot_target *target;
    double width_in, height_in; /* size of the whole picture */
    double font_pt;
    int columns, rows; /* characters in the terminal */
    int title_lines;   /* 0 = none */
    FILE *script;
    char *text; /* the script, valid once it is flushed */
    size_t length;
};

/* Preferences of a kind of picture. */
struct pp_figure_wish {
    double width_in, height_in; /* on a screen or a page */
    double paper_height_in;     /* in a column; 0 = in proportion to width_in */
    int rows;                   /* rows of characters in the terminal; 0 = 24 */
    const char *title;
    bool has_y_above; /* in the terminal: the name of the y axis is below the title */
};
/* Begins the script: terminal, output, styles, title. */
void pp_figure_open(struct pp_arena *arena, const struct pp_plot_target *target,
                    const struct pp_figure_wish *wish, struct pp_figure *figure);
/* Renders or writes the script. PP_EFAIL, with the script in PATH.gp, if gnuplot fails. */
enum pp_status pp_figure_close(struct pp_figure *figure, struct pp_error *err);
void pp_figure_discard(struct pp_figure *figure);

/* Quotes a string for gnuplot, and for LaTeX if needed. Control characters except line feeds become
 * spaces. Allocates in the arena. */
const char *pp_figure_quote(const struct pp_figure *figure, const char *text);
/* Text of a comment of the script or its data: on one line, control characters become spaces. */
const char *pp_figure_remark(const struct pp_figure *figure, const char *text);

/* Breaks the text at spaces into at most `lines` lines; "..." replaces the rest. In the arena. */
const char *pp_figure_wrap(struct pp_arena *arena, const char *text, int characters, int lines);
/* Characters of usual text in that many inches; in the terminal, `length_in` is in characters. */
int pp_figure_characters(const struct pp_figure *figure, double length_in);

/* Line styles 1 .. PP_STYLES of every script: colour, dash and symbol; all differ in grey, too. */
enum { PP_STYLES = 8 };
void pp_style_define(const struct pp_figure *figure);
/* Indices into the tables of style.c, modulo their lengths. */
struct pp_line_look {
    int colour, symbol, dash, paper_dash;
};
/* Look of linestyle `i` + 1; from PP_STYLES on, colours repeat with other dashes and symbols. */
struct pp_line_look pp_style_look(int i);
/* Defines linestyle `i` + 1. */
void pp_style_define_line(const struct pp_figure *figure, int i, struct pp_line_look look);
/* Colour of a kind, 0xRRGGBB; `shade` in [0, 1] is its lightness: neighbours should differ. */
unsigned pp_style_op_rgb(int kind, double shade);
/* Colour of a part of the time; compute parts have the colour of their ops. */
unsigned pp_style_part_rgb(enum pp_time_part part);
