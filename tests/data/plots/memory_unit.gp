set format '%h'
set title 'chimera: activations of each pipeline rank'
set xtics scale 0 ('0' 0, '1' 1, '2' 2, '3' 3)
set xrange [-0.6:3.6]
set xlabel 'pipeline rank'
set ylabel 'chunk activations held'
set yrange [0:4.24]
set key outside Left reverse samplen 1.5 right top vertical invert
$memory << EOD
0 0 3 NaN
1 0 4 NaN
2 0 4 NaN
3 0 3 NaN
EOD
plot $memory using 1:3:($1-0.4):($1+0.4):2:3 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#f2b350' lw 0.4 title '', \
 NaN notitle
