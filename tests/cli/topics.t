Topics of help: definitions, and commands that work as they stand there.

$ pipesim help bubble
> bubble: how much of the step is waiting
>
> The bubble is the share of the step in which an average pipeline rank waits for
> other stages: its next op has no data yet, or it has nothing left to do before
> the step ends. It is in the first lines of every report, and `bubble_frac` in
> JSON:
>
>   idle time of all ranks / (ranks x step)
>
> It leaves out the time of gradient sums (DP sync) and of collectives inside
> layers (TP comm). It includes the wait for a message that is on the wire; `p2p
> in flight` is that part of the bubble.
>
> With equal stages, free messages, D ranks, N micro-batches and V chunks a rank:
>
>   gpipe, 1f1b         (D-1) / (N + D-1)
>   interleaved         (D-1) / (N V + D-1)
>   zb-h1, F = I = W    (D-1) / (3 N + D-1)
>
> Papers also write (D-1) / N, which is bubble over work instead of over the step.
> With 8 micro-batches on 4 ranks this is 37.5 % of the work, but 27.3 % of the
> step. The zero-bubble papers count only the time from a rank's first op to its
> last: `span idle` in tables. It is right if each rank starts the next step
> without waiting for others. It is too low if a barrier ends the step, as for the
> optimizer.
>
> The bubble gets smaller with more micro-batches (a smaller --mbs, a larger
> --gbs), fewer ranks (--pp), more chunks (--vp), and schedules that split the
> backward (zb-h1, zbv). See it:
>
>   pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --gantt
>   pipesim --schedule all --pp 4 --micro-batches 8 --unit F=1,I=1,W=1
>
> With pictures, from the start: docs/tutorials/0-what-is-a-bubble.md
$ pipesim help | sed -n '/^Topics/,/^$/p'
> Topics (pipesim help TOPIC):
>   bubble                  how much of the step is waiting
>   infer                   prompts and tokens: how fast a model is served
>   memory                  what a rank must hold, and whether it fits
>   mfu                     model flops utilisation
>   schedules               the order in which ranks run forwards and backwards
>   tiers                   training a model that is larger than the devices
>   units                   how numbers are written, in options and in reports
>
$ pipesim help schedules | grep -e '^schedules: ' -e '^  zbv ' -e '^usage:'
> schedules: the order in which ranks run forwards and backwards
>   zbv              F, I and W about equal: the memory of 1f1b, and bubbles only
> usage: pipesim schedules [NAME]
$ for topic in bubble memory mfu schedules tiers units; do pipesim help $topic; done | awk 'length > 80 { print "too wide: " $0 }'
$ for topic in bubble memory mfu schedules tiers units; do pipesim help $topic; done | sed -n '/^  pipesim/{:a /\\$/{N;ba};p}' > topics.sh; grep -c '^  pipesim' topics.sh; sh -e topics.sh > topics.out && grep -c '^pipesim 0' topics.out
> 14
> 9
# --help takes a topic, too.
$ pipesim --help tiers | cmp - <(pipesim help tiers); pipesim -h bubble | head -1
> bubble: how much of the step is waiting
# No line of any help is wider than 80 columns, and an example goes on in the next line as a shell takes it.
$ for c in "-h" "--help" $(pipesim -h | sed -n '/^commands:/,/^$/p' | sed 's/commands://'); do case $c in -*) pipesim $c;; *) pipesim $c --help;; esac; done >help.txt; pipesim --help | grep -c '^  pipesim'; awk 'length > 80' help.txt; grep -A1 'recompute none .$' help.txt | uniq | head -2
> 18
>   pipesim sweep --preset megatron-sc21-145b --gbs 768:6144:x2 --recompute none \
>       --recompute full --engine dag
$ COLUMNS=50 pipesim sweep --help | sed -n '/^Examples/,$p' | sed '/^  #/d' | head -4
> Examples:
>   pipesim sweep --schedule all --pp 4,8 \
>       --micro-batches 8:64:x2 --unit F=1,B=2
>   pipesim sweep --preset megatron-sc21-145b \
# A shell offers names, where options and operands have some.
$ pipesim help bash >offers.sh; cat >ask.sh <<<'compopt() { :; }; . ./offers.sh; while read -r line; do COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pipesim; echo "$line: ${COMPREPLY[*]}"; done'; for line in "help bub" "help pl" "help zs" "schedules zb-" "models mixtral" "clusters gb2" "presets chimera-" "--schedule chi" "plan --model mixtral" "plan --emit m" "--cluster gb2" "calibrate --model tiny-"; do echo "pipesim $line"; done | bash ask.sh
> pipesim help bub: bubble
> pipesim help pl: plot plan
> pipesim help zs: zsh
> pipesim schedules zb-: zb-auto zb-h1 zb-h2
> pipesim models mixtral: mixtral-8x22b mixtral-8x7b
> pipesim clusters gb2: gb200
> pipesim presets chimera-: chimera-bert48 chimera-sc21
> pipesim --schedule chi: chimera
> pipesim plan --model mixtral: mixtral-8x22b mixtral-8x7b
> pipesim plan --emit m: megatron
> pipesim --cluster gb2: gb200
> pipesim calibrate --model tiny-: tiny-llama
# An option by any of its names, and names that another command describes.
$ pipesim help tensor-model-parallel-size; for name in zbv h100; do pipesim help $name; done
>   --tp T                  Tensor-parallel degree. (1 to 1048576)
! pipesim: error: help zbv: no such command, topic or option; did you mean "pipesim schedules zbv"?
! pipesim: error: help h100: no such command, topic or option; did you mean "pipesim clusters h100"?
= 2
