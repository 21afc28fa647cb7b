# Faults of runs that generate: what a wrong cache changes, and who hangs.
# A key that changes in the cache of rank 1 changes the logits of the next pass: --check says where.
$ for o in "-np 2" "-np 2 --tp 2" "-np 2 --dp 2 --transport shm" "-np 2 --transport tcp" "-np 2 --precision double"; do pipeexec generate $o --batch 2 --tokens 6 --check --inject "spoil rank:1 op:26" --quiet >text; echo $?; done
> 5
> 5
> 5
> 5
> 5
! pipeexec: error: sequence 0, position 7: the logits are not those of one rank: their hash is ...
! pipeexec: error: sequence 0, position 7: the logits are not those of one rank: their hash is ...
! pipeexec: error: sequence 0, position 7: the logits are not those of one rank: their hash is ...
! pipeexec: error: sequence 0, position 7: the logits are not those of one rank: their hash is ...
! pipeexec: error: sequence 0, position 7: the logits are not those of one rank: their hash is ...
# The report says so, too.
$ pipeexec generate -np 2 --batch 2 --tokens 6 --check --inject "spoil rank:1 op:26" 2>error | grep -A 1 check; grep -c "sequence 0, position 7" error
>   check         DIFFERS from one rank: sequence 0, position 7
>                 without a cache: the same tokens; logits differ by at most
> 1
# A rank that goes no further is named, after as many seconds as --timeout says.
$ for t in local shm tcp; do pipeexec generate -np 2 --batch 2 --tokens 4 --transport $t --timeout 1 --inject "hang rank:1 op:9" --quiet >text; done
! pipeexec: error: step 1: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
!   rank 0 at op 16 of 36, (4RECV_F0)WAIT of pass 2, after 4RECV_F1[1]: waits for message 2 of channel rank 1 -> rank 0 (forward); rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
! pipeexec: error: step 1: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
!   rank 0 at op 16 of 36, (4RECV_F0)WAIT of pass 2, after 4RECV_F1[1]: waits for message 2 of channel rank 1 -> rank 0 (forward); rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
! pipeexec: error: step 1: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
!   rank 0 at op 16 of 36, (4RECV_F0)WAIT of pass 2, after 4RECV_F1[1]: waits for message 2 of channel rank 1 -> rank 0 (forward); rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
= 1
$ for o in "freeze rank:1 op:9" "kill rank:0 op:9"; do pipeexec generate -np 2 --batch 2 --tokens 4 --transport shm --timeout 1 --inject "$o" --quiet 2>&1 >text | sed 's/process [0-9]*/process 1234/'; done
> pipeexec: error: step 1: no rank has made progress for 1.0 s (--timeout)
>   stuck: rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
>   rank 0 at op 16 of 36, (4RECV_F0)WAIT of pass 2, after 4RECV_F1[1]: waits for message 2 of channel rank 1 -> rank 0 (forward); rank 1 at op 9 of 36, 3RECV_F1[1] of pass 1, after 1SEND_F1[1]
> pipeexec: error: step 1: rank 0 at op 9 of 36, 2SEND_F0[0] of pass 1, after 2F0: its process 1234 was ended by signal 9 (Killed)
>   rank 1 at op ...
# What is refused.
$ for f in "slow:1=0.5" "flip rank:1" "hang op:900" "hang step:2" "burn"; do pipeexec generate -np 2 --inject "$f"; done; pipeexec --inject spoil
! pipeexec: error: --inject "slow:1=0.5": speeds of a run that generates are only simulated; nearest: pipesim --mode infer --slow
! pipeexec: error: --inject "flip rank:1": a run that generates has no file on a drive; nearest: --inject hang
! pipeexec: error: --inject: op:900: this run has 0 to 297
! pipeexec: error: --inject: step:2: this run has 1 to 1
! pipeexec: error: --inject "burn": "burn" is none of drop (its connections to other ranks are closed), eio (the next read of its tier nvme fails), flip (a bit flips in what it next reads from its tier nvme), freeze (its thread never returns from an op), full (its next write to its tier nvme finds no room), hang (the rank goes no further), jump (the clock of its process jumps ahead by 1 s), kill (its process is killed), short (its next read from its tier nvme is short), spoil (a number in its cache changes its sign), stop (its process is stopped)
! pipeexec: error: --inject: spoil: training has no cache of keys and values; nearest: pipeexec generate, or --inject hang
= 2
# Guessed commands name the two that there are, before their options.
$ for w in infer serving; do pipeexec $w --tokens 0 --frob 2>&1; done
> pipeexec: error: unknown command "infer"; pipesim --mode infer predicts a run that generates, pipeexec generate executes one
> pipeexec: error: unknown command "serving"; pipesim --mode infer predicts a run that generates, pipeexec generate executes one
= 2
