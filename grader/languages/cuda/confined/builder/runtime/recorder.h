// Declarations of the recording runtime. It stands in for libcudart beside a submission's host code, in the same shared
// object: it runs nothing, and records what host code asks for. The object exports `rec_` names alone. The C files are
// compiled as one, so that CUDA's headers are read once: a name at file level is visible in all of them.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda_runtime_api.h>
#include <stdint.h>

typedef uint64_t u64;
#define EXPORTED __attribute__((visibility("default")))
// The runtime is compiled without optimisation, which would take longer than it saves, except in loops over memory.
#define FAST __attribute__((optimize("O2")))
#define INLINED static inline __attribute__((always_inline, optimize("O2")))
enum { PAGE = 4096 };

// The kinds of records; planner/records.py reads them. A record is four numbers of 32 bits (kind, frames, numbers,
// bytes of the text), the frames and the numbers, 64 bits each, and the text.
enum kind {
    CALL = 1,
    BUFFER,
    VARIABLE,
    FREE,
    LAUNCH,
    COPY,
    STAGED,
    FILL,
    CONTENTS,
    ORDER,
    ASKED,
    REFUSED,
    FAILED,
    ERROR,
    END,
};
enum place { DEVICE, PINNED, HOST };
// The first number of an ORDER, beside a stream and an event: `Step` in grader/plan/streams.py, in its order.
enum step { RECORD, WAIT, FINISH_STREAM, FINISH_EVENT, FINISH_ALL, BEGIN_GRAPH, END_GRAPH };
// Words of `Refusal` and of `Failed.failure` in grader/plan/messages.py.
#define READ_VALUES "read_values"
#define INPUT_WRITTEN "input_written"
#define ADDRESS "address"
#define LIBRARY "library"
#define OPTION "option"
#define PROCESS "process"
#define OTHER "other"
#define EXCEPTION "exception"
#define OUT_OF_MEMORY "out_of_memory"
#define TIME_OUT "time_out"
#define UNSUPPORTED "unsupported"
#define TOO_LARGE "too_large"

// Kernels, device and settings as the planner passes them: the structures of planner/child.py have the same layout.
typedef struct {
    const char *symbol;
    uint32_t count, registers; // registers of a thread, 0 if the kernel is not compiled yet
    const uint32_t *sizes;     // bytes of each parameter
    u64 shared, most_threads;  // bytes of shared memory that the kernel itself takes, threads that a block may have
} Kernel;
typedef struct {
    const char *name;
    u64 major, minor, processors, memory, l2, threads_per_processor, registers_per_processor, shared_per_block,
        shared_per_block_optin, shared_per_processor, clock_khz, memory_clock_khz, bus_width, blocks_per_processor,
        reserved_shared, register_unit;
} Device;
typedef struct {
    int output;            // the descriptor that takes the records
    uint32_t milliseconds; // wall-clock time until host code is stopped
    u64 seed;              // of the tokens in host inputs
    u64 most_bytes;        // of records
    uint32_t kernel_count, given_count;
    const Kernel *kernels;
    const char *const *given; // the parameters' names
    Device device;
} Settings;

// A walk through memory: the last page that was filled, its distance from the page before, and the number of pages that
// are filled at once.
typedef struct {
    u64 last, step, ahead;
} PageWalk;

typedef struct {
    u64 base, bytes;
    enum place place;
    int given; // the parameter's index, -1 for memory that host code took
    int call;  // of which the parameter is; -1 during loading
    int freed, registered;
    int dirty;             // pinned: host code may have written it since its last record
    u64 key;               // of the tokens in a host input; 0 otherwise
    u64 faults;            // host input: pages that were touched before they were filled
    PageWalk walks[2];
    unsigned char *shadow; // pinned: the recorded contents
} Buffer;

extern const Settings *rec_settings;
extern __thread cudaError_t rec_last_error;

// records.c
#define MOST_FRAMES 16
typedef struct {
    int count;
    u64 at[MOST_FRAMES];
} Frames;
typedef struct {
    unsigned char *bytes;
    u64 used, room;
} Sink;
extern Sink *rec_capture; // gets operations in the planner's place while a graph is captured
extern u64 rec_fault_address;
void rec_append(Sink *sink, const void *bytes, u64 count);
void rec_lock(void);
void rec_unlock(void);
Frames rec_frames(void);
void rec_emit_at(enum kind kind, const Frames *frames, const u64 *numbers, unsigned count, const void *text, u64 bytes);
void rec_emit(enum kind kind, const u64 *numbers, unsigned count, const void *text, u64 bytes);
void rec_replay(const Sink *sink);
_Noreturn void rec_refuse(const char *why, const char *operator, const char * sentence, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void rec_fail(const char *failure, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
#define MILD (1ull << 32) // in place of a kernel's number: an error without effect on a plan
cudaError_t rec_error(cudaError_t error, u64 kernel, const Frames *frames, const char *sentence, ...)
    __attribute__((format(printf, 4, 5)));
#define EMIT(kind, text, bytes, ...)                                                                                   \
    do {                                                                                                               \
        const u64 numbers_[] = {__VA_ARGS__};                                                                          \
        rec_emit(kind, numbers_, sizeof numbers_ / sizeof *numbers_, text, bytes);                                     \
    } while (0)
// A function of CUDA's that does one thing and succeeds.
#define SUCCEEDS(declaration, done)                                                                                    \
    cudaError_t declaration {                                                                                          \
        done;                                                                                                          \
        return cudaSuccess;                                                                                            \
    }

// buffers.c
extern Buffer *rec_buffers;
extern int rec_buffer_count, rec_call_number;
FAST Buffer *rec_find(u64 address);
Buffer *rec_behind(u64 address);
#define WRITES_PAST "host code writes past the end of pinned memory, which has %llu bytes"
Buffer *rec_take(enum place place, u64 bytes, int given);
FAST void rec_put_down(Buffer *buffer);
const char *rec_name(const Buffer *buffer);

// tokens.c
void rec_give_tokens(Buffer *buffer);
FAST int rec_fill_page(Buffer *buffer, u64 address);
FAST void rec_emit_packed(enum kind kind, const u64 *numbers, unsigned count, const unsigned char *text, u64 bytes);

// memory.c
void rec_write_copies(void);

// streams.c
u64 rec_number(const void *handle);

// launches.c
typedef struct {
    const void *host;
    const char *name;
    u64 address, bytes;
    int managed;
} Variable;
const Kernel *rec_kernel(const void *host, int *index);
Variable *rec_variable(const void *host);
cudaError_t rec_launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream,
                       int cooperative);
