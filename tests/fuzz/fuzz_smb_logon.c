/* The tokens of an authentication, as SPNEGO or NTLM's own: each is a length in two bytes, then
 * the token. Whoever is let in has an account and a key. */
#include <stdlib.h>

#include "base/endian.h"
#include "fuzz.h"
#include "smb_protocol/spnego.h"

/* The corpus has an answer to this challenge, at this time, by the one key. */
static const uint8_t challenge[NTLM_CHALLENGE_SIZE] = { 1, 2, 3, 4, 5, 6, 7, 8 };
#define NOW (INSTANT_UNIX_EPOCH + 1600000000 * TICKS_PER_SECOND)

static struct accounts *one_account(void)
{
    static struct accounts *accounts;
    const char *problem;

    if (!accounts) {
        accounts = accounts_new();
        if (!accounts_add_list(accounts, "acct:a2V5:b3RoZXI=", &problem))
            abort();
    }
    return accounts;
}

/* Takes a token off the front; all that is left if it is cut. */
static struct bytes take_token(struct bytes *rest)
{
    size_t length = rest->len < 2 ? 0 : le16_get(rest->ptr);
    struct bytes token;

    *rest = bytes_from(*rest, 2);
    token = bytes_of(rest->ptr, length < rest->len ? length : rest->len);
    *rest = bytes_from(*rest, token.len);
    return token;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 22);
    struct spnego *spnego = spnego_new(one_account(), challenge);
    struct bytes rest = bytes_of(data, size), reply;
    enum spnego_step step = SPNEGO_MORE;

    while (step == SPNEGO_MORE && rest.len > 0)
        step = spnego_step(spnego, arena, take_token(&rest), NOW, &reply);
    if (step == SPNEGO_DONE && (!bytes_is(account_name(spnego_account(spnego)), "acct") ||
                                spnego_session_key(spnego).len != NTLM_KEY_SIZE))
        abort();
    spnego_free(spnego);
    arena_free(arena);
    return 0;
}
