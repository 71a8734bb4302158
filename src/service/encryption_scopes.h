/* Holds the encryption scopes of all accounts in memory. A scope has a name and a random key of 32
 * bytes, and can be disabled; it is never deleted. Its key is here only in wrapped form
 * (store/keyring.h), and is unwrapped into the arena of each request or job that uses it.
 * admin/stored_scopes.h stores scopes. decision: 1460 docs: Encryption scopes for Blob storage
 *
 * Threads read without a lock; changes are made one at a time. */
#ifndef LAGRA_SERVICE_ENCRYPTION_SCOPES_H
#define LAGRA_SERVICE_ENCRYPTION_SCOPES_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/errors.h"
#include "service/blob_key.h"

/* Minimum and maximum length of a name. rest: Encryption Scopes - Put */
#define SCOPE_NAME_MIN     3u
#define SCOPE_NAME_MAX     63u
/* Maximum number of scopes of all accounts together; a cell receives all records at once. */
#define SCOPES_MAX         10000u
/* Name of the scope of the account itself, which is no scope here: without one, the server's own
 * encryption applies. */
#define ACCOUNT_SCOPE      "$account-encryption-key"

/* WRAPPED_KEY_SIZE of store/keyring.h */
#define SCOPE_WRAPPED_SIZE 69u

struct encryption_scopes;
struct keyring;

/* Creates an empty table. */
struct encryption_scopes *encryption_scopes_new(void);
/* Sets the keyring that unwraps the keys of scopes, before the first request; without it, no scope
 * is available. Must outlive the scopes. */
void encryption_scopes_set_keys(struct encryption_scopes *scopes, const struct keyring *keys);
void encryption_scopes_free(struct encryption_scopes *scopes);

/* Describes a scope as stored. */
struct encryption_scope {
    struct bytes account, name;
    bool is_disabled;
    instant created;
    instant changed;                     /* orders versions of one scope */
    uint8_t wrapped[SCOPE_WRAPPED_SIZE]; /* by the keyring of the root cell */
};
/* Creates and wraps a random key for a new scope. Returns false if the server has no keyring. */
bool encryption_scopes_new_key(const struct encryption_scopes *scopes,
                               struct encryption_scope *scope);
/* Returns true if there are SCOPES_MAX scopes. */
bool encryption_scopes_are_full(const struct encryption_scopes *scopes);
/* Adds a scope, or replaces an older version of it. */
void encryption_scopes_put(struct encryption_scopes *scopes, const struct encryption_scope *scope);

/* Returns true if the account has, or ever had, a scope. `scopes` may be NULL, here and below. */
bool encryption_scopes_has(const struct encryption_scopes *scopes, struct bytes account);
/* Returns true if the account has a scope of this name that is enabled. */
bool encryption_scopes_is_enabled(const struct encryption_scopes *scopes, struct bytes account,
                                  struct bytes name);
/* Unwraps the key of a scope into the arena, which then wipes freed memory, with a new salt.
 *
 * Returns OK; E_EncryptionScopeNotAvailable: it does not exist, is disabled, or its key cannot be
 * unwrapped (logged) */
enum error encryption_scopes_key(const struct encryption_scopes *scopes, struct bytes account,
                                 struct bytes name, struct arena *arena,
                                 const struct blob_key **ret_key);

/* Returns true for a valid name of a scope: letters, digits, and single dashes between them. */
bool encryption_scope_name_is_valid(struct bytes name);
/* Returns an empty name for the scope of the account itself. */
struct bytes encryption_scope_of_name(struct bytes name);

#endif
