#include "schedules/program_private.h"
