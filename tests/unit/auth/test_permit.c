/* Access control lists permit what roles do not, and rule the agent of a user delegation SAS.
 * auth/permit.h; source: data-lake-storage-access-control-model; rest: Create-user-delegation-SAS
 * "suoid" */
#include "auth/permit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct rights reading = { .effect = READS,
                                       .type = "o",
                                       .account = "r",
                                       .service = "r",
                                       .create = "",
                                       .action = ACTION_BLOB_READ };

static enum error ask(const struct identity *identity, const struct demands *demands, bool known,
                      enum acl_result acl, enum acl_result of_agent)
{
    const struct permit_facts facts = { .known = known, .acl = acl, .acl_of_agent = of_agent };
    struct arena *arena = arena_new(1u << 16);
    struct bytes detail;
    enum error e = permit(&reading, demands, identity, &facts, arena, &detail);

    arena_free(arena);
    return e;
}

/* Every combination of a role, a demand beyond the row, and the result of the lists. */
static void lists_permit_what_roles_do_not(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2 * 2 * 3 * 2; n++) {
        bool has_role = n & 1, demands_tags = n & 2, known = n / 12;
        enum acl_result acl = (enum acl_result)(n / 4 % 3);
        const struct identity identity = { .kind = IDENTITY_BEARER,
                                           .actions = has_role ? ACTION_BLOB_READ : 0 };
        const struct demands demands = { .actions = demands_tags ? ACTION_BLOB_TAGS_READ : 0 };
        bool may = !demands_tags && (has_role || acl == ACL_PERMITS);

        assert_int_equal(ask(&identity, &demands, known, acl, ACL_NONE),
                         may ? OK : E_AuthorizationPermissionMismatch);
    }
}

/* The letters, the delegator and, with suoid, the agent must all be permitted; the delegator must be
 * a superuser, and lists must not refuse an agent that they do not rule (sticky bits). */
static void lists_rule_the_agent(void **state)
{
    const struct demands none = { .actions = 0 };

    (void)state;
    for (unsigned n = 0; n < 2 * 2 * 2 * 2 * 3 * 3; n++) {
        bool has_letter = n & 1, has_role = n & 2, is_ruled = n & 4, is_super = n & 8;
        enum acl_result acl = (enum acl_result)(n / 16 % 3),
                        of_agent = (enum acl_result)(n / 48 % 3);
        const struct sas sas = { .kind = SAS_DELEGATION,
                                 .permissions = bytes_from_string(has_letter ? "r" : "w"),
                                 .agent = BYTES("agent"),
                                 .agent_is_ruled = is_ruled };
        const struct identity identity = { .kind = IDENTITY_SAS,
                                           .sas = &sas,
                                           .actions = (has_role ? ACTION_BLOB_READ : 0u) |
                                                      (is_super ? ACTION_BLOB_SUPER_USER : 0u) };
        bool may = is_super && has_letter && (has_role || acl == ACL_PERMITS);
        bool may_agent = is_ruled ? of_agent == ACL_PERMITS : of_agent != ACL_REFUSES;

        assert_int_equal(ask(&identity, &none, true, acl, of_agent),
                         may && may_agent ? OK : E_AuthorizationPermissionMismatch);
        /* The agent is not refused before the lists are known. */
        assert_int_equal(ask(&identity, &none, false, acl, ACL_NONE),
                         may ? OK : E_AuthorizationPermissionMismatch);
    }
}

/* A service or account SAS and a key are not subject to lists, and get nothing by them. */
static void lists_do_not_matter_to_others(void **state)
{
    static const enum sas_kind kinds[] = { SAS_ACCOUNT, SAS_SERVICE };
    const struct identity key = { .kind = IDENTITY_ACCOUNT_KEY };
    const struct identity nobody = { .kind = IDENTITY_ANONYMOUS };
    const struct demands none = { .actions = 0 };

    (void)state;
    assert_int_equal(ask(&key, &none, true, ACL_REFUSES, ACL_REFUSES), OK);
    assert_int_equal(ask(&nobody, &none, true, ACL_PERMITS, ACL_PERMITS),
                     E_NoAuthenticationInformation);
    for (size_t i = 0; i < 2; i++) {
        struct sas sas = { .kind = kinds[i], .permissions = BYTES("r"), .types = BYTES("o") };
        const struct identity identity = { .kind = IDENTITY_SAS, .sas = &sas };

        assert_int_equal(ask(&identity, &none, true, ACL_REFUSES, ACL_REFUSES), OK);
        sas.permissions = bytes_from_string("w");
        assert_int_equal(ask(&identity, &none, true, ACL_PERMITS, ACL_PERMITS),
                         E_AuthorizationPermissionMismatch);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_permit_what_roles_do_not),
        cmocka_unit_test(lists_rule_the_agent),
        cmocka_unit_test(lists_do_not_matter_to_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
