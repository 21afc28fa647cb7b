# shellcheck shell=bash disable=SC2154 # deadline: of bench/gpu.sh
# within LIMIT_S: the seconds that a step of a part of bench/gpu.sh may take. This is LIMIT_S, or the time
# left for the part.
within() {
    local left=$((deadline - $(date +%s)))
    echo $((left < 1 ? 1 : left < $1 ? left : $1))
}
