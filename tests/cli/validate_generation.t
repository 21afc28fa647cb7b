# Published runs that generate: what is predicted, and errors by family.
$ pipesim validate tests/published/inference.csv --family ft-20b-tp4 | sed -E 's/[-+]?[0-9.]+ %/N %/g' | sed -n '1,2p;/generation  /,/latency/p'
> 45 rows of runs that generate; 45 predicted
> An error is predicted / published - 1. median, p90, mean: of its size; bias: the
> generation             figure        rows   median      p90     mean     bias
> every family           latency         45    N %    N %    N %   N %
$ pipesim validate tests/published/inference.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rows"]; e = sorted(abs(x["latency_s_error_frac"]) for x in r if x["predicted_latency_s"]); print(len(e), e[len(e) // 2] < 0.1, e[9 * len(e) // 10] < 0.25)'
> 112 True True
$ pipesim validate tests/published/inference.csv --json | python3 -c 'import json, sys; r = {x["id"]: x for x in json.load(sys.stdin)["rows"]}; print([sorted(k for k in r[i] if k.startswith("predicted") and r[i][k] is not None) for i in ("ft-350m-342", "trtllm-a100-first-llama-7b-first-128", "zero-inference-2022-opt-30b-host")])'
> [['predicted_fits', 'predicted_latency_s', 'predicted_mem_bytes'], ['predicted_first_token_s', 'predicted_fits'], []]
$ pipesim validate tests/published/inference.csv --row zero-inference-2022-opt-30b-host
> zero-inference-2022-opt-30b-host (tests/published/inference.csv:151)
> model     opt-30b
> skipped   missing: batch
! pipesim: error: --row zero-inference-2022-opt-30b-host: the row is skipped, nothing is predicted
= 2
$ sed -E 's/,0\.225,/,99,/' tests/published/inference.csv >m.csv; for f in m.csv tests/published/inference.csv; do pipesim validate $f --json | grep -c '"predicted_latency_s": 0.22'; done
> 3
> 3
$ pipesim validate tests/published/inference.csv --row ft-20b-tp4-136 | grep -A4 command
> command   pipesim run --mode infer --schedule generate --gpus 4 --tp 4 --pp 1 \
>           --batch 1 --prompt 20 --tokens 8 --mlp plain --sampling top-p \
>           --precision fp16 --framework fastertransformer \
>           --cluster 'a100 gpu:8' --model gpt3-175b --layers 44 --hidden 6144 \
>           --heads 48 --kv-heads 48 --ffn 24576 --vocab 51200 --positions 28 \
# One row in depth, and a tolerance of all.
$ pipesim validate tests/published/inference.csv --row lmdeploy-llama2-7b-02 | tail -5
> latency   predicted 1.288 s
> tokens/s  published 102.2 tokens/s, predicted 99.37 tokens/s, error -2.8 %
> first token published 22 ms, predicted 22.87 ms, error +4.0 %
> each token  published 10 ms, predicted 9.963 ms, error -0.4 %
> memory    published 71.33 GiB, predicted 14.24 GiB, error -80.0 %
$ pipesim validate tests/published/inference.csv --row lmdeploy-llama2-7b-02 --explain | grep -A3 'pass 0 has'
>   pass 0 has two parts, as lmdeploy reads the last token of prompts after the
>       rest
>   weights, cache: bytes that a device reads. Formulas: docs/generation.md
>
$ for t in 10% 0.1%; do pipesim validate tests/published/inference.csv --tolerance $t >/dev/null 2>err; echo $? $(sed 's/is .* %, more/is N %, more/' err); done; rm err
> 0
> 5 pipesim: error: the median error of 138 rows that generate is N %, more than the tolerance of 0.1 %
$ pipesim validate tests/published/inference.csv --family flexgen --worst 2 | sed -n '/worst/,/^$/p'
> generation, worst first          figure        published predicted    error
> flexgen-opt-30b-w4-kv            tokens/s           10.9     12.34  +13.2 %
> flexgen-opt-30b-w16-kv           tokens/s           10.9      9.75  -10.6 %
# Half of the rates of tokens are within 10 %, nine of ten within 25 %.
$ pipesim validate tests/published/inference.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rows"]; e = sorted(abs(x["tokens_per_s_error_frac"]) for x in r if x["predicted_tokens_per_s"]); print(len(e), e[len(e) // 2] < 0.1, e[9 * len(e) // 10] < 0.25)'
> 26 True True
# A run that ended with a cache larger than its devices had it on the host. Here 200 sequences of
# 0.8 GiB fill two devices. A row may say where its cache was. Top-p is in the note.
$ while read -r b kv o end; do (head -1 tests/published/inference.csv; echo "r,f,s,x,40,5120,40,40,128,20480,plain,50272,A100-SXM4-80GB,2,2,2,1,$b,1024,32,fp16,,$kv,\"$o\",vllm,,1,,,,$end,") >r.csv; echo "$b $kv $o $end: $(pipesim validate r.csv --row r | grep -o -e '--offload [^ ]*')"; done <<< $'240 16 p=host\n160 16 p=host\n240 8 p=host\n240 16 p=host OOM\n240 16 p=host,kv=host:50%'; rm r.csv
> 240 16 p=host : --offload p=host,kv=host
> 160 16 p=host : --offload p=host
> 240 8 p=host : --offload p=host
> 240 16 p=host OOM: --offload p=host
> 240 16 p=host,kv=host:50% : --offload p=host,kv=host:50%
$ pipesim validate tests/published/inference.csv --row flexgen-opt-30b-w4 | grep -o -e '--offload [^ ]*' -e 'kv=host: .*'
> kv=host: the cache is larger than the devices
> --offload p=host,kv=host
$ pipesim validate tests/published/inference.csv --row ft-350m-342 | grep -o -e '--sampling top-p'
> --sampling top-p
