# pipeexec: checkpoints, what is refused and why.
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --exact-grad --lr 2e-3 --steps 4 --checkpoint t --checkpoint-every 1 --checkpoint-keep 3 --json | grep -E '"(first_step|resumed_from|checkpoint)"'
>   "first_step": 0,
>   "resumed_from": null,
>   "checkpoint": "t/step-000000004",
$ ls -A t
> step-000000002
> step-000000003
> step-000000004
# The folder and its parents are made; what is in the way is said before the training.
$ for d in deep/er/t deep//ly/ "$PWD/deep/est"; do pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --steps 2 --quiet --checkpoint $d && ls $d; done
> step-000000002
> step-000000002
> step-000000002
$ touch file; pipeexec --checkpoint file/deep/t
! pipeexec: error: cannot make the folder file/deep/t: Not a directory
= 1
# The defaults of what goes on are those of what stopped.
$ pipeexec --resume t/step-000000002 --schedule gpipe -np 1 --json | grep -E '"(first_step|resumed_from|checkpoint|steps|exact_grad|gbs|seq)"'
>   "exact_grad": true,
>   "steps": 4,
>   "first_step": 2,
>     "gbs": 16,
>     "seq": 16,
>   "resumed_from": "t/step-000000002",
>   "checkpoint": null,
$ pipeexec --resume t/step-000000002 -np 2 --micro-batches 4 --lr 1e-3 --clip 1 --steps 6 | grep -E '^  (resumed|note)|unlike|--steps|^             [(]was'
>   resumed    t/step-000000002, 2 of 6 steps
>   note       unlike the checkpoint: --lr 1e-3 (was 2e-3), --clip 1
>              (was not given), --gbs 8 (was 16), --steps 6 (was 4)
$ pipeexec --layers 1 --hidden 8 --heads 2 --seq 8 --mbs 1 -np 1 --steps 1 --checkpoint plain --quiet; pipeexec --resume plain --exact-grad --steps 2 -np 1 --no-check | grep -A1 unlike
>   note       unlike the checkpoint: --exact-grad (was not given), --steps 2
>              (was 1)
$ pipeexec --resume t/step-000000002 --dp 3
! pipeexec: error: --gbs 16 is not a multiple of dp * mbs = 6; nearest: 12, 18
= 2
$ pipeexec --resume t --checkpoint t
! pipeexec: error: t/step-000000004: 4 of 4 steps are done; give --steps K with K beyond 4
= 2
$ pipeexec --resume t/step-000000002 --checkpoint t
! pipeexec: error: t has step-000000004 already, and this run begins at step 2: choose another folder, or remove the later ones
= 2
$ pipeexec --resume t/step-000000003 --layers 3
! pipeexec: error: t/step-000000003 is of another model: layers is 2 there and 3 here (--layers)
= 2
$ head -c 3000 docs/checkpoints.md > text; pipeexec --resume t/step-000000003 --data text | grep -o 'unlike .*'
> unlike the checkpoint: --data text (was not given)
$ pipeexec --layers 1 --hidden 8 --heads 2 --seq 8 --mbs 1 -np 1 --data text --steps 1 --checkpoint u --quiet; echo more >> text; pipeexec --resume u --steps 2
! pipeexec: error: u/step-000000001 was trained on 3000 tokens of checksum ...
= 2
$ pipeexec --resume u/step-00000000; echo $?; sed -i 1s/1/2/ u/step-000000001/manifest; pipeexec --resume u
> 1
! pipeexec: error: cannot open u/step-00000000: No such file or directory
! pipeexec: error: u/step-000000001/manifest is of format '2', but this pipeexec reads format 1
= 2
$ pipeexec --checkpoint-keep 3
! pipeexec: error: --checkpoint-keep 3 has no effect without --checkpoint DIR
= 2
$ pipeexec --save w --save-interval 2
! pipeexec: error: --save-interval 2 has no effect without --checkpoint DIR; --save writes weights once, at the end: give --checkpoint w, too
= 2
$ pipeexec --checkpoint text --steps 1
! pipeexec: error: cannot open the folder text: Not a directory
= 1
# No room: the training goes on, those before stay.
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 1 --checkpoint v --quiet; ulimit -f 64; pipeexec --resume v --steps 3 --checkpoint v --checkpoint-every 1 --json | grep -c loss; ls -A v; exit ${PIPESTATUS[0]}
> 3
> step-000000001
! pipeexec: warning: no checkpoint: cannot write v/.pipeexec-tmp-step-000000002/layer-00000.bin: File too large
! pipeexec: warning: no checkpoint: cannot write v/.pipeexec-tmp-step-000000003/layer-00000.bin: File too large
! pipeexec: error: cannot write v/.pipeexec-tmp-step-000000003/layer-00000.bin: File too large
# A fault in a step that is done never comes; without a step it comes in the first one.
$ pipeexec --resume t/step-000000003 --inject "kill rank:1 step:2"
! pipeexec: error: --inject: step:2: this run has 4 to 4
= 2
$ pipeexec --resume t/step-000000003 --transport shm --inject "kill rank:1" 2>&1 | grep -o 'step 4: rank 1'
> step 4: rank 1
# Options of a manifest that no checkpoint records, with a checksum that is right.
$ python3 -c 'import re, zlib; m = "t/step-000000004/manifest"; s = open(m).read(); s = re.sub(r"(?m)^seq 16$", "trace x.csv", s); s = s[:s.rindex("end ")]; open(m, "w").write("%send %08x\n" % (s, zlib.crc32(s.encode())))'; pipeexec --resume t/step-000000004 --steps 5
! pipeexec: error: t/step-000000004/manifest: option 'trace' is not one that a checkpoint records: model, layers, hidden, heads, kv-heads, ffn, mlp, vocab, positions, embedding, experts, top-k, moe-ffn, shared-ffn, dense-layers, moe-every, capacity-factor, balance-loss, data, tokens, tokenizer, lr, min-lr, lr-warmup, weight-decay, clip, seed, precision, exact-grad, shuffle, valid-data, valid-every, valid-steps, seq, mbs, gbs, steps
= 2
# A shard of tokens, and the same again from a checkpoint.
$ python3 -c 'import array, sys; sys.stdout.buffer.write(array.array("i", [20240520, 1, 400] + [0] * 253).tobytes() + array.array("H", [i * i % 997 for i in range(400)]).tobytes())' > shard.bin; pipeexec --data shard.bin --tokens u16 --vocab 997 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --exact-grad --steps 3 --check --checkpoint w --checkpoint-every 1 | grep -A1 '^  data'; pipeexec --resume w/step-000000002 --np 2 --check --json | grep -E '"(bit_equal|data)"'
>   data       8* micro-batches of 2 samples, 256 tokens a step; shard.bin,
>              400 tokens
>   "data": "shard.bin",
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --tokens u16
! pipeexec: error: --tokens u16: the built-in text is read by bytes; give --data FILE
= 2
# In the background of the next step: the same bytes, complete at the end.
$ R='--layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --np 2 --steps 4 --exact-grad --no-check --quiet --checkpoint-every 1 --checkpoint-keep 9'; pipeexec $R --checkpoint y1 --checkpoint-sync; for o in '--transport local' '--transport shm' '--transport tcp' '--backend fake'; do pipeexec $R $o --checkpoint y2; for s in 1 2 3 4; do cat y2/step-00000000$s/layer-* | cmp - <(cat y1/step-00000000$s/layer-*); done; ls -A y2 | tr '\n' ' '; rm -r y2; echo; done | sed 's/ $//' | uniq -c
>       4 step-000000001 step-000000002 step-000000003 step-000000004
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 1 --checkpoint y3 --quiet; ulimit -f 64; pipeexec --resume y3 --steps 3 --checkpoint y3 --checkpoint-every 1 --json | grep -c loss; ls -A y3; exit ${PIPESTATUS[0]}
> 3
> step-000000001
! pipeexec: warning: no checkpoint: cannot write y3/.pipeexec-tmp-step-000000002/layer-00000.bin: File too large
! pipeexec: warning: no checkpoint: cannot write y3/.pipeexec-tmp-step-000000003/layer-00000.bin: File too large
! pipeexec: error: cannot write y3/.pipeexec-tmp-step-000000003/layer-00000.bin: File too large
# A run that fails in the next step completes it.
$ for how in "shm kill" "tcp hang"; do pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --np 2 --steps 6 --no-check --transport ${how% *} --quiet --timeout 2 --checkpoint y4 --checkpoint-every 1 --checkpoint-keep 9 --inject "${how#* } rank:1 op:3 step:4" 2> /dev/null; ls -A y4 | tail -n 1; ls y4/*3 | wc -l; pipeexec --resume y4 --no-check --quiet && echo resumed; rm -r y4; done
> step-000000003
> 5
> resumed
> step-000000003
> 5
> resumed
# A process that is killed takes along what it has not written yet. Then the one before is the newest.
$ for o in "--np 2" "--np 1 --tp 2" "--np 1 --dp 2 --experts 4 --ep 2"; do pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 6 --no-check --transport tcp $o --quiet --checkpoint y4 --checkpoint-every 1 --checkpoint-keep 9 --inject "kill op:1 step:4" 2> err; ls -A y4 | tail -n 1 | grep -c "0[23]$"; [ -e y4/step-000000003 ] || grep -c "warning: no checkpoint: the next step has failed, and a process ended" err | grep -v 1; pipeexec --resume y4 --no-check --quiet && echo resumed; rm -r y4; done
> 1
> resumed
> 1
> resumed
> 1
> resumed
$ for o in "" --checkpoint-sync; do pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --np 2 --steps 4 --no-check --checkpoint y5 --checkpoint-every 2 $o | sed -n '/^  checkpoint/,/^  next/p' | grep -v '^ *next'; rm -r y5; done
>   checkpoint y5/step-000000004
>              those before it were written in the background, from copies of up
>              to 496 KiB
>   checkpoint y5/step-000000004
$ pipeexec --checkpoint-sync
! pipeexec: error: --checkpoint-sync has no effect without --checkpoint DIR
= 2
# A model of the same dimensions with another epsilon and other positions is another model.
$ mkdir e; C='{"model_type":"llama","num_hidden_layers":2,"hidden_size":32,"num_attention_heads":2,"vocab_size":256,"intermediate_size":64,"max_position_embeddings":16,"rms_norm_eps":1e-6}'; echo "$C" > e/config.json; pipeexec --model e/config.json --np 2 --steps 1 --no-check --quiet --checkpoint e1; sed -n '/^has_bias_norm/,/^tokens/p' e1/*/manifest; pipeexec --resume e1 --steps 2 --no-check --quiet && echo "${C%\}}, \"rope_theta\":500000}" | sed s/1e-6/1e-5/ > e/config.json; pipeexec --resume e1 --steps 2
> has_bias_norm 0
> norm_epsilon 897988541
> tokens 99910 554ab513
! pipeexec: error: e1/step-000000001 is of another model: norm_epsilon is 1e-06 there and 1e-05 here, rotary_theta is 10000 there and 500000 here
= 2
# Paths of a checkpoint are those of the folder where its training began.
$ mkdir far; D=$PWD; cd far; pipeexec --resume $D/e1 --steps 2 2>&1 | sed "s|$D|DIR|"; sed -i s/1e-5/1e-6/\;s/500000/10000/ ../e/config.json; pipeexec --resume $D/e1 --model ../e/config.json --steps 2 --no-check --quiet && echo resumed; pipeexec --resume $D/e1 --model ./none.json --steps 2
> pipeexec: error: cannot open e/config.json: No such file or directory; the path is that of the options in DIR/e1/step-000000001, from the folder where its training began; give --model with the path from here
> resumed
! pipeexec: error: cannot open ./none.json: No such file or directory
= 1
$ seq 500 >data.txt; pipeexec --data data.txt --valid-data data.txt --seq 16 --mbs 1 --steps 1 --no-check --quiet --checkpoint p1; D=$PWD; cd far; pipeexec --resume $D/p1 --steps 2 2>&1 | sed "s|$D|DIR|"; pipeexec --resume $D/p1 --data ../data.txt --steps 2 2>&1 | sed "s|$D|DIR|"; pipeexec --resume $D/p1 --data ../data.txt --valid-data ../data.txt --steps 2 --no-check --quiet && echo resumed
> pipeexec: error: cannot open data.txt: No such file or directory; the path is that of the options in DIR/p1/step-000000001, from the folder where its training began; give --data with the path from here
> pipeexec: error: --valid-data: cannot open data.txt: No such file or directory; the path is that of the options in DIR/p1/step-000000001, from the folder where its training began; give --valid-data with the path from here
> resumed

# Tensor parallelism: parts of tensors are put together, and cut again for another group.
$ M='--layers 2 --hidden 32 --heads 4 --seq 16 --mbs 2 --quiet'; pipeexec $M --np 2 --tp 2 --steps 4 --exact-grad --checkpoint t1 --checkpoint-every 2 --checkpoint-keep 2 --save hub; for o in "--tp 2 --np 1" "--tp 2 --np 2 --schedule zbv" "--tp 2 --np 2 --transport shm" "--tp 2 --np 2 --transport tcp"; do mkdir t2; cp -r t1/step-000000002 t2; pipeexec $o --resume t2 --checkpoint t2 --check --quiet && for f in t1/step-000000004/layer*; do cmp $f t2/step-000000004/${f##*/}; done && echo same; rm -r t2; done; for t in 1 4; do mkdir t2; cp -r t1/step-000000002 t2; pipeexec --tp $t --resume t2 --checkpoint t2 --check --quiet && echo equal; rm -r t2; done; pipeexec --model ./hub --seq 16 --mbs 2 --np 1 --tp 4 --steps 1 --check --quiet && echo loaded
> same
> same
> same
> same
> equal
> equal
> loaded
$ F=t1/step-000000004/layer-00001.bin; B=$(wc -c < $F); cp $F whole.bin; for n in $(seq 0 997 $((B - 1))) $((B - 1)); do head -c $n whole.bin > $F; pipeexec --tp 2 --np 1 --resume t1/step-000000004 --steps 5 2>&1 | grep -c "it has $n bytes, but $B were written"; done | sort | uniq -c | sed 's/^ *//'
> 154 1
# A folder of --save is no checkpoint.
$ pipeexec --layers 1 --hidden 8 --heads 2 --seq 8 --mbs 1 --np 1 --steps 1 --save weights --quiet; pipeexec --resume weights
! pipeexec: error: weights has no checkpoint: neither a manifest nor a folder step-NNNNNNNNN; it is a model, from which --model ./weights starts
= 1
