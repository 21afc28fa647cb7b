/* A C library whose log() rounds otherwise, to load before the other: see hosts.sh. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <math.h>

double log(double x)
{
    static double (*usual)(double);

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "log");
    return usual(x) * (1 + 1e-6);
}
