/* exec/rendezvous/sockets.h — addresses, listening, calling: for rendezvous, tcp and transport. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { PP_ADDRESS_BYTES = 64 };

/* PP_EFAIL when no such host is known. */
enum pp_status pp_socket_find(const char *host, int port, struct sockaddr_storage *at,
                              struct pp_error *err);
/* True for a number or "localhost", which no other host knows by another address. A name may lead
 * to another address on every host (127.0.1.1 on its own). */
bool pp_socket_is_exact(const char *host);
bool pp_socket_is_loopback(const struct sockaddr_storage *at);
int pp_socket_port_in(const struct sockaddr_storage *at);
void pp_socket_set_port(struct sockaddr_storage *at, int port);
void pp_socket_name(const struct sockaddr_storage *at, char name[static PP_ADDRESS_BYTES]);

/* Listens at this address; at all of its family if is_any, or if this host does not have it, as
 * with network address translation. -1 with errno. */
int pp_socket_listen(const struct sockaddr_storage *at, bool is_any);
/* Connects; retries for patience_s, as the listener may come later. -1 with errno. */
int pp_socket_call(const struct sockaddr_storage *at, int patience_s);
/* -1: unknown */
int pp_socket_port(int fd);
bool pp_socket_own(int fd, struct sockaddr_storage *at);
bool pp_socket_peer(int fd, struct sockaddr_storage *at);

/* Limits the time of blocking calls; 0 = no limit. */
void pp_socket_patience(int fd, int patience_s);
/* Tunes a connection: sends at once (TCP_NODELAY). If the peer's host loses power or its network,
 * the connection ends within PP_SILENCE_S. */
enum { PP_SILENCE_S = 60 };
void pp_socket_tune(int fd);
bool pp_socket_read(int fd, void *data, size_t bytes); /* all of it */
bool pp_socket_write(int fd, const void *data, size_t bytes);
