# A kernel of 24,000 additions, one line each: as much as a plan may hold.
# verdict: runtime_error, wrong_answer, time_limit
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %v0 = arith.constant 1 : i32\n"
TEXT += "".join(f"    %v{i + 1} = arith.addi %v{i}, %v0 : i32\n" for i in range(24_000))
TEXT += "    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
