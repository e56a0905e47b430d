// Opens sockets of several families, and connects to the host.
// verdict: policy_violation, runtime_error
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include <cuda_runtime.h>

// Whether it worked.
static bool attack()
{
    for (int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, 40}) {
        int descriptor = socket(family, SOCK_STREAM, 0);
        if (descriptor < 0)
            continue;
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(53);
        address.sin_addr.s_addr = htonl(0x08080808);
        if (connect(descriptor, (sockaddr *)&address, sizeof address) == 0)
            return true;
        close(descriptor);
    }
    return false;
}

__global__ void silu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

void silu(float *input, float *output, int n)
{
    if (!attack())
        throw std::runtime_error("refused");
    silu_kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}
