set format '%h'
set title 'heat'
set border 15
unset grid
set xlabel 'time (ms)'
set xrange [0:2]
set yrange [1.5:-0.5]
set y2range [1.5:-0.5]
set cbrange [0:100]
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
