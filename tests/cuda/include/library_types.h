/* tests/cuda/include/library_types.h — element types of CUDA's libraries: those that are emulated.
 */
#ifndef PP_EMULATED_LIBRARY_TYPES_H
#define PP_EMULATED_LIBRARY_TYPES_H

typedef enum cudaDataType_t {
    CUDA_R_32F = 0,
    CUDA_R_16BF = 14,
} cudaDataType_t;
typedef cudaDataType_t cudaDataType;

#endif
