# Two blocks that jump to each other.
# verdict: time_limit, runtime_error
# alone on a gpu: its kernel does not end there
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    cf.br ^a\n  ^a:\n    cf.br ^b\n"
TEXT += "  ^b:\n    cf.br ^a\n  }\n}\n"
# shared: forged_text
# shared: forged
