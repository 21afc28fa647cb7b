# Published runs against predictions: what is read, what is skipped and why.
$ pipesim validate tests/cli/validate.csv --worst 2 | sed -E 's/ *[-+0-9.]+ (%|GiB|s( |$))/ N \1/g'
> 12 rows: 2 predicted; of 10 that state every setting, 2
> An error is predicted / published - 1. median, p90, mean: of its size; bias: the
> median with its sign; guess: of a step at the median MFU of the other families.
>
> every setting stated       rows   median      p90     mean     bias    guess
> all                           2 N % N % N % N %        -
> PP > 1                        1 N % N % N % N %        -
> median of families            1 N %
>
> complete, by family        rows   median      p90     mean     bias    guess
> alpha                         2 N % N % N % N %        -
>
> complete, by device        rows   median      p90     mean     bias    guess
> a100                          2 N % N % N % N %        -
>
> complete, by schedule      rows   median      p90     mean     bias    guess
> 1f1b                          1 N % N % N % N %        -
> interleaved                   1 N % N % N % N %        -
>
> complete, by precision     rows   median      p90     mean     bias    guess
> fp16                          1 N % N % N % N %        -
> bf16                          1 N % N % N % N %        -
>
> complete, by framework     rows   median      p90     mean     bias    guess
> megatron-2023                 1 N % N % N % N %        -
> megatron                      1 N % N % N % N %        -
>
> complete, by use           rows   median      p90     mean     bias    guess
> a100, PP 1, several nodes     1 N % N % N % N %        -
> a100, PP > 1, one node        1 N % N % N % N %        -
>
> peak memory                rows   median      p90     mean     bias
> all                           1 N % N % N % N %
> alpha                         1 N % N % N % N %
>
> Of 2 runs that fitted, 2 are predicted to fit.
>
> complete rows, worst first         published   predicted    error
> split N s  N s  N %
> good N s  N s  N %
>
> skipped
>      1  24 layers cannot fill 32 stages with at least one each: use at most 24
>         stages (lower --pp or --vp) (layers, tests/cli/validate.csv:7)
>      1  contradiction: global_batch 500 is not a multiple of microbatch 16 * dp
>         32 = 512 (batch, tests/cli/validate.csv:6)
>      1  contradiction: gpus 64 is not tp 1 * pp 1 * dp 32 * cp 1 = 32 (gpus,
>         tests/cli/validate.csv:5)
>      1  contradiction: hidden 2304 is no multiple of heads 25 (heads,
>         tests/cli/validate.csv:9)
>      1  contradiction: schedule none with pp 4 (order, tests/cli/validate.csv:8)
>      1  gpu "TPUv4": no constants for it (device, tests/cli/validate.csv:11)
>      1  missing: heads, vocab (half, tests/cli/validate.csv:4)
>      1  the line has 3 fields, the header 28 (short, tests/cli/validate.csv:13)
>      1  tp "two" is no whole number from 1 to 1048576 (number,
>         tests/cli/validate.csv:12)
>      1  zero_stage_or_fsdp "some" is not known (words,
>         tests/cli/validate.csv:10)
$ pipesim validate tests/cli/validate.csv --row split | sed '/^step/,$d'
> split (tests/cli/validate.csv:3)
> command   pipesim run --vp 2 --gpus 8 --tp 1 --pp 4 --dp 2 --seq 2048 --mbs 1 \
>           --gbs 16 --cluster 'a100 gpu:8' --schedule interleaved --zero 1 \
>           --precision bf16 --recompute none --framework megatron \
>           --attention fused --model gpt3-175b --layers 24 --hidden 2304 \
>           --heads 24 --kv-heads 24 --ffn 9216 --vocab 51200 --mlp plain \
>           --embedding tied --engine dag
$ pipesim validate tests/cli/validate.csv --row spilt
! pipesim: error: --row spilt: no row has that id; did you mean split?
= 2
$ pipesim validate tests/cli/validate.csv --row gpus
> gpus (tests/cli/validate.csv:5)
> skipped   contradiction: gpus 64 is not tp 1 * pp 1 * dp 32 * cp 1 = 32
! pipesim: error: --row gpus: the row is skipped, nothing is predicted
= 2
$ pipesim validate tests/cli/validate.csv --family gamma
! pipesim: error: --family gamma: no row is of that family
= 2
$ pipesim validate tests/cli/validate.csv --tolerance 0.01% 2>&1 >/dev/null | sed -E 's/is [0-9.]+ %/is N %/'; exit ${PIPESTATUS[0]}
> pipesim: error: the median error of 2 rows is N %, more than the tolerance of 0.01 %
= 5
$ pipesim validate tests/cli/validate.csv --tolerance 1000% >/dev/null
$ pipesim validate tests/cli/validate.csv --explain
! pipesim: error: --explain needs --row ID: it shows one row in depth
= 2
$ pipesim validate no-such-file.csv
! pipesim: error: cannot open no-such-file.csv: No such file or directory
= 1
$ printf 'a,b\n1,2\n' >"$TMPDIR/other.csv"; pipesim validate "$TMPDIR/other.csv" 2>&1 | sed "s|$TMPDIR|.|"; exit ${PIPESTATUS[0]}
> pipesim: error: ./other.csv:1: no known column; expected a header such as model,cluster,gpus,tp,pp,schedule,mbs,gbs,seq,step_time_s; 'pipesim validate --template' prints a table to fill
= 2
$ pipesim validate
! pipesim: error: pipesim validate needs a table of measurements; 'pipesim validate --template' prints one to fill
= 2
$ pipesim validate tests/cli/validate.csv --json | grep -cE '"(schema|published_step_s|predicted_step_s|error_frac|published_mem_bytes|predicted_mem_bytes|skipped|median_abs_error_frac|p90_abs_error_frac)":'
> 122
$ pipesim validate tests/cli/validate.csv --json --markdown
! pipesim: error: --json and --markdown both write to stdout; give one of them
= 2
$ pipesim validate tests/cli/validate.csv --markdown | grep -c '^|'
> 45

# The command of a row, pasted into a shell with its continued lines, predicts the same.
$ line=$(pipesim validate tests/cli/validate.csv --row split | sed -n '/^command/,/[^\\]$/p' | sed 's/^command *//'); typed=$(eval "$line --json" | sed -n 's/.*"iteration_s": \([0-9.e-]*\).*/\1/p'); row=$(pipesim validate tests/cli/validate.csv -o - | awk -F, '$1 == "split" { print $8 }'); awk -v a="$typed" -v b="$row" 'BEGIN { print (a > 0 && a == b) ? "same" : a " " b }'
> same
$ { pipesim validate tests/cli/validate.csv; for id in good split layers; do pipesim validate tests/cli/validate.csv --row $id; done 2>/dev/null; } | awk 'length > 80'
$ pipesim validate tests/cli/validate.csv --row split | sed -n '/^memory/,/^time/p' | sed -E 's/[-+]?[0-9.]+ (GiB|%)/N \1/g' | head -3
> memory    published N GiB, predicted N GiB, error N %
>           counted is what tensors take, as max_memory_allocated() says; the
>           command prints N GiB, context and libraries included
# A row is one of its family, and is shown to people.
$ pipesim validate tests/cli/validate.csv --row split --family beta
! pipesim: error: --row split: no row of family beta has that id
= 2
$ pipesim validate tests/cli/validate.csv --row split --family alpha | head -1
> split (tests/cli/validate.csv:3)
$ pipesim validate tests/cli/validate.csv --row split --json
! pipesim: error: --row shows one row to people; --json is about all rows: give one of them
= 2
$ pipesim validate tests/cli/validate.csv --row split --markdown
! pipesim: error: --row shows one row to people; --markdown is about all rows: give one of them
= 2
$ pipesim validate tests/cli/validate.csv --row split --tolerance 5%
! pipesim: error: --row shows one row to people; --tolerance is about all rows: give one of them
= 2
# Nothing to judge is no success.
$ sed -n '1p;/^gpus/p' tests/cli/validate.csv >"$TMPDIR/none.csv"; pipesim validate "$TMPDIR/none.csv" --tolerance 50% >/dev/null
! pipesim: error: --tolerance 50%: no row has a published step time, stated settings and a prediction
= 5
$ sed -n 1p tests/cli/validate.csv >"$TMPDIR/none.csv"; pipesim validate "$TMPDIR/none.csv" --tolerance 50% >/dev/null
! pipesim: error: --tolerance 50%: no row has a published step time, stated settings and a prediction
= 5
$ sed -n 1p tests/cli/validate.csv >"$TMPDIR/none.csv"; pipesim validate "$TMPDIR/none.csv" --refit
! pipesim: error: --refit: no row has a published step time, stated settings and a prediction
= 2
# Published values that are none are named; the row is predicted.
$ sed -n '1p;s/,3[.]5,,full/,3.5s,-4,full/p' tests/cli/validate.csv | head -2 >"$TMPDIR/bad.csv"; cd "$TMPDIR"; pipesim validate bad.csv | tail -3
> published values refused
>      1  metric_step_time_s "3.5s" is no number from 1e-06 to 1e+08;
>         metric_mem_gib "-4" is no number from 0.001 to 1e+06 (good, bad.csv:2)
$ sed -n '1p;s/,3[.]5,,full/,3.5s,-4,full/p' tests/cli/validate.csv | head -2 >"$TMPDIR/bad.csv"; cd "$TMPDIR"; pipesim validate bad.csv --json | grep -E 'refused|_step_s|reason' | sed -E 's/(predicted_step_s": )[0-9.]+/\1N/'
>     "refused": [
>         "reason": "metric_step_time_s \"3.5s\" is no number from 1e-06 to 1e+08; metric_mem_gib \"-4\" is no number from 0.001 to 1e+06",
>       "published_step_s": null,
>       "predicted_step_s": N,
>       "refused": "metric_step_time_s \"3.5s\" is no number from 1e-06 to 1e+08; metric_mem_gib \"-4\" is no number from 0.001 to 1e+06"
$ sed -n '1p;s/,3[.]5,,full/,3.5s,-4,full/p' tests/cli/validate.csv | head -2 >"$TMPDIR/bad.csv"; cd "$TMPDIR"; pipesim validate bad.csv --markdown | grep -A 4 refused
> ## Published values refused
>
> | rows | reason | first |
> |---|---|---|
> | 1 | metric_step_time_s "3.5s" is no number from 1e-06 to 1e+08; metric_mem_gib "-4" is no number from 0.001 to 1e+06 | good |
# Published values that cannot be, contradict each other or cannot be read are named, too.
$ row() { sed -n "s/^good,alpha\(.*\),3[.]5,,full,,red/$1,alpha\1,$2/p" tests/cli/validate.csv; }; { sed -n '1s/metric_mem_gib,config_completeness,outcome,comment/metric_tokens_per_s_per_gpu,metric_model_tflops_per_gpu,metric_mfu_pct,outcome/p' tests/cli/validate.csv; row peak ,,90000,,; row alone ,,,99.9,; row fast 0.01,,,,; row tokens 3.5,20000,,,; row banana 3.5,,,,banana; row seven 3.5,,,, | sed 's/,none,1,/,1f1b,7,/'; } >"$TMPDIR/limits.csv"; cd "$TMPDIR"; pipesim validate limits.csv | sed -n '/^published values/,$p'
> published values refused
>      1  a step of 0.01 s: at the peak of all devices the model's flops take
>         1.109 s (fast, limits.csv:4)
>      1  metric_mfu_pct "99.9": which flops its source counts is not known
>         (alone, limits.csv:3)
>      1  metric_model_tflops_per_gpu "90000" is above the device's peak, 312
>         (peak, limits.csv:2)
>      1  metric_tokens_per_s_per_gpu "20000" is a step of 1.638 s, not of 3.5 s
>         (tokens, limits.csv:5)
>
> skipped
>      1  contradiction: vpp_or_chunks 7, while a rank of schedule 1f1b has 1
>         (seven, limits.csv:7)
>      1  outcome "banana" is not known: OOM, computed or nothing (banana,
>         limits.csv:6)
# A column that is nearly a known one that is missing.
$ sed 's/,gpus,/,gpuz,/' tests/cli/validate.csv >"$TMPDIR/typo.csv"; pipesim validate "$TMPDIR/typo.csv" 2>&1 >/dev/null | sed "s|$TMPDIR|.|"
> pipesim: warning: ./typo.csv:1: column "gpuz" is not known and ignored; did you mean gpus?
# Names in any encoding stay apart.
$ sed -n '1p;s/^good,alpha/caf\xe9,\xe9/p;s/^split,alpha/caf\xe8,\xe8/p' tests/cli/validate.csv >"$TMPDIR/latin.csv"; pipesim validate "$TMPDIR/latin.csv" --json | grep -E '"(id|family)"|x..": .$'
>       "\\xe9": {
>       "\\xe8": {
>         "\\xe9": {
>         "\\xe8": {
>       "id": "caf\\xe9",
>       "family": "\\xe9",
>       "id": "caf\\xe8",
>       "family": "\\xe8",
# Rows that stand there twice are counted twice, which is said.
$ pipesim validate tests/cli/validate.csv tests/cli/validate.csv | head -1
> 24 rows: 4 predicted; of 20 that state every setting, 4
! pipesim: warning: 12 rows have the id of an earlier one; first good (tests/cli/validate.csv:2, as in tests/cli/validate.csv:2)

# Constants fitted on the rows that can be predicted; digits depend on the constants built in.
$ pipesim validate tests/cli/validate.csv --refit --worst 0 | sed -n '/^fitted in/p;/^constant/p;/^median error of a family/,/^$/p' | sed -E 's/[0-9.]+ (%|steps)/N \1/g; s/ +/ /g'
> fitted in N steps on 2 rows of 1 families
> constant of fitted least most rows
> median error of a family with it without
> alpha N % N %
>
$ pipesim validate tests/cli/validate.csv --refit --family missing
! pipesim: error: --family missing: no row is of that family
= 2

# What recipes say of cells that are empty; what was computed has not run.
$ for id in jax-pax-005 megatron-bridge-26.04.01-016 kwai-demo-002; do pipesim validate tests/published/measurements.csv --row $id | grep -oE -- '--(recompute|framework) [a-z0-9_=+-]+'; done
> --recompute full
> --framework paxml
> --recompute selective=mla_up_proj
> --framework nemo
> --recompute selective=layernorm+act
> --framework megatron-2023
$ pipesim validate tests/published/measurements.csv --family seqpar-fig1-mem | grep -c 'that ran'
> 0
= 1
