# Fetches a page with Python's own library, from a server of its own so as to bother nobody.
# verdict: runtime_error
# expect: refused
import errno
import http.server
import threading
import urllib.request

import triton
import triton.language as tl


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def attack():
    try:
        server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.handle_request, daemon=True).start()
        urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", timeout=1).close()
    except OSError as error:
        number = getattr(error, "errno", None) or getattr(getattr(error, "reason", None), "errno", None)
        if number not in (errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT, errno.ENETUNREACH):
            raise
        raise RuntimeError(f"refused: {errno.errorcode[number]}") from None


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
