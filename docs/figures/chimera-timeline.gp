# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,1.53in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'chimera-timeline.pdf'
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
# ops: row start end colour foot(share of the height) text colour-of-text
$ops0 << EOD
0 0 1 0xa8cbea 0 "0" 0x000000
0 1 2 0xb6d3ee 0 "1" 0x000000
0 3 4 0xc1dbf2 0.15 "2" 0x000000
0 4 6 0xa14d1a 0.15 "2" 0xffffff
0 6 7 0xcfe3f6 0.15 "3" 0x000000
0 7 9 0xab5420 0.15 "3" 0xffffff
0 10 12 0x8f3f0e 0 "0" 0xffffff
0 14 16 0x994614 0 "1" 0xffffff
1 1 2 0xa8cbea 0 "0" 0x000000
1 2 3 0xc1dbf2 0.15 "2" 0x000000
1 3 4 0xb6d3ee 0 "1" 0x000000
1 4 5 0xcfe3f6 0.15 "3" 0x000000
1 6 8 0xa14d1a 0.15 "2" 0xffffff
1 8 10 0x8f3f0e 0 "0" 0xffffff
1 10 12 0xab5420 0.15 "3" 0xffffff
1 12 14 0x994614 0 "1" 0xffffff
2 1 2 0xc1dbf2 0.15 "2" 0x000000
2 2 3 0xa8cbea 0 "0" 0x000000
2 3 4 0xcfe3f6 0.15 "3" 0x000000
2 4 5 0xb6d3ee 0 "1" 0x000000
2 6 8 0x8f3f0e 0 "0" 0xffffff
2 8 10 0xa14d1a 0.15 "2" 0xffffff
2 10 12 0x994614 0 "1" 0xffffff
2 12 14 0xab5420 0.15 "3" 0xffffff
3 0 1 0xc1dbf2 0.15 "2" 0x000000
3 1 2 0xcfe3f6 0.15 "3" 0x000000
3 3 4 0xa8cbea 0 "0" 0x000000
3 4 6 0x8f3f0e 0 "0" 0xffffff
3 6 7 0xb6d3ee 0 "1" 0x000000
3 7 9 0x994614 0 "1" 0xffffff
3 10 12 0xa14d1a 0.15 "2" 0xffffff
3 14 16 0xab5420 0.15 "3" 0xffffff
EOD
# messages: made, its row, used, its row
$messages0 << EOD
10 0.6 10 0.4
14 0.6 14 0.4
10 2.4 10 2.6
14 2.4 14 2.6
8 1.6 8 1.4
12 1.6 12 1.4
8 1.4 8 1.6
12 1.4 12 1.6
6 2.6 6 2.4
9 2.6 10 2.4
6 0.4 6 0.6
9 0.4 10 0.6
1 0.4 1 0.6
2 0.4 3 0.6
1 2.6 1 2.4
2 2.6 3 2.4
2 1.4 2 1.6
4 1.4 4 1.6
2 1.6 2 1.4
4 1.6 4 1.4
3 2.4 3 2.6
5 2.4 6 2.6
3 0.6 3 0.4
5 0.6 6 0.4
EOD
unset title
unset grid
set border 1
set tics nomirror
set lmargin at screen 0.0742
set rmargin at screen 0.9570
set xrange [0:16]
set xtics 0,5 out
set object 1 rectangle from screen 0.0742,0.1452 to screen 0.1180,0.2179 fillcolor rgb '#bcd7f0' fillstyle solid border lc rgb '#303030' lw 0.3
set label 'F forward' at screen 0.1314,0.1816 left
set object 2 rectangle from screen 0.3543,0.1452 to screen 0.3981,0.2179 fillcolor rgb '#9d4a17' fillstyle solid border lc rgb '#303030' lw 0.3
set label 'B backward' at screen 0.4116,0.1816 left
set object 3 rectangle from screen 0.0742,0.0363 to screen 0.1180,0.1089 fillcolor rgb '#e4e4e4' fillstyle solid border lc rgb '#303030' lw 0.3
set object 4 rectangle from screen 0.0742,0.0363 to screen 0.1180,0.0472 fillcolor rgb '#202020' fillstyle solid noborder
set label 'pipeline P3 to P0' at screen 0.1314,0.0726 left
set tmargin at screen 0.9593
set bmargin at screen 0.4626
set yrange [3.5:-0.5]
set ytics scale 0 offset 0.6,0 ("P0" 0, "P1" 1, "P2" 2, "P3" 3)
set format x '%g'
set xlabel 'time (units)' offset 0,0.5
unset arrow
plot $ops0 using (($2+$3)/2):1:2:3:($1-0.4):($1+0.4):4 with boxxyerror fillstyle solid border lc rgb '#303030' lw 0.3 fillcolor rgb variable, \
  $ops0 using ($5 > 0 ? ($2+$3)/2 : NaN):1:2:3:($1+0.4-0.8*$5):($1+0.4) with boxxyerror fillstyle solid noborder fillcolor rgb '#202020', \
  $messages0 using 1:2:($3-$1):($4-$2) with vectors filled head size screen 0.006,18 lc rgb '#707070' lw 0.4, \
  $ops0 using (($2+$3)/2):1:6:7 with labels center font ',7' textcolor rgb variable
unset label
unset object
