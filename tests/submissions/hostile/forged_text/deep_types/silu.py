# A type of 20,000 pointers to pointers.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel that is nested too deeply
# shared: forging
TEXT = "module {\n  tt.func public @silu_kernel(%x: " + "!tt.ptr<" * 20_000 + "f32" + ">" * 20_000
TEXT += ", %out: !tt.ptr<f32>, %n: i32) {\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
