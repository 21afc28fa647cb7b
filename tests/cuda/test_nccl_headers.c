/* Compiled against the stub's header of NCCL, and against NVIDIA's where there is one. Both declare
 * all names in use here with the same types and values. */
#include <nccl.h>

#include <stddef.h>

#define SAME(result, name, ...)                                                                    \
    extern result (*const same_##name)(__VA_ARGS__);                                               \
    result (*const same_##name)(__VA_ARGS__) = name
#define IS(name, value)  _Static_assert((name) == (value), #name)
#define AT(field, bytes) _Static_assert(offsetof(ncclConfig_t, field) == (bytes), #field)

/* clang-format off */
SAME(ncclResult_t, ncclGetVersion, int *);
SAME(ncclResult_t, ncclGetUniqueId, ncclUniqueId *);
SAME(ncclResult_t, ncclCommInitRankConfig, ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *);
SAME(ncclResult_t, ncclCommInitRank, ncclComm_t *, int, ncclUniqueId, int);
SAME(ncclResult_t, ncclCommFinalize, ncclComm_t);
SAME(ncclResult_t, ncclCommDestroy, ncclComm_t);
SAME(ncclResult_t, ncclCommAbort, ncclComm_t);
SAME(ncclResult_t, ncclCommGetAsyncError, ncclComm_t, ncclResult_t *);
SAME(const char *, ncclGetErrorString, ncclResult_t);
SAME(const char *, ncclGetLastError, ncclComm_t);
SAME(ncclResult_t, ncclGroupStart, void);
SAME(ncclResult_t, ncclGroupEnd, void);
SAME(ncclResult_t, ncclSend, const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclRecv, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclAllReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclBroadcast, const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclReduceScatter, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
SAME(ncclResult_t, ncclAllGather, const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);

IS(ncclSuccess, 0);
IS(ncclUnhandledCudaError, 1);
IS(ncclSystemError, 2);
IS(ncclInternalError, 3);
IS(ncclInvalidArgument, 4);
IS(ncclInvalidUsage, 5);
IS(ncclRemoteError, 6);
IS(ncclInProgress, 7);
IS(ncclSum, 0);
IS(ncclInt8, 0);
IS(ncclUint8, 1);
IS(ncclInt64, 4);
IS(ncclFloat32, 7);
IS(ncclFloat64, 8);
IS(ncclBfloat16, 9);
IS(sizeof(ncclUniqueId), 128);
IS(NCCL_VERSION(2, 8, 4), 2804);
IS(NCCL_VERSION(2, 18, 3), 21803);

AT(size, 0);
AT(magic, 8);
AT(version, 12);
AT(blocking, 16);
AT(cgaClusterSize, 20);
AT(minCTAs, 24);
AT(maxCTAs, 28);
AT(netName, 32);
AT(splitShare, 40);
AT(trafficClass, 44);
AT(commName, 48);
