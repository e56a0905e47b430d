# Fails after it has asked for the registers of kernels whose text is another each time, so that it is planned again and
# again; in every second answer they do not hold, or are longer than the file.
# verdict: runtime_error, time_limit
# expect: no luck
# base: hostile/forged_plans/no_bytes_at_all
#-# shared: buffers
#+TEXT = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n"
#+
#+
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        text = TEXT + f"// {question['seq']} {os.getpid()} {os.urandom(8).hex()}\n"
#+        kernel = {"name": "silu_kernel", "symbol": "silu_kernel", "text": text, "signature": ["*fp32"]}
#+        kernels = json.dumps({"kernels": [kernel] * 64 if question["seq"] % 3 else [{**kernel, "symbol": "other"}]}).encode()
#+        os.pwrite(given[0], kernels, 0)
#+        size = len(kernels) if question["seq"] % 2 else 1 << 40
#+        judge.send(b'{"seq":%d,"op":"failed","failure":"exception","message":"no luck","asked":%d}\n' % (
#+            question["seq"], size))
