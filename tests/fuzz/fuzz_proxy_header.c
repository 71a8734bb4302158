/* The header of the PROXY protocol: however little of it is there, more of it does not make another of it, and none
 * is longer than its bound. */
#include <stdlib.h>

#include "fuzz.h"
#include "net/proxy_header.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(size > 0 ? (const void *)data : "", size);
    struct proxy_header header = { .size = 0 }, of_less;
    enum proxy_found found = proxy_header_find(input, &header);

    require(found != PROXY_WHOLE ||
            (header.size > 0 && header.size <= size && header.size <= PROXY_HEADER_MAX));
    require(found != PROXY_PART || size < PROXY_HEADER_MAX);
    for (size_t less = 0; less < size && less < 600; less++) {
        enum proxy_found found_less = proxy_header_find(bytes_of(input.ptr, less), &of_less);

        if (found == PROXY_WHOLE)
            require(found_less == (less < header.size ? PROXY_PART : PROXY_WHOLE));
        require(found != PROXY_PART || found_less == PROXY_PART);
    }
    return 0;
}
