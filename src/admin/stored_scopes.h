/* Stores encryption scopes next to the accounts (stored_accounts.h), so that the other cells
 * of a cluster have copies of them (cell_accounts.h). They may belong to any account,
 * stored or not.
 *
 *   INNER "e<account>/<name>"   u8 1 (version); flags (1: disabled); created, changed, ticks; the
 *                               wrapped key, SCOPE_WRAPPED_SIZE bytes
 *
 * decision: 1460 */
#ifndef LAGRA_ADMIN_STORED_SCOPES_H
#define LAGRA_ADMIN_STORED_SCOPES_H

#include "service/encryption_scopes.h"
#include "store/store.h"

enum scope_change { SCOPE_ADD, SCOPE_ENABLE, SCOPE_DISABLE };

/* Changes a scope, waits until the change is durable, and applies it to `scopes`. May block.
 *
 * ret_scope  the changed scope, in the arena
 *
 * Returns OK; E_InvalidInput: not a valid name; E_ResourceAlreadyExists: only SCOPE_ADD;
 * E_ResourceNotFound: other changes; E_OutOfRangeInput: there are SCOPES_MAX scopes;
 * E_NotImplemented: SCOPE_ADD without a keyring; errors of the store */
enum error stored_scope_change(struct store *store, struct encryption_scopes *scopes,
                               struct arena *arena, struct bytes account, struct bytes name,
                               enum scope_change change, struct encryption_scope *ret_scope);
/* Returns the scopes of an account by name; the array is in the arena. */
enum error stored_scopes_list(struct store *store, struct arena *arena, struct bytes account,
                              struct encryption_scope **ret_scopes, size_t *ret_count);
/* Loads all scopes at startup. Returns false if they cannot be read. */
bool stored_scopes_load(struct store *store, struct encryption_scopes *scopes);

/* Returns true for the key of a scope's record. */
bool stored_scope_is_key(struct bytes key);
/* Decodes a record, for `lagra check`. Returns false if it is malformed. */
bool stored_scope_decode(struct bytes key, struct bytes value, struct encryption_scope *ret_scope);
/* Applies the record of a scope received from the root cell. Returns false if it is malformed.
 * Thread-safe. */
bool stored_scope_follow(struct encryption_scopes *scopes, struct bytes key, struct bytes value);

#endif
