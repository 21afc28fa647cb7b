set format '%h'
set title 'step: predicted 60.0 ms, measured 67.0 ms, -10.4 %'."\n".'(1 of no duration left out)'
set logscale xy
set xrange [6.4286:42]
set yrange [6.4286:42]
set xlabel 'measured (ms)'
set ylabel 'predicted (ms)'
set for [e=-15:18] for [m in '2 5'] xtics add (m*10.**e)
set for [e=-15:18] for [m in '2 5'] ytics add (m*10.**e)
set size ratio 1
set grid xtics ytics
set format xy '%g'
set key outside Left reverse samplen 1 right top vertical
$band << EOD
6.4286 5.7857 7.0714
42 37.8 46.2
EOD
$series0 << EOD
11 10
9 10
EOD
$series1 << EOD
30 20
16 20
EOD
$medians << EOD
10 10
23 20
EOD
plot $band using 1:2:3 with filledcurves fc rgb '#e3e3e3' title 'within 10 %', \
 $band using 1:1 with lines lw 0.8 lc rgb '#606060' title 'predicted = measured', \
 $series0 with points linestyle 1 ps 0.6 title 'F forward', \
 $series1 with points linestyle 2 ps 0.6 title 'B backward', \
 $medians with points pt 6 ps 1.6 lw 3.5 lc rgb 'white' notitle, \
 $medians with points pt 6 ps 1.6 lw 1.6 lc rgb 'black' title 'medians'
