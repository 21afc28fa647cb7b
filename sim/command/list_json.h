/* sim/command/list_json.h — what is built in, as JSON: pipesim schedules, models, clusters,
 * presets. Each prints one object: the schema, and a list of all rows or of the one given. */
#pragma once

#include "core/cluster/cluster.h"
#include "core/model/model.h"
#include "schedules/order/schedule.h"
#include "sim/cli/cli.h"

#include <stdio.h>

void pp_list_schedules_json(const struct pp_schedule *one, FILE *out); /* NULL: all, also below */
void pp_list_models_json(const struct pp_model *one, FILE *out);
void pp_list_clusters_json(const struct pp_cluster *one, FILE *out);
void pp_list_presets_json(const struct pp_preset *one, FILE *out);
