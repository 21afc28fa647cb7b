/* tests/cuda/emulate_launch.h — a launch as it waits in a stream: what a kernel file hands to the
 * emulated runtime, and the runtime to the emulated device. */
#ifndef PP_TESTS_CUDA_EMULATE_LAUNCH_H
#define PP_TESTS_CUDA_EMULATE_LAUNCH_H

#include "tests/cuda/include/cuda_runtime.h"

#include <functional>
#include <tuple>
#include <type_traits>
#include <vector>

struct pp_emulated_launch {
    const char *name;             /* of the kernel, as it is written at the launch */
    const void *kernel;           /* its address */
    dim3 grid, block;             /* blocks; threads of a block, up to 1024 */
    size_t shared_bytes;          /* dynamic */
    std::function<void()> thread; /* the kernel with its arguments, copied when it was launched */
    std::vector<const void *> pointers; /* arguments that are pointers: none may be the host's */
};

/* Enqueue: what is wrong with it, cudaGetLastError tells. */
void pp_emulated_enqueue(struct pp_emulated_launch launch, cudaStream_t stream);
/* Run all its blocks now; `seed` draws the orders. Of one thread at a time. */
void pp_emulated_run(const struct pp_emulated_launch *launch, uint64_t seed);

template <class T> void pp_emulated_note(std::vector<const void *> &pointers, const T &argument)
{
    if constexpr (std::is_pointer_v<T>)
        pointers.push_back((const void *)argument);
}

template <class... P, class... A>
void pp_emulated_launch_kernel(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                               size_t shared_bytes, cudaStream_t stream, A &&...arguments)
{
    static_assert(sizeof...(P) == sizeof...(A), "a kernel takes all its arguments");
    std::tuple<std::decay_t<P>...> copied(std::forward<A>(arguments)...);
    std::vector<const void *> pointers;

    std::apply([&](const auto &...argument) { (pp_emulated_note(pointers, argument), ...); },
               copied);
    pp_emulated_enqueue({name, (const void *)kernel, grid, block, shared_bytes,
                         [kernel, copied] { std::apply(kernel, copied); }, pointers},
                        stream);
}

#define PP_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                  \
    pp_emulated_launch_kernel(#kernel, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

#endif
