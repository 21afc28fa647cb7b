# Shares of tiers that may be filled.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster "a100 ram:160GiB" --offload os=host --no-alternatives --usable host=80%,device=90% | grep -e 'peak memory' -e tiers
>   peak memory   43.1 GiB +-2 %   of 71.4 GiB on rank 0: fits, 28.3 GiB free
>   tiers    host 15.6 of 16.0 GiB a device (80 % of its share)
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster "a100 ram:160GiB" --offload os=host --usable host=75% --require-fit 2>&1 > /dev/null
> pipesim: error: 1f1b does not fit in host memory: 15.6 GiB a device, its share of the node's is 15.0 GiB
= 3
$ export COLUMNS=200; pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster a100 --usable device=50% --explain | grep -o "[^ ]* GiB of.*"
> 34.516 GiB of 39.673 (50 % of its memory)
$ for share in host=0 host=120% host=maybe host= disk=3% host host=80%,host=2%; do pipesim --schedule 1f1b --model llama3-8b --gpus 8 --usable $share; echo $?; done 2>&1
> pipesim: error: --usable host=0: a share lies above 0 and up to 1; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=120%: a share lies above 0 and up to 1; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=maybe: a share lies above 0 and up to 1; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=: a share lies above 0 and up to 1; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable disk=3%: unknown tier; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable host: unknown tier; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=80%,host=2%: a tier is given twice; expected TIER=SHARE with device, host or nvme, such as host=80%,device=90%
> 2
$ pipesim --unit F=1,B=2 --schedule 1f1b --pp 4 --micro-batches 8 --usable host=80%
! pipesim: error: --usable host=80% has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipeexec --usable host=80%
! pipeexec: error: unknown option --usable; only pipesim has it: pipesim help --usable
! try: pipeexec run --help
= 2
