# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.5in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'bubble-memory.pdf'
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
set xlabel 'time (units)'
set ylabel 'chunk activations held'
set xrange [0:33]
set yrange [0:4.24]
set key outside Left reverse samplen 1.5 above horizontal
set ytics 1
$rank0 << EOD
0 1
1 2
2 3
3 4
12 4
15 4
18 4
21 4
24 3
27 2
30 1
33 0
33 0
EOD
$rank1 << EOD
0 0
1 1
2 2
3 3
10 3
13 3
16 3
19 3
22 3
25 2
28 1
31 0
33 0
EOD
$rank2 << EOD
0 0
2 1
3 2
8 2
11 2
14 2
17 2
20 2
23 2
26 1
29 0
33 0
EOD
$rank3 << EOD
0 0
3 1
6 1
9 1
12 1
15 1
18 1
21 1
24 1
27 0
33 0
EOD
plot $rank0 with steps linestyle 1 lw 1.9 title 'rank 0', \
 $rank1 with steps linestyle 2 lw 1.6 title 'rank 1', \
 $rank2 with steps linestyle 3 lw 1.3 title 'rank 2', \
 $rank3 with steps linestyle 4 lw 1 title 'rank 3', \
 NaN notitle
