# Data in several files: the same tokens give the same losses, in whatever format they are.
$ for d in bpe/more.txt tokens/more tokens/more.bin tokens/more.idx tokens/shards 'tokens/shards/*_?.bin' tokens/shards/more_0.bin,tests/data/tokens/shards/more_1.bin; do pipeexec --data "tests/data/$d" --seq 16 --steps 3 --exact-grad --no-check --json | tr -d ' \n' | grep -o '"losses":[^]]*'; done | sort | uniq -c | sed 's/:.*//'
>       7 "losses"
$ pipeexec --data tests/data/tokens/more --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/more, 1,108 tokens
$ pipeexec --data tests/data/tokens/shards --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/shards, 1,108 tokens
$ pipeexec --data tests/data/tokens/more --seq 16 --steps 3 --np 2 --transport tcp --check --json | grep bit_equal
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --data tests/data/tokens/more.bin --tokens u16
! pipeexec: error: tests/data/tokens/more.bin is no shard of 16-bit tokens: it does not begin with the number 20240520 in a header of 1024 bytes
= 2
$ pipeexec --data tests/data/tokens/more.idx --tokens bytes --seq 16 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 512 tokens a step;
>              tests/data/tokens/more.idx, 202 bytes
$ pipeexec --data tests/data/bpe/more.txt --tokens megatron
! pipeexec: error: cannot open tests/data/bpe/more.txt.idx: No such file or directory
= 1
$ pipeexec --tokens megatron
! pipeexec: error: --tokens megatron: the built-in text is read by bytes; give --data FILE
= 2
$ pipeexec --data tests/data/tokens/more --vocab 100 --seq 16 --steps 3
! pipeexec: error: step 1: tests/data/tokens/more.bin has token 206 at offset 350, but the model has a vocabulary of 100
= 1
$ pipeexec --data tests/data/tokens/more --vocab 100 --seq 16 --steps 3 --no-check --transport tcp
! pipeexec: error: step 1: tests/data/tokens/more.bin has token 206 at offset 350, but the model has a vocabulary of 100
= 1
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
