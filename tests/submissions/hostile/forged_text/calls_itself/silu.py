# A kernel that calls itself.
# verdict: runtime_error, time_limit
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    tt.call @silu_kernel(%x, %out, %n) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> ()\n"
TEXT += "    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
