// A destructor of the library that never ends, and no launch.
// verdict: wrong_answer, time_limit, runtime_error
static struct Last {
    ~Last()
    {
        for (volatile int i = 0;; i = i + 1)
            ;
    }
} last;

void silu(float *input, float *output, int n) {}
