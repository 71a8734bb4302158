/* Bearer tokens, key sets, assignments of roles and places of accounts. The first byte of the input
 * says which: no token is admitted, since the input does not know the private key; what is read of
 * the others is used. */
#include <stdlib.h>

#include "auth/trust.h"
#include "fuzz.h"

static const struct bytes none = { NULL, 0 };
static const struct bytes key_set =
    BYTES("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
          "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
          "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"); /* rfc: 7515 A.3.1 */

static const struct bytes roles_everywhere =
    BYTES("[{\"principalId\":\"o\",\"roleDefinitionName\":\"Storage Queue Data Reader\","
          "\"scope\":\"/subscriptions/s\"}]");

static struct trust *make(struct bytes keys, struct bytes roles, struct bytes accounts)
{
    struct trust_options options = {
        .issuer = "joe", .audience = "x", .keys = keys, .roles = roles, .accounts = accounts
    };
    struct trust_problem problem = { "" };
    struct trust *trust = trust_new(&options, &problem);

    if (!trust && !problem.text[0])
        abort();
    return trust;
}

static void check_token(struct arena *arena, struct bytes token, bool basic)
{
    struct trust_options options = { .basic = true };
    struct trust_problem problem;
    struct trust *trust = basic ? trust_new(&options, &problem) : make(key_set, none, none);
    struct principal principal;
    struct bytes detail = { NULL, 0 };
    enum error e = trust_check(trust, token, bytes_from_string("a"), "blob", clock_now(), arena,
                               &principal, &detail);

    if (!e && (!basic || principal.oid.len == 0 || principal.oid.len > PRINCIPAL_ID_MAX))
        abort();
    if (e && !detail.ptr)
        abort();
    trust_free(trust);
}

static unsigned actions_of(const struct trust *trust)
{
    return trust ? trust_actions(trust, bytes_from_string("o"), bytes_from_string("a"), 'q',
                                 bytes_from_string("c"))
                 : 0;
}

static bool contains_nocase(struct bytes text, const char *word)
{
    for (size_t i = 0; i + strlen(word) <= text.len; i++) {
        if (bytes_is_nocase(bytes_of(text.ptr + i, strlen(word)), word))
            return true;
    }
    return false;
}

/* Where nothing says in what subscription an account is, only a scope that names it opens it. */
static struct trust *check_roles(struct bytes roles)
{
    struct trust *trust = make(key_set, roles, none);

    if (actions_of(trust) && !memchr(roles.ptr, '\\', roles.len) &&
        !(contains_nocase(roles, "/storageAccounts/a/queueServices/default/queues/c\"") ||
          contains_nocase(roles, "/storageAccounts/a/queueServices/default\"") ||
          contains_nocase(roles, "/storageAccounts/a\"")))
        abort();
    return trust;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    struct bytes rest = bytes_of(data + 1, size > 0 ? size - 1 : 0);
    struct trust *trust = NULL;

    if (size > 0 && (data[0] == 't' || data[0] == 'b'))
        check_token(arena, rest, data[0] == 'b');
    else if (size > 0 && data[0] == 'k')
        trust = make(rest, none, none);
    else if (size > 0 && data[0] == 'a')
        trust = make(key_set, roles_everywhere, rest);
    else if (size > 0 && data[0] == 'r')
        trust = check_roles(rest);
    if (actions_of(trust) & ~(unsigned)ACTIONS_ALL)
        abort();
    trust_free(trust);
    arena_free(arena);
    return 0;
}
