#include "schedules/evaluate.h"
