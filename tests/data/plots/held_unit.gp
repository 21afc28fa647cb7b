set terminal pdfcairo size 7in,4in font 'sans,10' fontscale 0.75
set output 'drawn.pdf'
set termoption noenhanced
set encoding utf8
set style line 1 lc rgb '#1b3a6b' lw 1.8 dt 1 pt 7 ps 0.8
set style line 2 lc rgb '#e07b1f' lw 1.8 dt 1 pt 5 ps 0.8
set style line 3 lc rgb '#12908a' lw 1.8 dt 1 pt 9 ps 0.8
set style line 4 lc rgb '#a81e3b' lw 1.8 dt 1 pt 11 ps 0.8
set style line 5 lc rgb '#6fa8dc' lw 1.8 dt 1 pt 13 ps 0.8
set style line 6 lc rgb '#6a3d9a' lw 1.8 dt 1 pt 6 ps 0.8
set style line 7 lc rgb '#8c8c1a' lw 1.8 dt 1 pt 4 ps 0.8
set style line 8 lc rgb '#555555' lw 1.8 dt 1 pt 8 ps 0.8
set border 3 lw 1 lc rgb '#404040'
set tics nomirror scale 0.6 textcolor rgb '#202020'
set grid ytics lw 0.5 lc rgb '#dcdcdc' dt 1
set key noautotitle
set title 'chimera: activations held over time by pipeline rank'
set xlabel 'time (units)'
set ylabel 'chunk activations held'
set xrange [0:16]
set yrange [0:4.24]
set key outside Left reverse samplen 2 right top vertical
set ytics 1
$rank0 << EOD
0 1
1 2
3 3
6 3
9 2
12 1
16 0
16 0
EOD
$rank1 << EOD
0 0
1 1
2 2
3 3
4 4
8 3
10 2
12 1
14 0
16 0
EOD
plot $rank0 with steps linestyle 1 lw 3.2 title 'rank 0, 3', \
 $rank1 with steps linestyle 2 lw 2.7 title 'rank 1, 2', \
 NaN notitle
