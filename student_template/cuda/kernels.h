// The functions of the course, as the grader calls them. Pointers point into device memory but where something else
// is said, matrices lie row after row without gaps, sizes are arbitrary from 1 on, and inputs must stay as they were.
// Nothing has to be returned or waited for.

#pragma once

#include <cuda_fp16.h>

// output[i] = x / (1 + exp(−x)) with x = input[i]; n elements.
void silu(float *input, float *output, int n);

// output[i] = input[i] · weight[i] / √(mean(input²) + epsilon); cols elements each.
void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon);

// Each of the rows as rms_norm_vector does it; weight has cols elements, the same for all rows.
void rms_norm_matrix(float *input, float *weight, float *output, int rows, int cols, float epsilon);

// d_A[i] = h_A[i · cols]; rows elements. h_A lies in host memory, d_A on the device.
void copy_first_column(float *h_A, float *d_A, int rows, int cols);

// output[j · rows + i] = input[i · cols + j].
void transpose(const float *input, float *output, int rows, int cols);

// C (M, N) = A (M, K) · B (K, N), summed in float.
void gemm(const half *A, const half *B, half *C, int M, int N, int K);

// output[i] = input[i]; n elements.
void vector_copy(const float *input, float *output, int n);

// output[i] = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) with x = input[i]; n elements.
void gelu(const float *input, float *output, int n);

// Each row: exp(x − m), divided by the row's sum of these; m is the row's largest element.
void softmax(const float *input, float *output, int rows, int cols);

// 0.299 red + 0.587 green + 0.114 blue, to the nearest level; input has three planes of height · width bytes.
void greyscale(const unsigned char *input, unsigned char *output, int height, int width);
