/* exec/tcp/door.h — accepts connections: private to exec/tcp.
 *
 * Any program may connect: a port scan, a browser, another run with the same port. A caller that
 * does not begin as a process of this run is dropped. It takes a place for a while, and only until
 * another caller needs the place: idle connections do not keep a run from meeting. */
#pragma once

#include "exec/rendezvous/sockets.h"
#include "exec/tcp/tcp.h"

#include <stdint.h>

/* Number of hashes of settings that all processes of a run must share: see hello.c. */
enum { PP_ALIKES = 5, PP_HELLO_WORDS = 1024 };
/* First bytes of every process, in the byte order that all hosts share. */
struct pp_hello {
    uint32_t magic, frame_bytes;
    uint64_t token; /* of the run */
    int32_t process, processes;
    uint64_t program_hash, alike[PP_ALIKES]; /* hashes of settings */
    uint64_t port;                           /* at which it listens */
    uint64_t drawn;                          /* hash of its worker's initial weights */
    int64_t pid;
    char words[PP_HELLO_WORDS]; /* options of machine.h, to tell the difference */
};
enum { PP_HELLO_MAGIC = 0x70697066 };
struct pp_answer { /* answer of process 0; if it is ok, the addresses of all processes follow */
    uint32_t magic;
    int32_t status;
    char text[512];
};

struct pp_caller {
    int fd;
    struct sockaddr_storage from;
    struct pp_hello hello;
    size_t bytes; /* bytes of `hello` that have arrived */
    double since_s;
};
enum { PP_DOOR_PLACES = 256 };
struct pp_door {
    int listener;
    uint64_t token;
    /* Called now and then while waiting; an error ends the wait. NULL = none. */
    enum pp_status (*look)(void *closure, struct pp_error *err);
    void *closure;
    double hello_s, crowded_s; /* patience with a caller; the latter while another one waits */
    struct pp_caller callers[PP_DOOR_PLACES]; /* [count] incomplete */
    int count;
    int cannot;  /* errno of the last caller if it could not be accepted; 0: accepted */
    int refused; /* number of callers */
    char last[PP_ADDRESS_BYTES];
};
void pp_door_open(struct pp_door *door, int listener, uint64_t token);
/* Sets *caller to the next one of this run with a complete hello; *caller owns its fd. PP_EFAIL:
 * none until until_s (pp_clock_s), an error of `look`, or no descriptor is left. */
enum pp_status pp_door_next(struct pp_door *door, double until_s, struct pp_caller *caller,
                            struct pp_error *err);
/* Closes the listener and all incomplete callers. */
void pp_door_close(struct pp_door *door);
/* Sends the reason and closes the connection. */
void pp_door_refuse(int fd, enum pp_status status, const char *text);

/* hello.c: hello of this process, without its port. */
struct pp_hello pp_tcp_hello(const struct pp_tcp *t);
/* PP_EFAIL with the difference: a process of this run runs something else, or is there twice. */
enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *hello, struct pp_error *err);

/* admit.c: keeps a connection to a process; seconds to wait for all. */
void pp_tcp_keep(struct pp_tcp *t, int process, int fd);
int pp_tcp_join_s(const struct pp_tcp *t);
/* Process 0 takes the others, and sends them the addresses of all, at[process]. PP_EFAIL:
 * some have not called, or run something else; those that have called hear why. */
enum pp_status pp_tcp_host(struct pp_tcp *t, int listener, const struct pp_hello *own,
                           struct sockaddr_storage *at, struct pp_error *err);
