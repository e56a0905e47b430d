// Copies and fills: the memory that they name, and the contents of host code's own memory.
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    u64 target, target_pitch, source, source_pitch, width, height;
    enum cudaMemcpyKind kind;
    const char *call;
    const void *site; // the call in host code, if it may be one of a loop
    cudaStream_t stream;
} Transfer;
#define SITE __builtin_return_address(0)

static int on_device(const Buffer *one) { return one && one->place == DEVICE; }
static int takes_copies(const Buffer *one) { return one && one->place == HOST && !one->key; }

static void wrong_side(const Transfer *copy, const Buffer *buffer, const char *which, const char *is,
                       const char *needs) {
    const char *name = buffer ? rec_name(buffer) : "";
    if (*name && on_device(buffer))
        rec_fail(EXCEPTION,
                 "%s: its %s `%s` lies in GPU memory already, and this copy %s: give it to the kernel as it is",
                 copy->call, which, name, needs);
    rec_fail(EXCEPTION, "%s: its %s%s%s%s is %s memory, and this copy %s", copy->call, which, *name ? " `" : "", name,
             *name ? "`" : "", is, needs);
}

static void check_sides(const Transfer *copy, const Buffer *target, const Buffer *source) {
    enum cudaMemcpyKind kind = copy->kind;
    if (on_device(target) && target->freed) rec_fail(EXCEPTION, "%s: its target was freed before", copy->call);
    if (on_device(source) && source->freed) rec_fail(EXCEPTION, "%s: its source was freed before", copy->call);
    if (kind == cudaMemcpyDefault) return;
    int from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    int to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    if (from && !on_device(source)) wrong_side(copy, source, "source", "host", "reads from the GPU's");
    if (!from && on_device(source)) wrong_side(copy, source, "source", "GPU", "reads from the host's");
    if (to && !on_device(target)) wrong_side(copy, target, "target", "host", "writes to the GPU's");
    if (!to && on_device(target)) wrong_side(copy, target, "target", "GPU", "writes to the host's");
}

// Return whether the bytes of a copy lie in memory that the plan has: a given input, or recorded pinned memory.
static int is_known(const Transfer *copy, Buffer *source) {
    if (!source || copy->source < source->base) return 0;
    if (source->place == PINNED && source->given < 0) rec_put_down(source);
    return 1;
}

// Fail if the target has too little room. This comes before host code's own memory is read, which may end sooner.
static void check_room(const Transfer *copy, const Buffer *target, u64 bytes) {
    const char *name = rec_name(target);
    u64 room = copy->target - target->base < target->bytes ? target->bytes - (copy->target - target->base) : 0;
    if (bytes / copy->height != copy->width || bytes > room)
        rec_fail(EXCEPTION, "%s copies %llu bytes to where %s%s%s has %llu left", copy->call, (unsigned long long)bytes,
                 *name ? "`" : "", *name ? name : "its target", *name ? "`" : "", (unsigned long long)room);
}

static void stage(const Transfer *copy, const Buffer *target) {
    u64 bytes = copy->width * copy->height;
    check_room(copy, target, bytes);
    unsigned char *rows = copy->height == 1 ? (unsigned char *)copy->source : malloc(bytes);
    if (!rows) rec_fail(OUT_OF_MEMORY, "%s: there is no memory to plan it in", copy->call);
    for (u64 row = 0; row < copy->height && copy->height > 1; row++)
        memcpy(rows + row * copy->width, (const void *)(copy->source + row * copy->source_pitch), copy->width);
    const u64 numbers[] = {copy->target, copy->target_pitch, copy->source,            copy->source_pitch,
                           copy->width,  copy->height,       rec_number(copy->stream)};
    rec_emit_packed(STAGED, numbers, sizeof numbers / sizeof *numbers, rows, bytes);
    if (copy->height > 1) free(rows);
}

static void on_the_host(const Transfer *copy) {
    for (u64 row = 0; row < copy->height; row++)
        memmove((void *)(copy->target + row * copy->target_pitch),
                (const void *)(copy->source + row * copy->source_pitch), copy->width);
}

// Copies of single pieces in a loop: they are recorded together, before the next other operation.
static struct {
    u64 count, target_step, source_step;
    Transfer copy, last;
    Frames frames;
} held;

void rec_write_copies(void) {
    rec_lock();
    if (held.count) {
        const Transfer *one = &held.copy;
        const u64 numbers[] = {one->target,      one->target_pitch, one->source, one->source_pitch,
                               one->width,       one->height,       held.count,  held.target_step,
                               held.source_step, rec_number(one->stream)};
        held.count = 0;
        rec_emit_at(COPY, &held.frames, numbers, sizeof numbers / sizeof *numbers, one->call, strlen(one->call));
    }
    rec_unlock();
}

static void hold(const Transfer *copy) {
    rec_lock();
    u64 target_step = copy->target - held.last.target, source_step = copy->source - held.last.source;
    int follows = held.count && copy->site && copy->site == held.copy.site && copy->stream == held.copy.stream &&
                  copy->width == held.copy.width && copy->height == 1 && held.copy.height == 1 &&
                  (held.count == 1 || (target_step == held.target_step && source_step == held.source_step));
    if (follows) {
        held.target_step = target_step;
        held.source_step = source_step;
        held.count++;
    } else {
        rec_write_copies();
        held.copy = *copy;
        held.frames = rec_frames();
        held.target_step = held.source_step = 0;
        held.count = 1;
    }
    held.last = *copy;
    rec_unlock();
}

static cudaError_t transfer(Transfer copy) {
    if (!copy.width || !copy.height) return cudaSuccess;
    Buffer *target = rec_find(copy.target), *source = rec_find(copy.source);
    check_sides(&copy, target, source);
    if (on_device(source) && !on_device(target) && !takes_copies(target))
        rec_refuse(READ_VALUES, copy.call,
                   "%s brings numbers to the host; host code is planned without them: leave them on "
                   "the GPU",
                   copy.call);
    if (!on_device(target) && !takes_copies(target)) {
        on_the_host(&copy);
        return cudaSuccess;
    }
    rec_lock();
    if (is_known(&copy, source)) hold(&copy);
    else stage(&copy, target);
    rec_unlock();
    return cudaSuccess;
}

static cudaError_t copy_row(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind, const char *call,
                            const void *site, cudaStream_t stream) {
    return transfer((Transfer){(u64)target, bytes, (u64)source, bytes, bytes, 1, kind, call, site, stream});
}
cudaError_t cudaMemcpy(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind) {
    return copy_row(target, source, bytes, kind, "cudaMemcpy", SITE, 0);
}
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_row(target, source, bytes, kind, "cudaMemcpyAsync", SITE, stream);
}

static cudaError_t copy_rows(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind, const char *call, cudaStream_t stream) {
    if (height > 1 && (target_pitch < width || source_pitch < width))
        return rec_error(cudaErrorInvalidPitchValue, 0, 0, "%s: a pitch is less than the width of %zu bytes", call,
                         width);
    return transfer(
        (Transfer){(u64)target, target_pitch, (u64)source, source_pitch, width, height, kind, call, 0, stream});
}
cudaError_t cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, "cudaMemcpy2D", 0);
}
cudaError_t cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, "cudaMemcpy2DAsync",
                     stream);
}

static cudaError_t fill(void *target, size_t pitch, int value, size_t width, size_t height, const char *call,
                        cudaStream_t stream) {
    if (!width || !height) return cudaSuccess;
    Buffer *buffer = rec_find((u64)target);
    if (!on_device(buffer) || buffer->freed)
        return rec_error(cudaErrorInvalidValue, 0, 0, "%s: its target is not memory of the GPU that is allocated",
                         call);
    if (height > 1 && pitch < width)
        return rec_error(cudaErrorInvalidPitchValue, 0, 0, "%s: the pitch is less than the width of %zu bytes", call,
                         width);
    EMIT(FILL, call, strlen(call), (u64)target, pitch, width, height, value & 255, rec_number(stream));
    return cudaSuccess;
}
cudaError_t cudaMemset(void *target, int value, size_t bytes) {
    return fill(target, bytes, value, bytes, 1, "cudaMemset", 0);
}
cudaError_t cudaMemsetAsync(void *target, int value, size_t bytes, cudaStream_t stream) {
    return fill(target, bytes, value, bytes, 1, "cudaMemsetAsync", stream);
}
cudaError_t cudaMemset2D(void *target, size_t pitch, int value, size_t width, size_t height) {
    return fill(target, pitch, value, width, height, "cudaMemset2D", 0);
}
cudaError_t cudaMemset2DAsync(void *target, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return fill(target, pitch, value, width, height, "cudaMemset2DAsync", stream);
}

// Variables of modules
static cudaError_t to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, const char *call, cudaStream_t stream) {
    Variable *one = rec_variable(symbol);
    if (!one)
        return rec_error(cudaErrorInvalidSymbol, 0, 0, "%s: this is no __device__ or __constant__ variable", call);
    if (offset > one->bytes || bytes > one->bytes - offset)
        return rec_error(cudaErrorInvalidValue, 0, 0,
                         "%s: the variable has %llu bytes, and %zu are copied to byte %zu of it", call,
                         (unsigned long long)one->bytes, bytes, offset);
    return copy_row((void *)(one->address + offset), source, bytes, kind, call, 0, stream);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    return to_symbol(symbol, source, bytes, offset, kind, "cudaMemcpyToSymbol", 0);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    return to_symbol(symbol, source, bytes, offset, kind, "cudaMemcpyToSymbolAsync", stream);
}
static cudaError_t from_symbol(void *target, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                               const char *call, cudaStream_t stream) {
    Variable *one = rec_variable(symbol);
    if (!one)
        return rec_error(cudaErrorInvalidSymbol, 0, 0, "%s: this is no __device__ or __constant__ variable", call);
    return copy_row(target, (const void *)(one->address + offset), bytes, kind, call, 0, stream);
}
cudaError_t cudaMemcpyFromSymbol(void *target, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    return from_symbol(target, symbol, bytes, offset, kind, "cudaMemcpyFromSymbol", 0);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return from_symbol(target, symbol, bytes, offset, kind, "cudaMemcpyFromSymbolAsync", stream);
}
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
    Variable *one = rec_variable(symbol);
    if (!one) return rec_error(cudaErrorInvalidSymbol, 0, 0, "cudaGetSymbolAddress: this is no __device__ variable");
    *pointer = (void *)one->address;
    return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    Variable *one = rec_variable(symbol);
    if (!one) return rec_error(cudaErrorInvalidSymbol, 0, 0, "cudaGetSymbolSize: this is no __device__ variable");
    *bytes = one->bytes;
    return cudaSuccess;
}
