from numba import cuda


def copy_first_column(matrix, out):
    stream = cuda.stream()
    staging = cuda.pinned_array(matrix.shape[0], dtype="float32")
    staging[:] = matrix[:, -1]
    cuda.as_cuda_array(out).copy_to_device(staging, stream=stream)
    stream.synchronize()
