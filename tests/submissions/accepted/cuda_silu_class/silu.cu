// Host code with classes, a namespace and a lambda that counts blocks.
#include <memory>
#include <string>

#include <cuda_runtime.h>

namespace activation {

__global__ void forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

class Layer {
public:
    virtual ~Layer() = default;
    virtual void run(float *x, float *y, int n) = 0;
};

class Silu : public Layer {
public:
    explicit Silu(int threads) : threads_(threads), name_("silu of " + std::to_string(threads)) {}
    void run(float *x, float *y, int n) override
    {
        const auto blocks = [this](int elements) { return (elements + threads_ - 1) / threads_; };
        forward<<<blocks(n), threads_>>>(x, y, n);
    }

private:
    int threads_;
    std::string name_;
};

}  // namespace activation

void silu(float *input, float *output, int n)
{
    std::unique_ptr<activation::Layer> layer = std::make_unique<activation::Silu>(192);
    layer->run(input, output, n);
}
