/* See secret_memory.h. */
#include "base/secret_memory.h"

#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"

void *secret_memory_new(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        out_of_memory(size);
    /* Both are precautions, and may fail: an old kernel, a small limit. */
    (void)madvise(memory, size, MADV_DONTDUMP);
    (void)mlock(memory, size);
    return memory;
}

void secret_memory_free(void *memory, size_t size)
{
    if (!memory)
        return;
    explicit_bzero(memory, size);
    munmap(memory, size);
}
