// Leaves the function by longjmp into a frame that has gone.
// verdict: runtime_error, time_limit
#include <csetjmp>

#include <cuda_runtime.h>

static jmp_buf place;

static __attribute__((noinline)) int mark()
{
    return setjmp(place);
}

void silu(float *input, float *output, int n)
{
    if (mark() == 0)
        longjmp(place, 1);
    __builtin_trap();
}
