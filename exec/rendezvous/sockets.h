/* exec/rendezvous/sockets.h — addresses, listening, calling: private to exec/tcp_*.c. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { PP_ADDRESS_BYTES = 64 };

/* PP_EFAIL when no such host is known. */
enum pp_status pp_socket_find(const char *host, int port, struct sockaddr_storage *at,
                              struct pp_error *err);
/* Said as a number, or as "localhost": nothing else is meant, and no other host knows it by another
 * address. A name may lead to another address on every host (127.0.1.1 on its own). */
bool pp_socket_is_exact(const char *host);
bool pp_socket_is_loopback(const struct sockaddr_storage *at);
int pp_socket_port_in(const struct sockaddr_storage *at);
void pp_socket_set_port(struct sockaddr_storage *at, int port);
void pp_socket_name(const struct sockaddr_storage *at, char name[static PP_ADDRESS_BYTES]);

/* At this address alone; at all of its family when is_any, or when this host does not have it, as
 * with network address translation. -1 with errno. */
int pp_socket_listen(const struct sockaddr_storage *at, bool is_any);
/* Retries for so long, as the listener may come later. -1 with errno. */
int pp_socket_call(const struct sockaddr_storage *at, int patience_s);
/* -1: not known */
int pp_socket_port(int fd);
bool pp_socket_own(int fd, struct sockaddr_storage *at);
bool pp_socket_peer(int fd, struct sockaddr_storage *at);

/* Of what blocks; 0 = for ever */
void pp_socket_patience(int fd, int patience_s);
/* For a connection that is used: no delay to send more at once (TCP_NODELAY). When the peer's host
 * has lost power or its network, the connection ends within PP_SILENCE_S. */
enum { PP_SILENCE_S = 60 };
void pp_socket_tune(int fd);
bool pp_socket_read(int fd, void *data, size_t bytes); /* all of it */
bool pp_socket_write(int fd, const void *data, size_t bytes);
