/* Responses about accounts: see account_show.h. */
#include "admin/account_show.h"

#include "admin/account_settings.h"

const struct account_limit_row account_limit_rows[ACCOUNT_LIMITS] = {
    [LIMIT_REQUESTS] = { "requests", 0 },
    [LIMIT_BYTES] = { "bandwidth", 20 },
    [LIMIT_CAPACITY] = { "capacity", 20 },
    [LIMIT_CONTAINERS] = { "containers", 0 },
};

/* Writes the effective limits. */
static void write_limits(struct json_writer *out, const struct account *account)
{
    for (size_t i = 0; account && i < ACCOUNT_LIMITS; i++) {
        uint64_t limit = account_limit(account, (enum account_limit)i);

        if (limit > 0)
            json_write_number(out, account_limit_rows[i].name,
                              limit >> account_limit_rows[i].shift);
    }
}

void account_write_record(struct admin_call *call, const struct account_record *record)
{
    struct json_writer *out = &call->out;

    json_write_member(out, "name", record->name);
    json_write_member(out, "state", bytes_from_string(record->disabled ? "disabled" : "enabled"));
    json_write_member(out, "source", bytes_from_string("store"));
    json_write_number(out, "keys", record->key_count);
    json_write_bool(out, "hierarchical", record->hierarchical);
    admin_write_instant(out, "created", record->created);
    admin_write_instant(out, "changed", record->changed);
    account_settings_write_record(out, record);
    write_limits(out, accounts_find(call->admin->accounts, record->name));
}

static void write_configured(struct json_writer *out, const struct account *account)
{
    json_write_member(out, "name", account_name(account));
    json_write_member(out, "state", bytes_from_string("enabled"));
    json_write_member(out, "source",
                      bytes_from_string(account_source(account) == ACCOUNT_DEVELOPMENT
                                            ? "development"
                                            : "configuration"));
    json_write_number(out, "keys", account_key_count(account));
    json_write_bool(out, "hierarchical", account_is_hierarchical(account));
    write_limits(out, account);
}

void account_fail(struct admin_call *call, enum error e, struct bytes name)
{
    if (e == E_ResourceNotFound)
        admin_fail(call, 404, "AccountNotFound", "The account %.*s does not exist.",
                   BYTES_ARG(name));
    else if (e == E_AccountAlreadyExists)
        admin_fail(call, 409, "AccountAlreadyExists", "The account %.*s already exists.",
                   BYTES_ARG(name));
    else if (e == E_ResourceAlreadyExists)
        admin_fail(
            call, 409, "AccountHasContainers",
            "%.*s has containers, or was an account, of the other kind (flat or hierarchical).",
            BYTES_ARG(name));
    else if (e == E_OutOfRangeInput)
        admin_fail(call, 409, "TooManyAccounts", "There are already %u stored accounts.",
                   STORED_ACCOUNTS_MAX);
    else if (e == E_ResourceTypeMismatch)
        admin_fail(call, 409, "AccountIsConfigured",
                   "%.*s is defined in a file, a credential or the environment; change it there.",
                   BYTES_ARG(name));
    else
        admin_fail_error(call, e);
}

/* Writes an account, but not its settings in the properties of services. Returns false after
 * failing the call. */
static bool write_account(struct admin_call *call, struct bytes name)
{
    const struct account *account = accounts_find(call->admin->accounts, name);
    struct account_record record;
    enum error e;

    if (account && account_source(account) != ACCOUNT_STORED) {
        write_configured(&call->out, account);
        return true;
    }
    e = stored_account_read(call->admin->store, call->arena, name, &record);
    if (e)
        account_fail(call, e, name);
    else
        account_write_record(call, &record);
    return !e;
}

void admin_account_show(struct admin_call *call)
{
    struct bytes name = call->given[0];
    struct internal_response answer;

    if (!write_account(call, name))
        return;
    account_settings_write(call->admin->endpoints, call->arena, name, &call->out, &answer);
    if (answer.error)
        admin_fail(call, error_status(answer.error), error_code(answer.error),
                   "The settings of %.*s cannot be read: %s", BYTES_ARG(name),
                   error_message(answer.error));
}

static void list_configured(const struct account *account, void *context)
{
    struct json_writer *out = context;

    if (account_source(account) == ACCOUNT_STORED)
        return;
    json_write_begin(out, '{');
    write_configured(out, account);
    json_write_end(out, '}');
}

void admin_account_list(struct admin_call *call)
{
    struct account_record *records;
    size_t count;
    enum error e = stored_accounts_list(call->admin->store, call->arena, &records, &count);

    if (e) {
        admin_fail_error(call, e);
        return;
    }
    json_write_name(&call->out, "accounts");
    json_write_begin(&call->out, '[');
    accounts_each(call->admin->accounts, list_configured, &call->out);
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&call->out, '{');
        account_write_record(call, &records[i]);
        json_write_end(&call->out, '}');
    }
    json_write_end(&call->out, ']');
}
