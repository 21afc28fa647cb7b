# Parameters on another tier: losses, norms and validations have the same bits. So it is with any buffers, cache and
# eviction, by chunk or by layer, over any transport.
$ for o in '' '--offload p=host' '--offload p=host --gather-buffers 1' '--offload p=host --gather-buffers 3' '--offload p=host --cache 3' '--offload p=host --cache 3 --evict lru' '--offload p=host --cache 2 --evict fifo --backend fake' '--offload p=host --gather layer' '--offload p=host --gather layer --cache 4' '--offload p=nvme --nvme .' '--offload p=host --transport shm' '--offload p=host --transport tcp' '--offload p=host --clock wall'; do pipeexec --schedule interleaved --np 2 --vp 4 --layers 16 --hidden 32 --heads 2 --seq 16 --steps 2 --no-check --valid-data tests/data/bpe/more.txt --valid-every 1 $o --json | tr -d ' \n' | grep -oE '"(losses|grad_norms|valid_losses)":[^]]*' | md5sum; done | uniq -c | sed 's/ [0-9a-f]*  -//'
>      13
$ for o in '' '--offload p=host' '--offload p=host --zero 1' '--offload p=host --zero 1 --gather layer --gather-buffers 8' '--offload p=host --zero 1 --backend fake' '--offload p=host --zero 1 --transport tcp'; do pipeexec --schedule zbv --np 2 --dp 2 --layers 8 --hidden 32 --heads 2 --seq 16 --experts 4 --ep 2 --steps 2 --no-check $o --json | tr -d ' \n' | grep -oE '"(losses|grad_norms|valid_losses)":[^]]*' | md5sum; done | uniq -c | sed 's/ [0-9a-f]*  -//'
>       6
# The wait for loads is exposed, in the trace and in the report. One more buffer hides some of it.
$ for b in 1 2; do pipeexec --schedule interleaved --np 2 --vp 4 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 1 --no-check --unit F=1,B=2 --offload p=host --tier host:10kBps --gather-buffers $b --trace t$b.csv --json | tr -d ' \n' | grep -oE '"exposed_s":[^,]*|"moves":[^,]*'; grep 'load)WAIT' t$b.csv | awk -F, '{s += $8 - $6} END {print "waited, mean of two ranks:", s / 2}'; done
> "moves":0.67150384382828032
> "exposed_s":298.52160000000003}]
> waited, mean of two ranks: 274.803
> "moves":0.49855089649938339
> "exposed_s":168.16720000000001}]
> waited, mean of two ranks: 159.694
# Loads and hits are those of pipesim, which counts them in its own program. In fp32 each chunk is loaded once more, for
# its update.
$ for e in belady lru fifo; do echo $e: $({ pipesim --schedule interleaved --pp 2 --vp 4 --gpus 2 --tp 1 --model mini --layers 8 --cluster a100 --micro-batches 8 --mbs 4 --engine dag --offload p=host --gather chunk --cache 3 --evict $e --json; for p in bf16 fp32; do pipeexec --schedule interleaved --np 2 --vp 4 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 1 --no-check --precision $p --offload p=host --cache 3 --evict $e --json; done; } | grep -oE '"(loads|hits|cached_units)": [0-9]*'); done
> belady: "loads": 11 "hits": 40 "cached_units": 3 "loads": 11 "hits": 40 "cached_units": 3 "loads": 15 "hits": 40 "cached_units": 3
> lru: "loads": 15 "hits": 36 "cached_units": 3 "loads": 15 "hits": 36 "cached_units": 3 "loads": 19 "hits": 36 "cached_units": 3
> fifo: "loads": 18 "hits": 33 "cached_units": 3 "loads": 18 "hits": 33 "cached_units": 3 "loads": 22 "hits": 33 "cached_units": 3
# A program file has loads for its updates, or an fp32 copy of what they read.
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 --offload p=host -o f.csv; pipeexec --schedule f.csv --steps 1; pipeexec --schedule f.csv --precision bf16 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --json | grep -E '"structural_error_s"|"bit_equal"'
>     "bit_equal": true,
>   "structural_error_s": 0.0,
! pipeexec: error: f.csv: no MOVE loads parameters for 0U, and here they have no other copy; nearest: --precision bf16, or the file of 'pipesim program --compute'
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 --compute -o c.csv; pipeexec --schedule c.csv --offload p=host --layers 2 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --json | grep -E '"structural_error_s"|"bit_equal"'
>     "bit_equal": true,
>   "structural_error_s": 0.0,
# What is refused.
$ pipeexec --offload p=host:40%
! pipeexec: error: --offload p=host:40%: a share of parameters on another tier is only simulated; nearest: --offload p=host
= 2
$ pipeexec --schedule gems --np 3 --offload p=host --steps 1
! pipeexec: error: --schedule gems: rank 1 holds stage 1 twice, and one load would serve both copies of its parameters; nearest: an even number of ranks, or parameters on the device
= 2
$ pipeexec --schedule interleaved --np 2 --vp 3 --layers 6 --dp 2 --zero 1 --offload p=host --steps 1
! pipeexec: error: --gather-buffers 2: rank 0 updates shares of 3 chunks before it gathers the first, and each has a buffer until it is home; nearest: --gather-buffers 3, or --zero 0
= 2
$ pipeexec --np 2 --dp 2 --zero 3 --offload p=host --steps 1
! pipeexec: error: --offload p=host: gradients that copies share, or parameters, on another tier are only simulated; nearest: --zero 1, or --offload os=host
= 2
$ pipeexec --np 2 --offload p=host --cache 2; pipeexec --np 2 --offload p=host --gather layer --cache 9
! pipeexec: error: --cache 2: a rank has 1 unit; nearest: --cache 1
! pipeexec: error: --cache 9: a rank has 4 units; nearest: --cache 4
= 2
$ pipeexec --np 2 --cache 2; pipeexec --np 2 --offload p=host --evict lru
! pipeexec: error: --cache 2 has no effect: nothing is loaded or gathered; give --offload p=host
! pipeexec: error: --evict lru has no effect: nothing leaves a cache; give --offload p=host --cache 2
= 2
