set format '%h'
set title '1f1b (dag): use of links'
set xlabel 'utilisation (%)'
set xrange [0:100]
set xtics 0,20,100
set yrange [3.6:-0.6]
unset grid
set grid xtics lw 0.5 lc rgb '#dcdcdc' dt 1
set key outside right top vertical Left reverse samplen 1
set ytics scale 0 ('node*.nic*.down (4)' 0, 'node*.nic*.up (4)' 1, 'node*.gpu*.down (16)' 2, 'node*.gpu*.up (16)' 3)
$links << EOD
0 0.805539 0.805539
1 0.805539 0.805539
2 0.162424 0.184258
3 0.162424 0.184258
EOD
set label '0.8 / 0.8 %' at 0.805539,0 left offset 0.6,0
set label '0.8 / 0.8 %' at 0.805539,1 left offset 0.6,0
set label '0.2 / 0.2 %' at 0.184258,2 left offset 0.6,0
set label '0.2 / 0.2 %' at 0.184258,3 left offset 0.6,0
plot $links using 3:1:(0):3:($1-0.38):($1+0.38) with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#a9cdec' lw 0.4 title 'busiest link', \
 $links using 2:1:(0):2:($1-0.2):($1+0.2) with boxxyerror fs solid 1 border lc rgb '#303030' fc rgb '#1b3a6b' lw 0.4 title 'mean'
