# Experts that the workers of a tensor-parallel rank share, alone or with replicas: --ep beyond dp, and --etp.
# The parts of a sum depend on tp and etp alone. So do the bits, for all schedules, E, ZeRO stages and transports.
$ o="--model tiny-llama --experts 8 --shared-ffn 32 --moe-every 2 --layers 4 --hidden 32 --heads 4 --kv-heads 4 --ffn 64 --seq 8 --mbs 1 --gbs 8 --steps 2 --clip 0.5 --capacity-factor 0.75 --balance-loss 0.1 --exact-grad --check"; for s in "2 1" "4 1" "4 2"; do set -- $s; g=$(($1 / $2)); for l in "--np 1 --ep $g" "--np 2 --dp 2 --ep $((2 * g)) --schedule zb-h1 --zero 1" "--np 2 --dp 2 --ep $g --schedule zbv --zero 3 --transport shm" "--np 1 --dp 4 --ep $((2 * g)) --zero 2 --backend fake" "--np 2 --ep $g --transport tcp --recompute selective=moe" "--np 2 --dp 2 --ep $((2 * g)) --schedule interleaved --shard p=2 --recompute full"; do pipeexec $o --tp $1 --etp $2 $l --json >one; sed -n '/^  "losses"/,/]/p; /^  "grad_norms"/,/]/p; /"tokens": \[/,/]/p; /dropped/p; /bit_equal/p; /loss_equal/p; /structural/p' one | md5sum; grep -E '^  "(predicted_)?peak_mem' one | cut -d: -f2 | uniq | wc -l; done | sort | uniq -c | awk '{ print $1 }'; done
> 6
> 6
> 6
> 6
> 6
> 6
# In double they are those of one worker to 12 digits, with biases and without. Keys' biases have gradients of rounding alone, which AdamW makes large: so their models take one step.
$ o="--experts 8 --shared-ffn 32 --layers 2 --hidden 32 --heads 4 --kv-heads 4 --seq 8 --mbs 2 --micro-batches 2 --np 1 --precision double --exact-grad --check"; for m in "tiny 1" "tiny-llama 3"; do for l in "" "--tp 2 --ep 2" "--tp 4 --ep 2" "--tp 4 --ep 4" "--tp 4 --etp 4"; do pipeexec $o --model ${m% *} --steps ${m#* } $l --json | grep -A4 '"grad_norms"' | sed 's/\([.][0-9]\{11\}\)[0-9]*/\1/' | md5sum; done | uniq | wc -l; done
> 1
> 1
# A worker has 1 / (ep etp) of the experts' matrices. Rows move between replicas alone.
$ for l in "--tp 4" "--tp 4 --ep 2" "--tp 4 --ep 4" "--tp 4 --dp 2 --ep 8" "--tp 4 --dp 2 --ep 4 --etp 2"; do pipeexec --experts 8 --layers 2 --hidden 32 --heads 4 --seq 8 --mbs 1 --micro-batches 2 --np 1 --steps 2 --no-check $l --json >one; sed -n 's/^    "\(ep\|etp\|params_bytes\|moved_frac\)"/\1/p' one | tr -d '\n'; echo; done
> ep: 1,etp: 4,params_bytes: 164608,moved_frac: 0.0,
> ep: 2,etp: 2,params_bytes: 163584,moved_frac: 0.0,
> ep: 4,etp: 1,params_bytes: 163072,moved_frac: 0.0,
> ep: 8,etp: 1,params_bytes: 96256,moved_frac: 0.48046875,
> ep: 4,etp: 2,params_bytes: 96512,moved_frac: 0.50390625,
# State is what pipesim predicts, but for norms, biases and positions, which here are whole on each worker.
$ for l in "--tp 4 --dp 2 --ep 8 --zero 0" "--tp 4 --dp 2 --ep 8 --zero 3" "--tp 4 --dp 2 --ep 4 --zero 1" "--tp 2 --dp 4 --ep 4 --etp 1 --zero 3"; do m="--schedule 1f1b --model tiny --experts 8 --layers 2 --hidden 256 --heads 4 --seq 128 --mbs 1 --micro-batches 2 --pp 1 $l"; pipesim $m --sequence-parallel off --precision fp32 --cluster h100 --engine dag --no-alternatives --json >a; pipeexec $m --steps 1 --no-check --json >b; for k in params grads optimizer; do echo $(sed -n "s/^    \"${k}_bytes\": \([0-9]*\).*/\1/p" a | head -1) $(sed -n "s/^    \"${k}_bytes\": \([0-9]*\).*/\1/p" b | head -1); done; done | awk '{ n++; worst = $2 / $1 > worst ? $2 / $1 : worst; least = NR == 1 || $2 / $1 < least ? $2 / $1 : least } END { print n, (least >= 1), (worst < 1.02) }'
> 12 1 1
# Rows that move do so as often as workers share an expert.
$ for l in "--tp 2 --ep 4" "--tp 4 --ep 4" "--tp 4 --ep 8" "--tp 2 --etp 2 --ep 2" "--tp 2 --ep 4 --recompute-modules moe" "--tp 4 --ep 4 --transport shm"; do pipeexec --model tiny-llama --layers 4 --hidden 32 --heads 4 --kv-heads 4 --experts 8 --np 2 --dp 2 --seq 8 --mbs 2 --steps 2 --exact-grad --no-check $l --json | awk -v o="$l" '/"etp"/ { etp = $2 + 0 } /"moved_frac"/ { frac = $2 + 0 } /"moved_bytes"/ { bytes = $2 + 0 } /"tokens"/ { t = 1 } t && /^ *[0-9]/ { rows += $1 } /\]/ { t = 0 } END { passes = o ~ /moe/ ? 6 : 4; printf "%d", int(frac * rows + 0.5) * passes * 32 * 4 * etp - bytes; print (bytes > 0) ? "" : " no bytes", o }'; done
> 0 --tp 2 --ep 4
> 0 --tp 4 --ep 4
> 0 --tp 4 --ep 8
> 0 --tp 2 --etp 2 --ep 2
> 0 --tp 2 --ep 4 --recompute-modules moe
> 0 --tp 4 --ep 4 --transport shm
# A checkpoint has each expert once: it resumes with others on a worker. --save writes the same files.
$ o="--model mixtral-8x7b --experts 8 --layers 2 --hidden 32 --heads 4 --kv-heads 4 --vocab 256 --moe-ffn 64 --seq 8 --mbs 1"; pipeexec $o --tp 4 --dp 2 --ep 8 --zero 3 --np 1 --micro-batches 4 --steps 2 --exact-grad --quiet --checkpoint sets; for l in "--tp 4 --dp 2 --ep 4 --etp 1 --np 1 --micro-batches 4 --zero 1" "--tp 4 --ep 4 --np 2 --micro-batches 8 --transport tcp" "--tp 4 --etp 1 --dp 4 --ep 8 --np 1 --micro-batches 2 --transport shm"; do pipeexec --resume sets $l --steps 3 --check --quiet --save s; cksum <s/model.safetensors; rm -r s; done | uniq | wc -l; for l in "--np 1 --micro-batches 8" "--tp 4 --np 1 --micro-batches 8" "--dp 4 --ep 4 --np 1 --micro-batches 2"; do pipeexec --resume sets $l --steps 3 --check --quiet && echo equal; done
> 1
> equal
> equal
> equal
# What the report says.
$ pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 1 --tp 2 --dp 2 --ep 4 --seq 16 --mbs 2 --steps 3 --exact-grad --no-check | sed -n '1p; /^  experts/,/mean/p'
> pipeexec 0.1.0  1f1b on 1 rank, tp 2, 2 replicas, ep 4, etp 1
>   experts    4, of which each token meets 2; 50.3 % of rows go to another
>              replica (50.0 % at balance), 3.02 MiB in all exchanges; the
>              fullest, in block 2, has 1.49 of the mean
# What is refused.
$ pipeexec --experts 8 --tp 4 --etp 1 --ep 2
! pipeexec: error: --etp 1: a rank has 4 sets of 1 worker, and --ep 2 does not give each set other experts; nearest: --ep 4, or leave out --etp
= 2
$ pipeexec --experts 8 --tp 4 --etp 8
! pipeexec: error: --etp 8 does not divide tp 4; nearest: --etp 4
= 2
$ pipeexec --experts 8 --tp 4 --etp 2 --ep 4 --moe-ffn 33 --dp 2
! pipeexec: error: --etp 2 does not divide the 33 elements of an expert of tiny-like; nearest: --etp 1
= 2
$ pipeexec --experts 6 --tp 4 --etp 1 --ep 2
! pipeexec: error: --etp 1: a rank has 4 sets of 1 worker, and --ep 2 does not give each set other experts; nearest: --etp 2
= 2
$ pipeexec --experts 6 --tp 4 --dp 2 --ep 6
! pipeexec: error: --ep 6 must divide the 6 experts of tiny-like and tp / etp * dp = 2; nearest: --ep 2, or --dp 6
= 2
$ pipeexec --model tiny-llama --experts 8 --tp 4 --ep 4
! pipeexec: error: --tp 4 does not divide 4 attention heads, and 2 of keys of tiny-llama-like; nearest: 2
= 2
