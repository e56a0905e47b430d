// Looks for seeds and tokens in its environment, and in what the program began with.
// verdict: runtime_error
// expect: refused
// base: hostile/attacking_the_grader/cuda_kills_from_cpp
//-#include <csignal>
//+#include <cstdlib>
//+#include <cstring>
//+#include <fstream>
//+#include <iterator>
//
//-#include <unistd.h>
//+#include <string>
//+#include <unistd.h>
//
//-    return getppid() > 0 && kill(getppid(), SIGSTOP) == 0;
//+    std::string found;
//+    for (char **one = environ; one != nullptr && *one != nullptr; ++one)
//+        found += std::string(*one) + "\n";
//+    std::ifstream file("/proc/self/environ");
//+    found.append(std::istreambuf_iterator<char>(file), {});
//+    for (const char *word : {"SEED", "TOKEN", "SECRET", "PASSWORD", "PYTEST", "CREDENTIAL", "SSH_", "API_KEY"})
//+        if (found.find(word) != std::string::npos)
//+            return true;
//+    return false;
