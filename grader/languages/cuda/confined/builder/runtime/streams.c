// Streams, events and graphs. Nothing runs, so a wait ends at once: it is only recorded.
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

enum { NON_BLOCKING = 8 }; // in the number of a stream: see grader/plan/streams.py
static u64 next_handle = 0x1000;
static cudaStream_t captured_stream;

#define MAKES(declaration, type) SUCCEEDS(declaration, *made = (type)(next_handle += 16))
#define NOTHING(declaration)                                                                                           \
    cudaError_t declaration { return cudaSuccess; }
#define ORDERS(declaration, step, stream, event) SUCCEEDS(declaration, order(step, stream, event))

// Return the number of a stream or an event; 0 for the default stream, and for any other pointer.
u64 rec_number(const void *handle) {
    u64 number = (u64)handle;
    return handle == cudaStreamPerThread || (number > 0x1000 && number <= (next_handle | NON_BLOCKING)) ? number : 0;
}

static void order(enum step step, cudaStream_t stream, cudaEvent_t event) {
    const u64 numbers[] = {step, rec_number(stream), rec_number(event)};
    rec_emit_at(ORDER, &(Frames){0}, numbers, 3, 0, 0);
}

MAKES(cudaStreamCreate(cudaStream_t *made), cudaStream_t)
SUCCEEDS(cudaStreamCreateWithFlags(cudaStream_t *made, unsigned flags),
         *made = (cudaStream_t)((next_handle += 16) | (flags & cudaStreamNonBlocking ? NON_BLOCKING : 0)))
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *made, unsigned flags, int priority) {
    return cudaStreamCreateWithFlags(made, flags);
}
NOTHING(cudaStreamDestroy(cudaStream_t stream))
ORDERS(cudaStreamSynchronize(cudaStream_t stream), FINISH_STREAM, stream, 0)
ORDERS(cudaStreamQuery(cudaStream_t stream), FINISH_STREAM, stream, 0)
ORDERS(cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags), WAIT, stream, event)
NOTHING(cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                               const cudaLaunchAttributeValue *value))
NOTHING(cudaStreamCopyAttributes(cudaStream_t target, cudaStream_t source))
NOTHING(cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned flags))
SUCCEEDS(cudaStreamGetFlags(cudaStream_t stream, unsigned *flags), *flags = 0)
SUCCEEDS(cudaStreamGetPriority(cudaStream_t stream, int *priority), *priority = 0)
SUCCEEDS(cudaStreamGetDevice(cudaStream_t stream, int *device), *device = 0)
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

// A host function in a stream is called at once: all that the stream was asked for before is done.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    order(FINISH_STREAM, stream, 0);
    function(data);
    return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned flags) {
    order(FINISH_STREAM, stream, 0);
    function(stream, cudaSuccess, data);
    return cudaSuccess;
}

MAKES(cudaEventCreate(cudaEvent_t *made), cudaEvent_t)
MAKES(cudaEventCreateWithFlags(cudaEvent_t *made, unsigned flags), cudaEvent_t)
NOTHING(cudaEventDestroy(cudaEvent_t event))
ORDERS(cudaEventSynchronize(cudaEvent_t event), FINISH_EVENT, 0, event)
ORDERS(cudaEventRecord(cudaEvent_t event, cudaStream_t stream), RECORD, stream, event)
ORDERS(cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags), RECORD, stream, event)
ORDERS(cudaEventQuery(cudaEvent_t event), FINISH_EVENT, 0, event)
// Nothing runs, so all times are equal.
SUCCEEDS(cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end), *milliseconds = 1)

// Graphs: lists of operations, which a launch repeats
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    if (rec_capture)
        return rec_error(cudaErrorIllegalState, 0, 0, "cudaStreamBeginCapture: another capture has not ended yet");
    rec_write_copies();
    rec_capture = calloc(1, sizeof(Sink));
    captured_stream = stream;
    return rec_capture ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    if (!rec_capture || stream != captured_stream)
        return rec_error(cudaErrorIllegalState, 0, 0, "cudaStreamEndCapture: this stream is not captured");
    rec_write_copies();
    *graph = (cudaGraph_t)rec_capture;
    rec_capture = 0;
    return cudaSuccess;
}
static enum cudaStreamCaptureStatus status(void) {
    return rec_capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
}
SUCCEEDS(cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *found), *found = status())
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *found, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count) {
    *found = status();
    if (id) *id = 1;
    if (count) *count = 0;
    return cudaSuccess;
}
NOTHING(cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode))
SUCCEEDS(cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags),
         *executable = (cudaGraphExec_t)graph)
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    if (!executable) return rec_error(cudaErrorInvalidValue, 0, 0, "cudaGraphLaunch: no graph");
    order(BEGIN_GRAPH, stream, 0);
    rec_replay((const Sink *)executable);
    order(END_GRAPH, stream, 0);
    return cudaSuccess;
}
// A graph's operations are never freed: an executable graph outlives the graph that it was made of.
NOTHING(cudaGraphDestroy(cudaGraph_t graph))
NOTHING(cudaGraphExecDestroy(cudaGraphExec_t executable))
NOTHING(cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream))

ORDERS(cudaDeviceSynchronize(void), FINISH_ALL, 0, 0)

// Calls that change nothing in a plan
NOTHING(cudaDeviceReset(void))
NOTHING(cudaDeviceSetCacheConfig(enum cudaFuncCache preferred))
NOTHING(cudaSetDeviceFlags(unsigned flags))
NOTHING(cudaInitDevice(int device, unsigned device_flags, unsigned flags))
NOTHING(cudaProfilerStart(void))
NOTHING(cudaProfilerStop(void))
NOTHING(cudaCtxResetPersistingL2Cache(void))
NOTHING(cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation location))
NOTHING(cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value))
NOTHING(cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes))
NOTHING(cudaMemPoolDestroy(cudaMemPool_t pool))
NOTHING(cudaDeviceSetMemPool(int device, cudaMemPool_t pool))
MAKES(cudaMemPoolCreate(cudaMemPool_t *made, const struct cudaMemPoolProps *properties), cudaMemPool_t)
SUCCEEDS(cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device), *pool = (cudaMemPool_t)0x800)
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
