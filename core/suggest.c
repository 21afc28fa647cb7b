#include "core/options.h"
