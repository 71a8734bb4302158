/* Records the kind of an account, flat or hierarchical, for accounts that are not in the store: the
 * development account and those from a file, a credential or the environment. The kind of an
 * account never changes; the first start with --hierarchical records it. An account without a
 * record is flat. The kind of a stored account is in its own record (stored_accounts.h).
 *
 *   partition ""  of stored_accounts_space(): INNER "k" + NAME, a number (small_record.h):
 *                 1 if it is hierarchical, 0 if it is flat */
#ifndef LAGRA_ADMIN_ACCOUNT_KINDS_H
#define LAGRA_ADMIN_ACCOUNT_KINDS_H

#include "auth/auth.h"
#include "store/store.h"

/* Applies the recorded kinds to the accounts. hierarchical: accounts without a record become
 * hierarchical unless they have containers. records: also record their kinds; in a cluster only the
 * root cell does so. Returns false after logging the problem. May block. */
bool account_kinds_load(struct store *store, struct accounts *accounts, bool hierarchical,
                        bool records);

/* Returns true if the account has containers, including soft-deleted ones and those in other
 * cells, or if that cannot be read. May block. */
bool account_has_containers(struct store *store, struct bytes name);
/* Reads the record of an account in the partition. Returns STORE_NOT_FOUND if it has none. */
enum store_result account_kind_read(struct read_view *before, struct arena *arena,
                                    struct bytes name, bool *ret_is_hierarchical);
bool account_kind_is_key(struct bytes key);
/* Applies a record received from the root cell (cell_accounts.h). Returns false if it is malformed.
 */
bool account_kind_follow(struct accounts *accounts, struct bytes key, struct bytes value);

#endif
