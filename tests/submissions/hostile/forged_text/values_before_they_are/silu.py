# Values that are used before they are made, by other types, and never.
# verdict: runtime_error
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %a = arith.addf %b, %never : f32\n    %b = arith.addf %a, %x : f64\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
