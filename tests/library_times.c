/* Steps of schedules as the library tells them: NAME PP MICRO_BATCHES, F = I = W = 1, C = 0.25.
 * tests/library.sh holds them against `pipesim --unit`. */
#include <pipesched.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const struct pipesched_costs one = {.forward_s = 1, .input_grad_s = 1, .weight_grad_s = 1};
    const struct pipesched_durations all = {.stages = &one, .count = 1, .message_s = 0.25};
    struct pipesched_program *program = NULL;
    struct pipesched_times *times = NULL;
    struct pipesched_error error;

    if (argc != 4)
        return 2;
    const struct pipesched_shape shape = {.ranks = atoi(argv[2]), .micro_batches = atoi(argv[3])};
    if (pipesched_build(argv[1], &shape, &all, &program, &error) ||
        pipesched_evaluate(program, &all, &times, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%.17g\n%s", times->step_s, pipesched_text(program));
    pipesched_times_free(times);
    pipesched_free(program);
    return 0;
}
