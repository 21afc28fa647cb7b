/* core/cluster/text.h — a cluster text while it is read. Private to core/cluster. */
#pragma once

#include "core/cluster/cluster.h"
#include "core/units.h"

struct pp_cluster_text {
    struct pp_cluster cluster;
    double nic_bytes_per_s; /* of the whole node, 0 = not given */
    unsigned given;         /* keys: bits of the rows of the table */
};

/* ---- core/cluster/text_values.c: PP_EINVAL without the key, which the caller adds ---- */
enum pp_status pp_cluster_count(const char *value, int high, int *count, struct pp_error *err);
/* A number above 0 with its unit, at most 1e18; a latency in seconds at most 10. */
enum pp_status pp_cluster_quantity(const char *value, enum pp_unit unit, double *number,
                                   struct pp_error *err);
/* "16x16x8": from `least` to `most` numbers; those left out stay 0. */
enum pp_status pp_cluster_sizes(const char *value, int least, int most, int *sizes,
                                struct pp_error *err);
/* "450GBps", or "450GBps@2us" with the latency of a message. */
enum pp_status pp_cluster_link(const char *value, struct pp_link *link, struct pp_error *err);
/* "1TB@200GBps"; without a rate, *bytes_per_s stays unchanged. */
enum pp_status pp_cluster_size_at_rate(const char *value, double *bytes, double *bytes_per_s,
                                       struct pp_error *err);

/* ---- core/cluster/text_keys.c ---- */
/* Take "key:value" over; PP_EINVAL for an unknown key, one given twice, a value it cannot have. */
enum pp_status pp_cluster_set_key(struct pp_cluster_text *text, const char *word, const char *value,
                                  struct pp_error *err);
/* After the last key: a key of one fabric chooses it; keys that contradict are PP_EINVAL. */
enum pp_status pp_cluster_check_keys(struct pp_cluster_text *text, struct pp_error *err);
