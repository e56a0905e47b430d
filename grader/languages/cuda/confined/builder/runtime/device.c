// Answers to what host code asks about its machine: those of the device that is planned for.
#include "recorder.h"
#include <string.h>

enum { STACK_BYTES = 1024 };

static cudaError_t no_such_device(int device) {
    return rec_error(cudaErrorInvalidDevice, 0, 0, "there is one GPU, number 0; this asks for number %d", device);
}
SUCCEEDS(cudaGetDevice(int *device), *device = 0)
cudaError_t cudaSetDevice(int device) { return device ? no_such_device(device) : cudaSuccess; }
SUCCEEDS(cudaGetDeviceCount(int *count), *count = 1)
SUCCEEDS(cudaGetDeviceFlags(unsigned *flags), *flags = 0)
SUCCEEDS(cudaDeviceCanAccessPeer(int *can, int device, int peer), *can = 0)
SUCCEEDS(cudaRuntimeGetVersion(int *version), *version = CUDART_VERSION)
SUCCEEDS(cudaDriverGetVersion(int *version), *version = CUDART_VERSION)
SUCCEEDS(cudaDeviceGetLimit(size_t *value, enum cudaLimit limit),
         *value = limit == cudaLimitStackSize ? STACK_BYTES : limit == cudaLimitMallocHeapSize ? 8 << 20 : 1 << 20)
// The grader launches with CUDA's own limits. A kernel that needs a larger stack than theirs cannot be planned.
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    if (limit == cudaLimitStackSize && value > STACK_BYTES)
        rec_fail(UNSUPPORTED,
                 "this asks for a stack of %zu bytes, and each thread has %d here: write a loop in place of the "
                 "recursion",
                 value, STACK_BYTES);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *found, int number) {
    if (number) return no_such_device(number);
    const Device *device = &rec_settings->device;
    memset(found, 0, sizeof *found);
    strncpy(found->name, device->name, sizeof found->name - 1);
    found->totalGlobalMem = device->memory;
    found->sharedMemPerBlock = device->shared_per_block;
    found->sharedMemPerBlockOptin = device->shared_per_block_optin;
    found->sharedMemPerMultiprocessor = device->shared_per_processor;
    found->reservedSharedMemPerBlock = device->reserved_shared;
    found->regsPerBlock = found->regsPerMultiprocessor = (int)device->registers_per_processor;
    found->warpSize = 32;
    found->memPitch = 0x7fffffff;
    found->maxThreadsPerBlock = 1024;
    found->maxThreadsDim[0] = found->maxThreadsDim[1] = 1024;
    found->maxThreadsDim[2] = 64;
    found->maxGridSize[0] = 0x7fffffff;
    found->maxGridSize[1] = found->maxGridSize[2] = 65535;
    found->totalConstMem = 65536;
    found->major = (int)device->major;
    found->minor = (int)device->minor;
    found->multiProcessorCount = (int)device->processors;
    found->maxThreadsPerMultiProcessor = (int)device->threads_per_processor;
    found->maxBlocksPerMultiProcessor = (int)device->blocks_per_processor;
    found->l2CacheSize = (int)device->l2;
    found->memoryBusWidth = (int)device->bus_width;
    found->concurrentKernels = found->unifiedAddressing = found->canMapHostMemory = found->cooperativeLaunch = 1;
    found->streamPrioritiesSupported = found->globalL1CacheSupported = found->localL1CacheSupported = 1;
    found->memoryPoolsSupported = 1;
    found->asyncEngineCount = 3;
    return cudaSuccess;
}

static int64_t attribute_of(const Device *device, enum cudaDeviceAttr attribute) {
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: return 1024;
        case cudaDevAttrMaxBlockDimZ: return 64;
        case cudaDevAttrMaxGridDimX: return 0x7fffffff;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: return 65535;
        case cudaDevAttrMaxSharedMemoryPerBlock: return device->shared_per_block;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: return device->shared_per_block_optin;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return device->shared_per_processor;
        case cudaDevAttrReservedSharedMemoryPerBlock: return device->reserved_shared;
        case cudaDevAttrTotalConstantMemory: return 65536;
        case cudaDevAttrWarpSize: return 32;
        case cudaDevAttrMaxPitch: return 0x7fffffff;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor: return device->registers_per_processor;
        case cudaDevAttrClockRate: return device->clock_khz;
        case cudaDevAttrMemoryClockRate: return device->memory_clock_khz;
        case cudaDevAttrGlobalMemoryBusWidth: return device->bus_width;
        case cudaDevAttrMultiProcessorCount: return device->processors;
        case cudaDevAttrL2CacheSize: return device->l2;
        case cudaDevAttrMaxThreadsPerMultiProcessor: return device->threads_per_processor;
        case cudaDevAttrMaxBlocksPerMultiprocessor: return device->blocks_per_processor;
        case cudaDevAttrComputeCapabilityMajor: return device->major;
        case cudaDevAttrComputeCapabilityMinor: return device->minor;
        case cudaDevAttrAsyncEngineCount: return 3;
        case cudaDevAttrTextureAlignment:
        case cudaDevAttrMaxSurface1DWidth: return 512;
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrMemoryPoolsSupported:
        case cudaDevAttrGpuOverlap:
        case cudaDevAttrStreamPrioritiesSupported:
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported: return 1;
        case cudaDevAttrIntegrated:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrPageableMemoryAccess:
        case cudaDevAttrKernelExecTimeout:
        case cudaDevAttrEccEnabled:
        case cudaDevAttrComputeMode:
        case cudaDevAttrMultiGpuBoardGroupID:
        case cudaDevAttrIsMultiGpuBoard:
        case cudaDevAttrTccDriver: return 0;
        default: return -1;
    }
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number) {
    if (number) return no_such_device(number);
    int64_t found = attribute_of(&rec_settings->device, attribute);
    if (found < 0)
        rec_refuse(OTHER, "cudaDeviceGetAttribute", "attribute %d has no answer here: do without", attribute);
    *value = (int)found;
    return cudaSuccess;
}

// Occupancy: blocks of a kernel that a multiprocessor holds, as grader/plan/device.py counts them
static u64 smaller(u64 one, u64 other) { return one < other ? one : other; }

static u64 occupancy(const Kernel *kernel, u64 threads, u64 shared) {
    const Device *device = &rec_settings->device;
    u64 unit = device->register_unit ? device->register_unit : 1;
    u64 registers = kernel->registers ? kernel->registers : 32;
    if (!threads || threads > 1024) return 0;
    u64 most = smaller(device->blocks_per_processor, device->threads_per_processor / threads);
    most = smaller(most, device->registers_per_processor / ((registers + unit - 1) / unit * unit * threads));
    return smaller(most, device->shared_per_processor / (shared + kernel->shared + device->reserved_shared));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
                                                                   size_t shared, unsigned flags) {
    int index;
    const Kernel *kernel = rec_kernel(host, &index);
    if (!kernel)
        return rec_error(cudaErrorInvalidDeviceFunction, 0, 0, "an occupancy is asked for of what is no kernel");
    *blocks = threads > 0 ? (int)occupancy(kernel, threads, shared) : 0;
    EMIT(ASKED, 0, 0, index);
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads) {
    const Device *device = &rec_settings->device;
    u64 each = blocks > 0 ? device->shared_per_processor / blocks : 0;
    *bytes =
        each > device->reserved_shared ? smaller(each - device->reserved_shared, device->shared_per_block_optin) : 0;
    return cudaSuccess;
}

// Errors
cudaError_t cudaGetLastError(void) {
    cudaError_t error = rec_last_error;
    rec_last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError(void) { return rec_last_error; }
const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInvalidConfiguration: return "invalid configuration argument";
        case cudaErrorInvalidPitchValue: return "invalid pitch argument";
        case cudaErrorInvalidSymbol: return "invalid device symbol";
        case cudaErrorInvalidDevice: return "invalid device ordinal";
        case cudaErrorInvalidDeviceFunction: return "invalid device function";
        default: return "an error of CUDA";
    }
}
const char *cudaGetErrorName(cudaError_t error) { return error ? "cudaError" : "cudaSuccess"; }
