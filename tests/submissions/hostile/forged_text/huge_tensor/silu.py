# A constant tensor of 2^40 elements.
# verdict: runtime_error, memory_limit, wrong_answer
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %v = arith.constant dense<1.0> : tensor<1099511627776xf32>\n"
TEXT += "    %w = arith.addf %v, %v : tensor<1099511627776xf32>\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
