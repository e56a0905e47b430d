# Makes a pointer from a number and stores there, in text that no front end wrote.
# verdict: runtime_error
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %a = arith.constant 4096 : i64\n    %v = arith.constant 1.0 : f32\n"
TEXT += "    %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>\n    tt.store %p, %v : !tt.ptr<f32>\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
