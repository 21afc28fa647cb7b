# A user's own steps reach every answer: constants are fitted, written, read and stated.
$ pipesim validate tests/cli/own.csv --refit -o "$TMPDIR/constants.json" | sed "s|$TMPDIR|.|"
> constants of 3 steps of 2 layouts, for hopper with megatron
>
> constant        of              part       built in     fitted
> gemm_eta        hopper          compute       0.649     0.5908
> memory_eta      hopper          compute       0.783     0.7161
> attention_eta   hopper          compute       0.353     0.3225
> launch_s        hopper          host        3.2e-06  3.203e-06
> kernel_gap_s    megatron        host        5.1e-05  5.141e-05
> op_gap_s        megatron        host         0.0005  0.0005038
> step_gap_s      megatron        step          0.004      0.004
> host_frac       megatron        host           0.19     0.1915
> eta_link        hopper          links          0.92     0.9121
>
> median error of these steps: 12.5 % with the built-in constants, 4.7 % with these
> median error of each layout with constants of the others: 9.1 %
> prior: built-in values, wide by a factor of exp(0.08); so few steps change them
> little (docs/validate.md)
>   next  pipesim plan --constants ./constants.json ...
$ cd "$TMPDIR"; pipesim validate "$OLDPWD/tests/cli/own.csv" --refit -o constants.json --json | grep -vE '_s"|_eta"|_frac"|eta_link|_frac_' | head -40
> {
>   "schema": "pipesim.constants/1",
>   "version": "0.1.0",
>   "constants": [
>     {
>       "of": "hopper",
>     },
>     {
>       "of": "megatron",
>     }
>   ],
>   "models": [
>     {
>       "name": "llama3-8b",
>       "hidden": 4096,
>       "ffn": 14336
>     }
>   ],
>   "rows": [
>     "one",
>     "two",
>     "three"
>   ],
>   "prior_width": 0.080000000000000002,
> }
$ here=$PWD; cd "$TMPDIR"; pipesim validate "$here/tests/cli/own.csv" --refit -o constants.json >/dev/null; pipesim validate "$here/tests/cli/own.csv" --constants constants.json --json | grep -E '"(median_abs_error_frac|n)"' | head -2 | tail -1
>     "median_abs_error_frac": 0.047111316835773187,
# Errors of the steps before and after, by the ordinary prediction.
$ here=$PWD; cd "$TMPDIR"; pipesim validate "$here/tests/cli/own.csv" --refit -o constants.json >/dev/null; for with in "" "--constants constants.json"; do pipesim validate "$here/tests/cli/own.csv" $with -o - | sed -n '/^id,/,$p' | awk -F, 'NR > 1 { printf "%s %.3f\n", $1, $9 }'; done
> one -0.107
> two -0.125
> three -0.158
> one -0.027
> two -0.047
> three -0.092
# run, plan, sweep: the source is stated, and the framework of the file is the default.
$ here=$PWD; cd "$TMPDIR"; pipesim validate "$here/tests/cli/own.csv" --refit -o constants.json >/dev/null; pipesim --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json --no-alternatives | sed -n '/^  costs/,/^$/p'; pipesim --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json --json | grep -E '"(calibrated|source|framework)"'; pipesim --model llama3-70b --gpus 64 --tp 8 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json --json | grep -E '"(source)"'; pipesim --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json --explain | sed -n '/^constants/,/^$/p' | head -4; pipesim plan --model llama3-8b --gpus 16 --gbs 64 --schedule 1f1b --constants constants.json --top 1 | sed -n "/^  batch/,/^  searched/p" | head -2; pipesim --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json --emit megatron | grep -A1 '^# Predicted'; pipesim sweep --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --constants constants.json -o - 2>/dev/null | grep -o ',constants.json,'
>   costs    analytic, calibrated from constants.json: 3 measured steps of
>            llama3-8b (hopper, megatron)
>
>     "calibrated": true,
>     "source": "constants.json: 3 measured steps of llama3-8b (hopper, megatron)"
>     "source": "constants.json: 3 measured steps of llama3-8b (hopper, megatron); for another model, a third of their change"
> constants
>   source      constants.json: 3 measured steps of llama3-8b (hopper, megatron)
>   gemm_eta        hopper              0.5908
>   memory_eta      hopper              0.7161
>   batch      gbs 64, seq 8192*, framework megatron; cluster h100*; constants of
>              constants.json: 3 measured steps of llama3-8b (hopper, megatron)
> # Predicted with constants of constants.json: 3 measured steps of llama3-8b
> #   (hopper, megatron).
> ,constants.json,
# The error is that of the file: of layouts left out, of the steps that taught, or not known.
$ here=$PWD; cd "$TMPDIR"; pipesim validate "$here/tests/cli/own.csv" --refit -o constants.json >/dev/null; sed '/left_out/d; s/\("median_abs_error_frac_after": [^,]*\),/\1/' constants.json >one.json; sed '/median_abs/d; s/\("prior_width": [^,]*\),/\1/' constants.json >old.json; for file in constants one old; do for model in "llama3-70b --gpus 64" "llama3-8b --gpus 16"; do run="pipesim --model $model --tp 8 --pp 2 --gbs 64 --schedule 1f1b --constants $file.json --no-alternatives"; $run | grep -A1 -E '^  (iteration|error)' | grep -vE '^(--|  (MFU|time))'; done; $run --json | grep -A4 '"error"' | tr -d '\n '; echo; done
>   iteration       10.1 s         51.9k tokens/s, 811 tokens/s/GPU
>   error    not known: constants.json has no step of this model
>   iteration       6.36 s +-9 %   82.4k tokens/s, 5.15k tokens/s/GPU
>   error    median of 3 steps of constants.json, each layout with constants of
>            the others; memory's p90 6 %
> "error":{"step_median_frac":0.090829970555051487,"step_p90_frac":null,"rows":3,"like":"constants.json,eachlayoutwithconstantsoftheothers",
>   iteration       10.1 s         51.9k tokens/s, 811 tokens/s/GPU
>   error    not known: one.json has no step of this model
>   iteration       6.36 s +-5 %   82.4k tokens/s, 5.15k tokens/s/GPU
>   error    median of 3 steps of one.json, to which its constants are fitted;
>            memory's p90 6 %
> "error":{"step_median_frac":0.047111316835773187,"step_p90_frac":null,"rows":3,"like":"one.json,towhichitsconstantsarefitted",
>   iteration       10.1 s         51.9k tokens/s, 811 tokens/s/GPU
>   error    not known: old.json does not state it
>   iteration       6.36 s         82.4k tokens/s, 5.15k tokens/s/GPU
>   error    not known: old.json does not state it
> "error":{"step_median_frac":null,"step_p90_frac":null,"rows":null,"like":null,
# A built-in value, written into the file, changes nothing.
$ cd "$TMPDIR"; printf '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.649}], "models": [], "rows": []}' >same.json; for with in "" "--constants same.json"; do pipesim --model llama3-8b --gpus 16 --tp 2 --pp 2 --gbs 64 --schedule 1f1b --json $with | grep '"iteration_s"' | head -1; done | uniq | wc -l
> 1
# The model that was measured takes all of a change, others a third of its logarithm.
$ cd "$TMPDIR"; printf '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.8}], "models": [{"name": "llama3-8b", "hidden": 4096, "ffn": 14336}], "rows": ["a"]}' >one.json; for model in llama3-8b llama3-70b; do pipesim --model $model --gpus 16 --tp 8 --pp 2 --gbs 64 --schedule 1f1b --constants one.json --explain | grep '^  gemm_eta'; done; awk 'BEGIN { printf "%.4g\n", 0.649 * (0.8 / 0.649) ^ (1 / 3) }'
>   gemm_eta        hopper                 0.8
>   gemm_eta        hopper              0.6959
> 0.6959
# Other devices and frameworks are refused, bad files too.
$ cd "$TMPDIR"; printf '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.8}, {"of": "nemo", "op_gap_s": 1e-3}], "models": [], "rows": []}' >one.json; pipesim --model llama3-8b --schedule 1f1b --gpus 16 --cluster a100 --constants one.json
! pipesim: error: --constants one.json: measured on devices of generation hopper; a100 is of ampere
= 2
$ cd "$TMPDIR"; printf '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.8}, {"of": "nemo", "op_gap_s": 1e-3}], "models": [], "rows": []}' >one.json; pipesim --model llama3-8b --schedule 1f1b --gpus 16 --framework megatron --constants one.json
! pipesim: error: --constants one.json: measured with nemo, not with megatron
= 2
$ pipesim --schedule 1f1b --model llama3-8b --gpus 16 --constants no-such.json
! pipesim: error: cannot open no-such.json: No such file or directory
= 1
$ cd "$TMPDIR"; bad() { printf '%s' "$1" >bad.json; pipesim --schedule 1f1b --model llama3-8b --gpus 16 --constants bad.json; echo " = $?"; }; { bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_etta": 0.8}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hoper", "gemm_eta": 0.8}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 8}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "op_gap_s": 1e-3}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper"}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constant": [], "models": [], "rows": []}'; bad '{"schema": "pipesim.cost/1"}'; bad '{"schema": '; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.8}, {"of": "ampere", "gemm_eta": 0.8}], "models": [], "rows": []}'; bad '{"schema": "pipesim.constants/1", "constants": [{"of": "hopper", "gemm_eta": 0.8}], "models": [{"name": "x"}], "rows": []}'; } 2>&1
> pipesim: error: bad.json: unknown key "gemm_etta"; did you mean "gemm_eta"?
>  = 2
> pipesim: error: bad.json: "of" of "constants"[0] is "hoper", no generation of devices and no framework; did you mean "hopper"?
>  = 2
> pipesim: error: bad.json: "gemm_eta" is 8, outside 0.2 to 1
>  = 2
> pipesim: error: bad.json: unknown key "op_gap_s"
>  = 2
> pipesim: error: bad.json: "constants" has no value
>  = 2
> pipesim: error: bad.json: unknown key "constant"; did you mean "constants"?
>  = 2
> pipesim: error: bad.json: "schema" is pipesim.cost/1, expected pipesim.constants/1 as 'pipesim validate TABLE --refit -o FILE.json' writes it
>  = 2
> pipesim: error: bad.json:1:11: unexpected token near end of file
>  = 2
> pipesim: error: bad.json: constants of "hopper" and of "ampere"; a file is of one generation of devices and one framework
>  = 2
> pipesim: error: bad.json: "hidden" is missing
>  = 2
$ pipesim --schedule 1f1b --unit F=1,B=2 --pp 4 --micro-batches 8 --constants x.json
! pipesim: error: --constants x.json has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule 1f1b --cost x.json --constants y.json --pp 2
! pipesim: error: --cost and --constants both say what was measured; give one of them
= 2
$ pipesim validate tests/cli/own.csv --refit --constants x.json
! pipesim: error: --refit starts from the built-in constants, --constants replaces them; give one of them
= 2
$ pipesim validate tests/cli/own.csv --refit -o c.json --markdown
! pipesim: error: -o c.json writes constants, --markdown a page about all rows; give one
= 2
# Constants are of one generation of devices and one framework.
$ { cat tests/cli/own.csv; sed -n '2s/one,llama3-8b,h100\(.*\),4.90/four,llama3-8b,a100\1,14/p' tests/cli/own.csv; } >"$TMPDIR/two.csv"; pipesim validate "$TMPDIR/two.csv" --refit -o "$TMPDIR/c.json" 2>&1 | sed "s|$TMPDIR|.|"
> pipesim: error: --refit -o: the rows are of hopper and ampere, and a file of constants is of one generation of devices; keep one with --family, or in a table of its own
$ sed -n 1p tests/cli/own.csv >"$TMPDIR/none.csv"; pipesim validate "$TMPDIR/none.csv" --refit -o "$TMPDIR/c.json"
! pipesim: error: --refit: no row has a measured step time, stated settings and a prediction
= 2
