/* core/cluster/text.h — a cluster text while it is read. Private to core/cluster. */
#pragma once

#include "core/cluster/cluster.h"

struct pp_cluster_text {
    struct pp_cluster cluster;
    double nic_bytes_per_s; /* of the whole node, 0 = not given */
    unsigned given;         /* keys: bits of the rows of the table */
};

/* Take "key:value" over; PP_EINVAL for an unknown key, one given twice, a value it cannot have. */
enum pp_status pp_cluster_set_key(struct pp_cluster_text *text, const char *word, const char *value,
                                  struct pp_error *err);
/* After the last key: a key of one fabric chooses it; keys that contradict are PP_EINVAL. */
enum pp_status pp_cluster_check_keys(struct pp_cluster_text *text, struct pp_error *err);
