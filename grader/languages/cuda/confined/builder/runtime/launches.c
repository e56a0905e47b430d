// Kernels and variables of the submission's modules, and launches.
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SYMBOLS = 4096, MOST_NESTED = 8 };
typedef struct {
    const void *host;
    int kernel;
    u64 most_shared;
} Function;
static Function functions[MOST_SYMBOLS];
static Variable variables[MOST_SYMBOLS];
static int function_count, variable_count;

// Functions that the object made by nvcc calls when it is loaded
static void *fat_binary[1];
void **__cudaRegisterFatBinary(void *image) { return fat_binary; }
void __cudaRegisterFatBinaryEnd(void **handle) {}
void __cudaUnregisterFatBinary(void **handle) {}
char __cudaInitModule(void **handle) { return 1; }

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *thread,
                            uint3 *block, dim3 *block_size, dim3 *grid_size, int *size) {
    int kernel = -1;
    for (uint32_t i = 0; i < rec_settings->kernel_count; i++)
        if (!strcmp(rec_settings->kernels[i].symbol, name)) kernel = i;
    if (function_count < MOST_SYMBOLS) functions[function_count++] = (Function){.host = host, .kernel = kernel};
}

static void add_variable(const void *host, const char *name, u64 bytes, int managed) {
    if (variable_count < MOST_SYMBOLS)
        variables[variable_count++] = (Variable){.host = host, .name = name, .bytes = bytes, .managed = managed};
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global) {
    add_variable(host, name, bytes, 0);
}
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
                              int constant, int global) {
    add_variable(host, name, bytes, 1);
}

static Function *function_of(const void *host) {
    for (int i = 0; i < function_count; i++)
        if (functions[i].host == host) return &functions[i];
    return 0;
}

const Kernel *rec_kernel(const void *host, int *index) {
    Function *one = function_of(host);
    if (!one || one->kernel < 0) return 0;
    *index = one->kernel;
    return &rec_settings->kernels[one->kernel];
}

// Return a variable of a module, which gets an address at its first use; 0 if there is none of this name.
Variable *rec_variable(const void *host) {
    for (int i = 0; i < variable_count; i++) {
        Variable *one = &variables[i];
        if (one->host != host) continue;
        if (one->managed)
            rec_refuse(READ_VALUES, "__managed__",
                       "host code could read what a kernel writes to a __managed__ variable: "
                       "declare it __device__");
        if (!one->address) {
            Buffer *made = rec_take(DEVICE, one->bytes, -1);
            if (!made) return 0;
            one->address = made->base;
            EMIT(VARIABLE, one->name, strlen(one->name), one->address);
        }
        return one;
    }
    return 0;
}

// Launches
typedef struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    Frames frames;
} Configuration;
static __thread Configuration pushed[MOST_NESTED];
static __thread int pushed_count;
// The place of a launch in <<<…>>>: the runtime is called by a function that nvcc adds, on the kernel's own line.
static __thread Frames launching;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    if (pushed_count == MOST_NESTED) return 1;
    pushed[pushed_count++] = (Configuration){grid, block, shared, stream, rec_frames()};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!pushed_count) return cudaErrorMissingConfiguration;
    const Configuration *one = &pushed[--pushed_count];
    *grid = one->grid;
    *block = one->block;
    *shared = one->shared;
    *(cudaStream_t *)stream = one->stream;
    launching = one->frames;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    *kernel = (cudaKernel_t)host;
    return cudaSuccess;
}
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) { return __cudaGetKernel(kernel, host); }
SUCCEEDS(cudaGetFuncBySymbol(cudaFunction_t *function, const void *host), *function = (cudaFunction_t)host)

static cudaError_t refused_by_device(int kernel, const Frames *frames, dim3 grid, dim3 block, size_t shared, u64 most) {
    const Device *device = &rec_settings->device;
    u64 number = 1 + kernel, threads = (u64)block.x * block.y * block.z;
    u64 own = rec_settings->kernels[kernel].shared;
    if (!threads || threads > 1024)
        return rec_error(cudaErrorInvalidConfiguration, number, frames,
                         "the launch fails: a block has 1 to 1024 threads, "
                         "this one has %llu",
                         (unsigned long long)threads);
    if (threads > rec_settings->kernels[kernel].most_threads)
        return rec_error(cudaErrorInvalidValue, number, frames,
                         "the launch fails: __launch_bounds__ of this kernel allows "
                         "blocks of %llu threads, this one has %llu",
                         (unsigned long long)rec_settings->kernels[kernel].most_threads, (unsigned long long)threads);
    if (block.x > 1024 || block.y > 1024 || block.z > 64)
        return rec_error(cudaErrorInvalidConfiguration, number, frames,
                         "the launch fails: a block has at most 64 threads "
                         "along z, this one has %u",
                         block.z);
    if (!grid.x || !grid.y || !grid.z)
        return rec_error(cudaErrorInvalidConfiguration, number, frames,
                         "the launch fails: a grid has at least one block, "
                         "this one is %u x %u x %u",
                         grid.x, grid.y, grid.z);
    if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
        return rec_error(cudaErrorInvalidConfiguration, number, frames,
                         "the launch fails: a grid has at most 2147483647 "
                         "blocks along x and 65535 along y and z, this one is %u x %u x %u",
                         grid.x, grid.y, grid.z);
    if (own + shared > device->shared_per_block && (!shared || shared > most))
        return rec_error(cudaErrorInvalidValue, number, frames,
                         "the launch fails: a block has %llu bytes of shared memory "
                         "unless cudaFuncSetAttribute asks for more, this one takes %llu",
                         (unsigned long long)device->shared_per_block, (unsigned long long)(own + shared));
    return cudaSuccess;
}

// Record what host code has written to the pinned memory that a kernel may read.
static void put_down_pinned(const unsigned char *bytes, uint32_t count) {
    for (uint32_t at = 0; at + 8 <= count; at += 8) {
        u64 word;
        memcpy(&word, bytes + at, 8);
        Buffer *one = word ? rec_find(word) : 0;
        if (one && one->place == PINNED && !one->freed) rec_put_down(one);
    }
}

cudaError_t rec_launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream,
                       int cooperative) {
    Frames frames = launching.count ? launching : rec_frames();
    launching.count = 0;
    int index = -1;
    const Kernel *kernel = rec_kernel(host, &index);
    Function *function = function_of(host);
    if (!kernel) return rec_error(cudaErrorInvalidDeviceFunction, 0, &frames, "the launch fails: this is no kernel");
    cudaError_t wrong = refused_by_device(index, &frames, grid, block, shared, function->most_shared);
    if (wrong) return wrong;
    u64 bytes = 0;
    for (uint32_t i = 0; i < kernel->count; i++) bytes += kernel->sizes[i];
    unsigned char *values = malloc(bytes + 8), *next = values;
    rec_lock();
    for (uint32_t i = 0; i < kernel->count; next += kernel->sizes[i++]) {
        if (!arguments || !arguments[i]) rec_fail(EXCEPTION, "a launch has fewer arguments than its kernel");
        memcpy(next, arguments[i], kernel->sizes[i]);
        put_down_pinned(next, kernel->sizes[i]);
    }
    const u64 numbers[] = {index,   grid.x, grid.y,      grid.z,            block.x, block.y,
                           block.z, shared, cooperative, rec_number(stream)};
    rec_emit_at(LAUNCH, &frames, numbers, sizeof numbers / sizeof *numbers, values, bytes);
    rec_unlock();
    free(values);
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream) {
    return rec_launch(kernel, grid, block, arguments, shared, stream, 0);
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream) {
    return rec_launch(kernel, grid, block, arguments, shared, stream ? stream : cudaStreamPerThread, 0);
}
cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    return rec_launch(host, grid, block, arguments, shared, stream, 0);
}
cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream) {
    return rec_launch(host, grid, block, arguments, shared, stream, 1);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *host, void **arguments) {
    int cooperative = 0;
    for (unsigned i = 0; i < configuration->numAttrs; i++) {
        const cudaLaunchAttribute *one = &configuration->attrs[i];
        if (one->id == cudaLaunchAttributeCooperative) cooperative = one->val.cooperative != 0;
        else if (one->id == cudaLaunchAttributeClusterDimension) {
            if (one->val.clusterDim.x * one->val.clusterDim.y * one->val.clusterDim.z > 1)
                rec_refuse(OPTION, "cudaLaunchAttributeClusterDimension",
                           "clusters of blocks are not planned: launch without");
            // The launch may begin before the last has ended, but need not: in a plan it begins after that.
        } else if (one->id != cudaLaunchAttributeIgnore && one->id != cudaLaunchAttributePriority &&
                   one->id != cudaLaunchAttributeProgrammaticStreamSerialization)
            rec_refuse(OPTION, "cudaLaunchKernelEx", "launch attribute %d is not planned: launch without", one->id);
    }
    return rec_launch(host, configuration->gridDim, configuration->blockDim, arguments, configuration->dynamicSmemBytes,
                      configuration->stream, cooperative);
}

// Attributes of kernels
cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value) {
    int index;
    const Kernel *kernel = rec_kernel(host, &index);
    if (!kernel) return rec_error(cudaErrorInvalidDeviceFunction, 0, 0, "cudaFuncSetAttribute: this is no kernel");
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value + kernel->shared > rec_settings->device.shared_per_block_optin)
        return rec_error(cudaErrorInvalidValue, 1 + index, 0,
                         "cudaFuncSetAttribute: a block has at most %llu bytes of "
                         "shared memory, %d are asked for",
                         (unsigned long long)rec_settings->device.shared_per_block_optin, value);
    function_of(host)->most_shared = value;
    return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache preferred) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host) {
    int index;
    const Kernel *kernel = rec_kernel(host, &index);
    if (!kernel) return rec_error(cudaErrorInvalidDeviceFunction, 0, 0, "cudaFuncGetAttributes: this is no kernel");
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = kernel->registers ? kernel->registers : 32;
    attributes->sharedSizeBytes = kernel->shared;
    attributes->binaryVersion = attributes->ptxVersion =
        (int)(10 * rec_settings->device.major + rec_settings->device.minor);
    u64 most = function_of(host)->most_shared;
    attributes->maxDynamicSharedSizeBytes =
        most ? (int)most : (int)(rec_settings->device.shared_per_block - kernel->shared);
    EMIT(ASKED, 0, 0, index);
    return cudaSuccess;
}
