set format '%h'
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
