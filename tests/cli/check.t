# Saved reports, run again.
$ cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --json >a.json; pipesim check a.json && pipesim check - <a.json
> a.json: none of 63 figures moved
> <stdin>: none of 63 figures moved
$ cd $TMPDIR; sed 's/"iteration_s": 9.0/"iteration_s": 10.0/; s/"source": "/&x/' a.json >b.json; pipesim check b.json
> b.json: 1 of 63 figures moved
>   texts that read otherwise: 1
>   figure                                   before          now  change
>   iteration_s                                  10            9  -10 %
! pipesim: error: b.json: 1 of 63 figures moved
= 5
$ cd $TMPDIR; pipesim check a.json b.json --tolerance 9%; pipesim check b.json --tolerance 10%
> a.json: none of 63 figures moved by more than 9 %
> b.json: 1 of 63 figures moved by more than 9 %
>   texts that read otherwise: 1
>   figure                                   before          now  change
>   iteration_s                                  10            9  -10 %
> b.json: none of 63 figures moved by more than 10 %
>   largest change: -10 %, iteration_s
>   texts that read otherwise: 1
! pipesim: error: b.json: 1 of 63 figures moved
# Written anew; what is the same is left alone.
$ cd $TMPDIR; pipesim check b.json --update; pipesim check b.json --update; pipesim check b.json
> b.json: 1 of 63 figures moved
>   texts that read otherwise: 1
>   figure                                   before          now  change
>   iteration_s                                  10            9  -10 %
>   written anew
> b.json: none of 63 figures moved
> b.json: none of 63 figures moved
$ cd $TMPDIR; pipesim check - --update <a.json
! pipesim: error: --update: stdin cannot be rewritten; name a file
= 2
# What is no baseline: each by name, and the code of what could not be looked at.
$ cd $TMPDIR; sed 's:report/1:report/2:' a.json >c.json; sed 's/"iteration_s": 9.0/"iteration_s": 10.0/' a.json >b.json; pipesim check b.json c.json a.json
> b.json: 1 of 63 figures moved
>   figure                                   before          now  change
>   iteration_s                                  10            9  -10 %
> a.json: none of 63 figures moved
! pipesim: error: b.json: 1 of 63 figures moved
! c.json: its schema is 'pipesim.report/2'; expected 'pipesim.report/1' or 'pipesim.comparison/1', what pipesim --json of this version prints of one schedule or of several
= 2
$ cd $TMPDIR; pipesim check b.json nothing.json
> b.json: 1 of 63 figures moved
>   figure                                   before          now  change
>   iteration_s                                  10            9  -10 %
! pipesim: error: b.json: 1 of 63 figures moved
! cannot open nothing.json: No such file or directory
= 1
$ cd $TMPDIR; sed 's/"pp": "2"/"pp": "2", "vp": "4"/' a.json >d.json; pipesim check d.json
! pipesim: error: d.json: --vp 4: 1f1b has no such option; schedules that have it: bfs, hanayo, interleaved, interleaved-zb
= 2
$ cd $TMPDIR; pipesim check
! pipesim: error: pipesim check needs 1 operand, not 0
! usage: pipesim check REPORT.json...|SWEEP.csv --with NEW.csv [--tolerance FRAC]
= 2
# A refused schedule of a comparison stays refused.
$ cd $TMPDIR; pipesim --schedule 1f1b,gems --pp 3 --micro-batches 3 --unit F=1,B=2 --json >e.json; grep -c refused e.json; pipesim check e.json
> 1
> e.json: none of 70 figures moved
$ cd $TMPDIR; sed 's/"pp": "3"/"pp": "4"/; s/"micro-batches": "3"/"micro-batches": "4"/' e.json >f.json; pipesim check f.json --worst 2
> f.json: 25 of 71 figures moved
>   fields that the old report lacks: 26
>   figure                                   before          now  change
>   runs[gems].refused                        "..."            -  changed
>   runs[1f1b].layout.gpus                        3            4  changed
>   ... and 23 more; --worst 25 shows all
! pipesim: error: f.json: 25 of 71 figures moved
= 5
# For programs.
$ cd $TMPDIR; sed 's/"iteration_s": 9.0/"iteration_s": 10.0/; s/"vp": 1/"vp": 2/' a.json >b.json; pipesim check b.json c.json --tolerance 1% --json
> {
>   "schema": "pipesim.check/1",
>   "tolerance_frac": 0.01,
>   "files": [
>     {
>       "file": "b.json",
>       "figures": 63,
>       "moved": 2,
>       "texts": 0,
>       "added": 0,
>       "changes": [
>         {
>           "figure": "layout.vp",
>           "before": 2,
>           "after": 1,
>           "of": null,
>           "change_frac": null
>         },
>         {
>           "figure": "iteration_s",
>           "before": 10.0,
>           "after": 9.0,
>           "of": "itself",
>           "change_frac": -0.10000000000000001
>         }
>       ]
>     },
>     {
>       "file": "c.json",
>       "error": "c.json: its schema is 'pipesim.report/2'; expected 'pipesim.report/1' or 'pipesim.comparison/1', what pipesim --json of this version prints of one schedule or of several"
>     }
>   ]
> }
! pipesim: error: b.json: 2 of 63 figures moved
! c.json: its schema is 'pipesim.report/2'; expected 'pipesim.report/1' or 'pipesim.comparison/1', what pipesim --json of this version prints of one schedule or of several
= 2
# A sweep, held against what it gives now.
$ cd $TMPDIR; pipesim sweep --schedule 1f1b,gems --pp 3,4 --micro-batches 4 --unit F=1,B=2 -o s.csv 2>/dev/null; pipesim check s.csv --with s.csv
> s.csv: none of 136 figures moved
$ cd $TMPDIR; sed 's/^0,\(.*\),18,/0,\1,19,/; s/true/false/' s.csv >t.csv; pipesim check s.csv --with t.csv
> s.csv: 1 of 136 figures moved
>   figure                                   before          now  change
>   runs[0 1f1b 3 3].iteration_s                 18           19  +5.56 %
! pipesim: error: s.csv: 1 of 136 figures moved
= 5
$ cd $TMPDIR; sed 3d s.csv >t.csv; pipesim check s.csv --with t.csv; pipesim check s.csv; pipesim check s.csv --with t.csv --update
> s.csv: 1 of 103 figures moved
>   figure                                   before          now  change
>   runs[1 1f1b 4 4]                          {...}            -  changed
! pipesim: error: s.csv: 1 of 103 figures moved
! pipesim: error: s.csv: a sweep does not say all that was asked; run it again with another -o, and give that file: --with NEW.csv
! pipesim: error: --update has no effect on a sweep: copy t.csv over it
= 2
$ cd $TMPDIR; pipesim check a.json --with s.csv
! pipesim: error: --with s.csv is for a sweep; a.json is none
= 2
$ cd $TMPDIR; pipesim check s.csv s.csv --with s.csv
! pipesim: error: --with s.csv is the new form of one sweep, not of 2 files
= 2
$ cd $TMPDIR; printf 'a,b\n1,2\n' >u.csv; pipesim check u.csv --with s.csv
! pipesim: error: u.csv: expected what pipesim sweep writes: the columns point, ..., iteration_s, ..., status
= 2
# A report as a command line.
$ cd $TMPDIR; pipesim --from a.json --json | sed /wall_s/d >g.json; sed /wall_s/d a.json | cmp - g.json && echo same
> same
$ cd $TMPDIR; pipesim --from a.json --schedule gpipe --micro-batches 3 --json | sed -n '/"inputs"/,/^  }/p'
>   "inputs": {
>     "schedule": "gpipe",
>     "micro-batches": "3",
>     "pp": "2",
>     "unit": "F=1,B=2"
>   },
$ cd $TMPDIR; pipesim --from c.json
! pipesim: error: c.json: its schema is 'pipesim.report/2'; expected 'pipesim.report/1' or 'pipesim.comparison/1', what pipesim --json of this version prints of one schedule or of several
= 2
