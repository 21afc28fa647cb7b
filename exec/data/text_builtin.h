/* exec/data/text_builtin.h — the text of exec/data/ as C, which core/embed.py makes. */
#pragma once

#include <stddef.h>

extern const unsigned char pp_text_builtin_bytes[];
extern const size_t pp_text_builtin_count;
