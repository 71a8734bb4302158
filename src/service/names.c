/* Names and spaces: see names.h. */
#include "service/names.h"

#include <nettle/sha2.h>
#include <string.h>

#define NAME_MIN 3
#define NAME_MAX 63

struct guid account_space(const char *service, struct bytes account)
{
    struct sha256_ctx sha;
    struct guid space;

    sha256_init(&sha);
    sha256_update(&sha, strlen(service), (const uint8_t *)service);
    sha256_update(&sha, 1, (const uint8_t *)"/");
    sha256_update(&sha, account.len, (const uint8_t *)account.ptr);
    sha256_digest(&sha, sizeof space.b, space.b);
    return space;
}

enum error name_check(struct bytes name)
{
    bool after_dash = true;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool dash = c == '-';

        if (!dash && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            return E_InvalidResourceName;
        if (dash && (after_dash || i + 1 == name.len))
            return E_InvalidResourceName;
        after_dash = dash;
    }
    return name.len < NAME_MIN || name.len > NAME_MAX ? E_OutOfRangeInput : OK;
}
