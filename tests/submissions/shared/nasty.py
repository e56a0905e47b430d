NASTY = (
    "<script>alert('kernelmark')</script><img src=x onerror=alert(1)>"
    "\x1b[2J\x1b[31m\x1b]0;kernelmark\x07\x9b31m"
    "\r\n=cmd|' /C calc'!A1\t@SUM(1+1)\n+1\n-1"
    "\u202egnitaerc\u202c\u2066\u200f\u0000\u0008\x7f\ud800\udfff\ufeff"
    "{{ 7 * 7 }}{% raw %}`</code>`]]>--><!--"
)


