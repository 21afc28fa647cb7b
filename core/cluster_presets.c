#include "core/cluster.h"
