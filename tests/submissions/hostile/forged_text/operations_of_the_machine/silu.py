# Operations below Triton's own, of NVIDIA's and LLVM's dialects.
# verdict: runtime_error
# expect: its plan does not hold
# expect: llvm.inline_asm is none of Triton's language
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + '    llvm.inline_asm has_side_effects "trap;", "" : () -> ()\n    nvvm.barrier0\n    tt.return\n  }\n}\n'
# shared: forged_text
# shared: forged
