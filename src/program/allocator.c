/* See allocator.h. */
#include "program/allocator.h"

#include <stddef.h>

/* jemalloc reads it when it is loaded. */
extern const char *malloc_conf;
const char *malloc_conf = "dirty_decay_ms:2000,muzzy_decay_ms:0";

/* jemalloc(3); not there under sanitizers */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
    __attribute__((weak));

bool allocator_start(void)
{
    bool enabled = true;

    return !mallctl || mallctl("background_thread", NULL, NULL, &enabled, sizeof enabled) == 0;
}
