# shellcheck shell=bash disable=SC2034,SC2154 # work, kind, about, figures: of bench/gpu.sh
# One training run of pipeexec on the device as a row of JSON, for phases of bench/gpu.sh.
#
# On the wall clock, tokens_per_s is by elapsed time from step to step, as that of PyTorch is.
# mfu_frac is that of one device: ranks share one, but on the virtual clock each has its own. A token
# takes 6 operations a parameter, and 6 layers seq hidden for attention. This is llm.c's form: a
# causal half of attention, no recomputation. At 1,024 tokens it gives 0.80, 4.93 and 9.82 billion for
# GPT-2 124M, 774M and 1558M.
. bench/gpu/within.sh
. bench/gpu/clocks.sh
peak=$(sed -n 's/.*"bf16_flops_per_s": \([0-9.e+]*\).*/\1/p' <<<"$about")
pipeexec=$work/build/pipeexec vocab=50304 seq=1024
[ "$kind" = cuda ] || vocab=96 seq=8
tokens=$work/tokens-$vocab.bin
[ -s "$tokens" ] || "$work/build/kernels" tokens "$tokens" 2000000 $vocab

figure() { [ -z "$2" ] || [ "$2" = null ] || echo "$1 $2" >>"$figures"; }
number() { sed -n "s/^ *\"$1\": \([^,{[]*\),*\$/\1/p" "$work/run.json" | head -n 1; }
small='12 768 12'

# run NAME LIMIT_S LAYERS HIDDEN HEADS OPTIONS...: prints its row, and sets run_* for later lines.
# run_length: options for the length of a run. run_clocks=yes: with the clocks of the device. The exit code
# is that of the run.
run() {
    local name=$1 each_s=$2 layers=$3 hidden=$4 heads=$5 devices=1 key shown_s
    shift 5
    if [ "$kind" = emulated ]; then each_s=$((10 * each_s)) layers=4 hidden=16 heads=2; fi
    # shellcheck disable=SC2206
    local options=(--backend cuda --model gpt2 --layers $layers --hidden $hidden --heads $heads --vocab $vocab --seq $seq
        --data "$tokens" --tokens u16 ${run_length:---steps 6} ${run_precision:---precision bf16} "$@")
    [[ " $* " = *" --check "* ]] || options+=(--no-check)
    run_step_s='' run_tokens_per_s='' run_mfu_frac='' run_error_frac='' run_status=0 run_own=''
    [ "${run_clocks:-}" != yes ] || clocks_watch
    timeout -k 2 "$(within "$each_s")" ${run_with:-} "$pipeexec" "${options[@]}" --json >"$work/run.json" 2>"$work/run.err" || run_status=$?
    printf '{"name": "%s", "options": "%s", "status": %d' "$name" "${*//"$PWD/"/}" $run_status
    [ "${run_clocks:-}" != yes ] || clocks_tell
    if [ $run_status -ne 0 ]; then
        printf ', "message": "%s"}\n' "$(tail -n 4 "$work/run.err" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
        echo "$name: exit code $run_status: $(head -n 1 "$work/run.err")" >&2
        return $run_status
    fi
    for key in step_s elapsed_step_s step_low_s step_high_s predicted_step_s model_error_frac null_error_frac structural_error_s \
        unattributed_s bubble_frac predicted_bubble_frac peak_mem_bytes predicted_peak_mem_bytes cpu_s outside_s \
        instructions clock bit_equal multiplications own; do
        printf ', "%s": %s' $key "$(number $key | grep . || echo null)"
    done
    run_attention=$(sed -n 's/^ *"attention": "\(.*\)",*$/\1/p' "$work/run.json")
    printf ', "attention": "%s"' "$run_attention"
    printf ', "losses": [%s]' "$(tr -d '\n' <"$work/run.json" | sed 's/.*"losses": \[\([^]]*\)\].*/\1/; s/  */ /g')"
    [ "$(number clock)" != '"virtual"' ] || devices=$(number np)
    run_step_s=$(number step_s) run_error_frac=$(number model_error_frac)
    shown_s=$run_step_s
    [ "$(number clock)" != '"wall"' ] || shown_s=$(number elapsed_step_s)
    read -r run_tokens_per_s run_mfu_frac < <(awk -v s="$shown_s" -v gbs="$(number gbs)" -v l=$layers -v h=$hidden \
        -v v=$vocab -v t=$seq -v peak="${peak:-0}" -v devices="$devices" 'BEGIN {
        parameters = (v + t) * h + l * (12 * h * h + 13 * h) + 2 * h
        tokens_per_s = gbs * t / s
        mfu = tokens_per_s * (6 * parameters + 6 * l * t * h) / (peak > 0 ? peak : 1) / devices
        printf("%.6g %s\n", tokens_per_s, peak > 0 ? sprintf("%.4f", mfu) : "null") }')
    printf ', "devices": %d, "tokens_per_s": %s, "mfu_frac": %s}\n' "$devices" "$run_tokens_per_s" "$run_mfu_frac"
    run_own=$(number own)
    [ "${run_own:-0}" -eq 0 ] || printf '%-22s SLOW: %s of %s multiplications of a step by own kernels, first %s\n' "$name" \
        "$run_own" "$(number multiplications)" "$(sed -n 's/^ *"first_refused": "\(.*\)",*$/\1/p' "$work/run.json")" >&2
    [[ $kind = emulated || $run_attention != *own* ]] || echo "$name: attention by ${run_attention/#own/own kernels}" >&2
    printf '%-22s %9.3f ms, error of the prediction %6.1f %%, %9.0f tokens/s, MFU %s\n' "$name" \
        "$(awk -v s="$run_step_s" 'BEGIN { print 1e3 * s }')" "$(awk -v e="$run_error_frac" 'BEGIN { print 100 * e }')" \
        "$run_tokens_per_s" "$run_mfu_frac" >&2
}
