/* Accounts that the store keeps: made and changed by `lagra account`, in force from the next request on, and
 * again after every start.
 *
 *   space      account_space("accounts", "")
 *   partition  "": INNER record "n", the number of accounts (small_record.h); "a" + NAME, one for each
 *     value    u8 1 or 2; varint flags (1: disabled); instants of the creation and of the last change, varints;
 *              varint count of keys; each key's text (base64), bytes
 *              2: its limits, varints in the order of enum account_limit: 0: as others have, 1: none, else 1 more
 *              than it is. An account without limits of its own is written as 1, which older servers read
 *
 * The key's text is kept as it is: signatures are made with it. Whoever reads the data folder has it, and with
 * it nothing that the folder itself does not hold. */
#ifndef LAGRA_ADMIN_STORED_ACCOUNTS_H
#define LAGRA_ADMIN_STORED_ACCOUNTS_H

#include "auth/account_limits.h"
#include "store/store.h"

/* Rules of the service for names. rest: storage-account-overview "3 and 24 characters" */
#define STORED_NAME_MIN 3u
#define STORED_NAME_MAX 24u

struct account_record {
    struct bytes name;
    bool disabled;
    instant created, changed;
    size_t key_count;
    struct bytes keys[ACCOUNT_KEYS_MAX];
    struct account_limits limits;
};

enum account_change {
    ACCOUNT_ADD,    /* E_AccountAlreadyExists; E_OutOfRangeInput: there are STORED_ACCOUNTS_MAX */
    ACCOUNT_CHANGE, /* E_ResourceNotFound: there is none */
};

/* What a change makes of a record: pure, may be run again. With ACCOUNT_ADD the record has its name alone. */
typedef void account_change_fn(struct account_record *record, void *context);

/* Changes one account, waits until that is durable, and puts it in force. Thread that may block.
 *
 * ret_record  as it is now, in the arena
 * returns     OK; as of `how`; E_ResourceTypeMismatch: another source has one of the name, nothing has changed;
 *             E_InternalError: it is not known whether it has changed; E_ServerBusy and the like of the store:
 *             nothing has */
enum error stored_account_change(struct store *store, struct accounts *accounts,
                                 struct arena *arena, struct bytes name, enum account_change how,
                                 account_change_fn *change, void *context,
                                 struct account_record *ret_record);
/* returns OK, E_ResourceNotFound, and of the store */
enum error stored_account_read(struct store *store, struct arena *arena, struct bytes name,
                               struct account_record *ret_record);
/* All of them, in the order of their names; the array is in the arena. */
enum error stored_accounts_list(struct store *store, struct arena *arena,
                                struct account_record **ret_records, size_t *ret_count);

/* Puts all of them in force; *ret_count: how many. Start-up.
 * returns false, and *ret_problem, words for the operator */
bool stored_accounts_load(struct store *store, struct accounts *accounts, size_t *ret_count,
                          const char **ret_problem);

/* Puts an account in force as a record of another cell has it (cell_accounts.h). Returns false if the record is malformed, or
 * cannot be put in force. Thread-safe. */
bool stored_account_follow(struct accounts *accounts, struct bytes key, struct bytes value);

/* What a record of any partition is, for `lagra check`: of an account (or their number), or of something else. */
enum account_record_kind { NO_ACCOUNT_RECORD, ACCOUNT_RECORD, ACCOUNT_RECORD_DAMAGED };
enum account_record_kind stored_account_inspect(const struct partition *at, struct bytes key,
                                                struct bytes value);

/* The space that all of them are in. */
struct guid stored_accounts_space(void);

/* Is it a name that an account of the store may have? */
bool stored_account_name_is_valid(struct bytes name);
/* Is it a key that it may have: base64, of at most STORED_KEY_MAX characters? */
#define STORED_KEY_MAX 1000u
bool stored_account_key_is_valid(struct arena *arena, struct bytes key);

#endif
