#include "schedules/schedule.h"
