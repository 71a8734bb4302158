/* Permissions: see permission.h. Descriptors are not built yet: there is one permission, and requests
 * that bring another are refused before they come here. */
#include "file/permission.h"

enum error permission_settle(struct decision *d, const struct permission_given *given,
                             uint64_t *permission)
{
    (void)d;
    if (given->kind == PERMISSION_INHERITED)
        *permission = 0;
    return OK;
}

struct bytes permission_key_text(struct arena *arena, uint64_t permission)
{
    return arena_printf(arena, "%llu*0", (unsigned long long)permission);
}
