# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.505in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'zero-bubble.pdf'
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
set xlabel 'peak activations (micro-batches of a rank)'
set ylabel 'span idle (% of the span)'
set autoscale xfix
set offsets graph 0.04, graph 0.04, 0, 0
set xrange [*:*]
set yrange [0:*<100]
set key above horizontal maxcols 3 Left reverse samplen 2 width -2
set label '1f1b' at 8,23.46895453 left offset character 1,0 textcolor rgb '#404040'
set label 'zb-h1' at 8,13.22953623 left offset character 0.7,0.7 textcolor rgb '#404040'
set label 'zb-h2' at 15,6.984666801 left offset character 0.7,0.7 textcolor rgb '#404040'
set label 'zbv' at 8,4.455776714 left offset character 1,0 textcolor rgb '#404040'
set label 'v-half' at 5,14.31123334 center offset character 0,0.8 textcolor rgb '#404040'
set label 'v-min' at 4,26.20431814 left offset character 0,-1 textcolor rgb '#404040'
set label 'zb-auto' at 19,3.203835668 left offset character 0.7,0.7 textcolor rgb '#404040'
set label 'ZB-2p' at 16,0.29 right offset character -0.7,0.7 textcolor rgb '#404040'

$series1 << EOD
# 1f1b
# peak_micro_batches span_bubble_frac
8 0.2346895453
EOD

$series2 << EOD
# zb-h1
# peak_micro_batches span_bubble_frac
8 0.1322953623
EOD

$series3 << EOD
# zb-auto
# peak_micro_batches span_bubble_frac
4 0.4525685185
5 0.3601964171
6 0.2661596649
7 0.2048220026
8 0.1322953623
9 0.1213277092
10 0.113146958
11 0.1048124438
12 0.09631979037
13 0.08766445376
14 0.07884171432
15 0.06984666801
16 0.06067421735
17 0.05131906182
18 0.04177568758
19 0.03203835668
20 0.02210109555
21 0.01195768275
22 0.001601636036
EOD

$series4 << EOD
# zb-h2
# peak_micro_batches span_bubble_frac
15 0.06984666801
EOD

$series5 << EOD
# zbv
# peak_micro_batches span_bubble_frac
8 0.04455776714
EOD

$series6 << EOD
# v-half
# peak_micro_batches span_bubble_frac
5 0.1431123334
EOD

$series7 << EOD
# v-min
# peak_micro_batches span_bubble_frac
4 0.2620431814
EOD

$marks << EOD
# published.zero-bubble.csv
# peak_micro_batches span_bubble_frac series
8 0.2347 1
8 0.1323 2
15 0.0698 4
16 0.0029 0 # ZB-2p
EOD

plot $series1 using 1:($2*100) with linespoints linestyle 1, \
     $series2 using 1:($2*100) with linespoints linestyle 2, \
     $series3 using 1:($2*100) with linespoints linestyle 3 title 'zb-auto', \
     $series4 using 1:($2*100) with linespoints linestyle 4, \
     $series5 using 1:($2*100) with linespoints linestyle 5, \
     $series6 using 1:($2*100) with linespoints linestyle 6, \
     $series7 using 1:($2*100) with linespoints linestyle 7, \
     $marks using ($1*1):($3 == 0 ? $2*100 : NaN) with points pt 6 ps 1.1 lw 1 lc rgb '#202020', \
     $marks using ($1*1):($3 == 1 ? $2*100 : NaN) with points linestyle 1 pt 6 ps 1.1 lw 1, \
     $marks using ($1*1):($3 == 2 ? $2*100 : NaN) with points linestyle 2 pt 6 ps 1.1 lw 1, \
     $marks using ($1*1):($3 == 4 ? $2*100 : NaN) with points linestyle 4 pt 6 ps 1.1 lw 1, \
     keyentry with points pt 6 ps 1.1 lw 1 lc rgb '#202020' title 'published'
