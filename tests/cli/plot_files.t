# Pictures of reports and traces in the terminal. Scratch files are in $TMPDIR.
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --json > $TMPDIR/unit.json; pipesim plot $TMPDIR/unit.json
> 1f1b: activations of each pipeline rank
>
> pipeline rank                                                     activations
>             0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  4.00
>             1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA              3.00
>             2 AAAAAAAAAAAAAAAAAAAAAAAAA                           2.00
>             3 AAAAAAAAAAAAA                                       1.00
>
>   A activations
$ pipesim --schedule gpipe,1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --json | pipesim plot - --title 'Two of them'
> Two of them
>
> schedule                                                          micro-batches
>    gpipe AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  8.00
>     1f1b AAAAAAAAAAAAAAAAAAAAAAAAAAAA                             4.00
>
>   A activations
$ pipesim plot --kind links $TMPDIR/unit.json 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: unit.json: no link carries anything in unit mode
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --trace $TMPDIR/t.csv >/dev/null; pipesim plot --kind memory-time $TMPDIR/t.csv | sed "s:$TMPDIR/::"
> t.csv: activations held over time by pipeline rank
>
> chunk activations
>     4.0 |         ##########                       ##########
>         |         ##########                       ##########
>         |         ##########                       ##########
>         |         ##########                       ##########
>     3.0 |       #################               ##################
>         |       #################               ##################
>         |       #################               ##################
>         |       #################               ##################
>     2.0 |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>     1.0 |::################################################################::::
>         |::################################################################::::
>         |::################################################################::::
>         |::################################################################::::
>       0 +----------------------------------------------------------------------
>          0                                                                 30 s
>
>   # rank 1, which holds most (4.00)  : the most of all 4 ranks
$ pipesim --schedule 1f1b --gpus 4 --pp 4 --tp 1 --model gpt2-64 --gbs 8 --mbs 1 --engine dag --json > $TMPDIR/r.json; pipesim plot --kind links $TMPDIR/r.json
> 1f1b (dag): use of links
>
>            link |                                      | links   mean    most
> node*.gpu*.down |                                      |     4   0.1 %   0.1 %
>   node*.gpu*.up |                                      |     4   0.1 %   0.1 %
>
>   # mean of the class  - its busiest link  full width 100 %
$ pipesim plot $TMPDIR/r.json | head -4
> 1f1b: peak memory of each pipeline rank
>
> pipeline rank                                                     GiB
>             0 GOOOA--                                           | 11.3
$ pipesim plot --kind memory -x pp $TMPDIR/r.json
! pipesim: error: -x has no effect on --kind memory of a report
= 2
$ pipesim plot --kind memory --by schedule $TMPDIR/r.json
! pipesim: error: --by has no effect on --kind memory of a report
= 2
$ echo '{"schema": "pipesim.report/1", "schedule": 3}' | pipesim plot -
! pipesim: error: <stdin>: "schedule" must be a string, not an integer
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --trace $TMPDIR/other.csv >/dev/null; pipesim plot --kind error $TMPDIR/t.csv $TMPDIR/other.csv 2>&1 | sed "s:$TMPDIR/::g"
> pipesim: error: t.csv has 4 ranks, other.csv has 2
$ pipesim sweep --schedule gpipe,1f1b --pp 4 --micro-batches 8,16 --unit F=1,B=2 -o $TMPDIR/s.csv 2>/dev/null; pipesim plot --kind memory $TMPDIR/s.csv
> activations of the fullest rank
>
>                                                                   micro-batches
>  gpipe, 8 micro-batches AAAAAAAAAAAAAAAAAAAA                      8.00
> gpipe, 16 micro-batches AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  16.00
>   1f1b, 8 micro-batches AAAAAAAAAA                                4.00
>  1f1b, 16 micro-batches AAAAAAAAAA                                4.00
>
>   A activations
# Bars of several inputs: values with their names, not what follows from them; as many as can be read.
$ cd $TMPDIR; pipesim sweep --preset bfs-52b --schedule 1f1b,gpipe --mbs 1,2 --gbs 64 --recompute none --recompute full --engine dag -o m.csv 2>/dev/null; pipesim plot m.csv --kind memory -o m.gp; grep -o "^set xtics .* 1," m.gp; grep -c '^set xlabel' m.gp
> set xtics scale 0 rotate by 90 right ('1f1b, mbs 1, recompute none' 0, '1f1b, mbs 1, recompute full' 1, '1f1b, mbs 2, recompute none' 2, '1f1b, mbs 2, recompute full' 3, 'gpipe, mbs 1, recompute none' 4, 'gpipe, mbs 1,
> 0
= 1
$ cd $TMPDIR; pipesim sweep --schedule 1f1b,gpipe --micro-batches 1:24:+1 --pp 4 --unit F=1,B=2 -o m.csv --fresh 2>/dev/null; pipesim plot m.csv --kind memory --paper -o m.gp; rm m.gp m.csv
! pipesim: error: 48 bars, but the names of at most 21 can be read in 3.3 inches: choose some, in a sweep with --where COLUMN=VALUE, or draw in the terminal
# Parts of a trace: ranks, times, a step; in units or seconds.
$ pipesim --schedule pipedream --pp 4 --micro-batches 4 --unit F=1,B=2 --steps 4 --step-barrier off --trace $TMPDIR/s.csv >/dev/null; pipesim plot $TMPDIR/s.csv --time-unit units --window 10:20 --ranks 1:2
> from 10 units to 20 units
> P1 |F3  B1  b1  F4  B2  b2  F5  B3  b3  F6 |
> P2 |B1  F3  B2  b2  F4  B3  b3  F5  B4  b4 |
> one column = 1 unit, 10 columns in all
> F forward, B backward, small letter: same op, . idle
$ pipesim plot $TMPDIR/s.csv --time-unit units --step 2
> P0 |F4  .  . F5  .  . F6  .  . F7 B4 b4  . B5 b5  . B6 b6  . B7 b7  .|
> P1 | . F4  .  . F5  .  . F6 B4 b4 F7 B5 b5  . B6 b6  . B7 b7  .  .  .|
> P2 | .  . F4  .  . F5 B4 b4 F6 B5 b5 F7 B6 b6  . B7 b7  .  .  .  .  .|
> P3 | .  .  . F4 B4 b4 F5 B5 b5 F6 B6 b6 F7 B7 b7  .  .  .  .  .  .  .|
> one column = 1 unit, 22 columns in all
> F forward, B backward, small letter: same op, . idle
$ pipesim plot $TMPDIR/s.csv --window 10s: --ranks 3 | head -1
> from 10.0 s to 57.0 s
$ pipesim plot $TMPDIR/s.csv $TMPDIR/s.csv --window :6s --ranks :1 | head -4
> predicted 12.0 s a step, bubble 12.5 %, error +0.0 %, step 4
> from 0 s to 6.00 s
> P0 |F12  .   .  F13  .   . |
> P1 | .  F12  .   .  F13  . |
$ pipesim plot $TMPDIR/s.csv --kind memory-time --step 2 --time-unit units | tail -4
>       0 +----------------------------------------------------------------------
>          0                                                             22 units
>
>   # rank 0, which holds most (4.00)  : the most of all 4 ranks
$ cd $TMPDIR; pipesim plot s.csv --time-unit units --window 10:20 --ranks 2: -o s.gp; grep -E '^set (x|y)' s.gp; rm s.gp
> set xrange [0:10]
> set xtics 0,1 out
> set yrange [1.5:-0.5]
> set ytics scale 0 offset 0.6,0 ("P2" 0, "P3" 1)
> set xtics ("10" 0, "11" 1, "12" 2, "13" 3, "14" 4, "15" 5, "16" 6, "17" 7, "18" 8, "19" 9, "20" 10) out
> set xlabel 'time (units)' offset 0,0.5
$ cd $TMPDIR; pipesim plot s.csv --step 5
! pipesim: error: s.csv has no step 5: it has steps 1 to 4
= 2
$ cd $TMPDIR; pipesim plot s.csv --step 2 --ranks 2:4
! pipesim: error: s.csv, step 2: ranks 2 to 4: it has 0 to 3
= 2
$ cd $TMPDIR; pipesim plot s.csv --step 2 --ranks 4 -o s.gp
! pipesim: error: s.csv, step 2: ranks 4 to 4: it has 0 to 3
= 2
$ cd $TMPDIR; pipesim plot s.csv --ranks 2:1
! pipesim: error: --ranks 2:1: the first and the last rank are expected, such as 0:7, 4: or 3
= 2
$ cd $TMPDIR; pipesim plot s.csv --ranks 1-2
! pipesim: error: --ranks 1-2: the first and the last rank are expected, such as 0:7, 4: or 3
= 2
$ cd $TMPDIR; pipesim plot s.csv --window 100s:
! pipesim: error: s.csv: nothing to draw from 100 s on: it ends at 57 s
= 2
$ cd $TMPDIR; pipesim plot s.csv --window 100: --time-unit units -o s.gp
! pipesim: error: s.csv: nothing to draw from 100 units on: it ends at 57 units
= 2
$ cd $TMPDIR; pipesim plot s.csv --window 10:20
! pipesim: error: --window 10:20: two times are expected, the later one after the colon, such as 10ms:20ms, 1.5s: or :200us
= 2
$ cd $TMPDIR; pipesim plot s.csv --window 20s:10s
! pipesim: error: --window 20s:10s: two times are expected, the later one after the colon, such as 10ms:20ms, 1.5s: or :200us
= 2
$ cd $TMPDIR; pipesim plot s.csv --window 2s --time-unit units
! pipesim: error: --window 2s: two times are expected, the later one after the colon, such as 10:20 or 10:
= 2
$ cd $TMPDIR; pipesim plot s.csv --kind memory-time --ranks 1
! pipesim: error: --ranks has no effect on --kind memory-time of a trace
= 2
$ cd $TMPDIR; pipesim plot s.csv s.csv --step 2
! pipesim: error: --step has no effect on --kind compare of two traces
= 2
$ cd $TMPDIR; pipesim plot s.csv s.csv --kind error --time-unit units
! pipesim: error: --time-unit has no effect on --kind error of two traces
= 2
$ pipesim plot $TMPDIR/unit.json --window 1s:2s 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: --window has no effect on --kind memory of a report
# gnuplot ends with 0 when the temporary folder is full: part of a picture replaces nothing.
$ mkdir g; printf '#!/bin/sh\nf=$(grep "^set output" | head -1 | cut -d"%s" -f2)\nprintf "<svg><g>" >"$f"\n' "'" >g/gnuplot; chmod +x g/gnuplot; echo good >p.svg; PATH=$PWD/g:$PATH pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot p.svg >/dev/null
! pipesim: error: gnuplot wrote part of the picture: is the temporary folder full? TMPDIR names another
!   the script with its data is in p.svg.gp
= 1
$ cat p.svg
> good
$ for f in svg png pdf tex; do pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot w.$f >/dev/null; done; ls w*
> w-graphics.pdf
> w.pdf
> w.png
> w.svg
> w.tex
# A program is no picture; the command that draws it.
$ pipesim program --schedule zbv --pp 2 --micro-batches 4 -o z.csv; pipesim plot z.csv 2>&1 | tee try | head -1; $(sed -n 's/ *try: //p' try) | tail -1; pipesim program --schedule dualpipe --pp 2 --micro-batches 4 --compute 2>/dev/null | pipesim plot - -o x.png
> pipesim: error: z.csv is a program, which has no times until it runs
> F3 is in a rank's first chunk, F3' in its second
! pipesim: error: <stdin> is a program, which has no times until it runs
!   try: pipesim --schedule FILE --unit F=1,B=2 --gantt
= 2
# A plan: the layouts that fit, as points.
$ pipesim plan --gpus 8 --model gpt2 --free pp,schedule --engine dag -o plan.csv >/dev/null; pipesim plot plan.csv -o plan.gp 2>&1 | sed 's/[0-9]* of [0-9]* rows.*/N of M rows/'; grep -E '^set .label' plan.gp; grep -c 'with points' plan.gp
> note: left out N of M rows
> note: iteration_s over peak_mem_bytes by schedule (other columns: -x, -y, --by)
> set xlabel 'peak memory (GiB)'
> set ylabel 'step time (s)'
> 4
