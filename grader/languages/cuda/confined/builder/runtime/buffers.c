// Buffers: device memory is a range of addresses that is never mapped; host memory is pages whose writes are detected.
#include "recorder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

Buffer *rec_buffers;
int rec_buffer_count, rec_call_number = -1;

enum { MOST = 1 << 14, LARGE = 64 << 20, BEHIND = 1 << 18 };
// Far from the addresses of programs, libraries, stacks and heaps on Linux. The low half is large, so that a small
// number beside the high half of an old pointer, as in a structure's padding, does not look like an address.
static u64 next_address = 0x200080000000ull;
static const u64 GAP = 2ull << 20;
static u64 device_bytes;

// Return the newest buffer that holds an address or ends right before it; 0 if there is none.
Buffer *rec_find(u64 address) {
    for (int i = rec_buffer_count - 1; i >= 0; i--) {
        Buffer *one = &rec_buffers[i];
        u64 room = one->place == DEVICE ? one->bytes + GAP / 2 : one->bytes + !one->bytes;
        if (address - one->base < room && !(one->freed && one->place != DEVICE)) return one;
    }
    return 0;
}

static u64 whole_pages(u64 bytes) { return (bytes + PAGE - 1) & -(u64)PAGE; }

static u64 extent(u64 bytes) { return whole_pages(bytes + !bytes) + BEHIND; }

// Guard pages follow each buffer, so that an access past its end is detected.
static u64 map(u64 bytes, int protection) {
    void *made = mmap(0, extent(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return 0;
    if (protection != PROT_NONE) mprotect(made, extent(bytes) - BEHIND, protection);
    return (u64)made;
}

// Return the host buffer whose guard pages hold an address.
Buffer *rec_behind(u64 address) {
    for (int i = rec_buffer_count - 1; i >= 0; i--) {
        Buffer *one = &rec_buffers[i];
        if (one->place != DEVICE && !one->freed && address - one->base < extent(one->bytes)) return one;
    }
    return 0;
}

// Allocate memory and record it. Returns 0 if there is none.
Buffer *rec_take(enum place place, u64 bytes, int given) {
    rec_lock();
    if (!rec_buffers) {
        void *made = mmap(0, MOST * sizeof(Buffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) rec_fail(OUT_OF_MEMORY, "there is no memory left to plan in");
        rec_buffers = made;
    }
    if (rec_buffer_count == MOST) rec_fail(TOO_LARGE, "host code allocates more than %d times: allocate once", MOST);
    u64 base = next_address;
    if (place == DEVICE) {
        if (bytes > rec_settings->device.memory || device_bytes + bytes > rec_settings->device.memory)
            return rec_unlock(), (Buffer *)0;
        device_bytes += bytes;
        next_address += ((bytes + GAP - 1) & -GAP) + GAP;
    } else base = map(bytes, given < 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
    if (!base) return rec_unlock(), (Buffer *)0;
    Buffer *made = &rec_buffers[rec_buffer_count++];
    *made = (Buffer){.base = base, .bytes = bytes, .place = place, .given = given, .call = rec_call_number, .dirty = 1};
    EMIT(BUFFER, 0, 0, base, bytes, place, given + 1);
    rec_unlock();
    return made;
}

const char *rec_name(const Buffer *buffer) { return buffer->given < 0 ? "" : rec_settings->given[buffer->given]; }

// Record what host code has written to pinned memory since the last record of it; all of it at first, or if it is
// large.
void rec_put_down(Buffer *buffer) {
    rec_lock();
    if (buffer->place == PINNED && buffer->given < 0 && buffer->dirty && buffer->bytes) {
        const unsigned char *now = (const unsigned char *)buffer->base;
        for (u64 at = buffer->bytes; at < whole_pages(buffer->bytes); at++)
            if (now[at]) rec_fail(EXCEPTION, WRITES_PAST, (unsigned long long)buffer->bytes);
        u64 low = 0, high = buffer->bytes;
        if (buffer->shadow) {
            while (low < high && now[low] == buffer->shadow[low]) low++;
            while (high > low && now[high - 1] == buffer->shadow[high - 1]) high--;
            low &= ~3ull;
            high = high + 3 > buffer->bytes ? buffer->bytes : (high + 3) & ~3ull;
        } else if (buffer->bytes <= LARGE) buffer->shadow = malloc(buffer->bytes);
        const u64 numbers[] = {buffer->base, low};
        if (low < high) rec_emit_packed(CONTENTS, numbers, 2, now + low, high - low);
        if (buffer->shadow) memcpy(buffer->shadow + low, now + low, high - low);
        buffer->dirty = 0;
        mprotect((void *)buffer->base, whole_pages(buffer->bytes), PROT_READ);
    }
    rec_unlock();
}

// Allocate a parameter's memory for the next call. `place` is that of `Buffer`; an output in host memory has no pages.
EXPORTED u64 rec_given(int index, u64 bytes, int place, int output) {
    Buffer *made = rec_take(place, bytes, index);
    if (!made) rec_fail(OUT_OF_MEMORY, "there is no memory for `%s`", rec_settings->given[index]);
    if (place != DEVICE && !output) rec_give_tokens(made);
    return made->base;
}

EXPORTED void rec_call(int number) {
    // A parameter's memory belongs to one call: that of an earlier call is freed.
    for (int i = 0; i < rec_buffer_count; i++) {
        Buffer *one = &rec_buffers[i];
        if (one->given < 0 || one->call == number || one->freed) continue;
        one->freed = 1;
        if (one->place != DEVICE) munmap((void *)one->base, extent(one->bytes));
        else device_bytes -= one->bytes;
    }
    rec_call_number = number;
    EMIT(CALL, 0, 0, number);
}

EXPORTED void rec_end(void) { rec_emit(END, 0, 0, 0, 0); }

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    if (!pointer) return rec_error(cudaErrorInvalidValue, 0, 0, "cudaMalloc: no place for the pointer");
    Buffer *made = rec_take(DEVICE, bytes, -1);
    if (!made)
        return rec_error(cudaErrorMemoryAllocation, 0, 0, "cudaMalloc of %zu bytes: the GPU has %llu", bytes,
                         (unsigned long long)rec_settings->device.memory);
    *pointer = bytes ? (void *)made->base : 0;
    return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMalloc(pointer, bytes);
}
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) & ~511ull;
    return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    rec_refuse(READ_VALUES, "cudaMallocManaged", "host code could read what a kernel writes there: take cudaMalloc");
}

static cudaError_t release(void *pointer, int device, const char *call) {
    if (!pointer) return cudaSuccess;
    rec_lock();
    Buffer *one = rec_find((u64)pointer);
    if (one && one->given >= 0) rec_refuse(OTHER, call, "`%s` is not this function's to free", rec_name(one));
    int right = one && one->base == (u64)pointer && !one->freed && (one->place == DEVICE) == device;
    if (right) {
        one->freed = 1;
        EMIT(FREE, 0, 0, one->base);
        if (device) device_bytes -= one->bytes;
        else munmap((void *)one->base, extent(one->bytes));
    }
    rec_unlock();
    return right
               ? cudaSuccess
               : rec_error(cudaErrorInvalidValue, MILD, 0, "%s: no memory that it frees begins at this address", call);
}
cudaError_t cudaFree(void *pointer) { return release(pointer, 1, "cudaFree"); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) { return release(pointer, 1, "cudaFreeAsync"); }
cudaError_t cudaFreeHost(void *pointer) { return release(pointer, 0, "cudaFreeHost"); }

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    Buffer *made = rec_take(PINNED, bytes, -1);
    if (!made)
        return rec_error(cudaErrorMemoryAllocation, 0, 0, "%zu bytes of pinned memory: there are not as many", bytes);
    *pointer = (void *)made->base;
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
    rec_refuse(
        OPTION, "cudaHostRegister",
        "cudaHostRegister takes longer than a copy of what it pins: copy what is needed, or take cudaMallocHost");
}
cudaError_t cudaHostUnregister(void *pointer) {
    return rec_error(cudaErrorHostMemoryNotRegistered, MILD, 0, "cudaHostUnregister: this memory was never registered");
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    Buffer *one = rec_find((u64)host);
    if (!one || one->place != PINNED)
        return rec_error(cudaErrorInvalidValue, 0, 0,
                         "cudaHostGetDevicePointer: this is no pinned memory: take cudaHostAlloc");
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    Buffer *one = rec_find((u64)pointer);
    memset(attributes, 0, sizeof *attributes);
    if (!one || one->place == HOST) {
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = -2;
        attributes->hostPointer = (void *)pointer;
        return cudaSuccess;
    }
    attributes->type = one->place == DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->devicePointer = (void *)pointer;
    attributes->hostPointer = one->place == DEVICE ? 0 : (void *)pointer;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *total = rec_settings->device.memory;
    *available = *total - device_bytes;
    return cudaSuccess;
}
