// Handler of exceptions that host code does not catch: it reports their messages before the stack is unwound.
#include <cstring>
#include <exception>

extern "C" [[noreturn]] void rec_uncaught(const char *what);

namespace {

[[noreturn]] void uncaught() {
    char said[400] = "an exception";
    if (std::exception_ptr thrown = std::current_exception()) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception &error) {
            std::strncpy(said, error.what(), sizeof said - 1);
        } catch (...) {
        }
    }
    rec_uncaught(said);
}

__attribute__((constructor(101))) void begin() { std::set_terminate(uncaught); }

} // namespace
