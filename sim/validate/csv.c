/* The rows of a validation as a table. */
#include "sim/validate/validate.h"

#include "core/text/csv.h"

#include <math.h>

static void put_text(const char *text, FILE *out)
{
    if (text)
        pp_csv_write_field(out, text);
}

static void put_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, "%.17g", value);
}

void pp_validation_csv(const struct pp_validation *v, FILE *out)
{
    fputs("id,family,device,schedule,framework,complete,published_step_s,predicted_step_s,"
          "error_frac,published_mem_bytes,predicted_mem_bytes,mem_error_frac,baseline_error_frac,"
          "skipped,refused\n",
          out);
    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        const char *const words[] = {row->row->id, row->row->family, row->device, row->schedule,
                                     row->framework};
        const double nothing = (double)NAN;
        const double numbers[] = {row->step_s,
                                  row->skipped ? nothing : row->prediction.step_s,
                                  row->error_frac,
                                  row->row->mem_bytes,
                                  row->skipped ? nothing : row->prediction.mem_bytes,
                                  row->mem_error_frac,
                                  row->baseline_error_frac};
        for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
            put_text(words[k], out);
            fputc(',', out);
        }
        fputs(pp_validation_is_complete(row) ? "true" : "false", out);
        for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
            put_number(numbers[k], out);
        fputc(',', out);
        put_text(row->skipped, out);
        fputc(',', out);
        put_text(row->refused, out);
        fputc('\n', out);
    }
}
