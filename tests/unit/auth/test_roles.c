/* Scopes, assignments of roles, places of accounts and key sets as an operator's files say them.
 * auth/scope.h, auth/trust.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "auth/trust_private.h"

#define GROUP   "/subscriptions/S1/resourceGroups/dev"
#define STORAGE GROUP "/providers/Microsoft.Storage/storageAccounts/"
#define ACCOUNT STORAGE "one"

static const struct {
    const char *text;
    enum scope_kind kind;
    const char *account, *container;
    char service;
} forms[] = {
    { "/", SCOPE_ROOT, "", "", 0 },
    { "/subscriptions/S1", SCOPE_SUBSCRIPTION, "", "", 0 },
    { GROUP, SCOPE_GROUP, "", "", 0 },
    { "/SUBSCRIPTIONS/s1/RESOURCEgroups/dev", SCOPE_GROUP, "", "", 0 },
    { ACCOUNT, SCOPE_ACCOUNT, "one", "", 0 },
    { "/subscriptions/s/resourcegroups/g (x)/PROVIDERS/microsoft.storage/STORAGEACCOUNTS/One",
      SCOPE_ACCOUNT, "One", "", 0 },
    { ACCOUNT "/blobServices/default", SCOPE_SERVICE, "one", "", 'b' },
    { ACCOUNT "/queueServices/Default", SCOPE_SERVICE, "one", "", 'q' },
    { ACCOUNT "/TABLESERVICES/default", SCOPE_SERVICE, "one", "", 't' },
    { ACCOUNT "/fileServices/default", SCOPE_SERVICE, "one", "", 'f' },
    { ACCOUNT "/blobServices/default/containers/c", SCOPE_CONTAINER, "one", "c", 'b' },
    { ACCOUNT "/blobServices/default/containers/providers", SCOPE_CONTAINER, "one", "providers",
      'b' },
    { ACCOUNT "/queueServices/default/queues/q-1", SCOPE_CONTAINER, "one", "q-1", 'q' },
    { ACCOUNT "/tableServices/default/tables/T1", SCOPE_CONTAINER, "one", "T1", 't' },
    { ACCOUNT "/fileServices/default/fileshares/s", SCOPE_CONTAINER, "one", "s", 'f' },
    /* Of other resources. */
    { "/providers/Microsoft.Management/managementGroups/m", SCOPE_OTHER, "", "", 0 },
    { "/providers/Microsoft.Marketplace/x/y", SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/vaults/v", SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/vaults/v/secrets/s", SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Evil.Provider/storageAccounts/one", SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Microsoft.Storage/storageTasks/one", SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/storageAccounts/one/blobServices/default", SCOPE_OTHER,
      "", "", 0 },
    { "/subscriptions/s/providers/Microsoft.Authorization/policies/p", SCOPE_OTHER, "", "", 0 },
    { ACCOUNT "/providers/Microsoft.Insights/diagnosticSettings/x", SCOPE_OTHER, "", "", 0 },
    { ACCOUNT "/blobServices/default/providers/Microsoft.Insights/diagnosticSettings/x",
      SCOPE_OTHER, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/vaults/v/providers/Microsoft.Storage/"
            "storageAccounts/one",
      SCOPE_OTHER, "", "", 0 },
    /* Of no form. */
    { "", SCOPE_UNKNOWN, "", "", 0 },
    { "nonsense", SCOPE_UNKNOWN, "", "", 0 },
    { "one", SCOPE_UNKNOWN, "", "", 0 },
    { "//", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/s/", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions//resourceGroups/g", SCOPE_UNKNOWN, "", "", 0 },
    { "subscriptions/s", SCOPE_UNKNOWN, "", "", 0 },
    { "/tenants/t", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/s/resourceGroups", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/s/x/y", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/s\n/resourceGroups/g", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/x/y", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/vaults", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers/Microsoft.KeyVault/vaults/", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers/A/providers/B/c/d", SCOPE_UNKNOWN, "", "", 0 },
    { GROUP "/providers/Microsoft.Storage/storageAccounts", SCOPE_UNKNOWN, "", "", 0 },
    { STORAGE, SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/other", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/localUsers/u", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/default/containers", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/default/containers/", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/default/queues/q", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/default/containers/c/blobs/b", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/blobServices/default/containers/c/", SCOPE_UNKNOWN, "", "", 0 },
    { ACCOUNT "/providers", SCOPE_UNKNOWN, "", "", 0 },
    { "/subscriptions/s/providers/Microsoft.Storage/storageAccounts/one", SCOPE_UNKNOWN, "", "",
      0 },
    { "/providers/Microsoft.Storage/storageAccounts/one", SCOPE_UNKNOWN, "", "", 0 },
    { "/x/storageAccounts/one", SCOPE_UNKNOWN, "", "", 0 },
};

/* Rule: each form that Azure prints is known, in letters of either case; all else is unknown.
 * decision: 250 */
static void scopes_are_known_by_their_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct scope scope = scope_parse(bytes_from_string(forms[i].text));

        if (scope.kind != forms[i].kind)
            print_error("%s\n", forms[i].text);
        assert_int_equal(scope.kind, forms[i].kind);
        if (scope.kind < SCOPE_ROOT)
            continue;
        assert_true(bytes_is(scope.account, forms[i].account));
        assert_true(bytes_is(scope.container, forms[i].container));
        assert_int_equal(scope.service, forms[i].service);
    }
}

/* ---- what is opened ---- */

static const char keys[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
                           "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
                           "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";

static struct trust_problem problem;

static struct trust *make(const char *roles, const char *accounts)
{
    struct trust_options options = {
        .issuer = "i",
        .keys = bytes_from_string(keys),
        .roles = bytes_from_string(roles),
        .accounts = bytes_from_string(accounts),
    };

    problem.text[0] = '\0';
    return trust_new(&options, &problem);
}

/* A list of one assignment of everything that a service's roles have. */
static const char *assigned(const char *role, const char *scope)
{
    static char text[1024];

    snprintf(text, sizeof text,
             "[{\"principalId\": \"o\", \"roleDefinitionName\": \"%s\", \"scope\": \"%s\"}]", role,
             scope);
    return text;
}

static bool opens(const struct trust *trust, const char *account, char service,
                  const char *container)
{
    return trust_actions(trust, bytes_from_string("o"), bytes_from_string(account), service,
                         bytes_from_string(container)) != 0;
}

/* Rule: a role opens the accounts that its scope holds: by the account's name, or by the place that
 * the configuration gives it; nothing else. decision: 250 */
static void a_scope_opens_what_it_holds(void **state)
{
    static const char places[] =
        "[{\"name\":\"one\",\"id\":\"/subscriptions/s1/resourceGroups/DEV/providers/"
        "Microsoft.Storage/storageAccounts/One\",\"sku\":{\"name\":\"x\"}},\n"
        " {\"id\":\"/subscriptions/s1/resourceGroups/live/providers/Microsoft.Storage/"
        "storageAccounts/two\"}]";
    /* In order: of a place that is known (one: dev, two: live), and of one that is not (three); in
     * the container c, and in another. */
    static const struct {
        const char *scope;
        bool one_c, one_d, two_c, three_c;
    } rows[] = {
        { "/", true, true, true, false },
        { "/subscriptions/S1", true, true, true, false },
        { "/subscriptions/s2", false, false, false, false },
        { "/subscriptions/s", false, false, false, false },
        { GROUP, true, true, false, false },
        { "/subscriptions/s1/resourceGroups/LIVE", false, false, true, false },
        { "/subscriptions/s2/resourceGroups/dev", false, false, false, false },
        { ACCOUNT, true, true, false, false },
        { STORAGE "ONE", true, true, false, false },
        { STORAGE "two", false, false, false, false }, /* it is elsewhere */
        { STORAGE "three", false, false, false, true },
        { ACCOUNT "/blobServices/default", true, true, false, false },
        { ACCOUNT "/queueServices/default", false, false, false, false },
        { ACCOUNT "/blobServices/default/containers/c", true, false, false, false },
        { ACCOUNT "/BLOBSERVICES/default/containers/C", true, false, false, false },
        { STORAGE "three/blobServices/default/containers/c", false, false, false, true },
        { ACCOUNT "/queueServices/default/queues/c", false, false, false, false },
        { ACCOUNT "/providers/Microsoft.Insights/x/y", false, false, false, false },
        { GROUP "/providers/Microsoft.KeyVault/vaults/v", false, false, false, false },
        { GROUP "/providers/Evil/storageAccounts/one", false, false, false, false },
        { "/providers/Microsoft.Management/managementGroups/m", false, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *roles = assigned("Storage Blob Data Owner", rows[i].scope);
        struct trust *placed = make(roles, places), *unplaced = make(roles, NULL);
        bool is_above = strstr(rows[i].scope, "roviders") == NULL;

        assert_non_null(placed);
        assert_non_null(unplaced);
        if (opens(placed, "one", 'b', "c") != rows[i].one_c)
            print_error("%s\n", rows[i].scope);
        assert_int_equal(opens(placed, "one", 'b', "c"), rows[i].one_c);
        assert_int_equal(opens(placed, "one", 'b', "d"), rows[i].one_d);
        assert_int_equal(opens(placed, "two", 'b', "c"), rows[i].two_c);
        assert_int_equal(opens(placed, "three", 'b', "c"), rows[i].three_c);
        assert_int_equal(opens(placed, "one", 'b', NULL), rows[i].one_d);
        assert_false(opens(placed, "one", 'q', "c") || opens(placed, "one", 't', "c"));
        /* Without places only names of accounts count. */
        assert_int_equal(trust_unplaced(unplaced), is_above);
        assert_int_equal(trust_unplaced(placed), 0);
        if (is_above)
            assert_false(opens(unplaced, "one", 'b', "c") || opens(unplaced, "two", 'b', "c"));
        trust_free(placed);
        trust_free(unplaced);
    }
}

/* Rule: several assignments add up, of one scope too; of somebody else none counts. */
static void assignments_add_up(void **state)
{
    char text[4096];
    struct trust *trust;
    unsigned reader, both;

    (void)state;
    snprintf(text, sizeof text,
             "[{\"principalId\":\"o\",\"roleDefinitionName\":\"storage blob data reader\","
             "\"scope\":\"%s\",\"condition\":null},"
             "{\"principalId\":\"o\",\"roleDefinitionName\":\"Storage Account Contributor\","
             "\"scope\":\"%s\"},"
             "{\"principalId\":\"p\",\"roleDefinitionName\":\"Storage Blob Data Owner\","
             "\"scope\":\"%s\"},"
             "{\"principalId\":\"o\",\"roleDefinitionName\":\"Owner\",\"scope\":\"%s\"},"
             "{\"principalId\":\"o\",\"roleDefinitionName\":\"Storage Queue Data Reader\","
             "\"scope\":\"%s/queueServices/default/queues/q\"}]",
             ACCOUNT, ACCOUNT, ACCOUNT, ACCOUNT, ACCOUNT);
    trust = make(text, NULL);
    assert_non_null(trust);
    both = trust_actions(trust, bytes_from_string("o"), bytes_from_string("one"), 'b',
                         bytes_from_string("c"));
    trust_free(trust);
    trust = make(assigned("Storage Blob Data Reader", ACCOUNT), NULL);
    reader = trust_actions(trust, bytes_from_string("o"), bytes_from_string("one"), 'b',
                           bytes_from_string("c"));
    assert_int_equal(reader, ACTION_DELEGATION_KEY | ACTION_CONTAINER_READ | ACTION_BLOB_READ);
    assert_true((both & reader) == reader && (both & ACTION_SERVICE_WRITE));
    assert_false(both & ACTION_BLOB_WRITE);
    assert_int_equal(trust_actions(trust, bytes_from_string("x"), bytes_from_string("one"), 'b',
                                   bytes_from_string("c")),
                     0);
    trust_free(trust);
}

/* Rule: what a file says wrongly refuses it whole, with the line and the entry. */
static void wrong_files_are_refused(void **state)
{
#define OF "\"principalId\":\"o\",\"roleDefinitionName\":\"Storage Blob Data Reader\""
    static const struct {
        const char *roles, *accounts, *problem;
    } rows[] = {
        { "", NULL, "--oauthRoles, line 1: not a JSON list of objects" },
        { "{}", NULL, "--oauthRoles, line 1: not a JSON list" },
        { "[\n{" OF ",\"scope\":\"/\"},\n{]", NULL, "--oauthRoles, line 3: not a JSON list" },
        { "[\n1]", NULL, "--oauthRoles, line 2, entry 1: not an object" },
        { "[\"\xFF\"]", NULL, "--oauthRoles, line 1: not a JSON list" },
        { "[{" OF ",\"scope\":\"/\"},\n\n{" OF ",\"scope\":\"x\"}]", NULL,
          "--oauthRoles, line 3, entry 2: its scope" },
        { "[{" OF "}]", NULL, "entry 1: its scope" },
        { "[{" OF ",\"scope\":[\"/\"]}]", NULL, "entry 1: its scope" },
        { "[{\"principalId\":7,\"scope\":\"/\"}]", NULL, "entry 1: no principalId" },
        { "[{\"principalId\":\"\",\"scope\":\"/\"}]", NULL, "entry 1: no principalId" },
        { "[{" OF ",\"scope\":\"/\",\"sc\\u006fpe\":\"/\"}]", NULL, "a member is repeated" },
        { "[{" OF ",\"scope\":\"/\",\"condition\":\"@Resource..\"}]", NULL,
          "conditions are not supported" },
        { "[{" OF ",\"scope\":\"/\",\"condition\":false}]", NULL, "conditions are not supported" },
        { "[{" OF ",\"scope\":\"/\",\"x\":[[[[[[[[[1]]]]]]]]]}]", NULL, "not a JSON list" },
        { "[]", "{}", "--oauthAccounts, line 1: not a JSON list" },
        { "[]", "[{\"id\":\"/subscriptions/s\"}]", "--oauthAccounts, line 1, entry 1: its id" },
        { "[]", "[{\"name\":\"a\"}]", "--oauthAccounts, line 1, entry 1: its id" },
        { "[]", "[{\"id\":\"" ACCOUNT "\"},{\"id\":\"" STORAGE "ONE\"}]",
          "--oauthAccounts names the account one twice" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_null(make(rows[i].roles, rows[i].accounts));
        if (!strstr(problem.text, rows[i].problem))
            print_error("%s\n", problem.text);
        assert_non_null(strstr(problem.text, rows[i].problem));
    }
    /* A condition of what counts for nothing is nobody's matter. */
    trust_free(make("[{" OF ",\"scope\":\"/providers/A/b/c\",\"condition\":\"x\"}]", NULL));
    assert_string_equal(problem.text, "");
}

/* Rule: 100,000 entries are taken and looked up, one more is not. */
static void lists_are_bounded(void **state)
{
    struct arena *arena = arena_new((size_t)256 << 20);

    (void)state;
    for (unsigned count = 100000; count <= 100001; count++) {
        struct trust *trust;
        struct text text;

        text_init(&text, arena, (size_t)32 << 20);
        text_add_char(&text, '[');
        for (unsigned i = 0; i < count; i++)
            text_printf(&text,
                        "%s{" OF ",\"scope\":\"" ACCOUNT "/blobServices/default/"
                        "containers/c%u\"}",
                        i > 0 ? "," : "", i);
        text_add(&text, bytes_of("]", 2)); /* with the NUL */
        trust = make(text.ptr, NULL);
        if (count > 100000) {
            assert_null(trust);
            assert_non_null(strstr(problem.text, "entry 100001: more than 100000"));
            continue;
        }
        assert_non_null(trust);
        assert_true(opens(trust, "one", 'b', "c0") && opens(trust, "one", 'b', "c99999"));
        assert_false(opens(trust, "one", 'b', "c100000"));
        trust_free(trust);
    }
    arena_free(arena);
}

/* Rule: names that are longer than any are of nothing. */
static void long_names_open_nothing(void **state)
{
    struct trust *trust = make(assigned("Storage Blob Data Reader", ACCOUNT), NULL);
    char name[4096];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_true(opens(trust, "one", 'b', name));
    assert_false(opens(trust, name, 'b', "c"));
    assert_false(opens(trust, "one", 'x', "c"));
    trust_free(trust);
}

/* ---- key sets ---- */

static const char *rsa_key(unsigned bits, const char *exponent)
{
    static char text[8192];
    size_t digits = (bits + 5) / 6, at;

    at = (size_t)snprintf(text, sizeof text, "{\"keys\":[{\"kty\":\"RSA\",\"e\":\"%s\",\"n\":\"",
                          exponent);
    /* Whole groups of four, all bits set: an odd number of so many bits. */
    digits = digits / 4 * 4;
    memset(text + at, '_', digits);
    snprintf(text + at + digits, sizeof text - at - digits, "\"}]}");
    return text;
}

/* Rule: keys that make a check cheap to pass, or dear, do not count; neither do those of another kind,
 * use or algorithm; a set that says something twice, or is too deep, is refused. rfc: 7518 6.3 */
static void keys_are_bounded(void **state)
{
#define X  "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\""
#define Y  "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\""
#define EC "\"kty\":\"EC\",\"crv\":\"P-256\"," X "," Y
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        { "{\"keys\":[{" EC "}]}", true },
        { "{\"keys\":[{" EC ",\"alg\":\"ES256\",\"use\":\"sig\"}],\"more\":{}}", true },
        { "{\"keys\":[[],1,null,{\"kty\":\"oct\",\"k\":\"AA\"},{" EC "}]}", true },
        { "{\"keys\":[{" EC ",\"alg\":\"ES512\"}]}", false },
        { "{\"keys\":[{" EC ",\"use\":\"enc\"}]}", false },
        { "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\"," X "," Y "}]}", false }, /* on no curve */
        { "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"," X ",\"y\":\"AA==\"}]}", false },
        { "{\"keys\":[{" EC "," X "}]}", false },
        { "{\"keys\":[]}", false },
        { "{\"keys\":{}}", false },
        { "{\"keys\":[{" EC "}],\"keys\":[]}", false },
        { "[{" EC "}]", false },
        { "", false },
        { "{\"keys\":[{" EC ",\"z\":[[[[[[[[[]]]]]]]]]}]}", false },
    };
    struct trust_problem why;
    char many[1024];
    size_t at;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct key_set *set = key_set_new(bytes_from_string(rows[i].text), &why);

        if ((set != NULL) != rows[i].good)
            print_error("%s\n", rows[i].text);
        assert_int_equal(set != NULL, rows[i].good);
        assert_int_equal(why.text[0] == '\0', rows[i].good);
        key_set_free(set);
    }
    at = (size_t)snprintf(many, sizeof many, "{\"keys\":[{" EC "}");
    for (unsigned i = 1; i <= 64; i++)
        at += (size_t)snprintf(many + at, sizeof many - at, ",{}");
    snprintf(many + at, sizeof many - at, "]}");
    assert_null(key_set_new(bytes_from_string(many), &why));
    assert_non_null(strstr(why.text, "at most 64 keys"));
}

/* Rule: RSA of 2048 to 8192 bits, an odd exponent of more than 1 and 64 bits at most. */
static void rsa_keys_are_bounded(void **state)
{
    static const struct {
        unsigned bits;
        const char *exponent;
        bool good;
    } rsa[] = {
        { 2048 + 16, "AQAB", true }, { 8184, "AQAB", true },        { 8208, "AQAB", false },
        { 1920, "AQAB", false },     { 2064, "AQ", false },         { 2064, "Ag", false },
        { 2064, "Aw", true },        { 2064, "", false },           { 2064, "AAAB", false },
        { 2064, "AQAA", false },     { 2064, "__________8", true }, { 2064, "AQAAAAAAAAAB", false },
    };
    struct trust_problem why;

    (void)state;
    for (size_t i = 0; i < sizeof rsa / sizeof rsa[0]; i++) {
        struct key_set *set =
            key_set_new(bytes_from_string(rsa_key(rsa[i].bits, rsa[i].exponent)), &why);

        if ((set != NULL) != rsa[i].good)
            print_error("%u %s\n", rsa[i].bits, rsa[i].exponent);
        assert_int_equal(set != NULL, rsa[i].good);
        key_set_free(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_known_by_their_form),
        cmocka_unit_test(a_scope_opens_what_it_holds),
        cmocka_unit_test(assignments_add_up),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(long_names_open_nothing),
        cmocka_unit_test(keys_are_bounded),
        cmocka_unit_test(rsa_keys_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
