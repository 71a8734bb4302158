/* Operations of `lagra account`. Only stored accounts can be changed; accounts from a file, a
 * credential or the environment can only be listed and shown. A key is returned only when it is
 * created. */
#include "admin/admin_private.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

#include "admin/account_settings.h"
#include "admin/account_show.h"
#include "admin/stored_accounts.h"
#include "base/encode.h"
#include "base/log.h"
#include "observe/access_log.h"

#define KEY_BYTES 64 /* as in Azure */

/* ---- requests ---- */

enum { NAME, FIRST_LIMIT = 4 /* in account-set */, SETTINGS = FIRST_LIMIT + ACCOUNT_LIMITS };
_Static_assert((size_t)SETTINGS + 1 <= ADMIN_ARGUMENTS_MAX,
               "account-set must have enough arguments");

static bool is_configured(const struct admin_call *call, struct bytes name)
{
    const struct account *account = accounts_find(call->admin->accounts, name);

    return account && account_source(account) != ACCOUNT_STORED;
}

/* Checks the name of an account to change. Returns false after failing the call. */
static bool check_name(struct admin_call *call)
{
    struct bytes name = call->given[NAME];

    if (is_configured(call, name))
        account_fail(call, E_ResourceTypeMismatch, name);
    else if (!stored_account_name_is_valid(name))
        admin_fail(call, 400, "InvalidAccountName",
                   "A name must have %u to %u lower-case letters and digits.", STORED_NAME_MIN,
                   STORED_NAME_MAX);
    return call->status == 200;
}

/* Checks that a key is strictly valid base64, so that all clients decode it to the same bytes.
 * Returns false after failing the call. */
static bool check_key(struct admin_call *call, struct bytes key)
{
    if (!key.ptr)
        return true;
    if (!stored_account_key_is_valid(call->arena, key))
        admin_fail(call, 400, "InvalidKey", "A key must be base64 of at most %u characters.",
                   STORED_KEY_MAX);
    return call->status == 200;
}

/* Creates a random key in base64. */
static struct bytes make_key(struct arena *arena)
{
    uint8_t key[KEY_BYTES];
    struct bytes text;
    ssize_t got;

    do
        got = getrandom(key, sizeof key, 0);
    while (got < 0); /* repeats only after a signal; a read of so few bytes is never partial */
    assert(got == sizeof key);
    text = base64_encode(arena, bytes_of(key, sizeof key));
    explicit_bzero(key, sizeof key);
    return text;
}

/* ---- changes ---- */

struct change {
    struct bytes keys[ACCOUNT_KEYS_MAX]; /* new keys; ptr NULL means unchanged */
    enum { STATE_STAYS, STATE_ENABLED, STATE_DISABLED } state;
    bool hierarchical; /* of a new account */
    struct account_limits limits;
    bool sets_limit[ACCOUNT_LIMITS];
    struct account_settings settings;
};

static void make_change(struct account_record *record, void *context)
{
    const struct change *change = context;

    for (size_t i = 0; i < ACCOUNT_KEYS_MAX; i++) {
        if (!change->keys[i].ptr)
            continue;
        record->keys[i] = change->keys[i];
        if (record->key_count <= i)
            record->key_count = i + 1;
    }
    for (size_t i = 0; i < ACCOUNT_LIMITS; i++)
        if (change->sets_limit[i])
            record->limits.of[i] = change->limits.of[i];
    record->hierarchical |= change->hierarchical;
    account_settings_change_record(&change->settings, record);
    if (change->state != STATE_STAYS)
        record->disabled = change->state == STATE_DISABLED;
}

/* Applies a change to a stored account. Returns false after failing the call. */
static bool apply(struct admin_call *call, enum account_change how, struct change *change,
                  struct account_record *ret_record)
{
    struct bytes name = call->given[NAME];
    enum error e;

    if (call->admin->follows_root) {
        admin_fail(call, 409, "AccountsAreInRootCell",
                   "Accounts of a cluster can only be changed at the owner of cell 1.");
        return false;
    }
    e = stored_account_change(call->admin->store, call->admin->accounts, call->arena, name, how,
                              make_change, change, ret_record);
    if (e)
        account_fail(call, e, name);
    return !e;
}

void admin_account_add(struct admin_call *call)
{
    struct change change = { .keys = { call->given[1], call->given[2] },
                             .hierarchical = bytes_is(call->given[3], "yes") };
    struct account_record record;

    if (!check_name(call) || !check_key(call, change.keys[0]) || !check_key(call, change.keys[1]))
        return;
    if (call->given[3].ptr && !change.hierarchical && !bytes_is(call->given[3], "no")) {
        admin_fail(call, 400, "InvalidArgument", "hierarchical must be yes or no.");
        return;
    }
    for (size_t i = 0; i < ACCOUNT_KEYS_MAX; i++)
        if (!change.keys[i].ptr)
            change.keys[i] = make_key(call->arena);
    if (!apply(call, ACCOUNT_ADD, &change, &record))
        return;
    log_line(LOG_INFO, "%s account %.*s was added", record.hierarchical ? "hierarchical" : "flat",
             BYTES_ARG(record.name));
    audit_note("an account was added", record.name);
    account_write_record(call, &record);
    json_write_member(&call->out, "key1", record.keys[0]);
    json_write_member(&call->out, "key2", record.keys[1]);
}

/* Parses a state. Returns false after failing the call. */
static bool read_state(struct admin_call *call, struct bytes state, struct change *change)
{
    if (bytes_is(state, "enabled"))
        change->state = STATE_ENABLED;
    else if (bytes_is(state, "disabled"))
        change->state = STATE_DISABLED;
    else if (state.ptr)
        admin_fail(call, 400, "InvalidArgument", "The state must be enabled or disabled.");
    return call->status == 200;
}

/* Parses a limit: a positive number, "none", or "default" for the server's option. Returns false
 * after failing the call. */
static bool read_limit(struct admin_call *call, size_t which, struct bytes text,
                       struct change *change)
{
    uint64_t number = 0;

    if (!text.ptr)
        return true;
    change->sets_limit[which] = true;
    if (bytes_is(text, "none"))
        change->limits.of[which] = LIMIT_NONE;
    else if (bytes_parse_u64(text, LIMIT_MAX >> account_limit_rows[which].shift, &number) &&
             number > 0)
        change->limits.of[which] = number << account_limit_rows[which].shift;
    else if (!bytes_is(text, "default"))
        admin_fail(call, 400, "InvalidArgument", "%s must be a number above 0, none or default.",
                   account_limit_rows[which].name);
    return call->status == 200;
}

/* Parses the limits after the other arguments of account-set. Returns false after failing the
 * call. */
static bool read_limits(struct admin_call *call, struct change *change, bool *ret_any)
{
    *ret_any = false;
    for (size_t i = 0; i < ACCOUNT_LIMITS; i++) {
        if (!read_limit(call, i, call->given[FIRST_LIMIT + i], change))
            return false;
        *ret_any |= change->sets_limit[i];
    }
    return true;
}

/* Parses "name=value name=value ..". Returns false after failing the call. */
static bool read_settings(struct admin_call *call, struct change *change)
{
    struct bytes rest = call->given[SETTINGS], setting, name, value;
    const char *problem = NULL;

    while (rest.len > 0 && !problem) {
        bytes_cut(rest, ' ', &setting, &rest);
        bytes_cut(setting, '=', &name, &value);
        if (setting.len > 0)
            problem = account_settings_add(&change->settings, call->arena, name, value);
    }
    if (problem)
        admin_fail(call, 400, "InvalidArgument", "%s", problem);
    return !problem;
}

/* Returns true if the change concerns the record of a stored account. */
static bool changes_record(const struct admin_call *call, bool sets_limits,
                           const struct change *change)
{
    return call->given[1].ptr || change->keys[0].ptr || change->keys[1].ptr || sets_limits ||
           account_settings_of_record(&change->settings);
}

static void audit_change(const struct change *change, struct bytes name)
{
    if (change->state == STATE_DISABLED)
        audit_note("an account was disabled", name);
    if (change->state == STATE_ENABLED)
        audit_note("an account was enabled", name);
    if (change->keys[0].ptr)
        audit_note("key 1 of an account was changed", name);
    if (change->keys[1].ptr)
        audit_note("key 2 of an account was changed", name);
}

/* Changes the record of a stored account. Returns false after failing the call. */
static bool change_record(struct admin_call *call, struct change *change, bool any)
{
    const struct account *account = accounts_find(call->admin->accounts, call->given[NAME]);
    struct account_record record;

    if (account && account_source(account) != ACCOUNT_STORED &&
        account_settings_of_record(&change->settings)) {
        admin_fail(call, 409, "AccountIsConfigured",
                   "publicAccess, sharedKey and lastAccessTracking can be set only for stored "
                   "accounts, and %.*s is not one.",
                   BYTES_ARG(call->given[NAME]));
        return false;
    }
    if (!check_name(call) || !apply(call, ACCOUNT_CHANGE, change, &record))
        return false;
    log_line(LOG_INFO, "changed account %.*s: %s%s%s%s", BYTES_ARG(record.name),
             record.disabled ? "disabled" : "enabled", change->keys[0].ptr ? ", new key 1" : "",
             change->keys[1].ptr ? ", new key 2" : "", any ? ", new limits" : "");
    audit_change(change, record.name);
    if (any)
        audit_note("the limits of an account were changed", record.name);
    return true;
}

/* Changes the settings that are properties of services. Returns false after failing the call. */
static bool change_properties(struct admin_call *call, const struct change *change)
{
    struct internal_response answer;

    account_settings_apply(call->admin->endpoints, call->arena, call->given[NAME],
                           &change->settings, &answer);
    if (answer.error)
        admin_fail(call, error_status(answer.error), error_code(answer.error), "%s %.*s",
                   error_message(answer.error), BYTES_ARG(answer.detail));
    return !answer.error;
}

void admin_account_set(struct admin_call *call)
{
    struct change change = { .keys = { call->given[2], call->given[3] } };
    bool any;

    if (!read_state(call, call->given[1], &change) || !check_key(call, change.keys[0]) ||
        !check_key(call, change.keys[1]) || !read_limits(call, &change, &any) ||
        !read_settings(call, &change))
        return;
    if (!changes_record(call, any, &change) && !call->given[SETTINGS].ptr) {
        admin_fail(call, 400, "InvalidArgument",
                   "account-set requires a state, a key, a limit or a setting.");
        return;
    }
    if (changes_record(call, any, &change)) {
        if (!change_record(call, &change, any))
            return;
    } else if (!accounts_find(call->admin->accounts, call->given[NAME])) {
        account_fail(call, E_ResourceNotFound, call->given[NAME]);
        return;
    }
    if (call->given[SETTINGS].ptr) {
        if (!change_properties(call, &change))
            return;
        log_line(LOG_INFO, "changed settings of account %.*s: %.*s", BYTES_ARG(call->given[NAME]),
                 BYTES_ARG(call->given[SETTINGS]));
        audit_note("the settings of an account were changed", call->given[NAME]);
    }
    admin_account_show(call);
}

void admin_account_rotate_key(struct admin_call *call)
{
    bool is_second = bytes_is(call->given[1], "2");
    struct change change = { .state = STATE_STAYS };
    struct account_record record;

    if (!check_name(call))
        return;
    if (!is_second && !bytes_is(call->given[1], "1")) {
        admin_fail(call, 400, "InvalidArgument", "The key must be 1 or 2.");
        return;
    }
    change.keys[is_second] = make_key(call->arena);
    if (!apply(call, ACCOUNT_CHANGE, &change, &record))
        return;
    log_line(LOG_INFO, "account %.*s: changed key %d", BYTES_ARG(record.name), is_second + 1);
    audit_change(&change, record.name);
    account_write_record(call, &record);
    json_write_member(&call->out, is_second ? "key2" : "key1", record.keys[is_second]);
}

/* ---- signing ---- */

/* Signs a string for `lagra sas`, so that the key does not leave the server. */
void admin_account_sign(struct admin_call *call)
{
    const struct account *account = accounts_find(call->admin->accounts, call->given[NAME]);
    struct bytes key = call->given[2].ptr ? call->given[2] : bytes_from_string("1");
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];

    if (!account)
        account_fail(call, E_ResourceNotFound, call->given[NAME]);
    else if (!bytes_is(key, "1") && !bytes_is(key, "2"))
        admin_fail(call, 400, "InvalidArgument", "The key must be 1 or 2.");
    else if (!account_sign(account, bytes_is(key, "2"), call->given[1], signature))
        admin_fail(call, 404, "KeyNotFound", "The account has no key %.*s.", BYTES_ARG(key));
    else
        json_write_member(&call->out, "signature",
                          base64_encode(call->arena, bytes_of(signature, sizeof signature)));
}
