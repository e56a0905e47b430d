// The assembler is told to put the passwords into the program.
// verdict: runtime_error
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+asm(".section .rodata\n"
//+    ".global begin_of_file\n"
//+    "begin_of_file: .incbin \"/etc/shadow\"\n"
//+    ".text\n");
//+
//+#include <cuda_runtime.h>
