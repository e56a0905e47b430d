# A constant of 100,000 digits.
# verdict: runtime_error
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %v = arith.constant " + "9" * 100_000 + " : i32\n"
TEXT += "    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
