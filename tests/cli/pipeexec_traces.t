# Traces of pipeexec are written where they are asked for, and nowhere else; both or neither.
# Without these options no file is written.
$ folder=$(mktemp -d); TMPDIR=$folder pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 >/dev/null; ls -A $folder | wc -l; rm -r $folder; TMPDIR=/nowhere pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 >/dev/null
> 0
# What cannot be written is refused before anything is trained.
$ pipeexec --steps 1000000 --trace events.txt
! pipeexec: error: --trace events.txt: the name must end in .csv, .csv.gz, .json, .json.gz, .paje, .paje.gz, .trace or .trace.gz
= 2
$ pipeexec --steps 1000000 --trace /nowhere/m.csv
! pipeexec: error: --trace: cannot write '/nowhere/m.csv': No such file or directory
= 1
$ pipeexec --steps 1000000 --predicted-trace /nowhere/p.csv
! pipeexec: error: --predicted-trace: cannot write '/nowhere/p.csv': No such file or directory
= 1
$ mkdir $TMPDIR/d.csv; cd $TMPDIR; pipeexec --steps 1000000 --trace d.csv; code=$?; rmdir d.csv; exit $code
! pipeexec: error: --trace: cannot write 'd.csv': Is a directory
= 1
$ cd $TMPDIR; touch kept.csv; chmod 400 kept.csv; pipeexec --steps 1000000 --trace kept.csv; code=$?; rm -f kept.csv; exit $code
! pipeexec: error: --trace: cannot write 'kept.csv': Permission denied
= 1
# Two names of one file, whether it is there or not.
$ pipeexec --steps 1000000 --trace same.csv --predicted-trace same.csv
! pipeexec: error: --trace same.csv and --predicted-trace same.csv are one file; give two
= 2
$ pipeexec --steps 1000000 --trace same.csv --predicted-trace ./same.csv
! pipeexec: error: --trace same.csv and --predicted-trace ./same.csv are one file; give two
= 2
$ cd $TMPDIR; ln -s same.csv link.csv; pipeexec --steps 1000000 --trace same.csv --predicted-trace link.csv
! pipeexec: error: --trace same.csv and --predicted-trace link.csv are one file; give two
= 2
$ cd $TMPDIR; touch same.csv; ln same.csv hard.csv; pipeexec --steps 1000000 --trace same.csv --predicted-trace hard.csv
! pipeexec: error: --trace same.csv and --predicted-trace hard.csv are one file; give two
= 2
# A full disk (here: files of a KiB at most) does not take the report back, and leaves nothing half-written.
$ folder=$(mktemp -d); trap '' XFSZ; (ulimit -f 1; pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --trace $folder/m.csv --predicted-trace $folder/p.csv.gz 2>$TMPDIR/why | grep -E '^  (step|next) '); sed "s:$folder:DIR:; s/: [^:]*\$/: WHY/" $TMPDIR/why; ls $folder | wc -l; rm -r $folder
>   step ...
>   next       --trace measured.csv --predicted-trace predicted.csv, then: pipesim
> pipeexec: error: cannot write 'DIR/m.csv': WHY
> 0
$ folder=$(mktemp -d); trap '' XFSZ; (ulimit -f 1; pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --trace $folder/m.csv --json 2>/dev/null | cat >&2; exit ${PIPESTATUS[0]}) 2>&1 | grep '"trace"'; rm -r $folder
>   "trace": null,
$ trap '' XFSZ; (ulimit -f 1; pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --trace $TMPDIR/m.csv --quiet 2>/dev/null)
= 1
# A measured and a predicted trace in the wrong order: both say what they are, so they are put right.
$ cd "$TMPDIR"; pipeexec --schedule 1f1b -np 2 --micro-batches 2 --steps 2 --trace real.json >/dev/null 2>&1; pipesim --schedule 1f1b --model tiny --gpus 2 --tp 1 --pp 2 --mbs 1 --micro-batches 2 --engine dag --trace fore.json --no-alternatives >/dev/null; for order in "real.json fore.json" "fore.json real.json"; do pipesim compare $order --json --allow-different 2>&1 >error.json | cut -c1-100; sed -n 's/.*"\(step_error_frac\|error_frac\)": \([-0-9.]*\).*/\1 \2/p' error.json | head -1; done | uniq -c | sed 's/[-0-9.]*$/N/'
>       1 pipesim: note: real.json was measured (engine cpu) and fore.json predicted (engine dag): they are taN
>       2 step_error_frac N
