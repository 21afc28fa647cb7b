# Clusters, counts, models and prices as people type them.
$ pipesim --schedule 1f1b --model gpt2 --pp 2 --gpus 16 --cluster "node:32 gpu:8 device:h100 nvlink:450GB/s nic:8x400Gb/s" --engine dag --json | grep -e iteration_s; pipesim --schedule 1f1b --model gpt2 --pp 2 --gpus 16 --cluster "node:32 gpu:8 nic:8x400Gbps" --engine dag --json | grep iteration_s
>   "iteration_s": 1.8756429956289999,
>   "iteration_s": 1.8756429956289999,
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --pp 2 --engine dag --cluster "gpu:8 peak:1307TF memory:192GB" | sed -n '/^  cluster/,/^  layout/p' | head -2
>   cluster  gpu:8 peak:1307TF memory:192GB  1 node x 8 custom (based on h100), as
>            given, other values from h100
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --cluster "a/b nic:400Gb/s"
! pipesim: error: cannot open a/b nic:400Gb/s: No such file or directory
= 1
# Nodes are all devices of them.
$ for n in "--nodes 2" "--gpus 16" "--nodes 2 --gpus 16" "--nodes 4 --cluster gh200" "--preset bfs-52b --nodes 16 --engine dag"; do pipesim --schedule 1f1b --model gpt2 --pp 2 --tp 1 --engine dag $n --no-alternatives --json 2>&1 | grep -e '"gpus": [0-9]'; done
>     "gpus": 16,
>     "gpus": 16,
>     "gpus": 16,
>     "gpus": 16,
>     "gpus": 128,
$ pipesim --schedule 1f1b --model gpt2 --gpus 64 --nodes 4
! pipesim: error: --gpus 64 contradicts --nodes 4: 4 nodes x 8 of h100 are --gpus 32
= 2
$ pipesim --schedule 1f1b --model gpt2 --nodes 1M
! pipesim: error: --nodes 1M: 1000000 nodes x 8 are more than 1048576 GPUs
= 2
$ pipesim --schedule 1f1b --model gpt2 --nodes 4 --cluster "node:2 gpu:8"
! pipesim: error: --nodes 4 is more than the 16 of --cluster (2 nodes x 8): --gpus 16, or node:4 in --cluster
= 2
$ pipesim plan --model gpt2 --nodes 1 --gbs 64 --free pp --engine dag | head -1
> pipesim 0.1.0  gpt2 (124M) on 8 GPUs of h100, free: pp
$ pipesim plan --model gpt2
! pipesim: error: --gpus N (or --nodes N) is needed: how many devices to plan for
= 2
# Counts.
$ pipesim --schedule 1f1b --model gpt2 --gpus 1k --pp 2 --gbs 1e3 --engine dag --no-alternatives --json | grep -e '"gpus": 1' -e '"gbs": 1'
>     "gpus": 1000,
>     "gbs": 1000,
$ pipesim sweep --schedule 1f1b --pp 2 --micro-batches 1k:4k:x2 --unit F=1 | cut -d, -f1,13 | head -3
> point,micro_batches
> 0,1000
> 1,2000
$ pipesim --schedule 1f1b --model gpt2 --gpus 1.5
! pipesim: error: --gpus: "1.5" is not a whole number
= 2
$ pipesim --schedule 1f1b --model gpt2 --gpus 8GB
! pipesim: error: --gpus: "8GB" is not a whole number
= 2
# Names of models on the Hugging Face hub.
$ for m in meta-llama/Llama-3.1-70B meta-llama/Meta-Llama-3-8B-Instruct Qwen/Qwen2.5-14B deepseek-ai/DeepSeek-V3 mistralai/Mixtral-8x7B-v0.1 meta-llama/Llama-2-70b-hf google/gemma-2-9b openai-community/gpt2 Qwen/Qwen3-30B-A3B; do pipesim models $m | sed -n 1p; done
> llama3-70b (llama family)
> llama3-8b (llama family)
> qwen2.5-14b (qwen2 family)
> deepseek-v3 (deepseek family)
> mixtral-8x7b (mixtral family)
> llama2-70b (llama family)
> gemma2-9b (gemma family)
> gpt2 (gpt2 family)
> qwen3-30b-a3b (qwen3 family)
$ pipesim --schedule 1f1b --model openai-community/gpt2 --gpus 2 --pp 2 --engine dag | sed -n '/^  model/,/^  cluster/p' | head -2
>   model    gpt2  124M parameters, 12 layers, hidden 768, seq 1024*, bf16
>            openai-community/gpt2 is built in as gpt2
$ pipesim --schedule 1f1b --model meta-llama/Llama-9-1T --gpus 8
! pipesim: error: cannot open meta-llama/Llama-9-1T: no such file, and no preset has this name (`pipesim models` lists them). Models of the hub are not downloaded: fetch its config.json and give the path, as in ./config.json
= 1
$ pipesim --schedule 1f1b --model deepseek-ai/DeepSeek-V3.2 --gpus 8 2>&1 | cut -c1-50
> pipesim: error: cannot open deepseek-ai/DeepSeek-V
$ pipesim --schedule 1f1b --model 70B --gpus 8
! pipesim: error: unknown model '70B': a model that is known only by its size is --params 70B
= 2
# A file that is not there is a failure at run time, whatever it is for; a name is a mistake on the command line.
$ for run in "--model typo.json" "--model ./typo" "--cluster typo.xml" "--cluster ./typo" "--schedule typo.csv" "--schedule ./typo" "--cost typo.json" "--from typo.json"; do case $run in --from*) ;; --schedule*) run="--gpus 8 $run";; *) run="--schedule 1f1b --gpus 8 $run";; esac; pipesim $run 2>&1 | head -1; echo "exit code ${PIPESTATUS[0]}"; done | sort | uniq -c | sed 's/^ *//'
> 8 exit code 1
> 3 pipesim: error: cannot open ./typo: No such file or directory
> 1 pipesim: error: cannot open typo.csv: No such file or directory
> 3 pipesim: error: cannot open typo.json: No such file or directory
> 1 pipesim: error: cannot open typo.xml: No such file or directory
$ for run in "verify typo.csv" "check typo.json" "plot typo.csv" "calibrate typo.csv" "validate typo.csv" "compare typo.csv typo.csv"; do pipesim $run >/dev/null 2>&1; echo "exit code $?"; done | uniq -c | sed 's/^ *//'
> 6 exit code 1
$ for run in "--model typo" "--cluster typo" "--schedule typo" "--preset typo"; do pipesim --schedule 1f1b --gpus 8 $run >/dev/null 2>&1; echo "exit code $?"; done | uniq -c | sed 's/^ *//'
> 4 exit code 2
# A price for a device and hour: 2.2 x 16 devices x step / 3600, and the same for 1e12 tokens.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 16 --pp 2 --engine dag --no-alternatives --price '$2.20/h' | sed -n 's/.*, costs/costs/p'
> costs $0.295
> costs $70.3k
$ pipesim --schedule 1f1b --model llama3-8b --gpus 16 --pp 2 --engine dag --no-alternatives --price 2.2 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["price_per_gpu_hour"], round(r["cost_per_step"] / (2.2 * 16 * r["iteration_s"] / 3600), 12), round(r["cost_per_trillion_tokens"] / (r["cost_per_step"] * 1e12 / (r["layout"]["gbs"] * r["layout"]["seq"])), 12))'
> 2.2 1.0 1.0
$ for p in 2.2/GPUh 2.2/gpu-hour 2.2 2.2/H; do pipesim --schedule 1f1b --model gpt2 --gpus 16 --pp 2 --engine dag --no-alternatives --price $p --json | grep cost_per_step; done | sort -u | wc -l
> 1
$ pipesim plan --model llama3-8b --gpus 8 --gbs 64 --free pp --engine dag --price 2.2/h | sed -n '/^  best/,/^  choose/p' | head -2; pipesim plan --model llama3-8b --gpus 8 --gbs 64 --free pp --engine dag --price 2.2/h --json | grep -c cost_per_step
>   best       7,279 tokens/s/GPU, simulated by dag; a step costs 0.0440,
>              1 T tokens 84.0k
> 3
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --price 2.2/day
! pipesim: error: --price 2.2/day: expected a price for a device and hour, such as 2.2, 2.2/h, $2.20/h or 2.2/GPUh
= 2
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --price free
! pipesim: error: --price free: expected more than 0 for a device and hour, such as 2.2/h
= 2
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --price 0
! pipesim: error: --price 0: expected more than 0 for a device and hour, such as 2.2/h
= 2
# What is built in, as JSON.
$ for list in schedules models clusters presets; do pipesim $list --json | python3 -c 'import json, sys; o = json.load(sys.stdin); name = o["schema"].split(".")[1].split("/")[0]; print(o["schema"], len(o[name]) > 3, all(row["name"] and row["source"] for row in o[name]))'; done
> pipesim.schedules/1 True True
> pipesim.models/1 True True
> pipesim.clusters/1 True True
> pipesim.presets/1 True True
$ for one in "schedules zbv" "models llama3-8b" "clusters mi300x" "presets chimera-sc21"; do pipesim $one --json | grep -c '^      "name"'; done | uniq -c | sed 's/^ *//'
> 4 1
$ pipesim clusters rtx4090 --json | sed -n '/peak_flops/,/constants/p'
>         "peak_flops_per_s": {
>           "fp32": 82600000000000.0,
>           "tf32": 82600000000000.0,
>           "fp16": 165200000000000.0,
>           "bf16": 165200000000000.0,
>           "fp8": 330300000000000.0
>         },
>         "memory_bytes": 25757220864,
>         "memory_bytes_per_s": 1008000000000.0,
>         "launch_s": 3.1999999999999999e-6,
>         "constants_of": "a100",
$ pipesim clusters h100 --json --xml
! pipesim: error: --xml and --json are two forms of a cluster: give one
= 2
# A device without a published run says whose constants it has.
$ for c in mi300x gh200 l40s rtx5090; do pipesim --schedule 1f1b --model gpt2 --gpus 8 --pp 2 --engine dag --cluster $c --no-alternatives | sed -n '/^  costs/{N;p}' | head -1; done
>   costs    analytic, constants of h100, as no run on this device was published;
>   costs    analytic, constants of h100, as no run on this device was published;
>   costs    analytic, constants of a100, as no run on this device was published;
>   costs    analytic, constants of a100, as no run on this device was published;
# The short help of a command has at most 40 lines of 80 columns, and is about that command.
$ for c in $(pipesim -h | sed -n '/^commands:/,/^$/p' | sed 's/commands://'); do pipesim $c -h | awk -v c=$c 'NR == 1 && index($0, "pipesim " c ":") != 1 { print c " begins: " $0 } length > 80 || / $/ { print c ": " $0 } END { if (NR > 40) print c " has " NR " lines" }'; done; pipesim plan -h | head -3; cmp <(pipesim plan -h) <(pipesim help plan) && pipesim plan -h | tail -1
> pipesim plan: find the best layout, or the best values of the options that are
>   free
> usage: pipesim plan --gpus N --model M [--cluster C] [--free LIST] [options]
> Everything: pipesim plan --help
$ pipesim --help | grep -c 'pipeline-model-parallel-size'; pipesim help man | grep -c 'pipeline.*model.*parallel.*size'
> 0
> 2
