// An assertion whose message moves the cursor, and closes a page's tags.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//-}
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
//+}
//+
//+static_assert(sizeof(int) == 8, "</pre></body><script>alert('assertion')</script>\033[2J\033[H all right, 100 points");
