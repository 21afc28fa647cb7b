set terminal pdfcairo size 7.5in,2.08in font 'sans,10' fontscale 0.75
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
set title 'heat'
set border 15
unset grid
set xlabel 'time (ms)'
set xrange [0:2]
set yrange [1.5:-0.5]
set y2range [1.5:-0.5]
set cbrange [0:100]
set xtics 0.5
set cblabel 'utilisation (%), more is drawn as 100'
set bmargin 8
set tmargin 3
set colorbox horizontal user origin graph 0, screen 0.2564 size graph 1, screen 0.0561
set palette defined (0 '#ffffff', 1 '#faf0cc', 10 '#f7dc93', 30 '#f2a33c', 60 '#b8442e', 100 '#2b0b2e')
set ytics scale 0 font ',8' ('node0.nic0.up' 0, 'leaf1.up' 1)
set y2tics scale 0 font ',8' ('39 %%' 0, '71 %%' 1)
set label 'mean' at graph 1.01, graph 1 offset 0,0.7 font ',8'
set arrow from graph 0, first 0.5 to graph 1, first 0.5 nohead front lw 0.8 lc rgb '#404040'
$heat << EOD
0 5 50 100
25 100 99.9 10
EOD
plot $heat matrix using (($1 + 0.5) * 0.5):2:3 with image
