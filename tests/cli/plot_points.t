# Published or measured points next to curves.
$ cd $TMPDIR && pipesim sweep --schedule gpipe,1f1b,chimera --pipelines 2 --pp 4,8,16 --micro-batches 16 --unit F=1,B=1 -o s.csv 2>/dev/null; printf 'schedule,pp,bubble_frac,label\n1f1b,8,0.31,"at 8, 1f1b"\nchimera,32,0.5,\nnone of them,16,0.7,other\n,,0.5,\n' > seen.csv; pipesim plot s.csv -x pp --points seen.csv -o s.gp 2>/dev/null; grep -A7 '^.marks' s.gp; grep -E '^set label|marks using|published|seen|xrange' s.gp; pipesim plot s.csv -x pp --points seen.csv --by none --kind scatter -o s.gp 2>/dev/null; grep -A4 '^.marks' s.gp
> $marks << EOD
> # seen.csv
> # pp bubble_frac series
> 8 0.31 1 # at 8, 1f1b
> 32 0.5 3
> 16 0.7 0 # other
> EOD
>
> set xrange [*:*]
> set label 'at 8, 1f1b' at 8,31 left offset character 0.7,-0.7 textcolor rgb '#404040'
> set label 'other' at 16,70 left offset character 1,0 textcolor rgb '#404040'
> # seen.csv
>      $marks using ($1*1):($3 == 0 ? $2*100 : NaN) with points pt 6 ps 1.5 lw 1.5 lc rgb '#202020', \
>      $marks using ($1*1):($3 == 1 ? $2*100 : NaN) with points linestyle 1 pt 6 ps 1.5 lw 1.5, \
>      $marks using ($1*1):($3 == 3 ? $2*100 : NaN) with points linestyle 3 pt 6 ps 1.5 lw 1.5, \
>      keyentry with points pt 6 ps 1.5 lw 1.5 lc rgb '#202020' title 'seen', \
> $marks << EOD
> # seen.csv
> # pp bubble_frac series
> 8 0.31 0 # at 8, 1f1b
> 32 0.5 0
# A column tells only those series apart that would be the same without it.
$ cd $TMPDIR && pipesim sweep --schedule gpipe,chimera --pipelines 2 --pp 8,16 --micro-batches 16 --unit F=1,B=1 -o a.csv 2>/dev/null; pipesim sweep --schedule chimera --pipelines 4 --pp 8,16 --micro-batches 16 --unit F=1,B=1 -o b.csv 2>/dev/null; pipesim sweep --merge a.csv b.csv -o c.csv 2>/dev/null; pipesim plot c.csv -x pp --by schedule,pipelines -o c.gp 2>/dev/null; grep -A1 EOD c.gp | grep '#'
> # gpipe
> # chimera, 2 pipelines
> # chimera, 4 pipelines
# Chunks of several sizes: memory in micro-batches of a rank.
$ cd $TMPDIR && pipesim sweep --schedule 1f1b,zbv --pp 4 --micro-batches 8 --unit F=1,I=1,W=1 -o z.csv 2>/dev/null; pipesim plot z.csv --kind tradeoff -o z.gp 2>/dev/null; grep -A3 '^.series' z.gp; grep xlabel z.gp
> $series1 << EOD
> # 1f1b
> # peak_micro_batches bubble_frac
> 4 0.2727272727
> --
> $series2 << EOD
> # zbv
> # peak_micro_batches bubble_frac
> 4 0.05882352941
> set xlabel 'peak activations (micro-batches of a rank)'
# What cannot be.
$ cd $TMPDIR && pipesim plot s.csv -x pp --points none.csv
! pipesim: error: cannot open none.csv: No such file or directory
= 1
$ cd $TMPDIR && printf 'schedule,pp\n1f1b,8\n' > no-y.csv; pipesim plot s.csv -x pp --points no-y.csv
! note: bubble_frac over pp by schedule (other columns: -x, -y, --by)
! pipesim: error: --points: no-y.csv has no column "bubble_frac"
!   columns: schedule pp
= 2
$ cd $TMPDIR && printf 'pp,bubble_frac\n8,a half\n' > text.csv; pipesim plot s.csv -x pp --points text.csv
! note: bubble_frac over pp by schedule (other columns: -x, -y, --by)
! pipesim: error: text.csv:2: bubble_frac is "a half", not a number
= 2
$ cd $TMPDIR && pipesim plot s.csv -x schedule --where pp=8 --points seen.csv
! note: bubble_frac over schedule (other columns: -x, -y, --by)
! pipesim: error: --points: schedule is not a number, and points need a place on its axis
= 2
$ cd $TMPDIR && printf 'pp,bubble_frac\n' > empty.csv; pipesim plot s.csv -x pp --points empty.csv -o e.gp 2>/dev/null; grep -c marks e.gp
> 0
= 1
# A tradeoff joins points along one input; several are refused, equal points have one label.
$ cd $TMPDIR && pipesim sweep --schedule 1f1b,zb-h1,zb-auto --pp 4,8 --micro-batches 8:32:x2 --unit F=1,B=2 -o t.csv 2>/dev/null; pipesim plot t.csv --kind tradeoff -o t.gp
! note: bubble_frac over peak_micro_batches by schedule (other columns: -x, -y, --by)
! pipesim: error: --kind tradeoff joins points along one input, but pp and micro_batches of t.csv vary within 1f1b
!   try: --by schedule,pp, or --where pp=4, or --kind scatter, which joins none
= 2
$ cd $TMPDIR && pipesim plot t.csv --kind tradeoff --by schedule,pp -o t.gp 2>/dev/null; grep -E '^set title' t.gp; grep -A5 '^.series1' t.gp
> set title 'bubble over peak activations; lines join micro-batches 8 to 32'."\n".'F=1,B=2'
> $series1 << EOD
> # 1f1b, pp 4
> # peak_micro_batches bubble_frac
> 4 0.2727272727
> 4 0.1578947368
> 4 0.08571428571
$ cd $TMPDIR && pipesim plot t.csv --kind tradeoff --where pp=8 --where micro_batches=16 -o t.gp 2>/dev/null; grep -E '^set label' t.gp; grep -c title.*zb- t.gp
> set label '1f1b' at 8,30.43478261 left offset character 1,0 textcolor rgb '#404040'
> set label 'zb-h1 = zb-auto' at 8,12.72727273 left offset character 1,0 textcolor rgb '#404040'
> 0
= 1
# A file of more schedules than colours: the drawn ones have colours of their own. A vertical trade-off is told.
$ cd $TMPDIR && pipesim sweep --schedule 1f1b,zb-h1,gpipe,bfs,dualpipe,gems,hanayo,zb-h2,v-half,zbv,chimera,interleaved --pp 4 --micro-batches 8,16 --unit F=1,B=2 -o many.csv 2>/dev/null; pipesim plot many.csv --where schedule=1f1b,zb-h1,zbv,chimera,interleaved,v-half -o m.gp 2>/dev/null; grep -o 'linespoints linestyle [0-9]*' m.gp | sort | paste -sd ' '; pipesim plot many.csv --kind tradeoff --where schedule=1f1b,zbv -o m.gp
> linespoints linestyle 1 linespoints linestyle 2 linespoints linestyle 3 linespoints linestyle 4 linespoints linestyle 5 linespoints linestyle 6
! note: bubble_frac over peak_micro_batches by schedule (other columns: -x, -y, --by)
! note: peak_micro_batches is the same for all micro_batches; for one: --where micro_batches=16
# On a terminal the files that were written are named; pipes stay clean.
$ cd $TMPDIR && script -qec 'pipesim plot many.csv --where schedule=1f1b -o m.gp' /dev/null | tr -d '\r' | tail -1; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --plot m.gp >/dev/null
> wrote m.gp
