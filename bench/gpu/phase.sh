# shellcheck shell=bash disable=SC2154 # work, limit_s, started, about, kind, names: of bench/gpu.sh
# The phases of bench/gpu.sh. A phase is a command that prints one JSON object a line, as a list or not.
# So its findings survive when it takes too long and is ended. Its stderr is a log. It adds lines
# "NAME VALUE" to $figures, which bench/gpu/summary.sh shows.
has_failed=no

# json_text FILE: its last lines as the inside of a JSON string.
json_text() {
    [ ! -e "$1" ] || tail -n 12 "$1" | tr -d '\000-\010\013-\037' | sed 's/[\\"]/\\&/g; s/\t/ /g' | awk '{printf "%s\\n", $0}'
}

note() { # NAME EXIT_CODE SECONDS LOG
    local word=failed
    case $2 in 0) word=ok ;; 77) word='not there' ;; 124 | 137) word='too long' ;; esac
    printf '{"phase": "%s", "status": "%s", "exit_code": %d, "seconds": %d, "log": "%s"}\n' "$1" "$word" "$2" "$3" \
        "$(json_text "$4")" >"$work/$1.note"
    [ "$word" = ok ] || [ "$word" = 'not there' ] || has_failed=yes
}

# note_missing: each part that was not built is a phase that failed.
note_missing() {
    local file
    rm -f "$work"/build-*.note
    for file in "$work/build/missing"/*; do
        [ ! -f "$file" ] || { say "   not built: ${file##*/}" && note "build-${file##*/}" 1 0 "$file"; }
    done
}

phase() { # NAME LIMIT_S COMMAND
    local name=$1 begun left_s seconds=$2 status=0
    begun=$(date +%s)
    left_s=$((limit_s - begun + started))
    [ "$seconds" -le "$left_s" ] || seconds=$left_s
    rm -f "$work/$name".{note,rows,figures,log}
    if [ "$seconds" -lt 5 ]; then
        echo "no time left of $limit_s s; go on with --only $name" >"$work/$name.log"
        note "$name" 124 0 "$work/$name.log"
        return
    fi
    say "== $name"
    export deadline=$((begun + seconds - 3)) figures=$work/$name.figures
    timeout -k 5 "$seconds" "$3" 2>"$work/$name.log" >"$work/$name.rows" || status=$?
    [ $status -ne 124 ] || echo "longer than $seconds s" >>"$work/$name.log"
    note "$name" $status $(($(date +%s) - begun)) "$work/$name.log"
    sed 's/^/   /' "$work/$name.log" >&2
}

# rows FILE: its whole lines as the inside of a JSON list.
rows() { [ ! -e "$1" ] || sed -n 's/^ *\({.*}\),\{0,1\}$/  \1/p' "$1" | sed '$!s/$/,/'; }

write_json() { # FILE: in place of what is there only when it is whole
    local name all=$work/all.json
    {
        printf '{\n"schema": "pipesim.gpu/2",\n"date": "%s",\n"commit": "%s",\n' "$(date -u +%FT%TZ)" \
            "$(git rev-parse --short HEAD 2>/dev/null || cat "$work/build/commit" 2>/dev/null || echo unknown)"
        printf '"is_emulated": %s,\n"device": %s,\n"versions": %s,\n"phases": [\n' \
            "$([ "$kind" = cuda ] && echo false || echo true)" "$about" "$(versions)"
        for name in build 'build-*' $names; do cat "$work"/$name.note 2>"$work/none"; done >"$work/notes"
        rows "$work/notes"
        printf '],\n"figures": {\n'
        for name in $names; do [ ! -e "$work/$name.figures" ] || cat "$work/$name.figures"; done |
            awk 'NF == 2 { printf "%s  \"%s\": %s", n++ ? ",\n" : "", $1, $2 } END { print "" }'
        printf '}'
        for name in $names; do
            printf ',\n"%s": [\n' "$name"
            rows "$work/$name.rows"
            printf ']'
        done
        printf '\n}\n'
    } >"$all"
    cp "$all" "$1.part" && mv "$1.part" "$1" || fail 1 "cannot write $1"
}

# versions: of what was measured with. Those of PyTorch are in its rows.
versions() {
    local of_build=$work/build/found driver
    driver=$([ "$kind" != cuda ] || nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>>"$work/none" | head -n 1)
    printf '{"driver": "%s"' "$driver"
    sed -n 's/^cuda\t/nvcc\t/p; s/^\(cublaslt\|nccl\|cudnn\)_version\t/\1_header\t/p' "$of_build" 2>>"$work/none" |
        awk -F'\t' '{ printf ", \"%s\": \"%s\"", $1, $2 }'
    sed -n 's/.*attention in training: \(cuDNN [0-9.]*\).*/, "attention": "\1"/p' "$work/kernels.log" 2>>"$work/none" | head -n 1 | tr -d '\n'
    printf '}'
}

# keep_logs: clocks and power after a phase; then what phases left, in the folder OUT.
keep_logs() {
    [ "$kind" != cuda ] || nvidia-smi -q -d CLOCK,POWER,PERFORMANCE,TEMPERATURE >"$work/$name.clocks" 2>&1
    [ -n "${OUT:-}" ] || return 0
    (cd "$work" && find . -maxdepth 1 -type f -size -2M -print0 | tar --null -T - -czf "$OUT/logs.tgz.part") && mv "$OUT/logs.tgz.part" "$OUT/logs.tgz"
}
