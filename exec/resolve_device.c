/* On what work runs. */
#include "exec/cuda_module.h"
#include "exec/resolve_parts.h"

/* In the order of the choices of --backend; NULL: that of a module, which is loaded for it. */
static const struct pp_backend *const BACKENDS[] = {&pp_backend_cpu, NULL, &pp_backend_fake};

enum pp_status pp_exec_device(const struct pp_request *request, struct pp_exec_config *config,
                              struct pp_error *err)
{
    config->backend = BACKENDS[pp_request_int(request, "backend", 0)];
    if (config->backend)
        return PP_OK;
    PP_TRY(pp_cuda_load(&config->cuda, err));
    config->backend = config->cuda->backend;
    return PP_OK;
}

enum pp_status pp_exec_kernels(const struct pp_request *request, struct pp_exec_config *config,
                               struct pp_error *err)
{
    const bool is_double = pp_request_int(request, "precision", 0);

    config->precision = is_double ? "double" : "fp32";
    if (config->cuda && is_double)
        return pp_error_set(err, PP_EINVAL,
                            "--precision double: backend cuda has fp32; backend cpu has both");
    config->kernels = config->cuda ? config->cuda->fp32
                      : is_double  ? &pp_kernels_reference
                                   : pp_kernels_fp32(config->recipe.is_exact);
    return PP_OK;
}
