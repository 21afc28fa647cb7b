/* exec/tcp/hello.h — what a process says of itself before it takes part: private to exec/tcp. */
#ifndef PP_EXEC_TCP_HELLO_H
#define PP_EXEC_TCP_HELLO_H

#include "exec/tcp/door.h"
#include "exec/tcp/tcp.h"

/* All but where it listens. */
struct pp_hello pp_tcp_hello(const struct pp_tcp *t);
/* PP_EFAIL with the difference: it belongs to this run, but runs something else, or is there twice.
 */
enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *hello, struct pp_error *err);

#endif
