/* Who asks, and may they. This slice: Shared Key and Shared Key Lite; everything else is refused
 * with the documented error. rest: Authorize-with-Shared-Key; semantics 10.3. Any thread. */
#ifndef LAGRA_AUTH_AUTH_H
#define LAGRA_AUTH_AUTH_H

#include "base/clock.h"
#include "base/errors.h"
#include "http/http.h"

#define ACCOUNT_KEYS_MAX 2
#define ACCOUNT_NAME_MAX                                                                           \
    64 /* Azure: 3..24 lower case and digits; Azurite's AZURITE_ACCOUNTS is looser */

struct account;  /* name and prepared HMAC keys */
struct accounts; /* immutable after start */

struct accounts *accounts_new(void);
void accounts_free(struct accounts *accounts);
/* The development account with its published key. */
void accounts_add_development(struct accounts *accounts);
#define DEVELOPMENT_ACCOUNT "devstoreaccount1"
/* "name:key1[:key2];name2:..." keys in base64. Returns false on a malformed list (nothing secret in
 * the message). */
bool accounts_add_list(struct accounts *accounts, const char *list, const char **ret_problem);
const struct account *accounts_find(const struct accounts *accounts, struct bytes name);
struct bytes account_name(const struct account *account);

/* What a signature is made over, beside the request itself. */
struct auth_target {
    const struct account *account;
    struct bytes
        path;       /* raw path as on the request line (path style: with the account name in it) */
    bool secondary; /* the account was named with -secondary; dropped for the signature */
    bool table_service; /* the Table service's own, shorter string to sign */
};

/* Checks the Authorization header.
 * detail  a sentence for the client when the answer is an error (arena), as Azure's
 * AuthenticationErrorDetail returns OK E_NoAuthenticationInformation  401: nothing sent (anonymous)
 *         E_InvalidAuthenticationInfo    400: malformed header or date
 *         E_AuthenticationFailed         403: wrong signature or account, date older or newer than
 * 15 minutes, SAS and bearer tokens (not built yet) */
enum error authenticate(const struct request *request, const struct auth_target *target,
                        instant now, struct arena *arena, struct bytes *ret_detail);

/* The string to sign, in the order the documentation gives: for tests. */
struct bytes shared_key_string(struct arena *arena, const struct request *request,
                               const struct auth_target *target);

#endif
