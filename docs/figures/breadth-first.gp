# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.37in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'breadth-first.pdf'
set termoption noenhanced
set encoding utf8
set style line 1 lc rgb '#1b3a6b' lw 1.2 dt 1 pt 7 ps 0.65
set style line 2 lc rgb '#e8862a' lw 1.2 dt (8,3) pt 5 ps 0.65
set style line 3 lc rgb '#1c867f' lw 1.2 dt (2,2) pt 9 ps 0.65
set style line 4 lc rgb '#9c1637' lw 1.2 dt (8,3,2,3) pt 11 ps 0.65
set style line 5 lc rgb '#8fc6f2' lw 1.2 dt (14,4) pt 13 ps 0.65
set style line 6 lc rgb '#7a4fb0' lw 1.2 dt (4,3) pt 3 ps 0.812
set style line 7 lc rgb '#9b9424' lw 1.2 dt (2,4) pt 6 ps 0.812
set style line 8 lc rgb '#111111' lw 1.2 dt (12,3,2,3,2,3) pt 1 ps 0.812
set border 3 lw 0.7 lc rgb '#404040'
set tics nomirror scale 0.6 textcolor rgb '#202020'
set grid ytics lw 0.5 lc rgb '#dcdcdc' dt 1
set key noautotitle
set format '%h'
set xlabel 'sequences per GPU and step'
set ylabel 'MFU (%)'
set autoscale xfix
set offsets graph 0.04, graph 0.04, 0, 0
set logscale x 2
set xrange [*:*]
set xtics (0.125, 0.25, 0.5, 1, 2, 4)
set yrange [0:*<100]
set key above horizontal maxcols 3 Left reverse samplen 2 width -2
set style line 11 lc rgb '#1b3a6b' lw 1.2 dt (2,4) pt 15 ps 0.65
set style line 10 lc rgb '#1b3a6b' lw 1.2 dt (8,3,2,3) pt 3 ps 0.812
set style line 102 lc rgb '#000000' lw 1 pt 2 ps 1 # no fit

$series1 << EOD
# bfs, tp 1
# gbs_per_gpu mfu does_not_fit
1 0.4302305028 0
2 0.45863843 0
4 0.4708388488 1
EOD

$series2 << EOD
# bfs, tp 4
# gbs_per_gpu mfu does_not_fit
0.25 0.3647449207 0
0.5 0.3917013014 0
1 0.4044438148 0
2 0.411131109 0
4 0.4145583759 0
EOD

$series3 << EOD
# bfs, tp 8
# gbs_per_gpu mfu does_not_fit
0.125 0.3246730319 0
0.25 0.3525827311 0
0.5 0.3646600689 0
1 0.3710144165 0
2 0.3742753655 0
4 0.3759274309 0
EOD

$series4 << EOD
# 1f1b
# gbs_per_gpu mfu does_not_fit
0.125 0.2015400084 0
0.25 0.2450746089 0
0.5 0.2747488162 0
1 0.2924543444 0
2 0.3021913424 0
4 0.3073070958 0
EOD

$series5 << EOD
# interleaved
# gbs_per_gpu mfu does_not_fit
0.125 0.2421703766 0
0.25 0.2570972917 0
0.5 0.2652727419 0
1 0.2695585958 0
2 0.2717538787 0
4 0.2728649838 0
EOD

plot $series1 using 1:($2*100) with linespoints linestyle 11 title 'bfs, tp 1', \
     $series2 using 1:($2*100) with linespoints linestyle 10 title 'bfs, tp 4', \
     $series3 using 1:($2*100) with linespoints linestyle 1 title 'bfs, tp 8', \
     $series4 using 1:($2*100) with linespoints linestyle 3 title '1f1b', \
     $series5 using 1:($2*100) with linespoints linestyle 2 title 'interleaved', \
     $series1 using 1:($3 == 1 ? $2*100 : NaN) with points linestyle 102, \
     keyentry with points linestyle 102 title 'does not fit'
