# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.37in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'bubble-curve.pdf'
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
set xlabel 'micro-batches'
set ylabel 'bubble (% of the step)'
set autoscale xfix
set offsets graph 0.04, graph 0.04, 0, 0
set logscale x 2
set xrange [*:*]
set xtics (4, 8, 16, 32, 64)
set yrange [0:*<100]
set key above horizontal maxcols 3 Left reverse samplen 2 width -2
set style line 101 lc rgb '#dadada' lw 2.8 dt 1 pt 7 ps 1 # closed form

$series1 << EOD
# 1f1b
# micro_batches bubble_frac closed_form
4 0.4285714286 0.4285714286
8 0.2727272727 0.2727272727
16 0.1578947368 0.1578947368
32 0.08571428571 0.08571428571
64 0.0447761194 0.0447761194
EOD

$series2 << EOD
# interleaved
# micro_batches bubble_frac closed_form
4 0.2727272727 0.2727272727
8 0.1578947368 0.1578947368
16 0.08571428571 0.08571428571
32 0.0447761194 0.0447761194
64 0.02290076336 0.02290076336
EOD

$series3 << EOD
# zb-h1
# micro_batches bubble_frac closed_form
4 0.2 0.2
8 0.1111111111 0.1111111111
16 0.05882352941 0.05882352941
32 0.0303030303 0.0303030303
64 0.01538461538 0.01538461538
EOD

plot $series1 using 1:($3*100) with lines linestyle 101, \
     $series2 using 1:($3*100) with lines linestyle 101, \
     $series3 using 1:($3*100) with lines linestyle 101, \
     $series1 using 1:($2*100) with linespoints linestyle 1 title '1f1b', \
     $series2 using 1:($2*100) with linespoints linestyle 2 title 'interleaved', \
     $series3 using 1:($2*100) with linespoints linestyle 3 title 'zb-h1', \
     keyentry with lines linestyle 101 title 'closed form'
