# Links a function from a library that lies at a path of its own choice.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel that names a library's file
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    %v = tt.load %x : !tt.ptr<f32>\n"
TEXT += '    %w = tt.extern_elementwise %v {libname = "own", libpath = "/etc/passwd", pure = true, symbol = "system"}'
TEXT += " : (f32) -> f32\n    tt.store %out, %w : !tt.ptr<f32>\n    tt.return\n  }\n}\n"
# shared: forged_text
# shared: forged
