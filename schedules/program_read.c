#include "schedules/program.h"
