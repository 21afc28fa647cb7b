/* core/cluster/text.h — a cluster text during its parsing. Private to core/cluster. */
#pragma once

#include "core/cluster/cluster.h"

struct pp_cluster_text {
    struct pp_cluster cluster;
    double nic_bytes_per_s; /* of the whole node, 0 = not given */
    unsigned given;         /* set of keys: bits of the rows of the table */
};

/* Applies "key:value"; PP_EINVAL for an unknown key, a repeated one, or a bad value. */
enum pp_status pp_cluster_set_key(struct pp_cluster_text *text, const char *word, const char *value,
                                  struct pp_error *err);
/* Finishes after the last key: a key of one fabric chooses it; PP_EINVAL for contradicting keys. */
enum pp_status pp_cluster_check_keys(struct pp_cluster_text *text, struct pp_error *err);
/* Is true if a key changed the peak or the memory of the device: it is not the preset's then. */
bool pp_cluster_has_own_device(const struct pp_cluster_text *text);
