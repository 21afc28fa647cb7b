/* core/cluster/text.h — a cluster text while it is read. Private to core/cluster*.c. */
#ifndef PP_CORE_CLUSTER_TEXT_H
#define PP_CORE_CLUSTER_TEXT_H

#include "core/cluster/cluster.h"
#include "core/units.h"

struct pp_cluster_text {
    struct pp_cluster cluster;
    double nic_bytes_per_s; /* of the whole node, 0 = not given */
    unsigned given;         /* fields that had a key */
};

/* A number above 0 with its unit, at most 1e18. */
enum pp_status pp_cluster_quantity(const char *value, enum pp_unit unit, double *number,
                                   struct pp_error *err);
/* Take "key:value" over; PP_EINVAL for an unknown key, one given twice, a value it cannot have. */
enum pp_status pp_cluster_set_key(struct pp_cluster_text *text, const char *word, const char *value,
                                  struct pp_error *err);
/* Values of ram:, h2d:, nvme: and cpu:. */
enum pp_status pp_cluster_set_ram(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err);
enum pp_status pp_cluster_set_h2d(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err);
enum pp_status pp_cluster_set_nvme(struct pp_cluster_text *text, const char *value,
                                   struct pp_error *err);
enum pp_status pp_cluster_set_cpu(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err);
/* After the last key: a key of one fabric chooses it; keys that contradict are PP_EINVAL. */
enum pp_status pp_cluster_check_keys(struct pp_cluster_text *text, struct pp_error *err);

#endif
