#!/usr/bin/env bash
# sweep_parts.sh PROGRAM: the merged parts of a sweep are the whole sweep, byte for byte, under every
# launcher. The variables of launchers and job arrays are set by hand. Prints TAP.
set -u
program=$(realpath "$1")
number=0 failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Variables of the launcher that started this test.
for name in $(compgen -e); do
    case $name in
    OMPI_* | PMI* | MV2_* | SLURM_* | SGE_* | LSB_* | PBS_* | RANK | WORLD_SIZE | LOCAL_RANK) unset "$name" ;;
    esac
done
# Rows of every kind: chimera refuses some of these.
sweep=(sweep --schedule gpipe,1f1b,chimera --pp 2,4,6 --micro-batches 4:16:x2 --unit F=1,B=2)

report() { # REPORT STATUS WHAT
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failures=$((failures + 1))
        echo "not ok $number - $2"
        sed 's/^/# /' log
    fi
}

# same NAME: what NAME.*.csv hold, merged, is the whole sweep
same() {
    "$program" sweep --merge "$1".*.csv -o "$1.csv" >log 2>&1 && grep -qx "pipesim: 27 points in $1.csv" log && cmp whole.csv "$1.csv" >>log 2>&1
    report $? "$1: merged parts are the whole"
    rm -f "$1".*
}

# refused TEXT WHAT VARIABLES-AND-ARGUMENTS...: exit 2, and the message has the text
refused() {
    env "${@:3}" >log 2>&1
    [ $? -eq 2 ] && grep -qF -- "$1" log
    report $? "$2"
}

"$program" "${sweep[@]}" -o whole.csv >log 2>&1
report $? "the whole sweep"
[ "$(wc -l <whole.csv)" -eq 28 ] && grep -q ',refused,' whole.csv
report $? "27 points, refused ones among them"

for part in 1 2 3 4; do "$program" "${sweep[@]}" --part $part/4 -o option.$part.csv; done >log 2>&1
same option
for rank in 3 1 0 2; do
    export PMI_RANK=$rank PMI_SIZE=4
    "$program" "${sweep[@]}" -o pmi.csv
done >log 2>&1
unset PMI_RANK PMI_SIZE
grep -q '^pipesim: part 4 of 4 (PMI_RANK) goes to pmi.part-4-of-4.csv$' log
report $? "says which part it is, and where it goes"
same pmi

# launched NAME FIRST LAST VARIABLES...: a process for each number, @ in the variables
launched() {
    local name=$1 first=$2 last=$3 i
    local variables=("${@:4}")
    for ((i = first; i <= last; i++)); do
        env "${variables[@]//@/$i}" "$program" "${sweep[@]}" -o "$name.csv"
    done >log 2>&1
    same "$name"
}
launched mpirun 0 3 OMPI_COMM_WORLD_RANK=@ OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=@
launched srun 0 2 SLURM_PROCID=@ SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=12 SLURM_STEP_ID=0
launched torchrun 0 1 RANK=@ WORLD_SIZE=2 LOCAL_RANK=@ SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1
launched slurm-array 1 4 SLURM_ARRAY_TASK_ID=@ SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 \
    SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_PROCID=0 SLURM_NTASKS=8
launched sge-array 1 3 SGE_TASK_ID=@ SGE_TASK_FIRST=1 SGE_TASK_LAST=3 SGE_TASK_STEPSIZE=1
launched lsf-array 1 3 LSB_JOBINDEX=@ LSB_JOBINDEX_END=3 LSB_JOBINDEX_STEP=1
launched more-than-points 0 29 PMI_RANK=@ PMI_SIZE=30

for task in 5 10; do
    for rank in 0 1; do
        env SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=10 \
            SLURM_ARRAY_TASK_STEP=5 SLURM_ARRAY_TASK_COUNT=2 SLURM_PROCID=$rank \
            SLURM_STEP_NUM_TASKS=2 "$program" "${sweep[@]}" -o both.csv
    done
done >log 2>&1
[ "$(echo both.*.csv)" = "both.part-1-of-4.csv both.part-2-of-4.csv both.part-3-of-4.csv both.part-4-of-4.csv" ]
report $? "srun within the tasks of an array counts through both"
same both

# Not launched once for every task: a batch script, one process, another's RANK, --part all.
for variables in "SLURM_PROCID=0 SLURM_NTASKS=4" "PMI_RANK=0 PMI_SIZE=1" "RANK=3 WORLD_SIZE=4" \
    "SGE_TASK_ID=undefined SGE_TASK_LAST=undefined" "LSB_JOBINDEX=0 LSB_JOBINDEX_END=0"; do
    # shellcheck disable=SC2086 # several words
    env $variables "$program" "${sweep[@]}" -o one.csv >log 2>&1 && cmp whole.csv one.csv >>log 2>&1
    report $? "all points with $variables"
    rm -f one*.csv
done
PMI_RANK=1 PMI_SIZE=4 "$program" "${sweep[@]}" --part all >one.csv 2>log && cmp whole.csv one.csv >>log
report $? "--part all is the whole sweep, whatever started it"

refused "-o FILE is needed" "parts of a launcher do not share stdout" \
    PMI_RANK=1 PMI_SIZE=4 "$program" "${sweep[@]}"
refused "PBS_ARRAY_INDEX=3 does not say of how many tasks; say which part this is with --part i/n, or --part all" \
    "PBS does not tell how many" PBS_ARRAY_INDEX=3 "$program" "${sweep[@]}" -o bad.csv
refused "the array is not a range with one step" "--array=1,2,9" SLURM_ARRAY_TASK_ID=2 \
    SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=3 \
    "$program" "${sweep[@]}" -o bad.csv
refused "OMPI_COMM_WORLD_RANK=x: expected an integer" "ranks are integers" \
    OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=4 "$program" "${sweep[@]}" -o bad.csv
refused "--part 0/4: parts are 1/4 to 4/4" "parts count from one" "$program" "${sweep[@]}" --part 0/4
refused "--part x: expected i/n" "a part is i/n" "$program" "${sweep[@]}" --part x
[ -z "$(ls bad* 2>/dev/null)" ]
report $? "what is refused leaves no file"

# A part that did not come, and one that was cut off.
for part in 1 2 3; do "$program" "${sweep[@]}" --part $part/4 -o p.$part.csv; done >log 2>&1
"$program" sweep --merge p.*.csv -o p.csv >log 2>&1 &&
    grep -qx 'pipesim: 21 points in p.csv, 6 of 27 points are missing: 3, 7, 11, 15, 19, 23 (part 4/4)' log
report $? "a missing part is named"
grep -vE '^(3|7|11|15|19|23),' whole.csv | cmp - p.csv >log 2>&1
report $? "the rest is in order"
head -c -5 p.3.csv >cut.csv
"$program" sweep --merge p.1.csv p.2.csv cut.csv -o p.csv >log 2>&1 &&
    grep -qx "pipesim: note: cut.csv:$(wc -l <p.3.csv): the last row is cut off, and left out" log
report $? "a row that is cut off is left out, and said so"
"$program" "${sweep[@]}" --part 4/4 -o p.4.csv >log 2>&1 &&
    "$program" sweep --merge p.csv p.3.csv p.4.csv -o p.csv >log 2>&1 && cmp whole.csv p.csv >>log
report $? "merging goes on, into one of its files"
sed 's/,ok,/,ok,so /' p.1.csv >other.csv
refused "p.1.csv:2 and other.csv:2 contradict each other" "contradicting rows are refused" \
    "$program" sweep --merge p.1.csv other.csv -o p.csv
cmp whole.csv p.csv >log 2>&1
report $? "and the file stays as it was"
"$program" sweep --merge p.*.csv >out.csv 2>log && cmp whole.csv out.csv >>log
report $? "merged to stdout"
echo "1..$number"
[ $failures -eq 0 ]
