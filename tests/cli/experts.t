# Mixtures of experts: models, degrees, exchanges.
$ pipesim models mixtral-8x7b | grep -A1 experts
>   experts      8, 2 of a token, width 14336, shared 0; in 32 layers of 1451270144 parameters
>   active       12879925248 parameters of a token (12.9B)
$ pipesim --schedule 1f1b --model mixtral-8x7b --gpus 16 --pp 2 --tp 1 --ep 8 --zero 1 --recompute none --engine dag --no-alternatives | grep -o "TP 1 x .*EP 8"
> TP 1 x PP 2 x DP 8*, EP 8
$ pipesim --schedule 1f1b --model mixtral-8x7b --gpus 64 --pp 1 --tp 4 --dp 16 --ep 32 --engine dag
! pipesim: error: --ep 32 must divide the 8 experts of mixtral-8x7b and tp / etp * cp * dp = 16; nearest: --ep 8
= 2
$ pipesim --schedule 1f1b --model qwen3-235b-a22b --gpus 256 --pp 8 --tp 2 --dp 16 --ep 32 --zero 1 --recompute none --engine dag --json | tr -d ' \n' | grep -o '"ep":32\|"etp":1'
> "ep":32
> "etp":1
$ for how in "" "--ep 8 --ep-overlap 100%" "--ep 8 --capacity-factor 2"; do pipesim --schedule 1f1b --model mixtral-8x7b --gpus 8 --pp 1 --tp 1 --gbs 8 --zero 1 --recompute none --engine dag --json --ep 8 $how | tr -d ' \n' | grep -o '"ep_comm":[0-9.]*' | awk -F: '{ print ($2 > 0 ? "exposed" : "hidden") }'; done
> exposed
> hidden
> exposed
$ pipesim --schedule 1f1b --model deepseek-v3 --gpus 256 --pp 8 --tp 1 --ep 32 --zero 1 --recompute none --engine dag --explain | grep -A2 "  experts: " | sed "s/, twice.*//"
>   experts: 8 of 256 a token; ep = 32 over 4 nodes, etp = 1, each on 1 device
>     a device holds 8 of a block, each works on 4096 tokens of width 2048
>     exchange: top_k t/tp h values = 448 MiB out of each device
$ pipesim --schedule 1f1b --model llama3-8b --experts 8 --top-k 2 --moe-ffn 4096 --gpus 8 --pp 1 --tp 1 --ep 8 --engine dag --no-alternatives | grep -o "llama3-8b-like  [0-9.]*B"
> llama3-8b-like  15.3B
