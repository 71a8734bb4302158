/* malloc() and its relatives for memory that outlives an exchange; failure terminates the
 * process. */
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"

void out_of_memory(size_t size)
{
    log_line(LOG_ERROR, "out of memory: cannot allocate %zu bytes; terminating", size);
    _exit(EXIT_FAILURE);
}

void *xmalloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

char *xstrdup(const char *string)
{
    size_t size = strlen(string) + 1;

    return memcpy(xmalloc(size), string, size);
}
