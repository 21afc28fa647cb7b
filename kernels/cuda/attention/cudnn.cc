/* Graphs of cuDNN, made by its front end: plans by shape, and their execution. */
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include "kernels/cuda/attention/cudnn.h"

#include <array>
#include <cmath>
#include <map>
#include <mutex>

namespace fe = cudnn_frontend;
void *fe::cudnn_dlhandle = nullptr; /* the library, for the front end */

namespace
{
constexpr size_t MOST_WORKSPACE_BYTES = (size_t)4 << 30;

/* Identities of a graph's tensors. */
enum : int64_t { Q = 1, K, V, OUT, LSE, D_OUT, D_Q, D_K, D_V };
using tensors = std::unordered_map<int64_t, void *>;

using shape = std::array<int, 6>;
shape shape_of(const struct pp_attention *a, bool is_backward)
{
    return {a->batch, a->heads, a->kv_heads, a->tokens, a->head_dim, is_backward};
}

struct plan {
    std::shared_ptr<fe::graph::Graph> graph; /* empty: refused */
    void *workspace = nullptr;
};
} // namespace

struct pp_cudnn {
    cudnnHandle_t handle = nullptr;
    cudaStream_t stream = nullptr; /* of the handle */
    std::map<shape, plan> plans;
    std::vector<void *> memory; /* kept until the end: graphs of CUDA may have its addresses */
    size_t last_bytes = 0;      /* of the last in `memory` */
};

namespace
{
/* ---- reports --------------------------------------------------------------------------------- */

struct {
    std::mutex lock;
    std::string version, refusal; /* empty: not loaded; none, else the first */
    bool has_served = false;
} process;

/* Says no, and keeps the first reason in one line. */
bool refuse(const std::string &why)
{
    const std::lock_guard<std::mutex> guard(process.lock);

    if (!process.refusal.empty())
        return false;
    for (const char c : why.substr(0, 300))
        process.refusal += (unsigned char)c < ' ' ? ' ' : c;
    return false;
}

bool refuse(const std::string &what, fe::error_t error)
{
    return refuse(what + ": " + error.get_message() + " " + fe::detail::get_last_error_string_());
}

std::string name_of(const struct pp_attention *a, bool is_backward)
{
    return std::to_string(a->batch) + " x " + std::to_string(a->tokens) + " tokens, " +
           std::to_string(a->heads) + " heads of " + std::to_string(a->head_dim) +
           (is_backward ? ", backward" : "");
}

/* ---- graphs ---------------------------------------------------------------------------------- */

using tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/* Sets a tensor [batch][heads][tokens][head_dim], of which a token has `width` elements. */
void place(const tensor &t, const struct pp_attention *a, int64_t uid, int64_t heads, int64_t width)
{
    t->set_uid(uid)
        .set_dim({a->batch, heads, a->tokens, a->head_dim})
        .set_stride({a->tokens * width, a->head_dim, width, 1});
}

void place_lse(const tensor &t, const struct pp_attention *a)
{
    const int64_t tokens = a->tokens;

    t->set_uid(LSE)
        .set_dim({a->batch, a->heads, tokens, 1})
        .set_stride({a->heads * tokens, tokens, 1, 1})
        .set_data_type(fe::DataType_t::FLOAT);
}

/* Options that forward and backward share. */
template <typename Options> Options options_of(const struct pp_attention *a)
{
    Options options;

    options.set_name("attention");
    options.set_attn_scale((float)(1 / std::sqrt((double)a->head_dim)));
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT);
    options.set_diagonal_band_right_bound(0);
    return options;
}

std::shared_ptr<fe::graph::Graph> graph_of(const struct pp_attention *a, bool is_backward)
{
    const int64_t out = (int64_t)a->heads * a->head_dim;
    const int64_t width = out + 2 * (int64_t)a->kv_heads * a->head_dim;
    const auto graph = std::make_shared<fe::graph::Graph>();
    const auto input = [&](int64_t uid, int64_t heads, int64_t token) {
        const tensor t = graph->tensor(fe::graph::Tensor_attributes());
        place(t, a, uid, heads, token);
        return t;
    };

    graph->set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    const tensor q = input(Q, a->heads, width), k = input(K, a->kv_heads, width),
                 v = input(V, a->kv_heads, width);
    if (!is_backward) {
        auto options = options_of<fe::graph::SDPA_attributes>(a);
        options.set_generate_stats(true);
        auto [o, lse] = graph->sdpa(q, k, v, options);
        place(o, a, OUT, a->heads, out);
        place_lse(lse, a);
        o->set_output(true);
        lse->set_output(true);
        return graph;
    }
    const tensor o = input(OUT, a->heads, out), d_o = input(D_OUT, a->heads, out);
    const tensor lse = graph->tensor(fe::graph::Tensor_attributes());
    place_lse(lse, a);
    auto options = options_of<fe::graph::SDPA_backward_attributes>(a);
    options.set_deterministic_algorithm(true);
    auto [d_q, d_k, d_v] = graph->sdpa_backward(q, k, v, o, d_o, lse, options);
    place(d_q, a, D_Q, a->heads, width);
    place(d_k, a, D_K, a->kv_heads, width);
    place(d_v, a, D_V, a->kv_heads, width);
    for (const tensor &t : {d_q, d_k, d_v})
        t->set_output(true);
    return graph;
}

tensors tensors_of(const struct pp_attention *a, bool is_backward)
{
    const size_t element = 2, query = element * (size_t)a->heads * (size_t)a->head_dim,
                 key = element * (size_t)a->kv_heads * (size_t)a->head_dim;
    const auto part = [](const void *x, size_t bytes) { return (void *)((char *)x + bytes); };
    tensors t = {{Q, part(a->qkv[0], 0)},
                 {K, part(a->qkv[0], query)},
                 {V, part(a->qkv[0], query + key)},
                 {OUT, a->out},
                 {LSE, a->lse}};

    if (is_backward) {
        t[D_OUT] = part(a->dout, 0);
        t[D_Q] = a->dqkv[0];
        t[D_K] = part(a->dqkv[0], query);
        t[D_V] = part(a->dqkv[0], query + key);
    }
    return t;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Memory for a plan of this stream, which runs one at a time; NULL: there is not enough. */
void *workspace_of(struct pp_cudnn *c, const struct pp_cuda_stream *stream, size_t bytes)
{
    void *memory = nullptr;

    if (bytes <= stream->workspace_bytes)
        return stream->workspace;
    if (bytes <= c->last_bytes)
        return c->memory.back();
    if (bytes > MOST_WORKSPACE_BYTES || cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError();
        return nullptr;
    }
    c->memory.push_back(memory);
    c->last_bytes = bytes;
    return memory;
}

bool make_plan(struct pp_cudnn *c, const struct pp_cuda_stream *stream,
               const struct pp_attention *a, bool is_backward, struct plan *plan)
{
    const auto graph = graph_of(a, is_backward);
    int64_t bytes = 0;

    if (const fe::error_t e = graph->build(c->handle, {fe::HeurMode_t::A}); e.is_bad())
        return refuse(name_of(a, is_backward), e);
    if (const fe::error_t e = graph->get_workspace_size(bytes); e.is_bad())
        return refuse(name_of(a, is_backward), e);
    plan->workspace = workspace_of(c, stream, (size_t)bytes);
    if (bytes > 0 && !plan->workspace)
        return refuse(name_of(a, is_backward) + ": no memory for a workspace of " +
                      std::to_string(bytes >> 20) + " MiB");
    plan->graph = graph;
    return true;
}

bool open_handle(struct pp_cudnn *c, const struct pp_cuda_stream *stream)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (!c->handle)
        status = fe::detail::create_handle(&c->handle);
    if (status == CUDNN_STATUS_SUCCESS && c->stream != stream->stream) {
        status = fe::detail::set_stream(c->handle, stream->stream);
        c->stream = stream->stream;
    }
    return status == CUDNN_STATUS_SUCCESS ||
           refuse(std::string("a handle: ") + fe::detail::get_error_string(status));
}

/* While this lives, captures of other threads and of this stream hinder no call of this thread. */
struct relaxed {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

    relaxed()
    {
        cudaThreadExchangeStreamCaptureMode(&mode);
    }
    ~relaxed()
    {
        cudaThreadExchangeStreamCaptureMode(&mode);
    } /* a plan may throw */
    relaxed(const relaxed &) = delete;
};

bool compute(const struct pp_cuda_stream *stream, const struct pp_attention *a, bool is_backward)
{
    struct pp_cudnn *c = stream->cudnn;
    const auto [at, is_new] = c->plans.try_emplace(shape_of(a, is_backward));
    struct plan &plan = at->second;

    if (is_new) {
        const relaxed captures;
        if (open_handle(c, stream))
            make_plan(c, stream, a, is_backward, &plan);
    }
    if (!plan.graph)
        return false;
    tensors t = tensors_of(a, is_backward);
    const fe::error_t e = plan.graph->execute(c->handle, t, plan.workspace);
    if (e.is_good())
        return true;
    plan.graph.reset();
    return refuse(name_of(a, is_backward), e);
}

/* ---- the library ----------------------------------------------------------------------------- */

bool load()
{
    const char *given = getenv("PIPEEXEC_CUDNN_LIBRARY");
    const std::string file = given && *given ? given : "libcudnn.so.9",
                      nvrtc = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);

    dlopen(nvrtc.c_str(), RTLD_NOW); /* cuDNN needs it, and may not find it by itself */
    fe::cudnn_dlhandle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!fe::cudnn_dlhandle)
        return refuse(std::string("cannot load cuDNN: ") + dlerror());
    if (!dlsym(fe::cudnn_dlhandle, "cudnnBackendExecute"))
        return refuse(file + " is no cuDNN");
    const size_t v = fe::detail::get_backend_version();
    const std::lock_guard<std::mutex> guard(process.lock);
    process.version = std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
                      std::to_string(v % 100);
    return true;
}

/* Runs a call that may throw: the front end throws where the library has no such function. */
template <typename Call> bool safely(const Call &call)
{
    try {
        return call();
    } catch (const std::exception &e) {
        return refuse(e.what());
    }
}

template <bool IS_BACKWARD>
bool call(const struct pp_cuda_stream *stream, const struct pp_attention *a)
{
    return safely([&] { return compute(stream, a, IS_BACKWARD); });
}

bool check(pp_cudnn_call *computes, bool is_backward, const struct pp_cuda_stream *stream,
           const struct pp_attention *a)
{
    const char *differs = pp_cudnn_check(computes, is_backward, stream, a);

    return !differs || refuse(differs);
}

/* Loaded and checked once for the process. */
bool is_right(const struct pp_cuda_stream *stream, const struct pp_attention *a, bool is_backward)
{
    static const bool is_loaded = safely(load);
    if (!is_loaded)
        return false;
    if (is_backward) {
        static const bool is = check(call<true>, true, stream, a);
        return is;
    }
    static const bool is = check(call<false>, false, stream, a);
    return is;
}

bool is_for_cudnn(const struct pp_attention *a, bool is_backward)
{
    if (a->split > 0 || (is_backward && a->add))
        return refuse("sequences are split");
    if (a->window > 0)
        return refuse("windows of attention");
    if (a->is_full)
        return refuse("attention of an encoder");
    return a->head_dim == 64 || a->head_dim == 128 ||
           refuse("heads of " + std::to_string(a->head_dim));
}
} // namespace

/* ---- interface ------------------------------------------------------------------------------- */

struct pp_cudnn *pp_cudnn_create(void)
{
    const std::string runtime = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);

    setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", runtime.c_str(), 0); /* not another one that is here */
    return new (std::nothrow) pp_cudnn;
}

void pp_cudnn_destroy(struct pp_cudnn *c)
{
    if (!c)
        return;
    c->plans.clear();
    if (c->handle)
        fe::detail::destroy_handle(c->handle);
    for (void *memory : c->memory)
        cudaFree(memory);
    delete c;
}

bool pp_cudnn_attention(const struct pp_cuda_stream *stream, const struct pp_attention *a,
                        bool is_backward)
{
    if (!stream->cudnn || !is_for_cudnn(a, is_backward) || !is_right(stream, a, is_backward) ||
        !(is_backward ? call<true> : call<false>)(stream, a))
        return false;
    const std::lock_guard<std::mutex> guard(process.lock);
    process.has_served = true;
    return true;
}

const char *pp_cudnn_about(void)
{
    static thread_local std::string text;
    const std::lock_guard<std::mutex> guard(process.lock);
    const std::string cudnn = process.version.empty() ? "" : "cuDNN " + process.version;

    if (process.has_served)
        text =
            process.refusal.empty() ? cudnn : cudnn + ", own where it refuses: " + process.refusal;
    else if (process.refusal.empty())
        text = "own";
    else
        text = "own (" + (cudnn.empty() ? "" : cudnn + ": ") + process.refusal + ")";
    return text.c_str();
}
