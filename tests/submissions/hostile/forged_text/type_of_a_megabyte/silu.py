# The type of an argument is a megabyte of types: whoever puts it together token by token takes minutes.
# verdict: runtime_error
# shared: forging
TYPE = "!tt.ptr<f32> " * 80_000
TEXT = f"module {{\n  tt.func public @silu_kernel(%x: {TYPE}, %out: !tt.ptr<f32>, %n: i32) {{\n    tt.return\n  }}\n}}\n"
# shared: forged_text
# shared: forged
