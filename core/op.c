#include "core/op.h"
