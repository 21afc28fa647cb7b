#include "schedules/verify.h"
