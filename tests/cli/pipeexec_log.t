# A row for each step; a resumed training continues the file without a repeated step.
$ pipeexec --hidden 32 --seq 16 --steps 6 --no-check --quiet --log l.csv --checkpoint ck --checkpoint-every 2; cut -d, -f 1,3,6 l.csv
> step,valid_loss,tokens
> 1,,512
> 2,,1024
> 3,,1536
> 4,,2048
> 5,,2560
> 6,,3072
$ cp l.csv whole.csv; pipeexec --resume ck/step-000000004 --np 2 --exact-grad --no-check --quiet --log l.csv; cut -d, -f 1,3,5,6 l.csv | diff - <(cut -d, -f 1,3,5,6 whole.csv) && tail -n +6 l.csv | wc -l
> 2
$ head -n 4 whole.csv > l.csv; head -n 5 whole.csv | tail -n 1 | head -c 20 >> l.csv; pipeexec --resume ck/step-000000004 --no-check --quiet --log l.csv; cut -d, -f 1 l.csv | tr '\n' ' '; echo
> step 1 2 3 5 6 
$ pipeexec --hidden 32 --seq 16 --steps 3 --dp 2 --np 2 --transport tcp --no-check --quiet --log l.csv; cut -d, -f 1,6 l.csv
> step,tokens
> 1,1024
> 2,2048
> 3,3072
$ pipesim plot whole.csv -o l.gp && grep -E '^set (title|[xy]label)|title .training|^# step|^1 ' l.gp
> set title 'loss over step'
> set xlabel 'step'
> set ylabel 'loss'
> # step loss
> 1 5 ...
> plot $series1 using 1:2 with linespoints linestyle 1 title 'training'
$ printf 'step,loss,valid_loss,grad_norm,lr,tokens,tokens_per_s,time_s\n1,5,,1,1,512,9,1\n2,4,4.5,1,1,1024,9,2\n' > v.csv; pipesim plot v.csv -o v.gp && sed -n '/^.series/,/^EOD/p' v.gp
> $series1 << EOD
> # validation
> # step loss
> 2 4.5
> EOD
> $series2 << EOD
> # training
> # step loss
> 1 5
> 2 4
> EOD
$ pipesim plot v.csv -y lr -o v.gp && grep -A3 '^.series' v.gp
> $series1 << EOD
> # v.csv
> # step lr
> 1 1
! note: lr over step (other columns: -x, -y, --by)
$ pipesim plot v.csv --kind bubble
! pipesim: error: --kind bubble is drawn from a sweep, but v.csv is a log; from that: loss
= 2
$ printf 'step,loss,valid_loss\n' | pipesim plot -
! pipesim: error: <stdin> has a header but no rows: nothing to draw
= 2
# A run that cannot begin leaves the file as it is.
$ cp v.csv kept.csv; RANK=0 WORLD_SIZE=2 pipeexec --np 2 --rendezvous 'file://meet?timeout=1' --log kept.csv --quiet; cmp v.csv kept.csv && echo same
> same
! pipeexec: error: after 1 s these of 2 processes have not called: 1
!   one that has ended says why; one that still waits calls elsewhere ...
$ pipeexec --log -
! pipeexec: error: --log -: the report is on stdout; give a file
= 2
$ pipeexec --log none/l.csv
! pipeexec: error: --log: cannot write 'none/l.csv': No such file or directory
= 1
$ pipeexec --log l.csv --trace ./l.csv
! pipeexec: error: --log l.csv and --trace ./l.csv are one file; give two
= 2
$ pipeexec --resume ck --steps 7 --log ck/step-000000006/manifest
! pipeexec: error: --log: ck/step-000000006/manifest is no log: it does not begin with step,loss,valid_loss,grad_norm,lr,tokens,tokens_per_s,time_s
= 2
$ pipeexec --hidden 32 --seq 16 --steps 3 --no-check --quiet --log /dev/full
! pipeexec: error: --log: cannot write to /dev/full: No space left on device
= 1
# A full disk leaves whole rows: one warning, a count at the end, and exit code 1. Rows that are there and rows that
# are missing make 20; a slow machine has longer rows.
$ trap '' XFSZ; ulimit -f 1; pipeexec --hidden 32 --seq 16 --steps 20 --no-check --quiet --log full.csv 2>said; code=$?; grep -vcE '^[0-9]+(,[^,]*){7}$' full.csv; there=$(grep -cE '^[0-9]+(,[^,]*){7}$' full.csv); missing=$(grep -oE '[0-9]+ of 20' said); echo $((there + ${missing% of 20})) $((there > 0 && there < 20)); sed 's/: [0-9]* of 20 rows/: N of 20 rows/' said >&2; exit $code
> 1
> 20 1
! pipeexec: warning: no row of the log: cannot write to full.csv: No space left on device
! pipeexec: error: N of 20 rows of the log are missing: cannot write to full.csv: No space left on device
= 1
