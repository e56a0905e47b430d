# An integer of 16 million bits.
# verdict: runtime_error
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %v = arith.constant 1 : i16777215\n"
TEXT += "    %w = arith.shli %v, %v : i16777215\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
