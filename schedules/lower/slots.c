#include "schedules/lower/lower.h"
