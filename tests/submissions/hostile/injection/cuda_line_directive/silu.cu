// Errors are said to stand in another file, and far behind its end.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-    silu_kernel<<<blocks, threads>>>(input, output, n);
//-}
//+    silu_kernel<<<blocks, threads>>>(input, output, n);
//+}
//+
//+#line 999999999 "/etc/passwd"
//+int wrong = undeclared;
//+#line 3 "grader/judging/judge.py"
//+int more = undeclared_as_well;
