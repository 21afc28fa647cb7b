#include "traces/metrics.h"
