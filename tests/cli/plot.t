# A sweep as a script: blocks that people can edit, curves that are equal once, the closed form beneath.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot sweep.csv -o $d/fig.gp; cat $d/fig.gp
> # made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
> set terminal pdfcairo size 6.58in,4in font 'sans,10' fontscale 0.75 linewidth 1.5 pointscale 0.83
> set output 'fig.pdf'
> set termoption noenhanced
> set encoding utf8
> set style line 1 lc rgb '#1b3a6b' lw 1.8 dt 1 pt 7 ps 0.85
> set style line 2 lc rgb '#e8862a' lw 1.8 dt 1 pt 5 ps 0.85
> set style line 3 lc rgb '#1c867f' lw 1.8 dt 1 pt 9 ps 0.85
> set style line 4 lc rgb '#9c1637' lw 1.8 dt 1 pt 11 ps 0.85
> set style line 5 lc rgb '#8fc6f2' lw 1.8 dt 1 pt 13 ps 0.85
> set style line 6 lc rgb '#7a4fb0' lw 1.8 dt 1 pt 3 ps 1.06
> set style line 7 lc rgb '#9b9424' lw 1.8 dt 1 pt 6 ps 1.06
> set style line 8 lc rgb '#111111' lw 1.8 dt 1 pt 1 ps 1.06
> set border 3 lw 1 lc rgb '#404040'
> set tics nomirror scale 0.6 textcolor rgb '#202020'
> set grid ytics lw 0.5 lc rgb '#dcdcdc' dt 1
> set key noautotitle
> set format '%h'
> set title 'bubble over micro-batches'."\n".'F=1,B=2, pp 4'
> set xlabel 'micro-batches'
> set ylabel 'bubble (% of the step)'
> set autoscale xfix
> set offsets graph 0.04, graph 0.04, 0, 0
> set logscale x 2
> set xrange [*:*]
> set xtics (4, 8, 16)
> set yrange [0:*<100]
> set key outside right top vertical Left reverse samplen 2.5 spacing 1.2
> set style line 101 lc rgb '#c8c8c8' lw 4.5 dt 1 pt 7 ps 1.3 # closed form
>
> $series1 << EOD
> # chimera
> # micro_batches bubble_frac closed_form
> 4 0.25 0.25
> 8 0.25 0.25
> EOD
>
> $series2 << EOD
> # gpipe = 1f1b
> # micro_batches bubble_frac closed_form
> 4 0.4285714286 0.4285714286
> 8 0.2727272727 0.2727272727
> 16 0.1578947368 0.1578947368
> EOD
>
> plot $series1 using 1:($3*100) with lines linestyle 101, \
>      $series2 using 1:($3*100) with lines linestyle 101, \
>      $series1 using 1:($2*100) with linespoints linestyle 3 title 'chimera', \
>      $series2 using 1:($2*100) with linespoints linestyle 1 title 'gpipe', \
>      keyentry with lines lt nodraw title '= 1f1b', \
>      keyentry with lines linestyle 101 title 'closed form'
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! note: bubble_frac over micro_batches by schedule (other columns: -x, -y, --by)
# Strong scaling has the line that it should keep to; crosses mark what does not fit.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot scaling.csv --kind scaling -o $d/fig.gp; sed -n '/^set title/,$p' $d/fig.gp
> set title 'tokens/s over GPUs, strong scaling, 32 sequences per step'."\n".'gpt2, h100, pp 4'
> set xlabel 'GPUs'
> set ylabel 'thousand tokens/s'
> set autoscale xfix
> set offsets graph 0.04, graph 0.04, 0, 0
> set logscale x 2
> set xrange [*:*]
> set xtics (8, 16, 32)
> set logscale y 10
> set yrange [*:*]
> set for [e=-15:18] for [m in '2 5'] ytics add (m*10.**e)
> set key outside right top vertical Left reverse samplen 2.5 spacing 1.2
> set style line 102 lc rgb '#000000' lw 1.4 pt 2 ps 1.3 # no fit
> set style line 103 lc rgb '#707070' lw 1.4 dt (4,3) # ideal
>
> $series1 << EOD
> # 1f1b
> # gpus tokens_per_s does_not_fit
> 8 1600000 0
> 16 2870000 0
> 32 4600000 0
> EOD
>
> $series2 << EOD
> # gpipe
> # gpus tokens_per_s does_not_fit
> 8 1590000 1
> 16 2820000 0
> 32 4550000 0
> EOD
>
> plot $series1 using 1:($2*0.001) with linespoints linestyle 1 title '1f1b', \
>      $series2 using 1:($2*0.001) with linespoints linestyle 2 title 'gpipe', \
>      $series2 using 1:($3 == 1 ? $2*0.001 : NaN) with points linestyle 102, \
>      keyentry with points linestyle 102 title 'does not fit in memory', \
>      200*x with lines linestyle 103 title 'ideal: in proportion'
! note: tokens_per_s over gpus by schedule (other columns: -x, -y, --by)
# In a paper: a column wide, no title, the legend above.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot scaling.csv --paper -y mfu -o $d/fig.gp; sed -n '2,4p;/^set xlabel/,/^\$series1/p' $d/fig.gp
> set terminal pdfcairo size 3.3in,2.235in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
> set output 'fig.pdf'
> set termoption noenhanced
> set xlabel 'GPUs'
> set ylabel 'MFU (%)'
> set autoscale xfix
> set offsets graph 0.04, graph 0.04, 0, 0
> set logscale x 2
> set xrange [*:*]
> set xtics (8, 16, 32)
> set yrange [0:*<100]
> set key above horizontal maxcols 3 Left reverse samplen 2 width -2
> set style line 102 lc rgb '#000000' lw 1 pt 2 ps 1 # no fit
>
> $series1 << EOD
! note: mfu over gpus by schedule (other columns: -x, -y, --by)
# Names at points, a size in centimetres, a title of one's own.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot scaling.csv --kind tradeoff --size 16x10cm --title "it's 5 %" -o $d/fig.gp; grep -E '^set (terminal|title|label|.range)' $d/fig.gp
> set terminal pdfcairo size 6.29921in,3.93701in font 'sans,10' fontscale 0.75 linewidth 1.5 pointscale 0.83
> set title 'it'."'".'s 5 %'
> set xrange [*:*]
> set yrange [0:*<100]
> set label '1f1b' at 30,30 left offset character 1,0 textcolor rgb '#404040'
> set label 'gpipe' at 60,31 left offset character 0.7,0.7 textcolor rgb '#404040'
! note: bubble_frac over peak_mem_bytes by schedule (other columns: -x, -y, --by)
! note: peak_mem_bytes is the same for all gpus; for one: --where gpus=32
# Columns and rows of one's own.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot scaling.csv -x schedule -y iteration_s --by gpus --where gpus=8,16 --where schedule=1f1b --where schedule=gpipe -o $d/fig.gp; sed -n '/^set title/,/^set yrange/p;/^.series/,$p' $d/fig.gp
> set title 'step time over schedule'."\n".'gpt2, h100, pp 4'
> set xlabel 'schedule'
> set ylabel 'step time (ms)'
> set xtics scale 0 ('1f1b' 0, 'gpipe' 1)
> set xrange [-0.6:1.6]
> set yrange [0:*]
> $series1 << EOD
> # 8 GPUs
> # schedule iteration_s does_not_fit
> 0 0.0205 0 # 1f1b
> 1 0.0205 1 # gpipe
> EOD
>
> $series2 << EOD
> # 16 GPUs
> # schedule iteration_s does_not_fit
> 0 0.0114 0 # 1f1b
> 1 0.0116 0 # gpipe
> EOD
>
> plot $series1 using 1:($2*1000) with points linestyle 1 title '8 GPUs', \
>      $series2 using 1:($2*1000) with points linestyle 2 title '16 GPUs', \
>      $series1 using 1:($3 == 1 ? $2*1000 : NaN) with points linestyle 102, \
>      keyentry with points linestyle 102 title 'does not fit in memory'
# From stdin, packed or not; JSON of a trace and of a report are known by what they hold.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; gzip -c tests/data/plots/scaling.csv | pipesim plot - -y tokens_per_s --log-y -o $d/fig.gp; grep -E '^set (title|y)' $d/fig.gp
> set title 'tokens/s over GPUs'."\n".'gpt2, h100, pp 4'
> set ylabel 'thousand tokens/s'
> set yrange [*:*]
! note: tokens_per_s over gpus by schedule (other columns: -x, -y, --by)
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace t.json --json >r.json; pipesim plot t.json; for kind in timeline memory-time; do pipesim plot t.json --kind $kind -o $kind.gp; done; pipesim plot r.json -o memory.gp; ls *.gp
> P0 |F0 F1  .  . B0 b0  . B1 b1|
> P1 | . F0 B0 b0 F1 B1 b1  .  .|
> one column = 1 unit, 9 columns in all
> F forward, B backward, small letter: same op, . idle
> memory-time.gp
> memory.gp
> timeline.gp
# What is not there, with what there is.
$ cd tests/data/plots; pipesim plot sweep.csv -y buble_frac
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: -y: sweep.csv has no column "buble_frac"; did you mean bubble_frac?
!   columns: point schedule engine model cluster gpus tp pp dp micro_batches mbs gbs seq unit iteration_s bubble_frac mfu peak_mem_bytes fits peak_activations closed_form_bubble_frac status reason points key gbs_per_gpu
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -y schedule
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: sweep.csv:2: schedule is "gpipe": y must be a number
!   columns of numbers: point gpus tp pp dp micro_batches mbs gbs iteration_s bubble_frac peak_activations closed_form_bubble_frac points gbs_per_gpu
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -y reason
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: nothing to draw: reason is empty in all rows of sweep.csv
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -y mfu
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: nothing to draw: mfu is empty in all rows of sweep.csv (a sweep with --unit has no such figures)
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --by schedul
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: --by: sweep.csv has no column "schedul"; did you mean schedule?
!   columns: point schedule engine model cluster gpus tp pp dp micro_batches mbs gbs seq unit iteration_s bubble_frac mfu peak_mem_bytes fits peak_activations closed_form_bubble_frac status reason points key gbs_per_gpu
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --where pp=8
! pipesim: error: --where pp=8: no row of sweep.csv has that; pp is 4
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --where pp
! pipesim: error: --where pp: COLUMN=VALUE is expected, such as pp=8
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --where schedule=chimera --where micro_batches=16
! pipesim: error: no row of sweep.csv meets all of --where schedule=chimera --where micro_batches=16
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --where schedule=dualpipe
! pipesim: error: nothing to draw: no row of sweep.csv is ok, the first: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --kind bubbles
! pipesim: error: --kind: "bubbles" is not one of curves, scatter, bubble, scaling, throughput, throughput-latency, tradeoff, timeline, compare, error, memory, memory-time, links and loss; did you mean "bubble"?
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --kind throughput
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! pipesim: error: --kind throughput: sweep.csv has no column "tokens_per_s_per_gpu"
!   columns: point schedule engine model cluster gpus tp pp dp micro_batches mbs gbs seq unit iteration_s bubble_frac mfu peak_mem_bytes fits peak_activations closed_form_bubble_frac status reason points key gbs_per_gpu
= 2
$ cd tests/data/plots; pipesim plot sweep.csv --kind timeline
! pipesim: error: --kind timeline is drawn from a trace, but sweep.csv is a sweep; from that: curves, scatter, bubble, scaling, throughput, throughput-latency, tradeoff, memory
= 2
$ pipesim plot - --kind scaling <<<$'a,b\n1,2'
! pipesim: error: --kind scaling: <stdin> has no column "mfu"
!   columns: a b
= 2
$ pipesim plot - </dev/null
! pipesim: error: <stdin>: the file is empty: a line with the names of columns is expected
= 2
$ pipesim plot - <<<'a,b'
! pipesim: error: <stdin> has a header but no rows: nothing to draw
= 2
$ pipesim plot - <<<'{"schema": "other/1"}'
! pipesim: error: <stdin>: JSON, but neither a trace nor what 'pipesim run --json' prints
= 2
$ pipesim plot - -
! pipesim: error: plot: only one of the files can be stdin
= 2
$ pipesim plot nowhere.csv
! pipesim: error: cannot open nowhere.csv: No such file or directory
= 1
$ pipesim plot
! pipesim: error: pipesim plot needs 1 operand, not 0
! usage: pipesim plot FILE... [--kind KIND] [options] [-o FILE]
= 2
$ pipesim plot - <<<$'a,b\n1'
! pipesim: error: <stdin>:2: 1 fields, but the header has 2
= 2
# Several values at one place: a word on what varies, never a zigzag.
$ cd tests/data/plots; d=$(mktemp -d); trap 'rm -r $d' EXIT; pipesim plot sweep.csv -x pp -o $d/fig.gp; grep -A1 EOD $d/fig.gp | grep '# '
> # gpipe, 4 micro-batches = 1f1b, 4 micro-batches
> # gpipe, 8 micro-batches = 1f1b, 8 micro-batches
> # gpipe, 16 micro-batches = 1f1b, 16 micro-batches
> # chimera, 4 micro-batches = chimera, 8 micro-batches
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! note: bubble_frac over pp by schedule,micro_batches (other columns: -x, -y, --by)
$ cd tests/data/plots; pipesim plot sweep.csv --by none
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! note: bubble_frac over micro_batches (other columns: -x, -y, --by)
! pipesim: error: lines 2 and 5 of sweep.csv are both at micro_batches 4, but schedule varies: gpipe, 1f1b
!   try: --by schedule, or --where schedule=gpipe, or --kind scatter
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -x pp --by schedule
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! note: bubble_frac over pp by schedule (other columns: -x, -y, --by)
! pipesim: error: lines 5 and 6 of sweep.csv are both at pp 4, schedule 1f1b, but micro_batches varies: 4, 8
!   try: --by schedule,micro_batches, or --where micro_batches=4, or --kind scatter
= 2
$ pipesim plot - <<<$'n,y\n1,2\n1,3'
! note: y over n (other columns: -x, -y, --by)
! pipesim: error: lines 2 and 3 of <stdin> are both at n 1, and no input tells them apart; --kind scatter draws every row as a point
= 2
# Files that do not belong together; pictures of other sorts.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cp tests/data/plots/*.csv $d; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace t.csv >log; pipesim plot t.csv sweep.csv; pipesim plot sweep.csv scaling.csv; pipesim plot t.csv t.csv --kind links; pipesim plot t.csv -x pp
! pipesim: error: t.csv is a trace, but sweep.csv is a sweep: a picture has files of one sort
! pipesim: error: 2 files, each a sweep: a picture has one sweep, one report, one log, one trace, or two traces (predicted, measured)
!   parts of a sweep become one file by: pipesim sweep --merge
! pipesim: error: --kind links is drawn from a report, but t.csv and the other are two traces; from that: compare, error
! pipesim: error: -x has no effect on --kind timeline of a trace
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -o fig.jpg
! pipesim: error: fig.jpg: a picture ends in .png, .pdf, .svg or .tex, a script of gnuplot in .gp; without a file it is drawn in the terminal
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -o no/fig.png
! note: left out 1 of 9 rows: sweep.csv:10 refused: --micro-batches 4: dualpipe needs an even number, at least twice --pp 4; nearest: 8
! note: bubble_frac over micro_batches by schedule (other columns: -x, -y, --by)
! pipesim: error: cannot write 'no/fig.png': No such file or directory
= 1
$ cd tests/data/plots; pipesim plot sweep.csv -o fig.png --size 6
! pipesim: error: --size 6: WIDTHxHEIGHT is expected, such as 6x4 (inches) or 15x10cm, from 2x1.5 to 100x100 inches
= 2
$ cd tests/data/plots; pipesim plot sweep.csv -o fig.png --size 6x4mm
! pipesim: error: --size 6x4mm: WIDTHxHEIGHT is expected, such as 6x4 (inches) or 15x10cm, from 2x1.5 to 100x100 inches
= 2
$ pipesim plot - --log-x <<<$'n,y\n0,2\n1,3'
! note: y over n (other columns: -x, -y, --by)
! pipesim: error: --log-x: n is 0 in line 2 of <stdin>: a logarithmic axis shows what is more than 0 only
= 2
$ cd tests/data/plots; ls fig* 2>&1 | wc -l
> 1
# Ends of the axes; shares begin at zero unless they lie close together.
$ printf 'n,bubble_frac,t_s\n1,0.284,284\n3,0.352,352\n' >$TMPDIR/r.csv; for range in "" "--y-range 0.1:0.5" "--y-range 20%: --x-range :10"; do pipesim plot $TMPDIR/r.csv -x n -y bubble_frac $range -o $TMPDIR/r.gp 2>/dev/null; grep -E '^set [xy]range' $TMPDIR/r.gp; done; pipesim plot $TMPDIR/r.csv -x n -y t_s -o $TMPDIR/r.gp 2>/dev/null; grep -E '^set yrange' $TMPDIR/r.gp
> set xrange [*:*]
> set yrange [0:*<100]
> set xrange [*:*]
> set yrange [10:50]
> set xrange [*:10]
> set yrange [20:*<100]
> set yrange [*:*]
# What gnuplot makes of open ends.
$ for columns in bubble_frac t_s; do pipesim plot $TMPDIR/r.csv -x n -y $columns -o $TMPDIR/r.gp 2>/dev/null; (grep -vE '^set (terminal|output)' $TMPDIR/r.gp; echo 'print GPVAL_X_MIN, GPVAL_X_MAX, GPVAL_Y_MIN, GPVAL_Y_MAX') | sed '1i set terminal dumb; set output "/dev/null"' | gnuplot 2>&1 | grep -v warning; done
> 0.92 3.08 0.0 40.0
> 0.92 3.08 280.0 360.0
$ pipesim plot $TMPDIR/r.csv --y-range 0.5:0.1 2>&1 | tail -n 1
> pipesim: error: --y-range 0.5:0.1: 0.5 to 0.1; the first must be less than the other
$ pipesim plot $TMPDIR/r.csv --y-range half 2>&1 | tail -n 1
> pipesim: error: --y-range half: LO:HI is expected in the numbers of the column, such as 0:0.5, 0:50%, 8: or :64
$ pipesim plot $TMPDIR/r.csv --log-y --y-range 0:1 2>&1 | tail -n 1
> pipesim: error: --y-range 0:1: the axis is logarithmic and begins above 0, not at 0
$ pipesim plot $TMPDIR/r.csv --kind memory --y-range 0:1 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: --y-range has no effect on --kind memory of a sweep
# Titles and names of axes that are longer than the picture go on two lines.
$ cd tests/data/plots; pipesim plot sweep.csv -y peak_activations --paper --size 3.3x2 --title "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen" -o $TMPDIR/r.gp 2>/dev/null; grep -E '^set (title|ylabel|lmargin)' $TMPDIR/r.gp
> set title 'one two three four five six seven eight nine'."\n".'ten eleven twelve thirteen fourteen fifteen'
> set ylabel 'peak activations'."\n".'(micro-batches of a chunk)' offset -1.4,0
> set lmargin 10.5
