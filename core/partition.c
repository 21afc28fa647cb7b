#include "core/roofline.h"
