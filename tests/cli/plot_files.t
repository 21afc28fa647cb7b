# Pictures of reports and traces in the terminal. Scratch files are in $TMPDIR.
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --json > $TMPDIR/unit.json; pipesim plot $TMPDIR/unit.json
> 1f1b: activations of each pipeline rank
>
> pipeline rank                                                     activations
>             0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  4.00
>             1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA              3.00
>             2 AAAAAAAAAAAAAAAAAAAAAAAAA                           2.00
>             3 AAAAAAAAAAAAA                                       1.00
>
>   A activations
$ pipesim --schedule gpipe,1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --json | pipesim plot - --title 'Two of them'
> Two of them
>
> schedule                                                          activations
>    gpipe AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  8.00
>     1f1b AAAAAAAAAAAAAAAAAAAAAAAAAAAA                             4.00
>
>   A activations
$ pipesim plot --kind links $TMPDIR/unit.json 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: unit.json: no link carries anything in unit mode
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --trace $TMPDIR/t.csv >/dev/null; pipesim plot --kind memory-time $TMPDIR/t.csv | sed "s:$TMPDIR/::"
> t.csv: activations held over time by pipeline rank
>
> chunk activations
>     4.0 |         ##########                       ##########
>         |         ##########                       ##########
>         |         ##########                       ##########
>         |         ##########                       ##########
>     3.0 |       #################               ##################
>         |       #################               ##################
>         |       #################               ##################
>         |       #################               ##################
>     2.0 |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>         |  ::#########################::::::##########################
>     1.0 |::################################################################::::
>         |::################################################################::::
>         |::################################################################::::
>         |::################################################################::::
>       0 +----------------------------------------------------------------------
>          0                                                                 30 s
>
>   # rank 1, which holds most (4.00)  : the most of all 4 ranks
$ pipesim --schedule 1f1b --gpus 4 --pp 4 --tp 1 --model gpt2-64 --gbs 8 --mbs 1 --engine dag --json > $TMPDIR/r.json; pipesim plot --kind links $TMPDIR/r.json
> 1f1b (dag): use of links
>
>            link |                                        | links  mean   most
> node*.gpu*.down |                                        |     4    0 %    0 %
>   node*.gpu*.up |                                        |     4    0 %    0 %
>
>   # mean of the class  - its busiest link  full width 100 %
$ pipesim plot $TMPDIR/r.json | head -4
> 1f1b: peak memory of each pipeline rank
>
> pipeline rank                                                     GiB
>             0 GOOOA--                                           | 11.3
$ pipesim plot --kind memory -x pp $TMPDIR/r.json
! pipesim: error: -x has no effect on --kind memory of a report
= 2
$ pipesim plot --kind memory --by schedule $TMPDIR/r.json
! pipesim: error: --by has no effect on --kind memory of a report
= 2
$ echo '{"schema": "pipesim.report/1", "schedule": 3}' | pipesim plot -
! pipesim: error: <stdin>: "schedule" must be a string, not an integer
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --trace $TMPDIR/other.csv >/dev/null; pipesim plot --kind error $TMPDIR/t.csv $TMPDIR/other.csv 2>&1 | sed "s:$TMPDIR/::g"
> pipesim: error: t.csv has 4 ranks, other.csv has 2
$ pipesim sweep --schedule gpipe,1f1b --pp 4 --micro-batches 8,16 --unit F=1,B=2 -o $TMPDIR/s.csv 2>/dev/null; pipesim plot --kind memory $TMPDIR/s.csv
> activations of the fullest rank
>
> schedule, micro_batches                                           activations
>                 gpipe 8 AAAAAAAAAAAAAAAAAAAA                      8.00
>                gpipe 16 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  16.00
>                  1f1b 8 AAAAAAAAAA                                4.00
>                 1f1b 16 AAAAAAAAAA                                4.00
>
>   A activations
