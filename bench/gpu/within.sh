# shellcheck shell=bash disable=SC2154 # deadline: of bench/gpu.sh
# within LIMIT_S: how long a thing of a part of bench/gpu.sh may take: so many seconds, or what is left of
# the part.
within() {
    local left=$((deadline - $(date +%s)))
    echo $((left < 1 ? 1 : left < $1 ? left : $1))
}
