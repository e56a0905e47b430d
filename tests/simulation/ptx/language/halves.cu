// half, half2, __nv_bfloat16 and pairs of it, through the functions of their headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include "elements.h"
using bf16 = __nv_bfloat16;
using bf162 = __nv_bfloat162;

ELEMENTS(h_arithmetic, half, half, __hfma(a, b, __hsub(__hmul(a, b), __hadd(a, b))))
ELEMENTS(h_operators, half, half, (a + b) * (a - b) / (a + half(8)))
ELEMENTS(h_functions, half, half, hexp(a) + hlog(__habs(b)) + hsqrt(__habs(a)) + hrsqrt(__habs(b)) + hrcp(a))
ELEMENTS(h_trigonometry, half, half, hsin(a) + hcos(b) + htanh(a))
ELEMENTS(h_rounded, half, half, hfloor(a) + hceil(b) + hrint(a) + htrunc(b))
ELEMENTS(h_compared, half, int, (a < b) + 2 * (a == b) + 4 * __hisnan(a) + 8 * __hge(a, b) + 16 * (a != b))
ELEMENTS(h_extremes, half, half, __hmax(a, b) + __hmin(a, b) * __hneg(a))
ELEMENTS(h_saturated, half, half, __hadd_sat(a, b) + __hfma_relu(a, b, a))
ELEMENTS(h_converted, half, float, __half2float(a) + __half2int_rn(b) + __half2short_rz(a) + (float)__half2ll_rd(b))
ELEMENTS(h_from, int, half, __int2half_rn(a) + __float2half_rz(b * 0.1f) + __ushort2half_rn(a & 15))
ELEMENTS(h2_arithmetic, half2, half2, __hfma2(a, b, __hsub2(__hmul2(a, b), __hadd2(a, b))))
ELEMENTS(h2_divided, half2, half2, __h2div(a, b))
ELEMENTS(h2_shuffled, half2, half2, __lows2half2(__lowhigh2highlow(a), __high2half2(b)))
ELEMENTS(h2_compared, half2, half2, __hgt2(a, b))
ELEMENTS(h2_all, half2, int, __hbgt2(a, b) + 2 * __hbne2(a, b))
ELEMENTS(h2_extremes, half2, half2, __hmax2(a, b) + __hmin2(a, __habs2(b)))
ELEMENTS(h2_functions, half2, half2, h2exp2(a) + h2sqrt(__habs2(b)))
ELEMENTS(h2_float, half2, float, __half22float2(a).x + 3 * __half22float2(b).y)
ELEMENTS(h2_from, float, half2, __floats2half2_rn(a, b))
ELEMENTS(b_arithmetic, bf16, bf16, __hfma(a, b, __hsub(__hmul(a, b), __hadd(a, b))))
ELEMENTS(b_functions, bf16, bf16, hexp(a) + hlog2(__habs(b)) + htanh(a))
ELEMENTS(b_compared, bf16, int, (a < b) + 2 * (a == b) + 4 * __hge(a, b))
ELEMENTS(b_converted, bf16, float, __bfloat162float(a) + __bfloat162int_rz(b))
ELEMENTS(b_from, float, bf16, __float2bfloat16(a) + __float2bfloat16_rz(b))
ELEMENTS(b2_arithmetic, bf162, bf162, __hfma2(a, b, __hmul2(__hadd2(a, b), __hmax2(a, b))))
ELEMENTS(b2_from, float, bf162, __floats2bfloat162_rn(a, b))
ELEMENTS(e_round_trip, float, float, float(__nv_fp8_e4m3(a)) + 100 * float(__nv_fp8_e5m2(b)))
