/* Authentication: the sender of a request as a typed identity: Shared Key, Shared Key Lite, shared
 * access signatures, bearer tokens (trust.h), nobody. Permissions are
 * not judged here, but by permit.h.
 *
 * (1) A signed request is admitted only when its signature was made with a key of the account that
 *     the request addresses, over this very method, path, query and headers. A string to sign of
 *     Shared Key belongs to one request: what two requests could share is refused (decision: 21).
 *     Shared Key Lite covers less by its definition.
 * (2) Keys are decoded once and kept only as HMAC states and as the hashes that SMB's clients
 *     prove; none of them is ever logged or reported. Signatures are compared in constant time.
 * (3) An answer does not tell whether the account exists, nor does its time (decision: 35); but that it
 *     is disabled is said to whoever proves to have a right to it, and to whoever claims none.
 * rest: Authorize-with-Shared-Key; semantics 10.3; decision: 11. Any thread. */
#ifndef LAGRA_AUTH_AUTH_H
#define LAGRA_AUTH_AUTH_H

#include "auth/identity.h"
#include "base/clock.h"
#include "base/errors.h"
#include "auth/trust.h"
#include "http/http.h"

/* An account has a primary and may have a secondary key; both are valid at all times. */
#define ACCOUNT_KEYS_MAX    2
/* Azure: 3..24 lower-case letters and digits. Azurite's AZURITE_ACCOUNTS is looser, so are we:
 * letters, digits, '-' and '_'. */
#define ACCOUNT_NAME_MAX    64

/* The account that emulators have; its key is published and so no secret. */
#define DEVELOPMENT_ACCOUNT "devstoreaccount1"

/* A request whose date is further from our clock than this, either way, is refused. */
#define AUTH_SKEW_MAX_S     900

/* So many names may be known from the start of a process on, named no longer or not. */
#define ACCOUNTS_MAX        4096u
/* So many of them are for accounts of the store. */
#define STORED_ACCOUNTS_MAX 1000u

struct account_limits;
struct account; /* valid as long as its set; its keys may be exchanged at any time */
struct
    accounts; /* found without a lock; changed by one thread at a time, which others do not wait for */

/* Where an account comes from: whoever changes it changes it there. */
enum account_source {
    ACCOUNT_DEVELOPMENT, /* the published one */
    ACCOUNT_CONFIGURED,  /* a file, a credential, the environment */
    ACCOUNT_STORED,      /* the store: lagra account */
};

struct accounts *accounts_new(void);
/* Nobody may be finding any more. */
void accounts_free(struct accounts *accounts);

/* The development account with its published key. It must not be there yet. Start-up thread. */
void accounts_add_development(struct accounts *accounts);
/* Its key is for this machine alone: what a proxy forwards is refused, whoever signed it (struct request,
 * is_forwarded). Start-up thread. */
void accounts_confine_development(struct accounts *accounts);

/* Adds the accounts of "name:key1[:key2];name2:key1..." (keys in base64, leniently), the form of
 * the environment variable AZURITE_ACCOUNTS, or with a line for each.
 *
 * ret_problem  static text for the operator, without anything secret; set when false is returned
 * returns      false for a malformed list, or one that names an account of another source; then nothing was
 *              added. Any thread. */
bool accounts_add_list(struct accounts *accounts, const char *list, const char **ret_problem);

/* The same in the place of all accounts that lists have named before: requests that begin from now on see it,
 * account by account. Those that are under way go on.
 *
 * returns false for a malformed list; then all is as it was. Any thread. */
bool accounts_replace(struct accounts *accounts, const char *list, const char **ret_problem);

/* What the store says of an account. */
struct stored_account {
    struct bytes name;
    struct bytes keys[ACCOUNT_KEYS_MAX]; /* in base64 */
    size_t key_count;                    /* 1 or 2 */
    bool disabled;
    const struct account_limits *limits; /* account_limits.h; NULL: as others have */
    uint64_t version;                    /* above those of what it said before */
};
enum account_put {
    ACCOUNT_PUT, /* in force, or something newer is */
    ACCOUNT_MALFORMED,
    ACCOUNT_TOO_MANY,
    ACCOUNT_ELSEWHERE, /* there is one of that name that is not of the store */
};
/* Before the store is to have an account of a name that is new to it: lists that name it are refused until as
 * many releases as reservations. False: there is one of that name that is not of the store. Any thread. */
bool accounts_reserve(struct accounts *accounts, struct bytes name);
void accounts_release(struct accounts *accounts, struct bytes name);
/* Puts it in force for requests that begin from now on. Any thread. */
enum account_put accounts_put_stored(struct accounts *accounts,
                                     const struct stored_account *stored);

/* Returns NULL when there is no such account. Names are compared exactly. Any thread. */
const struct account *accounts_find(const struct accounts *accounts, struct bytes name);
/* As accounts_find(), for the first label of a host name: DNS ignores the case of letters. */
const struct account *accounts_find_host(const struct accounts *accounts, struct bytes label);
/* Calls `found` for each, in no order. Any thread. */
void accounts_each(const struct accounts *accounts,
                   void (*found)(const struct account *account, void *context), void *context);
/* The one account there is, and how many there are; NULL: none, or several. Any thread. */
const struct account *accounts_only(const struct accounts *accounts, size_t *ret_count);
struct bytes account_name(const struct account *account);
enum account_source account_source(const struct account *account);
size_t account_key_count(const struct account *account);
/* Is everybody to be refused who asks for something of it (AccountIsDisabled)? False for NULL. Any thread. */
bool account_is_disabled(const struct account *account);
/* Bits that the services keep with an account, whose meaning is theirs; 0 at first. Any thread; set by one at a time. */
uint32_t account_note(const struct account *account);
void account_set_note(const struct account *account, uint32_t note);
/* HMAC-SHA256 with one of its keys (0: the first); false: it has no such key. For who makes shared access
 * signatures. Any thread. */
#define ACCOUNT_SIGNATURE_SIZE 32
bool account_sign(const struct account *account, size_t key, struct bytes text,
                  uint8_t ret_signature[ACCOUNT_SIGNATURE_SIZE]);

/* Whether the text, base64 as in a connection string, is one of its keys, and which one. In a time that says neither how
 * much of it is right nor whether there is such an account (NULL: there is none). Any thread. */
bool account_find_key(const struct account *account, struct bytes text, size_t *ret_key);

/* See accounts_confine_development(). */
bool account_is_confined(const struct account *account);

/* The NT hashes of the texts of its keys, which are the passwords of SMB's clients: as good as the
 * keys there, so the caller zeroes them. Returns how many there are. ms-nlmp: 3.3.1 */
#define NT_HASH_SIZE 16
size_t account_nt_hashes(const struct account *account,
                         uint8_t ret_hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE]);

/* A user delegation key: what somebody who is known by a token signs shared access signatures with.
 * It is made of a secret of the account's key and all that is said of it, so nothing is stored, and
 * none can be made without the account's key; it ends with that key. decision: 83 */
#define DELEGATION_KEY_SIZE 32
struct delegation_key {
    struct bytes oid, tid, service, version;
    struct bytes user_tid; /* the tenant of those who may use it; empty: not said */
    instant start, expiry; /* whole seconds count */
};
/* With the account's first key. */
void account_delegation_key(const struct account *account, struct arena *arena,
                            const struct delegation_key *key,
                            uint8_t ret_value[DELEGATION_KEY_SIZE]);

/* What a signature is made over, beside the request itself. */
struct auth_target {
    const struct account *account; /* NULL: none of that name; refused as others are */
    struct bytes name;             /* the account's, as it is signed: without "-secondary" */
    struct bytes path; /* raw, as on the request line (path style: with the account's name in it) */
    bool secondary;    /* the account was named with "-secondary", which is not signed */
    char service;      /* 'b', 'q', 't', 'f'; the Table service's strings to sign are shorter */
    struct bytes container;    /* decoded: or queue, share; ptr NULL: the service itself */
    struct bytes object;       /* blob or file in it; ptr NULL: none */
    const char *service_name;  /* "blob" */
    const struct trust *trust; /* NULL: no bearer tokens */
};

/* Checks who sent the request.
 *
 * now         the wall clock: what the request's date and the times of a SAS are compared with
 * ret_identity  who it is, set with OK
 * ret_detail  a sentence for the client (AuthenticationErrorDetail) in the arena or static; set on
 *             some of the errors, untouched otherwise
 * returns     OK                           signed with a key of the account, or anonymous
 *             E_InvalidAuthenticationInfo    400: a malformed Authorization header or date
 *             E_InvalidQueryParameterValue   400: a query that cannot be signed unambiguously
 *             E_AuthenticationFailed         403: wrong signature or account, a date that is
 *                                            missing or too far off; a token that trust.h
 *                                            refuses, or that did not come over TLS; a forwarded
 *                                            request by an account of this machine alone; a
 *                                            SAS that is malformed, not signed by a key of the
 *                                            account, not of this resource, not valid now
 *             E_AuthorizationProtocolMismatch, E_AuthorizationSourceIPMismatch,
 *             E_AuthorizationServiceMismatch 403: a SAS for others
 * Any thread. */
enum error authenticate(const struct request *request, const struct auth_target *target,
                        instant now, struct arena *arena, struct identity *ret_identity,
                        struct bytes *ret_detail);

/* The string to sign for Shared Key as the service writes it (clients may also use the other forms
 * of auth_private.h). For tests and tools. */
struct bytes shared_key_string(struct arena *arena, const struct request *request,
                               const struct auth_target *target);

#endif
