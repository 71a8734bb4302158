/* Checks names and computes the ids of spaces; see names.h. */
#include "service/names.h"

#include <nettle/sha2.h>
#include <string.h>

#define NAME_MIN      3
#define NAME_MAX      63

/* Last space computed by this thread. A thread usually needs the same account again, and the digest
 * costs as much as reading a record. service: static. */
#define KEPT_NAME_MAX 64
static _Thread_local struct {
    const char *service;
    size_t length;
    char account[KEPT_NAME_MAX];
    struct guid space;
} kept;

static bool is_kept(const char *service, struct bytes account)
{
    return kept.service && kept.length == account.len && strcmp(kept.service, service) == 0 &&
           memcmp(kept.account, account.ptr, account.len) == 0;
}

struct guid account_space(const char *service, struct bytes account)
{
    struct sha256_ctx sha;
    struct guid space;

    if (account.len > 0 && is_kept(service, account))
        return kept.space;
    sha256_init(&sha);
    sha256_update(&sha, strlen(service), (const uint8_t *)service);
    sha256_update(&sha, 1, (const uint8_t *)"/");
    sha256_update(&sha, account.len, (const uint8_t *)account.ptr);
    sha256_digest(&sha, sizeof space.b, space.b);
    if (account.len > 0 && account.len <= KEPT_NAME_MAX) {
        kept.service = service;
        kept.length = account.len;
        memcpy(kept.account, account.ptr, account.len);
        kept.space = space;
    }
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
    return name.len < NAME_MIN || name.len > NAME_MAX ? E_OutOfRangeName : OK;
}
