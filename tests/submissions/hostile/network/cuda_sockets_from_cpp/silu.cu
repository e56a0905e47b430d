// Opens sockets of several families, and connects to the host.
// verdict: policy_violation, runtime_error
// base: hostile/attacking_the_grader/cuda_kills_from_cpp
//-#include <csignal>
//+#include <arpa/inet.h>
//+#include <netinet/in.h>
//
//-#include <unistd.h>
//+#include <sys/socket.h>
//+#include <unistd.h>
//
//-    return getppid() > 0 && kill(getppid(), SIGSTOP) == 0;
//+    for (int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, 40}) {
//+        int descriptor = socket(family, SOCK_STREAM, 0);
//+        if (descriptor < 0)
//+            continue;
//+        sockaddr_in address = {};
//+        address.sin_family = AF_INET;
//+        address.sin_port = htons(53);
//+        address.sin_addr.s_addr = htonl(0x08080808);
//+        if (connect(descriptor, (sockaddr *)&address, sizeof address) == 0)
//+            return true;
//+        close(descriptor);
//+    }
//+    return false;
