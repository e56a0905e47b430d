# An operation's name as text, which MLIR takes for any, with attributes that name files.
# verdict: runtime_error
# expect: its plan does not hold
# expect: an operation that Triton's front end does not write
# shared: forging
ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + '    "os.system"() {command = "true", file = @"/etc/passwd"} : () -> ()\n    tt.return\n  }\n}\n'
# shared: forged_text
# shared: forged
