# A run as a page.
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html page.html | grep step; head -3 page.html; tail -1 page.html
>   step               9 units   first start to last end
> <!DOCTYPE html>
> <html lang="en">
> <head>
> </html>
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html - | sed 's|--html</span> -<|--html</span> page.html<|' | cmp - page.html && echo the same but for the command
> the same but for the command
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html - | grep -A 1 'The command'
> <h3>The command</h3>
> <pre>pipesim <span class="flag">--schedule</span> 1f1b <span class="flag">--micro-batches</span> 2 <span class="flag">--pp</span> 2 <span class="flag">--unit</span> F=1,B=2 <span class="flag">--html</span> -</pre>
$ pipesim --schedule 1f1b,gpipe --pp 2 --micro-batches 2 --unit F=1,B=2 --html - | grep '<h[123]'
> <h1>2 schedules, 2 ranks, 2 micro-batches</h1>
> <h2 id="schedules">Schedules</h2>
> <h2 id="timeline">Who computes what when</h2>
> <h2 id="inputs">Inputs and where they come from</h2>
> <h3>The command</h3>
$ pipesim --schedule 1f1b --model llama3-70b --gpus 2 --pp 2 --engine dag --html - | grep -E '<h[12]|<nav'
> <h1>1f1b on 2 GPUs</h1>
> <nav aria-label="Parts of this page"><ul><li><a href="#oom">out of memory</a></li><li><a href="#time">time</a></li><li><a href="#timeline">timeline</a></li><li><a href="#ranks">ranks and memory</a></li><li><a href="#network">network</a></li><li><a href="#schedules">other schedules</a></li><li><a href="#inputs">inputs</a></li></ul></nav>
> <h2 id="oom">Out of memory</h2>
> <h2 id="time">Where the time goes</h2>
> <h2 id="timeline">Who computes what when</h2>
> <h2 id="ranks">Ranks and memory</h2>
> <h2 id="network">Network</h2>
> <h2 id="schedules">Other schedules</h2>
> <h2 id="inputs">Inputs and where they come from</h2>
# What lives on other memory tiers, and what its copies cost, as the report says it.
$ pipesim --schedule 1f1b --gpus 2 --pp 2 --model llama2-7b --gbs 8 --offload p,g,os=host --cpu-optimizer --html - | grep 'Memory tiers'
> <p>Memory tiers: host 50.2 of 1024.0 GiB a device; copied a step, down | up, GiB: p 0 | 94, g 50.2 | 0; exposed 754 ms (23.2&#160;%); host updates 790 ms.</p>
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html page.html --json | grep iteration_s
>   "iteration_s": 9.0,
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html - --json
! pipesim: error: --html - and --json both write to stdout; give one of them
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html - --gantt
! pipesim: error: --html - and --gantt both write to stdout; give one of them
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html no/such/folder/page.html
! pipesim: error: --html: cannot write 'no/such/folder/page.html': No such file or directory
= 1
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html /dev/full >/dev/null
! pipesim: error: cannot write '/dev/full': No space left on device
= 1
$ pipesim --schedule chimera --pp 3 --micro-batches 2 --unit F=1,B=2 --html refused.html; ls refused.html
! pipesim: error: --pp 3: chimera needs an even number; nearest: 2 or 4
! ls: cannot access 'refused.html': No such file or directory
= 2
$ pipesim --schedule chimera,1f1b --pp 3 --micro-batches 2 --unit F=1,B=2 --html - | grep -E '<h1|refused'
> <h1>2 schedules, 3 ranks, 2 micro-batches</h1>
> <tr><td>chimera</td><td colspan="6" class="soft">refused: --pp 3: chimera needs an even number; nearest: 2 or 4</td></tr>
$ pipesim sweep --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --html page.html
! pipesim: error: --html is not an option of "pipesim sweep" but of "run", "compare", "plan"
! try: pipesim sweep --help
= 2
$ for slow in 1 0.5; do pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --slow 1=$slow --trace $slow.csv >/dev/null; done; pipesim compare 1.csv 0.5.csv --html page.html | head -1; pipesim compare 1.csv 0.5.csv --html - | grep -E '<h[123]'
> pipesim 0.1.0  step: predicted 9.00 s, measured 15.0 s, error -40.0 %
> <h1>Step predicted 9.00 s, measured 15.0 s</h1>
> <h2 id="time">Where the time is</h2>
> <h2 id="timeline">Who computed what when</h2>
> <h2 id="durations">How long ops take</h2>
> <h2 id="report">Ranks, events, and all else</h2>
> <h3>The command</h3>
$ pipesim compare 1.csv 0.5.csv --html - --json
! pipesim: error: --html - and --json both write to stdout; give one of them
= 2
$ pipesim compare 1.csv 0.5.csv --html missing/page.html
! pipesim: error: --html: cannot write 'missing/page.html': No such file or directory
= 1
$ pipesim compare 1.csv 0.5.csv --tolerance 5% --html page.html >/dev/null; grep -o 'OUTSIDE the tolerance of [^<]*' page.html
> OUTSIDE the tolerance of 5 %
! pipesim: error: the predicted step is off by -40 %, more than the tolerance of 5 %
$ pipesim plan --gpus 8 --model gpt2 --free shard --engine dag --html page.html | head -1; grep -E '<h[12]' page.html
> pipesim 0.1.0  gpt2 (124M) on 8 GPUs of h100: 16 choices, free: shard
> <h1>State of gpt2 on 8 GPUs of h100</h1>
> <h2 id="choices">Choices</h2>
> <h2 id="report">Report</h2>
$ pipesim plan --gpus 8 --model gpt2 --free shard --engine dag --html - | grep -c 'class="dot'
> 16
$ pipesim plan --gpus 8 --model gpt2 --free shard --engine dag --html - -o -
! pipesim: error: --html - and -o - both write to stdout; give one of them
= 2
$ pipesim plan --gpus 8 --model gpt2 --free shard --engine dag --html - --json
! pipesim: error: --html - and --json both write to stdout; give one of them
= 2
$ pipesim plan --gpus 8 --model gpt2 --free shard --engine dag --html - --emit megatron
! pipesim: error: --html - and --emit both write to stdout; give one of them
= 2
# The cards of a page say what the report says: errors of shares in points.
$ run="pipesim --schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 4 --gbs 128 --engine dag --no-alternatives"; $run | grep -E '^  (MFU|peak)'; $run --html - | grep -oE '± [^;]*;' | sed -n '2p;4p'
>   MFU             41.5 % +-1.7   410.6 of 989 dense TFLOP/s/GPU (megatron FLOPs)
>   peak memory   59.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 20.5 GiB free
> ± 1.7 points;
> ± 4 %;
# Facts of several schedules stand once if all share them, else with their schedules.
$ pipesim --schedule 1f1b,zbv --model llama3-8b --gpus 16 --tp 8 --pp 2 --gbs 8 --engine dag --html - | grep -E '<dt>(cluster|layout)|^<p>[*] =' | grep -oE '<dd>[^&]*|VP&#160;[0-9]+|^<p>[*] =.*'; pipesim --schedule 1f1b --model llama3-8b --gpus 16 --tp 8 --pp 2 --gbs 8 --no-alternatives --html - | grep -A1 'id="network"'
> <dd>h100*
> <dd>zbv: TP
> VP&#160;2
> <dd>1f1b: TP
> <p>* = chosen by pipesim</p>
> <h2 id="network">Network</h2>
> <p>Communication: exposed 26.7&#160;% of the step; 16&#160;transfers, 0&#160;shared a link (simgrid).</p>
