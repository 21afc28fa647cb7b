/* SIGINT and SIGTERM while a pool runs. */
#include "core/process/worker.h"

#include <stddef.h>

static const int SIGNALS[] = {SIGINT, SIGTERM};
enum { SIGNAL_COUNT = PP_COUNT(SIGNALS) };

/* A handler has no other way to say something. */
static volatile sig_atomic_t is_interrupted;
static struct sigaction former[SIGNAL_COUNT], former_child;

static void give_back(void)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaction(SIGNALS[i], &former[i], NULL);
}

static void interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
    give_back();
}

/* Ignored, SIGCHLD would hide how workers end. */
static void show_ends(void)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};

    sigaction(SIGCHLD, NULL, &former_child);
    if (former_child.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &plain, NULL);
}

void pp_pool_catch(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

    is_interrupted = 0;
    show_ends();
    sigfillset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaction(SIGNALS[i], NULL, &former[i]);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (former[i].sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
}

void pp_pool_release(void)
{
    give_back();
    if (former_child.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &former_child, NULL);
}

bool pp_pool_is_interrupted(void)
{
    return is_interrupted != 0;
}
