# Result files of sweeps: what may not happen to them.
# A descriptor that is closed at the start is not theirs.
$ cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 -o c.csv 2>/dev/null; cp c.csv before.csv; pipesim sweep --schedule 1f1b --tp 2 --seed 1 --micro-batches 2 --unit F=1 -o c.csv 2>&-; echo $?; cmp c.csv before.csv
> 2
$ cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 <&- >&-; echo $?
> 1
! pipesim: error: cannot write stdout: Bad file descriptor
# A schedule more: what one schedule alone has computed is taken over, its options too.
$ cd $TMPDIR; pipesim sweep --schedule bfs --pp 4 --vp 2 --micro-batches 8 --unit F=1 -o more.csv 2>/dev/null; pipesim sweep --schedule bfs,1f1b --pp 4 --vp 2 --micro-batches 8 --unit F=1 -o more.csv 2>&1 | sed "s|, [0-9.,]* points/s||"; pipesim sweep --schedule bfs,1f1b --pp 4 --vp 2 --micro-batches 8 --unit F=1 | cmp - more.csv
> pipesim: 2 points in more.csv, 1 from before
>   next  pipesim plot more.csv
# Letters of program files are nothing to a schedule with a name: one row.
$ cd $TMPDIR; pipesim program --schedule gpipe --pp 2 --micro-batches 2 --compute -o p.csv; pipesim sweep --schedule p.csv,1f1b --dialect 2025 --dialect 2024 --pp 2 --micro-batches 2 --unit F=1 | cut -d, -f2 | uniq -c | sed 's/ *//'
> 1 schedule
> 2 p.csv
> 1 1f1b
# An input is no place for the result.
$ cd $TMPDIR; cp p.csv q.csv; ln -s q.csv r.csv; pipesim sweep --schedule ./q.csv --unit F=1 -o r.csv --fresh; echo $?; cmp p.csv q.csv
> 2
! pipesim: error: -o r.csv is what --schedule ./q.csv reads: choose another -o
# A pipe has nothing to draw afterwards.
$ cd $TMPDIR; mkfifo pipe; cat pipe >read.csv & cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 2,4 --micro-batches 4 --unit F=1 -o pipe 2>&1 | sed "s|, [0-9.,]* points/s||"; wait; wc -l <read.csv
> pipesim: 2 points in pipe
> 3
