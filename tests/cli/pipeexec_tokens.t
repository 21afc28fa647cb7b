# Texts by a tokenizer: the same samples whatever the ranks, and the same again from a checkpoint.
$ pipeexec --tokenizer tests/data/bpe --vocab 1024 --hidden 32 --steps 3 --no-check | grep -A1 '^  data'
>   data       8* micro-batches of 4* samples, 2,048 tokens a step; built-in text,
>              34,847 tokens
$ pipeexec --tokenizer tests/data/bpe/vocab.json:tests/data/bpe/merges.txt --data tests/data/bpe/more.txt --vocab 1024 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --exact-grad --steps 3 --check --checkpoint tok --checkpoint-every 1 | grep -A1 '^  data'; pipeexec --resume tok/step-000000002 --np 2 --check --json | grep -E '"(bit_equal|data)"'; sed -n '/^tokenizer/p' tok/step-000000002/manifest
>   data       8* micro-batches of 2 samples, 256 tokens a step;
>              tests/data/bpe/more.txt, 896 tokens
>   "data": "tests/data/bpe/more.txt",
>     "bit_equal": true,
>     "bit_equal": true,
> tokenizer tests/data/bpe/vocab.json:tests/data/bpe/merges.txt
$ pipeexec --tokenizer tests/data/bpe
! pipeexec: error: tests/data/bpe has 1024 tokens, but the model has a vocabulary of 256; the smallest that would do is 1024
= 2
$ pipeexec --tokenizer tests/data/bpe --tokens u16 --vocab 1024
! pipeexec: error: --tokens and --tokenizer both say what the tokens of --data are; give one of them
= 2
$ pipeexec --tokenizer tests/unit --vocab 1024
! pipeexec: error: --tokenizer: tests/unit has no tokenizer.json, no vocab.json with merges.txt, and no encoder.json with vocab.bpe
= 1
$ pipeexec --tokenizer tests/data/bpe/none.json --vocab 1024
! pipeexec: error: --tokenizer: cannot open tests/data/bpe/none.json: No such file or directory
= 1
$ pipeexec --tokenizer tests/data/bpe/merges.txt --vocab 1024
! pipeexec: error: --tokenizer: tests/data/bpe/merges.txt:1:1: '[' or '{' expected near '#'
= 2
$ printf 'caf\351 is no UTF-8' | pipeexec --tokenizer tests/data/bpe --vocab 1024 --data -
! pipeexec: error: - has byte 233 at offset 3, which is no UTF-8: a tokenizer reads text alone
= 2
$ printf 'few words' | pipeexec --tokenizer tests/data/bpe --vocab 1024 --data -
! pipeexec: error: - has 4 tokens: a sample of 64 tokens and its target takes 65; the longest sequence that it allows is 3
= 2
