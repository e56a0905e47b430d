// The sum is kept in half.
// expect: fp16
// never: tl.
// base: accepted/cuda_gemm_tile
//-    float sum = 0.0f;
//+    half sum = __float2half(0.0f);
//
//-            sum += __half2float(As[threadIdx.y][k]) * __half2float(Bs[k][threadIdx.x]);
//+            sum = __hadd(sum, __hmul(As[threadIdx.y][k], Bs[k][threadIdx.x]));
//
//-        C[row * N + col] = __float2half(sum);
//+        C[row * N + col] = sum;
