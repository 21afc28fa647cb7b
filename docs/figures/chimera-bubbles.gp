# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.775in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'chimera-bubbles.pdf'
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
set xlabel 'pipeline ranks'
set ylabel 'bubble (% of the step)'
set autoscale xfix
set offsets graph 0.04, graph 0.04, 0, 0
set logscale x 2
set xrange [*:*]
set xtics (4, 8, 16, 32, 64)
set yrange [0:*<100]
set key above horizontal maxcols 2 Left reverse samplen 2 width -4
set style line 12 lc rgb '#9c1637' lw 1.2 dt (2,4) pt 4 ps 0.812
set style line 101 lc rgb '#dadada' lw 2.8 dt 1 pt 7 ps 1 # closed form

$series1 << EOD
# gems
# pp bubble_frac closed_form
4 0.652173913 0.652173913
8 0.7974683544 0.7974683544
16 0.8885017422 0.8885017422
32 0.9411223551 0.9411223551
64 0.969689794 0.969689794
EOD

$series2 << EOD
# gpipe = 1f1b
# pp bubble_frac closed_form
4 0.4285714286 0.4285714286
8 0.4666666667 0.4666666667
16 0.4838709677 0.4838709677
32 0.4920634921 0.4920634921
64 0.4960629921 0.4960629921
EOD

$series3 << EOD
# chimera, 2 pipelines
# pp bubble_frac closed_form
4 0.2 0.2
8 0.2727272727 0.2727272727
16 0.3043478261 0.3043478261
32 0.3191489362 0.3191489362
64 0.3263157895 0.3263157895
EOD

$series4 << EOD
# chimera, 4 pipelines
# pp bubble_frac closed_form
4 0 0
8 0.1111111111 0.1111111111
16 0.1578947368 0.1578947368
32 0.1794871795 0.1794871795
64 0.1898734177 0.1898734177
EOD

$series5 << EOD
# pipedream = pipedream-2bw
# pp bubble_frac closed_form
4 0.005952380952 NaN
8 0.006944444444 NaN
16 0.00744047619 NaN
32 0.007688492063 NaN
64 0.0078125 NaN
EOD

$marks << EOD
# published.chimera-bubbles.csv
# pp bubble_frac series
8 0.45 2
8 0.83 1
16 0.49 2
32 0.32 4
8 0.01 5
16 0.01 5
EOD

plot $series1 using 1:($3*100) with lines linestyle 101, \
     $series2 using 1:($3*100) with lines linestyle 101, \
     $series3 using 1:($3*100) with lines linestyle 101, \
     $series4 using 1:($3*100) with lines linestyle 101, \
     $series5 using 1:($3*100) with points linestyle 101, \
     $series1 using 1:($2*100) with linespoints linestyle 1 title 'gems', \
     $series2 using 1:($2*100) with linespoints linestyle 2 title 'gpipe', \
     keyentry with lines lt nodraw title '= 1f1b', \
     $series3 using 1:($2*100) with linespoints linestyle 4 title 'chimera, 2 pipelines', \
     $series4 using 1:($2*100) with linespoints linestyle 12 title 'chimera, 4 pipelines', \
     $series5 using 1:($2*100) with linespoints linestyle 5 title 'pipedream', \
     keyentry with lines lt nodraw title '= pipedream-2bw', \
     $marks using ($1*1):($3 == 1 ? $2*100 : NaN) with points linestyle 1 pt 6 ps 1.1 lw 1, \
     $marks using ($1*1):($3 == 2 ? $2*100 : NaN) with points linestyle 2 pt 6 ps 1.1 lw 1, \
     $marks using ($1*1):($3 == 4 ? $2*100 : NaN) with points linestyle 4 pt 6 ps 1.1 lw 1, \
     $marks using ($1*1):($3 == 5 ? $2*100 : NaN) with points linestyle 5 pt 6 ps 1.1 lw 1, \
     keyentry with points pt 6 ps 1.1 lw 1 lc rgb '#202020' title 'published', \
     keyentry with lines linestyle 101 title 'closed form'
