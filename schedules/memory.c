#include "schedules/memory.h"
