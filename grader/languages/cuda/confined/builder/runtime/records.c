// Records of what host code asks for, each with its call stack in the library: written to the planner as they come.
#include "recorder.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

const Settings *rec_settings;
Sink *rec_capture;
u64 rec_fault_address; // the instruction that raised a signal, which no return address shows
__thread cudaError_t rec_last_error;

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned char waiting[1 << 16];
// Far more than a plan has operations.
enum { MOST_RECORDS = 1 << 17 };
static u64 waiting_bytes, written_bytes, written_records;
// The linker knows where the shared object begins and ends.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void rec_lock(void) { pthread_mutex_lock(&mutex); }
void rec_unlock(void) { pthread_mutex_unlock(&mutex); }

typedef struct {
    Frames frames;
    int outside;
} Walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *of) {
    Walk *walk = of;
    int before = 0;
    u64 at = _Unwind_GetIPInfo(context, &before), start = (u64)__ehdr_start;
    if (at >= start && at < (u64)_end) {
        walk->outside = 0;
        walk->frames.at[walk->frames.count++] = at - start - !before;
        return walk->frames.count < MOST_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
    }
    // A library's frames may lie below the submission's, and those of its algorithms between them; the planner's lie
    // above.
    return ++walk->outside < (walk->frames.count ? 6 : 32) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// Return the call stack: addresses relative to the shared object's start, innermost first, each in the call itself.
Frames rec_frames(void) {
    Walk walk = {0};
    if (rec_fault_address >= (u64)__ehdr_start && rec_fault_address < (u64)_end)
        walk.frames.at[walk.frames.count++] = rec_fault_address - (u64)__ehdr_start;
    _Unwind_Backtrace(step, &walk);
    return walk.frames;
}

static void flush(void) {
    for (u64 done = 0; done < waiting_bytes;) {
        ssize_t count = write(rec_settings->output, waiting + done, waiting_bytes - done);
        if (count < 0 && errno != EINTR) _exit(4);
        if (count > 0) done += count;
    }
    waiting_bytes = 0;
}

static void to_planner(const void *bytes, u64 count) {
    written_bytes += count;
    for (const unsigned char *from = bytes; count;) {
        u64 part = sizeof waiting - waiting_bytes < count ? sizeof waiting - waiting_bytes : count;
        memcpy(waiting + waiting_bytes, from, part);
        waiting_bytes += part;
        from += part;
        count -= part;
        if (waiting_bytes == sizeof waiting) flush();
    }
}

void rec_append(Sink *sink, const void *bytes, u64 count) {
    if (sink->used + count > sink->room) {
        sink->room = 2 * sink->room + count + 4096;
        sink->bytes = realloc(sink->bytes, sink->room);
        if (!sink->bytes) _exit(4);
    }
    memcpy(sink->bytes + sink->used, bytes, count);
    sink->used += count;
}

static int is_operation(enum kind kind) { return kind >= LAUNCH && kind <= ORDER; }

static void put(Sink *sink, const void *bytes, u64 count) {
    if (sink) rec_append(sink, bytes, count);
    else to_planner(bytes, count);
}

static void write_record(enum kind kind, const Frames *frames, const u64 *numbers, unsigned count, const void *text,
                         u64 bytes) {
    Sink *sink = rec_capture && is_operation(kind) ? rec_capture : 0;
    const uint32_t head[] = {kind, frames->count, count, bytes};
    put(sink, head, sizeof head);
    put(sink, frames->at, frames->count * sizeof(u64));
    put(sink, numbers, count * sizeof(u64));
    put(sink, text, bytes);
}

static _Noreturn void end_with(enum kind kind, const u64 *numbers, unsigned count, const char *text) {
    Frames frames = rec_frames();
    rec_lock();
    rec_write_copies();
    write_record(kind, &frames, numbers, count, text, strlen(text));
    flush();
    _exit(0);
}

void rec_emit_at(enum kind kind, const Frames *frames, const u64 *numbers, unsigned count, const void *text,
                 u64 bytes) {
    u64 held = rec_capture ? rec_capture->used : 0;
    if (written_records >= MOST_RECORDS)
        end_with(FAILED, 0, 0,
                 TOO_LARGE "\nhost code asks for more launches, copies and allocations than a plan holds: do more in "
                           "each, and allocate once");
    if (bytes >= 1u << 31 || written_bytes + held + bytes > rec_settings->most_bytes)
        end_with(FAILED, 0, 0,
                 TOO_LARGE "\nhost code copies more of its own memory than a plan holds: copy what is needed alone");
    rec_lock();
    if (kind != COPY) rec_write_copies();
    written_records++;
    write_record(kind, frames, numbers, count, text, bytes);
    if (kind == CALL || kind == END) flush();
    rec_unlock();
}

void rec_emit(enum kind kind, const u64 *numbers, unsigned count, const void *text, u64 bytes) {
    Frames frames = rec_frames();
    rec_emit_at(kind, &frames, numbers, count, text, bytes);
}

void rec_replay(const Sink *sink) {
    rec_lock();
    // Few records are shorter.
    written_records += 1 + sink->used / 128;
    if (written_records > MOST_RECORDS || written_bytes + sink->used > rec_settings->most_bytes)
        rec_fail(TOO_LARGE, "graphs are launched with more operations than a plan holds: launch fewer");
    rec_write_copies();
    put(rec_capture, sink->bytes, sink->used);
    rec_unlock();
}

// Write one or two words, each on a line of its own, and a sentence after them.
static void sentence_of(char *text, u64 room, const char *first, const char *second, const char *sentence,
                        va_list list) {
    int used = second ? snprintf(text, room, "%s\n%s\n", first, second) : snprintf(text, room, "%s\n", first);
    vsnprintf(text + used, room - used, sentence, list);
}

void rec_refuse(const char *why, const char *operator, const char *sentence, ...) {
    char text[1200];
    va_list list;
    va_start(list, sentence);
    sentence_of(text, sizeof text, why, operator, sentence, list);
    va_end(list);
    end_with(REFUSED, 0, 0, text);
}

void rec_fail(const char *failure, const char *sentence, ...) {
    char text[1200];
    va_list list;
    va_start(list, sentence);
    sentence_of(text, sizeof text, failure, 0, sentence, list);
    va_end(list);
    end_with(FAILED, 0, 0, text);
}

// Report an error that host code may ask for. `kernel` is 1 + the index of a kernel that was not launched, 0 for no
// kernel, or MILD.
cudaError_t rec_error(cudaError_t error, u64 kernel, const Frames *frames, const char *sentence, ...) {
    char text[1200];
    va_list list;
    va_start(list, sentence);
    vsnprintf(text, sizeof text, sentence, list);
    va_end(list);
    const u64 numbers[] = {kernel, error};
    Frames here = frames ? *frames : rec_frames();
    rec_emit_at(ERROR, &here, numbers, 2, text, strlen(text));
    return rec_last_error = error;
}

// Refuse a call that this runtime lacks: the builder makes a stub for each such call, which calls this.
_Noreturn void rec_unknown(const char *name) {
    int own = !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6);
    rec_refuse(own ? OTHER : LIBRARY, name, "%s is not among the calls that host code may make", name);
}
