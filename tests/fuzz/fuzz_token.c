/* Bearer tokens, key sets and assignments of roles. The first byte of the input says which: no
 * token is admitted, since the input does not know the private key; what is read of the other
 * two is used. */
#include <stdlib.h>

#include "auth/trust.h"
#include "fuzz.h"

static const struct bytes key_set =
    BYTES("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
          "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
          "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"); /* rfc: 7515 A.3.1 */

/* Any of the three may be NULL: the fixed ones. */
static struct trust *make(struct bytes keys, struct bytes roles)
{
    struct trust_options options = {
        .issuer = "joe", .audience = "x", .keys = keys, .roles = roles
    };
    const char *problem = NULL;
    struct trust *trust = trust_new(&options, &problem);

    if (!trust && !problem)
        abort();
    return trust;
}

static void check_token(struct arena *arena, struct bytes token, bool basic)
{
    struct trust_options options = { .basic = true };
    const char *problem = NULL;
    struct trust *trust = basic ? trust_new(&options, &problem) : make(key_set, bytes_of(NULL, 0));
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    struct bytes rest = bytes_of(data + 1, size > 0 ? size - 1 : 0);
    struct trust *trust = NULL;

    if (size > 0 && (data[0] == 't' || data[0] == 'b'))
        check_token(arena, rest, data[0] == 'b');
    else if (size > 0 && data[0] == 'k')
        trust = make(rest, bytes_of(NULL, 0));
    else if (size > 0 && data[0] == 'r')
        trust = make(key_set, rest);
    if (trust && (trust_actions(trust, bytes_from_string("o"), bytes_from_string("a"), 'q',
                                bytes_from_string("c")) &
                  ~(unsigned)ACTIONS_ALL))
        abort();
    trust_free(trust);
    arena_free(arena);
    return 0;
}
