#!/usr/bin/env bash
# sources.sh BUILD: bench/gpu/build.sh, which has no Meson, builds what Meson builds in the folder BUILD.
# The files are the same, except for parts of which each build has one of several. Its tests need no Criterion.
set -u
build=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit
. bench/gpu/sources.sh
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh

# of TARGETS...: Meson's sources of these, as it says them in BUILD.
of() {
    python3 - "$build" "$PWD" "$@" <<'END'
import json, os.path, sys
build, root, names = sys.argv[1], sys.argv[2] + "/", set(sys.argv[3:])
targets = [t for t in json.load(open(build + "/meson-info/intro-targets.json")) if t["name"] in names]
missing = names - {t["name"] for t in targets}
assert not missing, "Meson has no target %s" % ", ".join(sorted(missing))
files = {os.path.normpath(f) for t in targets for s in t["target_sources"] for f in s.get("sources", [])}
print("\n".join(sorted(f[len(root):] for f in files if f.startswith(root) and not f.startswith(build))))
END
}
# One of them is in each build.
is_chosen='^exec/data/split_|^kernels/cpu/(blas|fp32/levels_)|^exec/main\.c$'
same() { # TARGETS... -- FILES...
    local targets=()
    while [ "$1" != -- ]; do targets+=("$1") && shift; done
    shift
    of "${targets[@]}" | grep -vE "$is_chosen" >"$folder/due" && [ -s "$folder/due" ] &&
        diff --label Meson "$folder/due" --label bench -u0 <(printf '%s\n' "$@" | sort -u | grep -vE "$is_chosen")
}
kernels() {
    sed -n "s/^  '\(.*[.]cu\)',$/\1/p" kernels/cuda/*/meson.build | sort >"$folder/due"
    [ -s "$folder/due" ] && diff --label Meson "$folder/due" --label bench -u0 <(basename -a "${kernels[@]}" | sort)
}
# Tests of kernels need no more of Criterion than runner.h has.
read -ra cc <<<"${CC:-cc}"
bare() {
    local file kind
    for file in "${tests[@]}" tests/exec/test_nccl.c; do
        for kind in -DPP_CUDA_EMULATED -UPP_CUDA_EMULATED; do
            "${cc[@]}" -std=gnu11 -fsyntax-only -Werror=implicit-function-declaration -DPP_BARE_TESTS $kind -I. -Itests/cuda/include "$file" || return
        done
    done
}
check 'tests without Criterion' bare
check 'the program' same core schedules run traces kernels plots exec fp32_multiply_base fp32_rest_base -- "${host[@]}"
check 'its module, and NCCL' same pipeexec-cuda-emulated -- "${backend[@]}" exec/cuda/nccl.c "${nccl_sources[@]}" exec/host/futex.c exec/host/near.c exec/backend/recorded.c
check 'multiplications' same emulated_cuda_kernels -- "${multiply[@]}"
check 'kernels' kernels
end_checks
