# Fetches a page with Python's own library, from a server of its own so as to bother nobody.
# verdict: runtime_error
# expect: refused
import errno
import http.server
import threading
import urllib.request

# shared: triton
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
# shared: attacks
