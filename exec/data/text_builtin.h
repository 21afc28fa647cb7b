/* exec/data/text_builtin.h — the text of exec/data/, as it is made into C by core/embed.py. */
#ifndef PP_EXEC_DATA_TEXT_BUILTIN_H
#define PP_EXEC_DATA_TEXT_BUILTIN_H

#include <stddef.h>

extern const unsigned char pp_text_builtin_bytes[];
extern const size_t pp_text_builtin_count;

#endif
