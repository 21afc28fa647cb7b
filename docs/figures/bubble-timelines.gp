# made by pipesim 0.1.0; to draw it again: gnuplot THIS-FILE (5.4 or later)
set terminal pdfcairo size 3.3in,2.55889in font 'sans,8' fontscale 0.75 linewidth 1.5 pointscale 0.83
set output 'bubble-timelines.pdf'
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
0 1 2 0xcfe3f6 0 "1" 0x000000
0 2 3 0xa8cbea 0 "2" 0x000000
0 3 4 0xcfe3f6 0 "3" 0x000000
0 4 5 0xa8cbea 0 "4" 0x000000
0 5 6 0xcfe3f6 0 "5" 0x000000
0 6 7 0xa8cbea 0 "6" 0x000000
0 7 8 0xcfe3f6 0 "7" 0x000000
0 17 19 0x8f3f0e 0 "0" 0xffffff
0 19 21 0xab5420 0 "1" 0xffffff
0 21 23 0x8f3f0e 0 "2" 0xffffff
0 23 25 0xab5420 0 "3" 0xffffff
0 25 27 0x8f3f0e 0 "4" 0xffffff
0 27 29 0xab5420 0 "5" 0xffffff
0 29 31 0x8f3f0e 0 "6" 0xffffff
0 31 33 0xab5420 0 "7" 0xffffff
1 1 2 0xa8cbea 0 "0" 0x000000
1 2 3 0xcfe3f6 0 "1" 0x000000
1 3 4 0xa8cbea 0 "2" 0x000000
1 4 5 0xcfe3f6 0 "3" 0x000000
1 5 6 0xa8cbea 0 "4" 0x000000
1 6 7 0xcfe3f6 0 "5" 0x000000
1 7 8 0xa8cbea 0 "6" 0x000000
1 8 9 0xcfe3f6 0 "7" 0x000000
1 15 17 0x8f3f0e 0 "0" 0xffffff
1 17 19 0xab5420 0 "1" 0xffffff
1 19 21 0x8f3f0e 0 "2" 0xffffff
1 21 23 0xab5420 0 "3" 0xffffff
1 23 25 0x8f3f0e 0 "4" 0xffffff
1 25 27 0xab5420 0 "5" 0xffffff
1 27 29 0x8f3f0e 0 "6" 0xffffff
1 29 31 0xab5420 0 "7" 0xffffff
2 2 3 0xa8cbea 0 "0" 0x000000
2 3 4 0xcfe3f6 0 "1" 0x000000
2 4 5 0xa8cbea 0 "2" 0x000000
2 5 6 0xcfe3f6 0 "3" 0x000000
2 6 7 0xa8cbea 0 "4" 0x000000
2 7 8 0xcfe3f6 0 "5" 0x000000
2 8 9 0xa8cbea 0 "6" 0x000000
2 9 10 0xcfe3f6 0 "7" 0x000000
2 13 15 0x8f3f0e 0 "0" 0xffffff
2 15 17 0xab5420 0 "1" 0xffffff
2 17 19 0x8f3f0e 0 "2" 0xffffff
2 19 21 0xab5420 0 "3" 0xffffff
2 21 23 0x8f3f0e 0 "4" 0xffffff
2 23 25 0xab5420 0 "5" 0xffffff
2 25 27 0x8f3f0e 0 "6" 0xffffff
2 27 29 0xab5420 0 "7" 0xffffff
3 3 4 0xa8cbea 0 "0" 0x000000
3 4 5 0xcfe3f6 0 "1" 0x000000
3 5 6 0xa8cbea 0 "2" 0x000000
3 6 7 0xcfe3f6 0 "3" 0x000000
3 7 8 0xa8cbea 0 "4" 0x000000
3 8 9 0xcfe3f6 0 "5" 0x000000
3 9 10 0xa8cbea 0 "6" 0x000000
3 10 11 0xcfe3f6 0 "7" 0x000000
3 11 13 0x8f3f0e 0 "0" 0xffffff
3 13 15 0xab5420 0 "1" 0xffffff
3 15 17 0x8f3f0e 0 "2" 0xffffff
3 17 19 0xab5420 0 "3" 0xffffff
3 19 21 0x8f3f0e 0 "4" 0xffffff
3 21 23 0xab5420 0 "5" 0xffffff
3 23 25 0x8f3f0e 0 "6" 0xffffff
3 25 27 0xab5420 0 "7" 0xffffff
EOD
# messages: made, its row, used, its row
$messages0 << EOD
17 0.6 17 0.4
19 0.6 19 0.4
21 0.6 21 0.4
23 0.6 23 0.4
25 0.6 25 0.4
27 0.6 27 0.4
29 0.6 29 0.4
31 0.6 31 0.4
15 1.6 15 1.4
17 1.6 17 1.4
19 1.6 19 1.4
21 1.6 21 1.4
23 1.6 23 1.4
25 1.6 25 1.4
27 1.6 27 1.4
29 1.6 29 1.4
13 2.6 13 2.4
15 2.6 15 2.4
17 2.6 17 2.4
19 2.6 19 2.4
21 2.6 21 2.4
23 2.6 23 2.4
25 2.6 25 2.4
27 2.6 27 2.4
1 0.4 1 0.6
2 0.4 2 0.6
3 0.4 3 0.6
4 0.4 4 0.6
5 0.4 5 0.6
6 0.4 6 0.6
7 0.4 7 0.6
8 0.4 8 0.6
2 1.4 2 1.6
3 1.4 3 1.6
4 1.4 4 1.6
5 1.4 5 1.6
6 1.4 6 1.6
7 1.4 7 1.6
8 1.4 8 1.6
9 1.4 9 1.6
3 2.4 3 2.6
4 2.4 4 2.6
5 2.4 5 2.6
6 2.4 6 2.6
7 2.4 7 2.6
8 2.4 8 2.6
9 2.4 9 2.6
10 2.4 10 2.6
EOD
# ops: row start end colour foot(share of the height) text colour-of-text
$ops1 << EOD
0 0 1 0xa8cbea 0 "0" 0x000000
0 1 2 0xcfe3f6 0 "1" 0x000000
0 2 3 0xa8cbea 0 "2" 0x000000
0 3 4 0xcfe3f6 0 "3" 0x000000
0 10 12 0x8f3f0e 0 "0" 0xffffff
0 12 13 0xa8cbea 0 "4" 0x000000
0 13 15 0xab5420 0 "1" 0xffffff
0 15 16 0xcfe3f6 0 "5" 0x000000
0 16 18 0x8f3f0e 0 "2" 0xffffff
0 18 19 0xa8cbea 0 "6" 0x000000
0 19 21 0xab5420 0 "3" 0xffffff
0 21 22 0xcfe3f6 0 "7" 0x000000
0 22 24 0x8f3f0e 0 "4" 0xffffff
0 25 27 0xab5420 0 "5" 0xffffff
0 28 30 0x8f3f0e 0 "6" 0xffffff
0 31 33 0xab5420 0 "7" 0xffffff
1 1 2 0xa8cbea 0 "0" 0x000000
1 2 3 0xcfe3f6 0 "1" 0x000000
1 3 4 0xa8cbea 0 "2" 0x000000
1 8 10 0x8f3f0e 0 "0" 0xffffff
1 10 11 0xcfe3f6 0 "3" 0x000000
1 11 13 0xab5420 0 "1" 0xffffff
1 13 14 0xa8cbea 0 "4" 0x000000
1 14 16 0x8f3f0e 0 "2" 0xffffff
1 16 17 0xcfe3f6 0 "5" 0x000000
1 17 19 0xab5420 0 "3" 0xffffff
1 19 20 0xa8cbea 0 "6" 0x000000
1 20 22 0x8f3f0e 0 "4" 0xffffff
1 22 23 0xcfe3f6 0 "7" 0x000000
1 23 25 0xab5420 0 "5" 0xffffff
1 26 28 0x8f3f0e 0 "6" 0xffffff
1 29 31 0xab5420 0 "7" 0xffffff
2 2 3 0xa8cbea 0 "0" 0x000000
2 3 4 0xcfe3f6 0 "1" 0x000000
2 6 8 0x8f3f0e 0 "0" 0xffffff
2 8 9 0xa8cbea 0 "2" 0x000000
2 9 11 0xab5420 0 "1" 0xffffff
2 11 12 0xcfe3f6 0 "3" 0x000000
2 12 14 0x8f3f0e 0 "2" 0xffffff
2 14 15 0xa8cbea 0 "4" 0x000000
2 15 17 0xab5420 0 "3" 0xffffff
2 17 18 0xcfe3f6 0 "5" 0x000000
2 18 20 0x8f3f0e 0 "4" 0xffffff
2 20 21 0xa8cbea 0 "6" 0x000000
2 21 23 0xab5420 0 "5" 0xffffff
2 23 24 0xcfe3f6 0 "7" 0x000000
2 24 26 0x8f3f0e 0 "6" 0xffffff
2 27 29 0xab5420 0 "7" 0xffffff
3 3 4 0xa8cbea 0 "0" 0x000000
3 4 6 0x8f3f0e 0 "0" 0xffffff
3 6 7 0xcfe3f6 0 "1" 0x000000
3 7 9 0xab5420 0 "1" 0xffffff
3 9 10 0xa8cbea 0 "2" 0x000000
3 10 12 0x8f3f0e 0 "2" 0xffffff
3 12 13 0xcfe3f6 0 "3" 0x000000
3 13 15 0xab5420 0 "3" 0xffffff
3 15 16 0xa8cbea 0 "4" 0x000000
3 16 18 0x8f3f0e 0 "4" 0xffffff
3 18 19 0xcfe3f6 0 "5" 0x000000
3 19 21 0xab5420 0 "5" 0xffffff
3 21 22 0xa8cbea 0 "6" 0x000000
3 22 24 0x8f3f0e 0 "6" 0xffffff
3 24 25 0xcfe3f6 0 "7" 0x000000
3 25 27 0xab5420 0 "7" 0xffffff
EOD
# messages: made, its row, used, its row
$messages1 << EOD
10 0.6 10 0.4
13 0.6 13 0.4
16 0.6 16 0.4
19 0.6 19 0.4
22 0.6 22 0.4
25 0.6 25 0.4
28 0.6 28 0.4
31 0.6 31 0.4
8 1.6 8 1.4
11 1.6 11 1.4
14 1.6 14 1.4
17 1.6 17 1.4
20 1.6 20 1.4
23 1.6 23 1.4
26 1.6 26 1.4
29 1.6 29 1.4
6 2.6 6 2.4
9 2.6 9 2.4
12 2.6 12 2.4
15 2.6 15 2.4
18 2.6 18 2.4
21 2.6 21 2.4
24 2.6 24 2.4
27 2.6 27 2.4
1 0.4 1 0.6
2 0.4 2 0.6
3 0.4 3 0.6
4 0.4 10 0.6
13 0.4 13 0.6
16 0.4 16 0.6
19 0.4 19 0.6
22 0.4 22 0.6
2 1.4 2 1.6
3 1.4 3 1.6
4 1.4 8 1.6
11 1.4 11 1.6
14 1.4 14 1.6
17 1.4 17 1.6
20 1.4 20 1.6
23 1.4 23 1.6
3 2.4 3 2.6
4 2.4 6 2.6
9 2.4 9 2.6
12 2.4 12 2.6
15 2.4 15 2.6
18 2.4 18 2.6
21 2.4 21 2.6
24 2.4 24 2.6
EOD
unset title
unset grid
set border 1
set tics nomirror
set lmargin at screen 0.0742
set rmargin at screen 0.9570
set xrange [0:33]
set xtics 0,5 out
set multiplot
set object 1 rectangle from screen 0.0742,0.0217 to screen 0.1180,0.0651 fillcolor rgb '#bcd7f0' fillstyle solid border lc rgb '#303030' lw 0.3
set label 'F forward' at screen 0.1314,0.0434 left
set object 2 rectangle from screen 0.3543,0.0217 to screen 0.3981,0.0651 fillcolor rgb '#9d4a17' fillstyle solid border lc rgb '#303030' lw 0.3
set label 'B backward' at screen 0.4116,0.0434 left
set tmargin at screen 0.9027
set bmargin at screen 0.6057
set yrange [3.5:-0.5]
set ytics scale 0 offset 0.6,0 ("P0" 0, "P1" 1, "P2" 2, "P3" 3)
set format x ''
unset xlabel
unset arrow
set arrow from 33, graph 0 to 33, graph 1 nohead front lc rgb '#000000' lw 0.8
set arrow from 33, graph 0 to 33, graph 1 nohead front lc rgb '#808080' lw 0.8 dt 3
set label 'gpipe: 33 units, bubble 27.3 %' at screen 0.0742,0.9392 left
plot $ops0 using (($2+$3)/2):1:2:3:($1-0.4):($1+0.4):4 with boxxyerror fillstyle solid border lc rgb '#303030' lw 0.3 fillcolor rgb variable, \
  $messages0 using 1:2:($3-$1):($4-$2) with vectors filled head size screen 0.006,18 lc rgb '#707070' lw 0.4, \
  $ops0 using (($2+$3)/2):1:6:7 with labels center font ',5.5' textcolor rgb variable
unset label
unset object
set tmargin at screen 0.5085
set bmargin at screen 0.2115
set yrange [3.5:-0.5]
set ytics scale 0 offset 0.6,0 ("P0" 0, "P1" 1, "P2" 2, "P3" 3)
set format x '%g'
set xlabel 'time (units)' offset 0,0.5
unset arrow
set arrow from 33, graph 0 to 33, graph 1 nohead front lc rgb '#808080' lw 0.8 dt 3
set arrow from 33, graph 0 to 33, graph 1 nohead front lc rgb '#000000' lw 0.8
set label '1f1b: 33 units, bubble 27.3 %' at screen 0.0742,0.5449 left
plot $ops1 using (($2+$3)/2):1:2:3:($1-0.4):($1+0.4):4 with boxxyerror fillstyle solid border lc rgb '#303030' lw 0.3 fillcolor rgb variable, \
  $messages1 using 1:2:($3-$1):($4-$2) with vectors filled head size screen 0.006,18 lc rgb '#707070' lw 0.4, \
  $ops1 using (($2+$3)/2):1:6:7 with labels center font ',5.5' textcolor rgb variable
unset label
unset multiplot
