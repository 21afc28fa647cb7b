/* tests/cuda/include/emulated_device.h — the device side of the emulation, for kernel files. */
#include "tests/cuda/emulate.h"
