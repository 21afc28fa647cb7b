# Data in several files: the same tokens give the same losses, in whatever format they are.
$ for d in bpe/more.txt tokens/more tokens/more.bin tokens/more.idx tokens/shards 'tokens/shards/*_?.bin' tokens/shards/more_0.bin,tests/data/tokens/shards/more_1.bin; do pipeexec --data "tests/data/$d" --layers 4 --hidden 32 --heads 2 --shuffle draw --hidden 32 --seq 16 --steps 3 --exact-grad --no-check --json | tr -d ' \n' | grep -o '"losses":[^]]*'; done | sort | uniq -c | sed 's/:.*//'
>       7 "losses"
$ pipeexec --data tests/data/tokens/more --hidden 32 --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/more, 1,108 tokens, 69 samples an epoch, shuffled
$ pipeexec --data tests/data/tokens/shards --hidden 32 --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/shards, 1,108 tokens
$ pipeexec --data tests/data/tokens/more --hidden 32 --seq 16 --steps 3 --np 2 --transport tcp --check --json | grep bit_equal
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --data tests/data/tokens/more.bin --tokens u16
! pipeexec: error: tests/data/tokens/more.bin is no shard of 16-bit tokens: it does not begin with the number 20240520 in a header of 1024 bytes
= 2
$ pipeexec --data tests/data/tokens/more.idx --tokens bytes --hidden 32 --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/more.idx, 202 bytes
$ pipeexec --data tests/data/bpe/more.txt --tokens megatron
! pipeexec: error: cannot open tests/data/bpe/more.txt.idx: No such file or directory
= 1
$ pipeexec --tokens megatron
! pipeexec: error: --tokens megatron: the built-in text is read by bytes; give --data FILE
= 2
$ pipeexec --data tests/data/tokens/more --vocab 100 --hidden 32 --seq 16 --steps 3
! pipeexec: error: step 1: tests/data/tokens/more.bin has token 142 at offset 240, but the model has a vocabulary of 100
= 2
$ pipeexec --data tests/data/tokens/more --vocab 100 --hidden 32 --seq 16 --steps 3 --no-check --transport tcp
! pipeexec: error: step 1: tests/data/tokens/more.bin has token 142 at offset 240, but the model has a vocabulary of 100
= 2
$ pipeexec --data 'none/*.bin'
! pipeexec: error: no file matches none/*.bin
= 1
$ pipeexec --data tests/unit
! pipeexec: error: no file matches tests/unit/*.bin
= 1
$ cp tests/data/tokens/more.* .; truncate -s -2 more.bin; pipeexec --data more
! pipeexec: error: more.idx: sequence 9 has 234 tokens at byte 1748, but more.bin has 2214 bytes
= 2
$ truncate -s 70 more.idx; pipeexec --data more
! pipeexec: error: more.idx:18: 10 sequences of 12 bytes each, but 36 bytes follow the header
= 2
$ rm more.bin; pipeexec --data more --tokens megatron
! pipeexec: error: cannot open more.bin: No such file or directory
= 1
$ cp -r tests/data/tokens/shards .; truncate -s -1 shards/more_1.bin; pipeexec --data shards
! pipeexec: error: shards/more_1.bin:8: its header says 739 tokens, that is 1478 bytes after the header, but 1477 follow
= 2
# Orders of samples: on is usual for indexed data, draw for others; both can be asked for.
$ L() { pipeexec --layers 4 --hidden 32 --heads 2 --hidden 32 --seq 16 --steps 4 --exact-grad --no-check --json "$@" | tr -d ' \n' | grep -o '"losses":[^]]*'; }; A=$(L --data tests/data/tokens/more); B=$(L --data tests/data/tokens/shards --shuffle on); C=$(L --data tests/data/tokens/more --shuffle draw); D=$(L --data tests/data/bpe/more.txt); E=$(L --data tests/data/bpe/more.txt --shuffle off); [ "$A" = "$B" ] && [ "$C" = "$D" ] && [ "$A" != "$C" ] && [ "$E" != "$A" ] && [ "$E" != "$D" ] && echo as said
> as said
# A resumed training has the bits of one that was not interrupted, on another layout. Other micro-batches have the same samples: the first loss is equal, and gradients are rounded elsewhere.
$ D='--data tests/data/tokens/more --layers 4 --hidden 32 --heads 2 --seq 16 --exact-grad --no-check --quiet'; pipeexec $D --steps 6 --np 2 --dp 1 --mbs 4 --micro-batches 8 --log one.csv --checkpoint c --checkpoint-every 3; pipeexec --resume c/step-000000003 --no-check --quiet --np 4 --dp 2 --log two.csv; tail -n 3 one.csv | cut -d, -f 1,2,4 | diff - <(tail -n 3 two.csv | cut -d, -f 1,2,4) && echo same bits
> same bits
$ pipeexec --resume c/step-000000003 --no-check --quiet --np 1 --dp 2 --mbs 1 --log two.csv; grep '^4,' one.csv | cut -d, -f 1,2 | diff - <(grep '^4,' two.csv | cut -d, -f 1,2) && echo same samples
> same samples
$ pipeexec --data tests/data/tokens/more --hidden 32 --seq 16 --steps 3 --no-check --shuffle off | grep -A2 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/more, 1,108 tokens, 69 samples an epoch
>   machine    cpu, 4 threads; fp32 with avx512
$ pipeexec --hidden 32 --seq 16 --steps 3 --shuffle on --check --np 2 --exact-grad --json | grep bit_equal
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --data tests/data/bpe/more.txt --hidden 32 --seq 16 --steps 3 --shuffle off --quiet --check --checkpoint s && sed -n /shuffle/p s/*/manifest
> shuffle off
$ pipeexec --shuffle maybe
! pipeexec: error: --shuffle: "maybe" is not one of draw, on and off
= 2
$ cp tests/data/tokens/more.idx alone.idx; pipeexec --data alone.idx --seq 16
! pipeexec: error: cannot open alone.bin: No such file or directory
= 1
