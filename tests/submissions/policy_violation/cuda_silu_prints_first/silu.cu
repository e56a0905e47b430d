// Host code prints the first element, for which it reads device memory.
// expect: Line 21
// expect: output
// expect: a kernel takes the pointer
// base: policy_violation/cuda_silu_looks_at_its_answer
//-    float first;
//-    cudaMemcpy(&first, output, sizeof(float), cudaMemcpyDeviceToHost);
//-    printf("%f\n", first);
//+    printf("%f\n", output[0]);
