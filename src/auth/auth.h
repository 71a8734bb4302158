/* Authentication: determines the sender of a request as a typed identity: Shared Key, Shared Key
 * Lite, shared access signature, bearer token (trust.h), or anonymous. Permissions are checked by
 * permit.h.
 *
 * (1) A signed request is admitted only if its signature was made with a key of the addressed
 *     account over exactly this method, path, query and headers. A Shared Key string to sign
 *     belongs to one request: a string that two requests could share is refused (decision: 21).
 *     Shared Key Lite covers less by definition.
 * (2) Keys are decoded once and kept only as HMAC states and as the hashes that SMB clients prove;
 *     they are never logged or reported. Signatures are compared in constant time.
 * (3) Neither the response nor its timing reveals whether the account exists (decision: 35). That
 *     it is disabled is reported to callers who prove a right to it, and to callers who claim none.
 * rest: Authorize-with-Shared-Key; semantics 10.3; decision: 11. Thread-safe. */
#ifndef LAGRA_AUTH_AUTH_H
#define LAGRA_AUTH_AUTH_H

#include "auth/identity.h"
#include "base/clock.h"
#include "base/errors.h"
#include "auth/trust.h"
#include "http/http.h"

/* An account has a primary and an optional secondary key; both are always valid. */
#define ACCOUNT_KEYS_MAX    2
/* Azure: 3..24 lower-case letters and digits. Like Azurite's AZURITE_ACCOUNTS we also accept upper
 * case, '-' and '_'. */
#define ACCOUNT_NAME_MAX    64

/* The account of emulators; its key is published, so not a secret. */
#define DEVELOPMENT_ACCOUNT "devstoreaccount1"

/* Maximum difference between a request's date and our clock. */
#define AUTH_SKEW_MAX_S     900

/* Maximum number of names seen since the start of the process, present or not. */
#define ACCOUNTS_MAX        4096u
/* The part of them available to accounts in the store. */
#define STORED_ACCOUNTS_MAX 1000u

struct account_limits;
struct account;  /* valid as long as its set; its keys may change at any time */
struct accounts; /* lock-free lookup; changed by one thread at a time without blocking readers */

/* Where an account is defined, and must be changed. */
enum account_source {
    ACCOUNT_DEVELOPMENT, /* the published development account */
    ACCOUNT_CONFIGURED,  /* file, credential or environment variable */
    ACCOUNT_STORED,      /* store: lagra account */
};

struct accounts *accounts_new(void);
/* No thread may be using the accounts any more. */
void accounts_free(struct accounts *accounts);

/* Adds the development account with its published key. It must not exist yet. Start-up only. */
void accounts_add_development(struct accounts *accounts);
/* Restricts its key to this machine: forwarded requests signed with it are refused (struct request,
 * is_forwarded). Start-up only. */
void accounts_confine_development(struct accounts *accounts);

/* Adds the accounts of "name:key1[:key2];name2:key1..." (keys in lenient base64), the form of the
 * environment variable AZURITE_ACCOUNTS, or with one account per line.
 *
 * ret_problem  static message for the operator, without secrets; set if false is returned
 * returns      false if the list is malformed, or names an account of another source; then nothing
 *              was added. Thread-safe. */
bool accounts_add_list(struct accounts *accounts, const char *list, const char **ret_problem);

/* Replaces all accounts named by earlier lists. New requests see the change account by account;
 * requests in progress continue.
 *
 * returns      false if the list is malformed; then nothing was changed. Thread-safe. */
bool accounts_replace(struct accounts *accounts, const char *list, const char **ret_problem);

/* An account as defined in the store. */
struct stored_account {
    struct bytes name;
    struct bytes keys[ACCOUNT_KEYS_MAX]; /* in base64 */
    size_t key_count;                    /* 1 or 2 */
    bool disabled;
    bool hierarchical;
    bool no_public_access, no_shared_key, tracks_access;
    const struct account_limits *limits; /* account_limits.h; NULL: default limits */
    uint64_t version;                    /* greater than those of earlier definitions */
};
enum account_put {
    ACCOUNT_PUT, /* in effect, or superseded by a newer version */
    ACCOUNT_MALFORMED,
    ACCOUNT_TOO_MANY,
    ACCOUNT_ELSEWHERE, /* an account of that name exists in another source */
};
/* Reserves a name before an account with it is added to the store: lists that contain the name are
 * refused until there were as many releases as reservations. Returns false if the name is used by
 * another source. Thread-safe. */
bool accounts_reserve(struct accounts *accounts, struct bytes name);
void accounts_release(struct accounts *accounts, struct bytes name);
/* Makes the definition effective for new requests. Thread-safe. */
enum account_put accounts_put_stored(struct accounts *accounts,
                                     const struct stored_account *stored);

/* Returns NULL if there is no such account. Names are compared exactly. Thread-safe. */
const struct account *accounts_find(const struct accounts *accounts, struct bytes name);
/* Like accounts_find(), for the first label of a host name, ignoring case like DNS. */
const struct account *accounts_find_host(const struct accounts *accounts, struct bytes label);
/* Calls `found` for each account, in no particular order. Thread-safe. */
void accounts_each(const struct accounts *accounts,
                   void (*found)(const struct account *account, void *context), void *context);
/* Returns the only account, or NULL if there is none or several; sets *ret_count. Thread-safe. */
const struct account *accounts_only(const struct accounts *accounts, size_t *ret_count);
struct bytes account_name(const struct account *account);
enum account_source account_source(const struct account *account);
size_t account_key_count(const struct account *account);
/* Returns true if all requests for the account must be refused (AccountIsDisabled); false for NULL.
 * Thread-safe. */
bool account_is_disabled(const struct account *account);
/* Returns true if sessions that were authenticated with a key of the account must end: it is
 * disabled or refuses keys. False for NULL. Thread-safe. */
bool account_refuses_keys(const struct account *account);
/* Returns true if new containers of the account have a hierarchical namespace; false for NULL. An
 * account keeps its kind for ever. Thread-safe. */
bool account_is_hierarchical(const struct account *account);
/* Sets the kind of an account that the store does not define, once it is known. Thread-safe. */
void account_set_hierarchical(const struct account *account, bool is_hierarchical);
/* Bits stored with an account for the services, which define their meaning; initially 0.
 * Thread-safe; set by one thread at a time. */
uint32_t account_note(const struct account *account);
void account_set_note(const struct account *account, uint32_t note);
/* Computes an HMAC-SHA256 with one of the account's keys (0: the first), to create a shared access
 * signature. Returns false if the key does not exist. Thread-safe. */
#define ACCOUNT_SIGNATURE_SIZE 32
bool account_sign(const struct account *account, size_t key, struct bytes text,
                  uint8_t ret_signature[ACCOUNT_SIGNATURE_SIZE]);

/* Checks whether the text, base64 as in a connection string, is one of the account's keys, and
 * which one. The time taken reveals neither how much of it is right nor whether the account exists
 * (NULL: it does not). Thread-safe. */
bool account_find_key(const struct account *account, struct bytes text, size_t *ret_key);

/* See accounts_confine_development(). */
bool account_is_confined(const struct account *account);

/* Returns the NT hashes of the keys' texts, which are the passwords of SMB clients, and their
 * number. The hashes are as powerful as the keys there, so the caller wipes them. ms-nlmp: 3.3.1 */
#define NT_HASH_SIZE 16
size_t account_nt_hashes(const struct account *account,
                         uint8_t ret_hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE]);

/* A user delegation key, with which a user identified by a token signs shared access signatures. It
 * is derived from a secret of the account's key and the fields below, so it is not stored, cannot
 * be created without the account's key, and is invalidated with that key. decision: 83 */
#define DELEGATION_KEY_SIZE 32
struct delegation_key {
    struct bytes oid, tid, service, version;
    struct bytes user_tid; /* tenant of its permitted users; empty if not restricted */
    instant start, expiry; /* whole seconds are significant */
};
/* Derives the key from the account's first key. */
void account_delegation_key(const struct account *account, struct arena *arena,
                            const struct delegation_key *key,
                            uint8_t ret_value[DELEGATION_KEY_SIZE]);

/* The parts of a string to sign that are not in the request itself. */
struct auth_target {
    const struct account *account; /* NULL if it does not exist; refused like a wrong signature */
    struct bytes name;             /* the account's name as signed: without "-secondary" */
    struct bytes path; /* raw, as in the request line (path style includes the account's name) */
    bool secondary;    /* the account was named with "-secondary", which is not signed */
    char service;      /* 'b', 'q', 't', 'f'; the Table service has shorter strings to sign */
    struct bytes container;    /* decoded container, queue or share; ptr NULL: the service */
    struct bytes object;       /* blob or file in it; ptr NULL if none */
    const char *service_name;  /* "blob" */
    const struct trust *trust; /* NULL if bearer tokens are not accepted */
};

/* Authenticates a request.
 *
 * now         the wall clock, which the request's date and the times of a SAS are compared with
 * ret_identity  the sender, set with OK
 * ret_detail  a sentence for the client (AuthenticationErrorDetail) in the arena or static; set
 *             with some of the errors, otherwise unchanged
 * returns     OK signed with a key of the account, or anonymous
 *             E_InvalidAuthenticationInfo    400: a malformed Authorization header or date
 *             E_InvalidQueryParameterValue   400: a query that cannot be signed unambiguously
 *             E_AuthenticationFailed         403: wrong signature or account; missing date, or one
 *                                            too far off; a token that trust.h rejects, or that
 *                                            was not sent over TLS; a forwarded request by an
 *                                            account restricted to this machine; a SAS that is
 *                                            malformed, expired, not yet valid, for another
 *                                            resource or not signed by a key of the account
 *             E_AuthorizationProtocolMismatch, E_AuthorizationSourceIPMismatch,
 *             E_AuthorizationServiceMismatch 403: the SAS is for another protocol, address, service
 * Thread-safe. */
enum error authenticate(const struct request *request, const struct auth_target *target,
                        instant now, struct arena *arena, struct identity *ret_identity,
                        struct bytes *ret_detail);

/* Authenticates the source of an operation, which a header names together with the query of a SAS.
 *
 * target   the source; its path is not used
 * returns  like authenticate() for a request with this query. Thread-safe. */
enum error authenticate_source(const struct request *request, struct bytes query,
                               const struct auth_target *target, instant now, struct arena *arena,
                               struct identity *ret_identity, struct bytes *ret_detail);

/* Returns the string to sign for Shared Key in the service's form (clients may also use the other
 * forms of auth_private.h). For tests and tools. */
struct bytes shared_key_string(struct arena *arena, const struct request *request,
                               const struct auth_target *target);

#endif
