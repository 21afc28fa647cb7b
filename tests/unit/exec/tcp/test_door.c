/* Connections that the door accepts, and connections that must not delay others. */
#include "exec/tcp/door.h"

#include "core/clock.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static const uint64_t TOKEN = 0x1234567890abcdef;
static const double HANG_S = 600; /* a door that waits for a wrong caller waits so long */

static int listen_here(struct sockaddr_storage *at)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_socket_find("127.0.0.1", 0, at, &err), PP_OK, "%s", err.message);
    const int listener = pp_socket_listen(at, false);
    cr_assert_geq(listener, 0);
    pp_socket_set_port(at, pp_socket_port(listener));
    return listener;
}

static int say(const struct sockaddr_storage *at, const void *text, size_t bytes)
{
    const int fd = pp_socket_call(at, 1);

    cr_assert_geq(fd, 0);
    cr_assert(pp_socket_write(fd, text, bytes));
    return fd;
}

/* What a caller hears at last: bytes, 0 = that it has been left. */
static ssize_t hear(int fd, struct pp_answer *answer)
{
    pp_socket_patience(fd, 10);
    const ssize_t count = recv(fd, answer, sizeof(*answer), MSG_WAITALL);
    close(fd);
    return count;
}

static struct pp_hello hello_of(uint64_t token, int process)
{
    return (struct pp_hello){.magic = PP_HELLO_MAGIC, .token = token, .process = process};
}

/* Ends a wait once all incomplete callers are gone. */
static enum pp_status until_empty(void *door, struct pp_error *err)
{
    return ((struct pp_door *)door)->count > 0 ? PP_OK : pp_error_set(err, PP_EFAIL, "all left");
}

/* The door never tires of silent callers until the good one is in: so that one did not wait for
 * them. */
Test(door, other_callers_are_refused_and_the_run_continues)
{
    static const char GARBAGE[] = "GET / HTTP/1.1\r\nHost: n1\r\n\r\n";
    const struct pp_hello good = hello_of(TOKEN, 3), other = hello_of(TOKEN ^ 1, 3);
    struct sockaddr_storage at;
    struct pp_answer answer;
    struct pp_caller caller;
    struct pp_error err = {0};
    struct pp_door door;

    pp_door_open(&door, listen_here(&at), TOKEN);
    cr_assert(door.hello_s > 0 && door.hello_s <= 5);
    door.hello_s = HANG_S;
    const int silent = say(&at, "", 0), half = say(&at, &good, sizeof(good) / 2),
              garbage = say(&at, GARBAGE, sizeof(GARBAGE)), wrong = say(&at, &other, sizeof(other));
    close(say(&at, "", 0)); /* a probe that sends no data: not counted as a foreign connection */
    const int fd = say(&at, &good, sizeof(good));
    cr_assert_eq(pp_door_next(&door, pp_clock_s() + HANG_S, &caller, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(door.count, 2, "%d silent ones", door.count);
    cr_assert_eq(caller.hello.process, 3);
    close(caller.fd);
    cr_assert_leq(hear(garbage, &answer), 0);
    cr_assert_eq(hear(wrong, &answer), sizeof(answer));
    cr_assert(strstr(answer.text, "another run of pipeexec listens there") &&
              answer.status == PP_EFAIL);
    /* those who say nothing are left when their time is over */
    door.hello_s = 0;
    door.look = until_empty;
    door.closure = &door;
    cr_assert_eq(pp_door_next(&door, pp_clock_s() + HANG_S, &caller, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, "all left");
    cr_assert_eq(door.refused, 4);
    cr_assert_str_eq(door.last, "127.0.0.1");
    cr_assert_eq(hear(silent, &answer), 0);
    cr_assert_eq(hear(half, &answer), 0);
    close(fd);
    pp_door_close(&door);
}

/* More than there are places, all of them silent: the oldest are put out, as many as needed. */
Test(door, a_crowd_does_not_shut_it)
{
    const struct pp_hello good = hello_of(TOKEN, 1);
    struct sockaddr_storage at;
    struct pp_caller caller;
    struct pp_error err = {0};
    struct pp_door door;
    int crowd[PP_DOOR_PLACES + 8];
    enum { CROWD = sizeof(crowd) / sizeof(*crowd) };

    pp_door_open(&door, listen_here(&at), TOKEN);
    cr_assert(door.crowded_s > 0 && door.crowded_s <= 0.25);
    door.hello_s = HANG_S;
    for (int k = 0; k < CROWD; k++)
        crowd[k] = say(&at, "pi", k % 3);
    const int fd = say(&at, &good, sizeof(good));
    cr_assert_eq(pp_door_next(&door, pp_clock_s() + HANG_S, &caller, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(door.count + door.refused, CROWD);
    cr_assert_eq(door.refused, CROWD + 1 - PP_DOOR_PLACES);
    cr_assert_eq(caller.hello.process, 1);
    close(caller.fd);
    close(fd);
    for (int k = 0; k < CROWD; k++)
        close(crowd[k]);
    pp_door_close(&door);
}

static enum pp_status none_is_left(void *closure, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "%s", (const char *)closure);
}

Test(door, waiting_ends_when_it_is_of_no_use)
{
    struct sockaddr_storage at;
    struct pp_caller caller;
    struct pp_error err = {0};
    struct pp_door door;

    pp_door_open(&door, listen_here(&at), TOKEN);
    door.look = none_is_left;
    door.closure = "all have died";
    cr_assert_eq(pp_door_next(&door, pp_clock_s() + 60, &caller, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, "all have died");
    pp_door_close(&door);
}

Test(door, an_address_is_listened_at_alone)
{
    static const struct {
        const char *host;
        bool is_exact, is_loopback;
    } CASES[] = {
        {"127.0.0.1", true, true}, {"::1", true, true},       {"localhost", true, true},
        {"0.0.0.0", true, false},  {"10.1.2.3", true, false},
    };
    struct pp_error err = {0};

    cr_assert_not(pp_socket_is_exact("node-7.cluster"));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct sockaddr_storage at, bound;

        cr_assert_eq(pp_socket_is_exact(CASES[i].host), CASES[i].is_exact, "%s", CASES[i].host);
        cr_assert_eq(pp_socket_find(CASES[i].host, 0, &at, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_socket_is_loopback(&at), CASES[i].is_loopback, "%s", CASES[i].host);
        const int fd =
            pp_socket_listen(&at, false); /* 10.1.2.3 is not here: at all addresses then */
        if (fd < 0 && at.ss_family == AF_INET6)
            continue; /* a host without it */
        cr_assert_geq(fd, 0, "%s", CASES[i].host);
        cr_assert(pp_socket_own(fd, &bound));
        cr_assert_eq(pp_socket_is_loopback(&bound), CASES[i].is_loopback, "%s", CASES[i].host);
        close(fd);
    }
}
