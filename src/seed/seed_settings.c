/* Settings of accounts in a seed file ("settings"), by the names of `lagra account set`. */
#include "seed/seed_private.h"

#include "admin/account_settings.h"
#include "admin/stored_accounts.h"

/* Returns a value in the form of `lagra account set`; ptr NULL if it cannot be one. */
static struct bytes text_of(const struct json_member *member)
{
    switch (member->kind) {
    case JSON_TRUE:
        return bytes_from_string("on");
    case JSON_FALSE:
        return bytes_from_string("off");
    case JSON_NUMBER:
        return member->text;
    case JSON_ABSENT:
    case JSON_NULL:
    case JSON_STRING:
    case JSON_OBJECT:
    case JSON_LIST:
        break;
    }
    return bytes_of(NULL, 0);
}

static void set_record(struct account_record *record, void *context)
{
    account_settings_change_record(context, record);
}

static void apply(struct seeding *s, struct account_settings *settings)
{
    const struct endpoint *any = &s->endpoints->endpoints[0];
    struct internal_response answer;
    struct account_record record;
    enum error e = OK;

    account_settings_apply(s->endpoints, s->arena, s->account, settings, &answer);
    if (answer.error) {
        seed_fail(s, "cannot set the settings: %s %.*s", error_message(answer.error),
                  BYTES_ARG(answer.detail));
        return;
    }
    if (account_settings_of_record(settings))
        e = stored_account_change(any->store, s->accounts, s->arena, s->account, ACCOUNT_CHANGE,
                                  set_record, settings, &record);
    if (e == E_ResourceNotFound)
        seed_fail(
            s,
            "publicAccess, sharedKey and lastAccessTracking can be set only for stored accounts");
    else if (e)
        seed_fail(s, "cannot set the settings: %s", error_message(e));
}

void seed_settings(struct seeding *s, struct bytes object)
{
    struct account_settings settings = { .state = { SETTING_UNCHANGED } };
    struct json_reader reader;
    struct json_member member;
    const char *problem = NULL;

    json_object_init(&reader, s->arena, object, 1);
    while (!problem && json_next(&reader, &member)) {
        struct bytes value = text_of(&member);

        s->at = member.at;
        problem = value.ptr ? account_settings_add(&settings, s->arena, member.name, value)
                            : "a setting must be true, false or a number of days";
    }
    if (problem)
        seed_fail(s, "%s", problem);
    else if (!s->dry_run)
        apply(s, &settings);
}
