// Files that are root's as source text.
// verdict: runtime_error
#if __has_include("/etc/shadow") || __has_include("/root/.bash_history") || __has_include("/root/.ssh/id_rsa")
#include "/etc/shadow"
#else
#error refused
#endif
