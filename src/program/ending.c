/* See ending.h; and assertions, of ours and of RocksDB. */
#include "program/ending.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static bool keeps_reading;

void ending_keep_reading(bool keep)
{
    keeps_reading = keep;
}

noreturn void ending_of_failed_store(void)
{
    log_line(LOG_ERROR,
             "lagra ends with exit code %d: a write or sync of its store failed. What was "
             "acknowledged is on disk: look after the disk and start it again",
             EXIT_STORE_FAILED);
    _exit(EXIT_STORE_FAILED);
}

void ending_store_failed(void)
{
    if (!keeps_reading)
        ending_of_failed_store();
    log_line(LOG_ERROR,
             "reads go on (--keepReading), writes are refused (500) until the next start");
}

static bool is_of_rocksdb(const void *address)
{
    Dl_info found;

    return dladdr(address, &found) != 0 && found.dli_fname && strstr(found.dli_fname, "librocksdb");
}

/* The C library's, which the linker finds here first. RocksDB asserts that nobody calls on a file again
 * whose write failed, and does so itself: in another thread, in closing, and where opening fails half way.
 * Debian builds it with assertions. Its writes are the store's, so this is how that ends, and no abort. */
noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                            const char *function)
{
    if (is_of_rocksdb(__builtin_return_address(0))) {
        log_line(LOG_ERROR, "store: RocksDB gives up: %s:%u: %s: %s", file, line, function,
                 expression);
        ending_of_failed_store();
    }
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file,
            line, function, expression);
    abort();
}
