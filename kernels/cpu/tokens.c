/* kernels/cpu/tokens.c — gradients of rows that tokens name, added in a fixed order. */
#include "kernels/cpu/tokens.h"

#include <string.h>

void pp_tokens_add_rows(const struct pp_token_rows *rows, const void *dy, void *dtable,
                        void *dpositions, bool add)
{
    const size_t width = (size_t)rows->width, row_bytes = width * rows->gradient_bytes;
    const char *from = dy;

    if (!add)
        memset(dtable, 0, row_bytes * (size_t)rows->vocab);
    if (!add && dpositions)
        memset(dpositions, 0, row_bytes * (size_t)rows->stride);
    for (int b = 0; b < rows->batch; b++)
        for (int t = rows->first; t < rows->first + rows->tokens; t++) {
            const size_t id = (size_t)rows->ids[(size_t)b * (size_t)rows->stride + (size_t)t];

            rows->add_row(width, from, (char *)dtable + id * row_bytes);
            if (dpositions)
                rows->add_row(width, from, (char *)dpositions + (size_t)t * row_bytes);
            from += width * rows->element_bytes;
        }
}
