# The text holds two kernels; the plan names a third.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel of two entries
# shared: forging
TEXT = "module {\n  tt.func public @one(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n    tt.return\n  }\n"
TEXT += "  tt.func public @two(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
