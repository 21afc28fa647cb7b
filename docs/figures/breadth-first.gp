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
set logscale x 2
set xrange [0.1088188204:4.59479342]
set xtics ('0.125' 0.125, '0.25' 0.25, '0.5' 0.5, '1' 1, '2' 2, '4' 4)
set ylabel 'MFU (%)'
set yrange [0:50]
set key above horizontal maxcols 3 Left reverse samplen 2 width -2

$series1 << EOD
# interleaved
# gbs_per_gpu mfu
0.125 0.3440937753
0.25 0.3718173146
0.5 0.387424663
1 0.3957302194
2 0.4000179846
4 0.4021969007
EOD

$series2 << EOD
# bfs
# gbs_per_gpu mfu
0.125 0.3440937753
0.25 0.3755889393
0.5 0.3883788827
1 0.3951061648
2 0.398557964
4 0.4003065801
EOD

$series3 << EOD
# 1f1b = gpipe
# gbs_per_gpu mfu
0.125 0.2396213059
0.25 0.3009305036
0.5 0.3450758317
1 0.372389903
2 0.3877352674
4 0.3958921882
EOD

plot $series1 using 1:($2*100) with linespoints linestyle 2 title 'interleaved', \
     $series2 using 1:($2*100) with linespoints linestyle 1 title 'bfs', \
     $series3 using 1:($2*100) with linespoints linestyle 3 title '1f1b', \
     keyentry with lines lt nodraw title '= gpipe'
