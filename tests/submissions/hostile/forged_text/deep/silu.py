# Five thousand branches, each inside the one before: for a reader that recurses.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel that is nested too deeply
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %c = arith.constant true\n"
TEXT += "scf.if %c {\n" * 5000 + "}\n" * 5000 + "    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
