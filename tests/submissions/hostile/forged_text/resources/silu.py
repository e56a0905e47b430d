# A section of resources that says it holds a gigabyte, as MLIR's text may.
# verdict: runtime_error
# expect: its plan does not hold
# expect: whose text Triton's front end does not write
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    tt.return\n  }\n}\n"
TEXT += '{-#\n  dialect_resources: { builtin: { blob: "0x04000000' + "00" * 100_000 + '" } }\n#-}\n'
# shared: forged_text
# shared: forged
