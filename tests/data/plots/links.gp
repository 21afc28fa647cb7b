set terminal pdfcairo size 7in,3.1in font 'sans,10' fontscale 0.75
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
set title '1f1b (dag): use of links'
set xlabel 'utilisation (%)'
set xrange [0:100]
set yrange [3.6:-0.6]
unset grid
set grid xtics lw 0.5 lc rgb '#dcdcdc' dt 1
set key outside right top vertical Left reverse samplen 1
set ytics scale 0 ('node*.nic*.down (4)' 0, 'node*.nic*.up (4)' 1, 'node*.gpu*.down (16)' 2, 'node*.gpu*.up (16)' 3)
$links << EOD
0 1.54252 1.54252
1 1.54252 1.54252
2 0.311024 0.352834
3 0.311024 0.352834
EOD
plot $links using 3:1:(0):3:($1-0.38):($1+0.38) with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#a9cdec' lw 0.4 title 'busiest link', \
 $links using 2:1:(0):2:($1-0.2):($1+0.2) with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#1b3a6b' lw 0.4 title 'mean'
