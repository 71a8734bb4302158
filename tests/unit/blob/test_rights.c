/* Who may do what, asked of the judge itself: every row of the table with every letter of every
 * kind of SAS, every resource type, every action of a token and every public access. What it allows
 * is written down as text and compared with rights.txt, which was read against the tables of the
 * reference.
 * rest: Create-account-SAS, Create-service-SAS, Authorize-with-Azure-Active-Directory */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const struct demands none = { .letters = NULL };

struct probe {
    const struct rights *rights;
    struct permit_facts facts;
    struct arena *arena;
};

static enum error ask_permit(const struct probe *p, const struct identity *identity)
{
    struct bytes detail = { NULL, 0 };
    enum error e = permit(p->rights, &none, identity, &p->facts, p->arena, &detail);

    assert_true(e == OK || e == E_AuthorizationFailure || e == E_AuthorizationPermissionMismatch ||
                e == E_AuthorizationResourceTypeMismatch || e == E_UnauthorizedBlobOverwrite ||
                e == E_NoAuthenticationInformation || e == E_AuthenticationFailed);
    return e;
}

static enum error with_sas(const struct probe *p, enum sas_kind kind, char type, char letter)
{
    struct sas sas = { .kind = kind,
                       .permissions = bytes_of(&letter, 1),
                       .types = bytes_of(&type, 1) };
    struct identity identity = { .kind = IDENTITY_SAS, .sas = &sas, .actions = ACTIONS_ALL };

    return ask_permit(p, &identity);
}

/* The letters that allow it with this type; *ret_once: those that do only while nothing exists. */
static void add_letters(struct text *out, struct probe *p, enum sas_kind kind, char type)
{
    struct text once;

    text_init(&once, p->arena, 32);
    for (const char *letter = letters; *letter; letter++) {
        p->facts.exists = false;
        bool creates = with_sas(p, kind, type, *letter) == OK;

        p->facts.exists = true;
        enum error e = with_sas(p, kind, type, *letter);

        if (!e)
            text_add_char(out, *letter);
        else if (creates)
            text_add_char(&once, *letter);
        assert_true(!creates || e == OK || e == E_UnauthorizedBlobOverwrite);
        assert_true(creates || e != OK);
    }
    if (once.len > 0)
        text_printf(out, "(%.*s)", BYTES_ARG(text_bytes(&once)));
}

static void add_account(struct text *out, struct probe *p)
{
    for (const char *type = "sco"; *type; type++) {
        text_printf(out, " %c:", *type);
        add_letters(out, p, SAS_ACCOUNT, *type);
    }
}

static void add_actions(struct text *out, struct probe *p)
{
    struct identity identity = { .kind = IDENTITY_BEARER, .actions = 0 };

    if (ask_permit(p, &identity) == OK) {
        text_add_string(out, " any");
        return;
    }
    identity.actions = ACTIONS_ALL;
    if (ask_permit(p, &identity) != OK) {
        text_add_string(out, " no");
        return;
    }
    for (unsigned action = 1; action < ACTIONS_ALL; action <<= 1) {
        identity.actions = action;
        if (ask_permit(p, &identity) == OK)
            text_printf(out, " %s", rights_action_name('b', (enum action)action));
        identity.actions = ACTIONS_ALL & ~action;
        if (ask_permit(p, &identity) == OK)
            continue;
        /* Without this one nothing else helps, and this one alone is enough. */
        identity.actions = action;
        assert_int_equal(ask_permit(p, &identity), OK);
    }
}

static void add_anonymous(struct text *out, struct probe *p)
{
    static const char *const names[] = { "private", "blob", "container" };
    struct identity identity = { .kind = IDENTITY_ANONYMOUS, .sees_public = true };

    for (enum public_access access = ACCESS_PRIVATE; access <= ACCESS_CONTAINER; access++) {
        p->facts.access = access;
        if (ask_permit(p, &identity) == OK)
            text_printf(out, " %s", names[access]);
    }
    identity.sees_public = false;
    assert_true(p->rights->of_anybody || ask_permit(p, &identity) != OK);
}

static struct bytes describe(const struct operation *row, struct arena *arena)
{
    struct probe p = { .rights = &row->rights, .facts = { .known = true }, .arena = arena };
    struct text out;

    text_init(&out, arena, 256);
    text_printf(&out, "%s%s%s%s%s\n  account SAS", row->name, row->selector[0] ? " ?" : "",
                row->selector, row->variant ? " " : "", row->variant ? row->variant : "");
    add_account(&out, &p);
    text_add_string(&out, "\n  service SAS ");
    add_letters(&out, &p, SAS_SERVICE, 'c');
    text_add_string(&out, "\n  delegation SAS ");
    add_letters(&out, &p, SAS_DELEGATION, 'c');
    text_add_string(&out, "\n  bearer");
    add_actions(&out, &p);
    text_add_string(&out, "\n  public");
    add_anonymous(&out, &p);
    text_add_char(&out, '\n');
    return text_bytes(&out);
}

/* Rule: the table allows what the reference's tables allow, and nothing else. */
static void the_table_allows_what_is_written(void **state)
{
    struct arena *arena = arena_new(64u << 20);
    const char *update = getenv("LAGRA_UPDATE_RIGHTS");
    FILE *file = fopen(SOURCE_ROOT "/tests/unit/blob/rights.txt", update ? "w" : "r");
    char line[256];

    (void)state;
    assert_non_null(file);
    for (size_t i = 0; i < blob_service.operation_count; i++) {
        struct bytes text = describe(&blob_service.operations[i], arena), rest = text;

        if (update)
            assert_int_equal(fwrite(text.ptr, 1, text.len, file), text.len);
        while (!update && rest.len > 0) {
            struct bytes wanted;

            bytes_cut(rest, '\n', &wanted, &rest);
            assert_non_null(fgets(line, sizeof line, file));
            line[strcspn(line, "\n")] = '\0';
            assert_string_equal(arena_string(arena, wanted), line);
        }
    }
    assert_null(update ? NULL : fgets(line, sizeof line, file));
    fclose(file);
    arena_free(arena);
}

/* Rule: the account's key does everything but to ask for a user delegation key. rest:
 * Get-User-Delegation-Key "Only authorization with Microsoft Entra ID is supported" */
static void the_key_does_everything_else(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct identity identity = { .kind = IDENTITY_ACCOUNT_KEY };

    (void)state;
    for (size_t i = 0; i < blob_service.operation_count; i++) {
        const struct operation *row = &blob_service.operations[i];
        struct probe p = { .rights = &row->rights, .facts = { .known = true }, .arena = arena };
        bool is_key = strcmp(row->name, "Get User Delegation Key") == 0;

        assert_int_equal(ask_permit(&p, &identity), is_key ? E_AuthenticationFailed : OK);
    }
    arena_free(arena);
}

/* Rule: a letter or an action that the request needs beside its row is asked for too, and what is
 * not public stays so. */
static void demands_are_asked_for(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    static const struct rights reads = { .effect = READS,
                                         .type = "o",
                                         .account = "r",
                                         .service = "r",
                                         .create = "",
                                         .action = ACTION_BLOB_READ,
                                         .anonymous = ACCESS_BLOB };
    static const struct demands demands = { "t", ACTION_BLOB_TAGS_READ, true };
    struct permit_facts facts = { .known = true, .access = ACCESS_CONTAINER };
    struct sas sas = { .kind = SAS_SERVICE, .permissions = BYTES("r") };
    struct identity identity = { .kind = IDENTITY_SAS, .sas = &sas };
    struct bytes detail;

    (void)state;
    assert_int_equal(permit(&reads, &demands, &identity, &facts, arena, &detail),
                     E_AuthorizationPermissionMismatch);
    sas.permissions = bytes_from_string("rt");
    assert_int_equal(permit(&reads, &demands, &identity, &facts, arena, &detail), OK);
    identity = (struct identity){ .kind = IDENTITY_BEARER, .actions = ACTION_BLOB_READ };
    assert_int_equal(permit(&reads, &demands, &identity, &facts, arena, &detail),
                     E_AuthorizationPermissionMismatch);
    identity.actions |= ACTION_BLOB_TAGS_READ;
    assert_int_equal(permit(&reads, &demands, &identity, &facts, arena, &detail), OK);
    identity = (struct identity){ .kind = IDENTITY_ANONYMOUS,
                                  .sees_public = true,
                                  .refusal = E_ResourceNotFound };
    assert_int_equal(permit(&reads, &demands, &identity, &facts, arena, &detail),
                     E_ResourceNotFound);
    assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail), OK);
    arena_free(arena);
}

/* Rule: start, expiry and permissions stand in the SAS or in its policy, each in one of them.
 * rest: Define-stored-access-policy; decision: 70 */
static void a_policy_gives_what_the_sas_leaves_out(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    static const struct rights reads = {
        .effect = READS, .type = "o", .account = "r", .service = "r", .create = ""
    };

    (void)state;
    /* Each of the three parts: nowhere, in the SAS, in the policy, in both. */
    for (unsigned form = 0; form < 64; form++) {
        unsigned start = form & 3, expiry = form >> 2 & 3, letters_in = form >> 4;
        struct sas sas = { .kind = SAS_SERVICE, .policy = BYTES("p") };
        struct permit_facts facts = { .known = true, .policies = { .count = 1 } };
        struct policy *policy = &facts.policies.items[0];
        struct identity identity = { .kind = IDENTITY_SAS, .sas = &sas, .at = 100 };
        struct bytes detail = { NULL, 0 };
        bool good = start != 3 && expiry != 3 && expiry != 0 && letters_in != 3 && letters_in != 0;

        policy->id = bytes_from_string("p");
        sas.start = start & 1 ? 100 : 0;
        policy->start = start & 2 ? 100 : 0;
        sas.expiry = expiry & 1 ? 101 : 0;
        policy->expiry = expiry & 2 ? 101 : 0;
        sas.permissions = letters_in & 1 ? bytes_from_string("r") : bytes_of(NULL, 0);
        policy->permission = letters_in & 2 ? bytes_from_string("r") : bytes_of(NULL, 0);
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail),
                         good ? OK : E_AuthenticationFailed);
        assert_true(good == !detail.ptr);
        /* Where a signature that is good does not reach is said of no other. decision: 145 */
        facts.outside = E_AuthorizationFailure;
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail),
                         good ? E_AuthorizationFailure : E_AuthenticationFailed);
        facts.outside = OK;
        identity.at = 101;
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail),
                         E_AuthenticationFailed);
        identity.at = 99;
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail),
                         good && start == 0 ? OK : E_AuthenticationFailed);
        identity.at = 100;
        policy->id = bytes_from_string("P");
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail),
                         E_AuthenticationFailed);
        facts.known = false; /* it may turn out to be there */
        assert_int_equal(permit(&reads, &none, &identity, &facts, arena, &detail), OK);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_allows_what_is_written),
        cmocka_unit_test(the_key_does_everything_else),
        cmocka_unit_test(demands_are_asked_for),
        cmocka_unit_test(a_policy_gives_what_the_sas_leaves_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
