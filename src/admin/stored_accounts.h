/* Accounts in the store, which `lagra account` creates and changes. Changes are durable and take
 * effect with the next request.
 *
 *   space      account_space("accounts", "")
 *   partition  "": INNER record "n", the number of accounts (small_record.h); "a" + NAME, one per
 *              account
 *     value    u8 1 or 2; varint flags (1: disabled, 2: hierarchical, 4: no
 *              public access, 8: no shared key, 16: tracks access); instants of creation and
 *              last change, varints; varint count of keys; each key's text (base64), bytes
 *              version 2: limits, varints in the order of enum account_limit (0 means default, 1
 *              none, else limit + 1). An account without limits of its own is written in
 *              version 1, which older servers can read
 *   The partition also contains the kinds of accounts from other sources (account_kinds.h).
 *
 * Keys are stored in plain text, because they are needed for computing signatures. Anyone who can
 * read the data directory can read them, but they grant access only to the data in that directory.
 */
#ifndef LAGRA_ADMIN_STORED_ACCOUNTS_H
#define LAGRA_ADMIN_STORED_ACCOUNTS_H

#include "auth/account_limits.h"
#include "store/store.h"

/* Minimum and maximum length of a name, as in Azure. rest: storage-account-overview "3 and 24
 * characters" */
#define STORED_NAME_MIN 3u
#define STORED_NAME_MAX 24u

struct account_record {
    struct bytes name;
    bool disabled;
    bool hierarchical; /* set when it is added */
    bool no_public_access, no_shared_key, tracks_access;
    instant created, changed;
    size_t key_count;
    struct bytes keys[ACCOUNT_KEYS_MAX];
    struct account_limits limits;
};

enum account_change {
    /* Fails with E_AccountAlreadyExists; E_OutOfRangeInput if there are already STORED_ACCOUNTS_MAX
     * accounts; E_ResourceAlreadyExists if the name has containers of the other kind, or was an
     * account of the other kind */
    ACCOUNT_ADD,
    ACCOUNT_CHANGE, /* fails with E_ResourceNotFound if it does not exist */
};

/* Changes a record. May be called repeatedly, so it must have no side effects. With ACCOUNT_ADD,
 * only the name of the record is set. */
typedef void account_change_fn(struct account_record *record, void *context);

/* Changes an account, waits until the change is durable, and applies it to `accounts`. May block.
 *
 * ret_record  new record, in the arena returns     OK; errors of `how`; E_ResourceTypeMismatch if
 * the name belongs to another source
 *             and nothing was changed; E_InternalError if it is unknown whether the account was
 *             changed; E_ServerBusy and similar errors of the store: nothing was changed */
enum error stored_account_change(struct store *store, struct accounts *accounts,
                                 struct arena *arena, struct bytes name, enum account_change how,
                                 account_change_fn *change, void *context,
                                 struct account_record *ret_record);
/* Reads an account. Returns OK, E_ResourceNotFound, or an error of the store. */
enum error stored_account_read(struct store *store, struct arena *arena, struct bytes name,
                               struct account_record *ret_record);
/* Returns all accounts sorted by name; the array is in the arena. */
enum error stored_accounts_list(struct store *store, struct arena *arena,
                                struct account_record **ret_records, size_t *ret_count);

/* Loads all stored accounts at startup and sets *ret_count to their number. On failure, returns
 * false and sets *ret_problem to a message for the operator. */
bool stored_accounts_load(struct store *store, struct accounts *accounts, size_t *ret_count,
                          const char **ret_problem);

/* Applies the record of an account received from the root cell (cell_accounts.h). Returns false if
 * the record is malformed or cannot be applied. Thread-safe. */
bool stored_account_follow(struct accounts *accounts, struct bytes key, struct bytes value);

/* Checks, for `lagra check`, whether a record is that of an account or of the number of accounts,
 * and whether it is valid. */
enum account_record_kind { NO_ACCOUNT_RECORD, ACCOUNT_RECORD, ACCOUNT_RECORD_DAMAGED };
enum account_record_kind stored_account_inspect(const struct partition *at, struct bytes key,
                                                struct bytes value);

/* Returns the space that contains the accounts. */
struct guid stored_accounts_space(void);

/* Returns true if an account in the store may have this name. */
bool stored_account_name_is_valid(struct bytes name);
/* Returns true for a valid key: base64, at most STORED_KEY_MAX characters. */
#define STORED_KEY_MAX 1000u
bool stored_account_key_is_valid(struct arena *arena, struct bytes key);

#endif
