set format '%h'
set title '1f1b: peak memory of each pipeline rank'
set xtics scale 0 ('0' 0, '1' 1, '2' 2, '3' 3)
set xrange [-0.6:3.6]
set xlabel 'pipeline rank'
set ylabel 'memory per device (GiB)'
set yrange [0:84.4263]
set key outside Left reverse samplen 1.5 right top vertical invert
$memory << EOD
0 0 0.708697 1.41739 5.66957 7.312 7.312 7.33008 11.3301 NaN
1 0 0.586433 1.17287 4.69147 5.92102 5.92102 5.94513 9.94513 NaN
2 0 0.586433 1.17287 4.69147 5.51117 5.51117 5.53528 9.53528 NaN
3 0 0.70626 1.41252 5.65008 6.18127 6.18127 6.24646 10.2465 NaN
EOD
plot $memory using 1:3:($1-0.4):($1+0.4):2:3 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#14263f' lw 0.4 title 'parameters', \
 $memory using 1:4:($1-0.4):($1+0.4):3:4 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#2f5f95' lw 0.4 title 'gradients', \
 $memory using 1:5:($1-0.4):($1+0.4):4:5 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#4a8f87' lw 0.4 title 'optimizer', \
 $memory using 1:6:($1-0.4):($1+0.4):5:6 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#f2b350' lw 0.4 title 'activations', \
 $memory using 1:8:($1-0.4):($1+0.4):7:8 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#f9e08f' lw 0.4 title 'buffers', \
 $memory using 1:9:($1-0.4):($1+0.4):8:9 with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#f4f4f4' lw 0.4 title 'other', \
 79.6475 with lines lw 1.8 dt (6,3) lc rgb '#a81e3b' title 'device 79.6 GiB', \
 NaN notitle
