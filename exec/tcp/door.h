/* exec/tcp/door.h — accepts connections: private to exec/tcp.
 *
 * Any program may connect: a port scan, a browser, another run with the same port. A caller that
 * does not begin as a process of this run is dropped. It only costs one of the places for a while.
 */
#pragma once

#include "exec/rendezvous/sockets.h"
#include "exec/tcp/tcp.h"

#include <stdint.h>

/* Of what has to be alike in all processes of a run, in addition to the program: see door.c. */
enum { PP_ALIKES = 5 };
/* What every process says first: the same on all hosts, in the order of their bytes. */
struct pp_hello {
    uint32_t magic, frame_bytes;
    uint64_t token; /* of the run */
    int32_t node, nodes;
    uint64_t program_hash, alike[PP_ALIKES]; /* hashes */
    uint64_t port;                           /* where it listens */
};
enum { PP_HELLO_MAGIC = 0x70697066 };
struct pp_answer { /* of node 0; when it is ok, the addresses of all nodes follow */
    int32_t status;
    char text[512];
};

struct pp_caller {
    int fd; /* -1 = none */
    struct sockaddr_storage from;
    struct pp_hello hello;
    size_t bytes; /* of it that have come */
    double until_s;
};
enum { PP_DOOR_PLACES = 64 };
struct pp_door {
    int listener;
    uint64_t token;
    /* Asked every now and then whether waiting is of any use; NULL = it is. */
    enum pp_status (*look)(void *closure, struct pp_error *err);
    void *closure;
    struct pp_caller callers[PP_DOOR_PLACES];
    int cannot;  /* errno of a caller who could not be let in just now; 0: none */
    int refused; /* so far */
    char last[PP_ADDRESS_BYTES];
};
void pp_door_open(struct pp_door *door, int listener, uint64_t token);
/* The next caller that has sent all of its hello and belongs to this run; its fd is the caller's.
 * PP_EFAIL: no caller until then (pp_clock_s), or what `look` says, or no descriptor is left. */
enum pp_status pp_door_next(struct pp_door *door, double until_s, struct pp_caller *caller,
                            struct pp_error *err);
/* Lets all go who have not said enough, and the listener. */
void pp_door_close(struct pp_door *door);
/* Says why, and lets the caller go. */
void pp_door_refuse(int fd, enum pp_status status, const char *text);

/* What a process says of itself before it takes part: private to exec/tcp. */

/* All but where it listens. */
struct pp_hello pp_tcp_hello(const struct pp_tcp *t);
/* PP_EFAIL with the difference: it belongs to this run, but runs something else, or is there twice.
 */
enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *hello, struct pp_error *err);
