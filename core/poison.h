/* core/poison.h — tells AddressSanitizer which bytes of a block are not allocated, so that it
 * reports writes past an allocation of an arena. Private to core/arena.c. */
#pragma once

#include <stddef.h>

#ifndef __has_feature /* clang defines it; gcc defines __SANITIZE_ADDRESS__ */
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>

enum { PP_POISON_BETWEEN_BYTES = 64 }; /* left unused after each allocation */
#define pp_poison(data, bytes)   __asan_poison_memory_region((data), (bytes))
#define pp_unpoison(data, bytes) __asan_unpoison_memory_region((data), (bytes))
#else
enum { PP_POISON_BETWEEN_BYTES = 0 };
#define pp_poison(data, bytes)   ((void)(data), (void)(bytes))
#define pp_unpoison(data, bytes) ((void)(data), (void)(bytes))
#endif
