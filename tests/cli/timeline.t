# Who computes what when, as a script of gnuplot with its data: the whole of a small one.
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.gp --paper >report; sed -n '/^# ops/,$p' a.gp
> # ops: row start end colour foot(share of the height) text colour-of-text
> $ops0 << EOD
> 0 0 1 0xa8cbea 0 "0" 0x000000
> 0 1 2 0xcfe3f6 0 "1" 0x000000
> 0 4 6 0x8f3f0e 0 "0" 0xffffff
> 0 7 9 0xab5420 0 "1" 0xffffff
> 1 1 2 0xa8cbea 0 "0" 0x000000
> 1 2 4 0x8f3f0e 0 "0" 0xffffff
> 1 4 5 0xcfe3f6 0 "1" 0x000000
> 1 5 7 0xab5420 0 "1" 0xffffff
> EOD
> # messages: made, its row, used, its row
> $messages0 << EOD
> 4 0.6 4 0.4
> 7 0.6 7 0.4
> 1 0.4 1 0.6
> 2 0.4 4 0.6
> EOD
> unset title
> unset grid
> set border 1
> set tics nomirror
> set lmargin at screen 0.0742
> set rmargin at screen 0.9570
> set xrange [0:9]
> set xtics 0,2 out
> set object 1 rectangle from screen 0.0742,0.0565 to screen 0.1180,0.1695 fillcolor rgb '#bcd7f0' fillstyle solid border lc rgb '#303030' lw 0.3
> set label 'F forward' at screen 0.1314,0.1130 left
> set object 2 rectangle from screen 0.3543,0.0565 to screen 0.3981,0.1695 fillcolor rgb '#9d4a17' fillstyle solid border lc rgb '#303030' lw 0.3
> set label 'B backward' at screen 0.4116,0.1130 left
> set tmargin at screen 0.9367
> set bmargin at screen 0.5503
> set yrange [1.5:-0.5]
> set ytics scale 0 offset 0.6,0 ("P0" 0, "P1" 1)
> set format x '%g'
> set xlabel 'time (units)' offset 0,0.5
> unset arrow
> plot $ops0 using (($2+$3)/2):1:2:3:($1-0.4):($1+0.4):4 with boxxyerror fillstyle solid border lc rgb '#303030' lw 0.3 fillcolor rgb variable, \
>   $messages0 using 1:2:($3-$1):($4-$2) with vectors filled head size screen 0.006,18 lc rgb '#707070' lw 0.4, \
>   $ops0 using (($2+$3)/2):1:6:7 with labels center font ',7' textcolor rgb variable
> unset label
> unset object
$ cd $TMPDIR; head -1 report
> pipesim 0.1.0  1f1b, 2 ranks, 2 micro-batches
# Two pipelines: their boxes differ by a foot; the legend says whose.
$ cd $TMPDIR; pipesim --schedule chimera --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.gp >report; grep -A9 '^.ops0' a.gp; grep pipeline a.gp
> $ops0 << EOD
> 0 0 1 0xa8cbea 0 "0" 0x000000
> 0 1 2 0xcfe3f6 0.15 "1" 0x000000
> 0 2 4 0xab5420 0.15 "1" 0xffffff
> 0 4 6 0x8f3f0e 0 "0" 0xffffff
> 1 0 1 0xcfe3f6 0.15 "1" 0x000000
> 1 1 2 0xa8cbea 0 "0" 0x000000
> 1 2 4 0x8f3f0e 0 "0" 0xffffff
> 1 4 6 0xab5420 0.15 "1" 0xffffff
> EOD
> set label 'pipeline P1 to P0' at screen 0.4191,0.0897 left
# Overlapped pairs, splits, chunks, recomputation, several steps.
$ cd $TMPDIR; pipesim --schedule dualpipe --pp 2 --micro-batches 4 --unit F=1,I=1,W=1 --plot a.gp >report; grep -A4 '^.pairs0' a.gp; grep -c overlap a.gp
> $pairs0 << EOD
> 0 5 8
> 1 5 8
> EOD
> # messages: made, its row, used, its row
> 2
$ cd $TMPDIR; pipesim --schedule seq1f1b --splits 2 --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.gp >report; grep -A4 '^.ops0' a.gp
> $ops0 << EOD
> 0 0 0.5 0xa8cbea 0 "0.0" 0x000000
> 0 0.5 1 0xa8cbea 0 "0.1" 0x000000
> 0 1 1.5 0xcfe3f6 0 "1.0" 0x000000
> 0 2.5 3.5 0x8f3f0e 0 "0.1" 0xffffff
$ cd $TMPDIR; pipesim --schedule interleaved --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.gp >report; grep 'chunk' a.gp
> set label 'chunk 2' at screen 0.4191,0.0897 left
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 3 --step-barrier off --plot a.gp >report; grep 'nohead' a.gp
> set arrow from 9, graph 0 to 9, graph 1 nohead front lc rgb '#000000' lw 0.6
> set arrow from 18, graph 0 to 18, graph 1 nohead front lc rgb '#000000' lw 0.6
> set arrow from 27, graph 0 to 27, graph 1 nohead front lc rgb '#000000' lw 0.6
# Several schedules above each other, on one axis.
$ cd $TMPDIR; pipesim --schedule 1f1b,chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --plot a.gp >report; grep -E 'bubble|xrange|multiplot|nohead' a.gp
> set xrange [0:21]
> set multiplot
> set arrow from 21, graph 0 to 21, graph 1 nohead front lc rgb '#000000' lw 0.8
> set arrow from 16, graph 0 to 16, graph 1 nohead front lc rgb '#808080' lw 0.8 dt 3
> set label '1f1b: 21 units, bubble 42.9 %' at screen 0.0437,0.9474 left
> set arrow from 21, graph 0 to 21, graph 1 nohead front lc rgb '#808080' lw 0.8 dt 3
> set arrow from 16, graph 0 to 16, graph 1 nohead front lc rgb '#000000' lw 0.8
> set label 'chimera: 16 units, bubble 25.0 %' at screen 0.0437,0.5389 left
> unset multiplot
$ pipesim --schedule 1f1b,chimera --pp 2 --micro-batches 2 --unit F=1,B=2 --plot none
> pipesim 0.1.0  2 schedules, 2 ranks, 2 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank
>   peak activations: in micro-batches of a rank
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  chimera            1       6 units     0.00 %     0.00 %            2
>    2  1f1b               1       9 units    33.33 %    33.33 %            2
>
> 1f1b: 9 units, bubble 33.3 %
> P0 |F0 F1  .  . B0 b0  . B1 b1|
> P1 | . F0 B0 b0 F1 B1 b1  .  .|
> one column = 1 unit, 9 columns in all
> F forward, B backward, small letter: same op, . idle
>
> chimera: 6 units, bubble 0.0 %
> P0 |F0 F1 B1 b1 B0 b0|
> P1 |F1 F0 B0 b0 B1 b1|
> one column = 1 unit, 6 columns in all
> F forward, B backward, small letter: same op, . idle
> pipeline 0, P0 to P1: micro-batches 0
> pipeline 1, P1 to P0: micro-batches 1
$ pipesim --schedule 1f1b,zbv --pp 2 --micro-batches 2 --unit F=1,B=2 --plot none | grep -E '(1f1b|zbv) .* units|^zbv|column'; pipesim --schedule 1f1b,zbv --pp 2 --micro-batches 2 --unit F=1,B=2 --gantt
>    1  zbv                2       7 units    14.29 %    14.29 %            2
>    2  1f1b               1       9 units    33.33 %    33.33 %            2
> one column = 1 unit, 9 columns in all
> zbv (VP 2): 7 units, bubble 14.3 %
> one column = 0.5 units, 14 columns in all
! pipesim: error: --gantt shows one schedule, --schedule lists 2; --plot none draws several
= 2
$ cd $TMPDIR; pipesim --schedule all --pp 4 --micro-batches 4 --unit F=1,B=2 --plot a.gp
! pipesim: error: --plot-kind timeline shows up to 6 schedules, --schedule lists 22; --plot-kind memory shows any number
= 2
$ cd $TMPDIR; pipesim --schedule 1f1b,chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --plot a.gp --plot-kind links
! pipesim: error: --plot-kind links shows 1 schedule, --schedule lists 2
= 2
# What is no picture is refused before anything is simulated.
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.jpg
! pipesim: error: --plot a.jpg: a picture ends in .png, .pdf, .svg or .tex, a script of gnuplot in .gp; without a file it is drawn in the terminal
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot /nowhere/a.pdf
! pipesim: error: --plot: cannot write '/nowhere/a.pdf': No such file or directory
= 1
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot-kind memory
! pipesim: error: --plot-kind is about a picture: --plot FILE draws one
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --size 4x3
! pipesim: error: --size is about a picture: --plot FILE draws one
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot a.gp --size 4
! pipesim: error: --size 4: WIDTHxHEIGHT is expected, such as 6x4 (inches) or 15x10cm, from 2x1.5 to 100x100 inches
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --plot $TMPDIR/a.gp --size 5.08x7.62cm >/dev/null; grep 'set terminal' $TMPDIR/a.gp; rm $TMPDIR/a.gp
> set terminal pdfcairo size 2in,3in font 'sans,10' fontscale 0.75 linewidth 1.5 pointscale 0.83
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --json --plot none
! pipesim: error: --json and --plot without a file both write to stdout; give one of them
= 2
# Ops that are narrower than a dot become shares: the script stays small.
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 64 --micro-batches 512 --unit F=1,B=2 --plot a.gp >report; grep -c 'with boxxyerror' a.gp; test $(wc -c <a.gp) -lt 1000000 && echo small
> 1
> small
# pipeexec: the measured step, below the predicted one.
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 6 --np 2 --micro-batches 2 --gantt | tail -1
> the median of 3 measured steps
$ cd $TMPDIR; pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 6 --np 2 --micro-batches 2 --quiet --plot a.gp; grep -oE 'predicted [0-9.]+|measured [0-9.]+|multiplot' a.gp | sed 's/[0-9.]\+/T/'; grep -c '^[01] ' a.gp
> multiplot
> predicted T
> measured T
> multiplot
> 20
$ pipeexec --steps 1000000 --plot a.txt
! pipeexec: error: --plot a.txt: a picture ends in .png, .pdf, .svg or .tex, a script of gnuplot in .gp; without a file it is drawn in the terminal
= 2
$ pipeexec --steps 1000000 --plot /nowhere/a.pdf
! pipeexec: error: --plot: cannot write '/nowhere/a.pdf': No such file or directory
= 1
$ pipeexec --steps 1000000 --json --gantt
! pipeexec: error: --json and --gantt both write to stdout; give one of them
= 2
$ pipeexec --steps 1000000 --paper
! pipeexec: error: --paper is about a picture: --plot FILE draws one
= 2
# On one axis, unit costs are those of a whole rank where schedules differ in chunks.
$ cd $TMPDIR; pipesim --schedule 1f1b,zbv --pp 4 --micro-batches 8 --unit F=1,I=1,W=1 --plot a.gp >report; grep -E "^set (label '.*units|xlabel)|^set xrange" a.gp
> set xrange [0:33]
> set label '1f1b: 33 units, bubble 27.3 %' at screen 0.0437,0.9502 left
> set xlabel 'time (units; costs of a whole rank)' offset 0,0.5
> set label 'zbv (VP 2): 25.5 units, bubble 5.9 %' at screen 0.0437,0.5635 left
# Without a barrier: one step of each, as long as the table says, with ops of other steps at its ends.
$ cd $TMPDIR; pipesim --schedule 1f1b,zbv --pp 4 --micro-batches 8 --unit F=1,I=1,W=1 --steps 4 --step-barrier off --plot a.gp | grep -o 'zbv .* units'; grep -E "^set label '.*units|^set xrange" a.gp; awk '/^\$ops1/ { is_data = 1; least = 1e9; next } /^EOD/ { is_data = 0 } is_data { busy += $3 - $2; if ($2 < least) least = $2; if ($3 > most) most = $3 } END { print least, most, busy }' a.gp
> zbv                2      24 units
> set xrange [0:33]
> set label '1f1b: 33 units a step, bubble 27.3 %, step 3 of 4' at screen 0.0437,0.9502 left
> set label 'zbv (VP 2): 24 units a step, bubble 1.0 %, step 3 of 4' at screen 0.0437,0.5635 left
> 0 24 96
$ cd $TMPDIR; pipesim --schedule 1f1b,zbv --pp 4 --micro-batches 8 --unit F=1,B=2,C=1 --plot a.gp >report; grep -E "^set (label '.*units|xlabel)|^set xrange" a.gp
> set xrange [0:65]
> set label '1f1b: 49 units, bubble 51.0 %' at screen 0.0437,0.9502 left
> set xlabel 'time (units; costs of a chunk)' offset 0,0.5
> set label 'zbv (VP 2): 65 units, bubble 26.2 %' at screen 0.0437,0.5635 left
$ cd $TMPDIR; pipesim --schedule 1f1b,gpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --plot a.gp >report; grep -E "^set (label '.*units|xlabel)|^set xrange" a.gp
> set xrange [0:33]
> set label '1f1b: 33 units, bubble 27.3 %' at screen 0.0437,0.9474 left
> set xlabel 'time (units)' offset 0,0.5
> set label 'gpipe: 33 units, bubble 27.3 %' at screen 0.0437,0.5389 left
$ cd $TMPDIR; pipesim --schedule 1f1b,chimera,interleaved --pp 4 --micro-batches 8 --unit F=1,B=2 --plot a.gp >report; grep "chunk\|P3 to" a.gp
> set label 'pipeline P3 to P0, or chunk 2' at screen 0.4191,0.0267 left
# Traces of different programs have nothing in common.
$ cd $TMPDIR; for s in 1f1b gpipe; do pipesim --schedule $s --pp 4 --micro-batches 8 --unit F=1,B=2 --trace $s.csv >report; done; pipesim plot 1f1b.csv gpipe.csv -o a.gp
! pipesim: error: 1f1b.csv is of program b8c0156cb9042e21, gpipe.csv of program 434b754a2173dd21: their ops have another order on rank 0, from 0F4 on; where an order follows durations, let both run the file of pipesim program --compute -o FILE.csv
= 2
$ cd $TMPDIR; pipesim plot 1f1b.csv gpipe.csv -o a.gp --kind error
! pipesim: error: 1f1b.csv is of program b8c0156cb9042e21, gpipe.csv of program 434b754a2173dd21: their ops have another order on rank 0, from 0F4 on; where an order follows durations, let both run the file of pipesim program --compute -o FILE.csv
= 2
$ cd $TMPDIR; pipesim compare 1f1b.csv gpipe.csv
! pipesim: error: 1f1b.csv is of program b8c0156cb9042e21, gpipe.csv of program 434b754a2173dd21: their ops have another order on rank 0, from 0F4 on; where an order follows durations, let both run the file of pipesim program --compute -o FILE.csv; --allow-different compares what both have
= 2
# One step of many, said in the title; the time of one where steps run into each other.
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 17 --step-barrier on --trace t.csv >report; pipesim plot t.csv --time-unit units; pipesim plot t.csv --time-unit units -o t.gp; grep -E "^set (label 't.csv|xrange)|^. [0-9.]+ [0-9.]+ " t.gp
> step 9 of 17
> P0 |F0 F1  .  . B0 b0  . B1 b1|
> P1 | . F0 B0 b0 F1 B1 b1  .  .|
> one column = 1 unit, 9 columns in all
> F forward, B backward, small letter: same op, . idle
> 0 0 1 0xa8cbea 0 "0" 0x000000
> 0 1 2 0xcfe3f6 0 "1" 0x000000
> 0 4 6 0x8f3f0e 0 "0" 0xffffff
> 0 7 9 0xab5420 0 "1" 0xffffff
> 1 1 2 0xa8cbea 0 "0" 0x000000
> 1 2 4 0x8f3f0e 0 "0" 0xffffff
> 1 4 5 0xcfe3f6 0 "1" 0x000000
> 1 5 7 0xab5420 0 "1" 0xffffff
> 4 0.6 4 0.4
> 7 0.6 7 0.4
> 1 0.4 1 0.6
> 2 0.4 4 0.6
> set xrange [0:9]
> set label 't.csv, step 9 of 17' at screen 0.5000,0.8996 center
$ cd $TMPDIR; pipesim plot t.csv --time-unit units --step all -o t.gp; grep -E "^set (label 't.csv|xrange)" t.gp; pipesim plot t.csv --time-unit units --step 3 -o t.gp; grep -E "^set (label 't.csv|xrange)" t.gp; pipesim plot t.csv --time-unit units --window 5:15 -o t.gp; grep -E "^set (label 't.csv|xrange)" t.gp
> set xrange [0:153]
> set label 't.csv' at screen 0.5000,0.8996 center
> set xrange [0:9]
> set label 't.csv, step 3' at screen 0.5000,0.8996 center
> set xrange [0:10]
> set label 't.csv' at screen 0.5000,0.8996 center
$ cd $TMPDIR; pipesim --schedule pipedream --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 5 --step-barrier off --trace t.csv --plot t.gp >report; grep -E "^set (label 'pipedream|xrange|xtics)" t.gp; pipesim plot t.csv --time-unit units -o t.gp; grep -E "^set (label 't.csv|xrange|xtics)" t.gp
> set xrange [0:33]
> set xtics 0,5 out
> set label 'pipedream: 6 units a step, bubble 6.2 %' at screen 0.5000,0.8996 center
> set xrange [0:9]
> set xtics 0,1 out
> set label 't.csv, while step 3 of 5 runs' at screen 0.5000,0.8996 center
$ cd $TMPDIR; pipesim --schedule pipedream --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 2 --step-barrier off --plot t.gp >report; grep -E "^set (label 'pipedream|xrange|xtics)" t.gp
> set xrange [0:15]
> set xtics 0,2 out
> set label 'pipedream: 6 units a step, bubble 25.0 %' at screen 0.5000,0.8996 center
$ cd $TMPDIR; pipesim --schedule 1f1b,gpipe --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 3 --step-barrier on --plot t.gp >report; grep -E "^set (label '.*units|xrange|xtics)" t.gp
> set xrange [0:9]
> set xtics 0,1 out
> set label '1f1b: 9 units a step, bubble 33.3 %, step 2 of 3' at screen 0.0437,0.9222 left
> set label 'gpipe: 9 units a step, bubble 33.3 %, step 2 of 3' at screen 0.0437,0.5575 left
# Of a run alone one steady step, from 0 on; all steps that --steps asks for. Memory is that of the same time.
$ cd $TMPDIR; for steps in '' '--steps 4'; do pipesim --schedule zbv --model llama3-8b --gpus 8 --tp 2 --pp 4 --gbs 16 --engine dag --no-alternatives $steps --plot t.gp >report; grep -o 'iteration  *[0-9.]* s' report; grep -E "^set (label 'zbv|xrange)" t.gp; pipesim --schedule zbv --model llama3-8b --gpus 8 --tp 2 --pp 4 --gbs 16 --engine dag $steps --plot m.gp --plot-kind memory-time >report; grep "^set xrange" m.gp; done
> iteration       2.29 s
> set xrange [0:2.285748]
> set label 'zbv: 2.29 s a step, bubble 17.0 %, step 3 of 4' at screen 0.5000,0.9340 center
> set xrange [0:2.28575]
> iteration       2.29 s
> set xrange [0:9.14299]
> set label 'zbv: 2.29 s a step, bubble 17.0 %' at screen 0.5000,0.9340 center
> set xrange [0:9.14299]
$ pipesim --schedule zbv --model llama3-8b --gpus 8 --tp 2 --pp 4 --gbs 16 --engine dag --gantt | head -2
> step 3 of 4
> from 4.57 s to 6.86 s
$ cd $TMPDIR; pipesim plot t.csv --step x
! pipesim: error: --step: "x" is not a whole number; a number from 1 on, or all
= 2
$ cd $TMPDIR; pipesim plot t.csv --step all --kind memory-time
! pipesim: error: --step all is for --kind timeline
= 2
# A trace in JSON says that its times are units; CSV does not, and --time-unit prevails.
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace u.json >report; for flags in "" "--time-unit seconds" "--window 1:5" "--kind memory-time"; do pipesim plot u.json $flags -o t.gp; grep 'set xlabel' t.gp; done; pipesim plot u.json u.json --kind error -o t.gp; grep 'label.*(' t.gp; pipesim plot u.json u.json -o t.gp; grep -oE "(predicted|time).*(units|s)[,)]" t.gp
> set xlabel 'time (units)' offset 0,0.5
> set xlabel 'time (s)' offset 0,0.5
> set xlabel 'time (units)' offset 0,0.5
> set xlabel 'time (units)'
> set xlabel 'measured (units)'
> set ylabel 'predicted (units)'
> predicted 9 units,
> time (units)
$ cd $TMPDIR; pipesim compare u.json u.json --html c.html | grep -E "note|pipesim"; grep -oE '>time [^<]*|axis":"[^"]*' c.html; sed 's/"units"/"ms"/' u.json | pipesim plot -
> pipesim 0.1.0  step: predicted 9 units, measured 9 units, error 0.0 %
>   note       times are in units of --unit, as a trace says
> >time (units)
> >time (units)
! pipesim: error: <stdin>: "time_unit" is 'ms'; "units" is expected, or no such key for seconds
= 2

# Memory by tier: what is away grows while what is here does not.
$ pipesim --schedule gpipe --pp 2 --model llama3-8b --gpus 2 --gbs 8 --offload a=host,os=host --cluster "a100 ram:4TB" --plot none --plot-kind memory-tiers --no-alternatives --engine dag | tail -24
>
> gpipe: memory over time by tier, rank 1
>
>     GiB
>     113 |                :
>         |              ::::::::
>         |             ::::::::::::::
>         |             ::::::::::::::
>      85 |           :::::::::::::::::::::
>         |         ::::::::::::::::::::::::::::
>         |       :::::::::::::::::::::::::::::::::::
>         |     ::::::::::::::::::::::::::::::::::::::::::
>      57 |   :::::::::::::::########################::::::::::
>         |   :::::::::::::##########################::::::::::
>         |:::::::::::::::################################:::::::::::::::::::::::
>         |:::#################################################::::::::::::::::::
>      28 |:########################################################:::::::::::::
>         |######################################################################
>         |######################################################################
>         |######################################################################
>       0 +----------------------------------------------------------------------
>          0                                                              13.34 s
>
>   # device, 54.4 of 79.3 GiB  : host, 113.2 of 1862.6 GiB
$ cd $TMPDIR; pipesim --schedule gpipe --pp 2 --gpus 16 --plot t.gp --plot-kind memory-tiers >report
! pipesim: error: --plot-kind memory-tiers: all data are on the device; --offload os=host, for example, moves some
= 2

# Copies between memory tiers have lanes of their own.
$ pipesim --schedule gpipe --pp 2 --model llama3-8b --gpus 2 --gbs 2 --mbs 1 --seq 128 --offload a=host,os=host,p=host --cluster "a100 ram:4TB" --no-alternatives --engine dag --gantt | tail -9
> P0 |F0 F1 f1  .  . B0 B1 U  u  u  u  u  u  u  u   .|
>  d |                                          -- ==
>  u |-- --                --
> P1 | . F0 f0 F1 B0 B1 U  u  u  u  u  u  u   .  .  .|
>  d |                                       == ==
>  u |--    --          --
> one column = 263 ms, 16 columns in all
> F forward, B backward, U optimizer, small letter: same op, . idle
> d copies down, u copies up; = most of a column, - less
$ cd $TMPDIR; pipesim --schedule gpipe --pp 2 --model llama3-8b --gpus 2 --gbs 4 --mbs 1 --offload a=host --cluster "a100 ram:4TB" --no-alternatives --engine dag --plot t.gp >report; sed -n '/^.copies0/,/^EOD/p' t.gp | head -4; grep -o "'copies [a-z]*'" t.gp
> $copies0 << EOD
> 0 0.3074909 0.3504419 0x4d4d4d 0.16
> 0 0.6149818 0.6579328 0x4d4d4d 0.16
> 0 0.9224727 0.9654237 0x4d4d4d 0.16
> 'copies down'
> 'copies up'
