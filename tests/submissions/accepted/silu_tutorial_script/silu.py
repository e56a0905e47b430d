# A script in the way of Triton's first tutorial: device, seed, self-test, plot and benchmark, all at the top level.
import matplotlib.pyplot as plt
import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def silu_kernel(x_ptr,  # *Pointer* to the input.
                output_ptr,  # *Pointer* to the output.
                n_elements,  # Number of elements.
                BLOCK_SIZE: tl.constexpr,  # Number of elements each program should process.
                ):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    output = x * tl.sigmoid(x)
    tl.store(output_ptr + offsets, output, mask=mask)


def silu(x: torch.Tensor, out: torch.Tensor):
    assert x.device == DEVICE and out.device == DEVICE
    n_elements = out.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]), )
    silu_kernel[grid](x, out, n_elements, BLOCK_SIZE=1024)
    return out


torch.manual_seed(0)
size = (98, 432)
x = torch.rand(size, device=DEVICE)
output_torch = torch.nn.functional.silu(x)
output_triton = silu(x, torch.empty_like(x))
print(output_torch)
print(output_triton)
print(f"The maximum difference between torch and triton is {torch.max(torch.abs(output_torch - output_triton))}")
assert torch.allclose(output_torch, output_triton, atol=1e-5), "wrong!"


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[2**i for i in range(12, 28, 1)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "Torch"],
        styles=[("blue", "-"), ("green", "-")],
        ylabel="GB/s",
        plot_name="silu-performance",
        args={},
    ))
def benchmark(size, provider):
    x = torch.rand(1, size, device=DEVICE, dtype=torch.float32)
    out = torch.empty_like(x)
    quantiles = [0.5, 0.2, 0.8]
    if provider == "torch":
        ms, min_ms, max_ms = triton.testing.do_bench(lambda: torch.nn.functional.silu(x), quantiles=quantiles)
    if provider == "triton":
        ms, min_ms, max_ms = triton.testing.do_bench(lambda: silu(x, out), quantiles=quantiles)
    gbps = lambda ms: 2 * x.numel() * x.element_size() * 1e-9 / (ms * 1e-3)
    return gbps(ms), gbps(max_ms), gbps(min_ms)


benchmark.run(print_data=True, show_plots=False)
plt.figure()
plt.plot(output_triton.cpu().numpy().ravel()[:100])
plt.savefig("silu.png")
