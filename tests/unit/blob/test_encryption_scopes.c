/* Encryption scopes: names, defaults of containers, errors, and what is stored. rest: Put-Blob
 * "x-ms-encryption-scope", Create-Container; docs: Encryption scopes for Blob storage; recorded by
 * the tests of the SDKs; decisions: 1424, 1460 to 1463 */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dfs/dfs.h"
#include "service/encryption_scopes.h"
#include "store/keyring.h"

#define BLOCK  "x-ms-blob-type: BlockBlob"
#define APPEND "x-ms-blob-type: AppendBlob"
#define PAGE   "x-ms-blob-type: PageBlob"
#define ONE    "x-ms-encryption-scope: one"
#define TWO    "x-ms-encryption-scope: two"
#define NONE   "x-ms-encryption-scope: $account-encryption-key"
#define SHOWN  "x-ms-encryption-scope"
#define USES   "BlobUsesCustomerSpecifiedEncryption"
#define LACKS  "BlobDoesNotUseCustomerSpecifiedEncryption"
#define OTHER  "BlobCustomerSpecifiedEncryptionMismatch"
#define CLOSED "EncryptionScopeNotAvailable"
#define DENIED "RequestForbiddenByContainerEncryptionPolicy"

static struct keyring *keys;
static struct encryption_scopes *scopes;
static instant changed;

static void put_scope(const char *name, bool is_new, bool is_disabled)
{
    static struct encryption_scope all[8];
    static size_t count;
    struct encryption_scope *scope = NULL;

    for (size_t i = 0; i < count && !is_new; i++)
        if (bytes_is(all[i].name, name))
            scope = &all[i];
    if (!scope) {
        scope = &all[count++ % 8];
        *scope = (struct encryption_scope){ .account = BYTES(DEVELOPMENT_ACCOUNT),
                                            .name = bytes_from_string(name) };
        assert_true(encryption_scopes_new_key(scopes, scope));
    }
    scope->is_disabled = is_disabled;
    scope->changed = ++changed;
    encryption_scopes_put(scopes, scope);
}

/* A keyring whose file is deleted at once. */
static struct keyring *make_keyring(void)
{
    char path[] = "/tmp/lagra-scopes-XXXXXX";
    struct master_keys *masters;
    struct keyring *made = NULL;
    const char *problem = NULL;
    int folder;

    assert_non_null(mkdtemp(path));
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    masters = master_keys_parse(bytes_from_string("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=\n"),
                                &problem);
    assert_non_null(masters);
    assert_int_equal(keyring_create(folder, masters, &made, &problem), STORE_OK);
    master_keys_free(masters);
    unlinkat(folder, KEYRING_FILE, 0);
    close(folder);
    rmdir(path);
    return made;
}

static int set_up(void **state)
{
    keys = make_keyring();
    scopes = encryption_scopes_new();
    encryption_scopes_set_keys(scopes, keys);
    put_scope("one", true, false);
    put_scope("two", true, false);
    put_scope("off", true, true);
    if (fixture_setup(state))
        return -1;
    fixture_use_scopes(*state, scopes);
    assert_ok(
        ask(*state, "PUT /main?restype=container", "x-ms-default-encryption-scope: one", NULL),
        201);
    assert_ok(ask(*state, "PUT /only?restype=container",
                  "x-ms-default-encryption-scope: one\nx-ms-deny-encryption-scope-override: true",
                  NULL),
              201);
    return 0;
}

static int tear_down(void **state)
{
    int result = fixture_teardown(state);

    encryption_scopes_free(scopes);
    keyring_free(keys);
    return result;
}

/* Rule: what is read is what was written, and Get Blob shows the scope. */
static void assert_content(struct fixture *f, const char *target, const char *scope,
                           const char *content)
{
    struct reply got = ask(f, target, NULL, NULL);

    assert_ok(got, 200);
    assert_true(bytes_is(got.body, content));
    if (scope)
        assert_header(f, got, SHOWN, scope);
    else
        assert_no_header(f, got, SHOWN);
}

/* ---- names ---- */

static void names_have_letters_digits_and_single_dashes(void **state)
{
    static const struct {
        const char *name;
        bool is_valid;
    } names[] = {
        { "one", true },   { "a-b-c", true },     { "EncryptionScopeForTest", true },
        { "ab", false },   { "-ab", false },      { "ab-", false },
        { "a--b", false }, { "a_b", false },      { "a b", false },
        { "", false },     { "$account", false }, { "a/b", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(encryption_scope_name_is_valid(bytes_from_string(names[i].name)),
                         names[i].is_valid);
    assert_false(encryption_scope_name_is_valid(bytes_of(
        "a234567890123456789012345678901234567890123456789012345678901234", SCOPE_NAME_MAX + 1)));
}

static void invalid_headers_are_refused(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /box/b", BLOCK "\nx-ms-encryption-scope: a_b", "x"), 400,
                  "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\n" ONE "\nx-ms-version: 2018-11-09", "x"), 400,
                  "UnsupportedHeader");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\n" ONE "\nx-ms-access-tier: Cool", "x"), 409, USES);
    assert_answer(ask(f, "PUT /main/b", BLOCK "\nx-ms-access-tier: Cool", "x"), 409, USES);
    assert_answer(ask(f, "PUT /new?restype=container", "x-ms-default-encryption-scope: a_b", NULL),
                  400, "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /new?restype=container", "x-ms-default-encryption-scope: none", NULL),
                  409, CLOSED);
    assert_answer(ask(f, "PUT /new?restype=container", "x-ms-default-encryption-scope: off", NULL),
                  409, CLOSED);
    assert_answer(ask(f, "PUT /box/b?comp=lease", "x-ms-lease-action: acquire\n" ONE, NULL), 400,
                  "UnsupportedHeader");
}

/* ---- a scope and each operation ---- */

static void a_block_blob_keeps_its_scope(void **state)
{
    struct fixture *f = *state;
    struct reply got = ask(f, "PUT /box/b", BLOCK "\n" ONE "\nx-ms-meta-a: 1", "hello");

    assert_ok(got, 201);
    assert_header(f, got, SHOWN, "one");
    assert_content(f, "GET /box/b", "one", "hello");
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, SHOWN, "one");
    assert_header(f, got, "x-ms-meta-a", "1");
    assert_answer(ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 2", NULL), 409, USES);
    assert_answer(ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 2\n" TWO, NULL), 409, OTHER);
    got = ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 2\n" ONE, NULL);
    assert_ok(got, 200);
    assert_header(f, got, SHOWN, "one");
    got = ask(f, "GET /box/b?comp=metadata", NULL, NULL);
    assert_header(f, got, "x-ms-meta-a", "2");
    assert_answer(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 409, USES);
    got = ask(f, "PUT /box/b?comp=snapshot", ONE, NULL);
    assert_ok(got, 201);
    assert_no_header(f, got, SHOWN);
    assert_content(f, textf(f, "GET /box/b?snapshot=%s", header_of(f, &got, "x-ms-snapshot")),
                   "one", "hello");
    assert_ok(ask(f, "PUT /box/b?comp=properties", NULL, NULL), 200);
    assert_answer(ask(f, "PUT /box/b?comp=properties", TWO, NULL), 409, OTHER);
    assert_answer(ask(f, "PUT /box/b?comp=tier", "x-ms-access-tier: Cool", NULL), 409, USES);
    assert_ok(ask(f, "PUT /box/b", BLOCK, "plain"), 201);
    assert_content(f, "GET /box/b", NULL, "plain");
    assert_answer(ask(f, "PUT /box/b?comp=metadata", ONE, NULL), 409, LACKS);
}

static void blocks_have_scopes(void **state)
{
    static const char list[] = "<BlockList><Latest>MQ==</Latest></BlockList>";
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=MQ%3D%3D", ONE, "one"), 201);
    assert_answer(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 409, USES);
    assert_answer(ask(f, "PUT /box/b?comp=blocklist", TWO, list), 409, OTHER);
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", ONE, list), 201);
    assert_content(f, "GET /box/b", "one", "one");
    assert_ok(ask(f, "PUT /box/c?comp=block&blockid=MQ%3D%3D", NULL, "none"), 201);
    assert_answer(ask(f, "PUT /box/c?comp=blocklist", ONE, list), 409, LACKS);
    assert_ok(ask(f, "PUT /main/c?comp=block&blockid=MQ%3D%3D", NULL, "main"), 201);
    assert_ok(ask(f, "PUT /main/c?comp=blocklist", NULL, list), 201);
    assert_content(f, "GET /main/c", "one", "main");
}

static void append_and_page_blobs_have_scopes(void **state)
{
    struct fixture *f = *state;
    char page[512];
    struct reply got;

    memset(page, 'p', sizeof page);
    assert_ok(ask(f, "PUT /box/a", APPEND "\n" ONE, NULL), 201);
    got = ask(f, "PUT /box/a?comp=appendblock", ONE, "tail");
    assert_ok(got, 201);
    assert_header(f, got, SHOWN, "one");
    assert_answer(ask(f, "PUT /box/a?comp=appendblock", NULL, "tail"), 409, USES);
    assert_content(f, "GET /box/a", "one", "tail");
    assert_ok(ask(f, "PUT /box/p", PAGE "\n" ONE "\nx-ms-blob-content-length: 1024", NULL), 201);
    assert_answer(ask_bytes(f, "PUT /box/p?comp=page",
                            "x-ms-page-write: update\nRange: bytes=0-511",
                            bytes_of(page, sizeof page)),
                  409, USES);
    assert_ok(ask_bytes(f, "PUT /box/p?comp=page",
                        "x-ms-page-write: update\nRange: bytes=0-511\n" ONE,
                        bytes_of(page, sizeof page)),
              201);
    got = ask(f, "GET /box/p", "Range: bytes=500-519", NULL);
    assert_ok(got, 206);
    assert_memory_equal(got.body.ptr, "pppppppppppp\0\0\0\0\0\0\0\0", 20);
}

/* ---- containers ---- */

static void containers_show_their_scope(void **state)
{
    struct fixture *f = *state;
    struct reply got = ask(f, "GET /only?restype=container", NULL, NULL);

    assert_header(f, got, "x-ms-default-encryption-scope", "one");
    assert_header(f, got, "x-ms-deny-encryption-scope-override", "true");
    got = ask(f, "GET /?comp=list&prefix=only", NULL, NULL);
    assert_non_null(memmem(got.body.ptr, got.body.len, "<DefaultEncryptionScope>one<", 28));
    assert_non_null(memmem(got.body.ptr, got.body.len, "<DenyEncryptionScopeOverride>true<", 34));
    assert_ok(ask(f, "PUT /only?restype=container&comp=metadata", "x-ms-meta-a: b", NULL), 200);
    got = ask(f, "GET /only?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-default-encryption-scope", "one");
}

/* Recorded: the policy is checked before the blob is looked up. */
static void a_container_may_deny_other_scopes(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /only/b?comp=appendblock", TWO, "x"), 403, DENIED);
    assert_answer(ask(f, "PUT /only/b?comp=appendblock", ONE, "x"), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /only/b?comp=appendblock", NULL, "x"), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /only/b", BLOCK "\n" NONE, "x"), 403, DENIED);
    assert_ok(ask(f, "PUT /only/b", BLOCK, "default"), 201);
    assert_content(f, "GET /only/b", "one", "default");
    assert_ok(ask(f, "PUT /main/b", BLOCK "\n" TWO, "two"), 201);
    assert_content(f, "GET /main/b", "two", "two");
    assert_ok(ask(f, "PUT /main/b", BLOCK "\n" NONE, "none"), 201);
    assert_content(f, "GET /main/b", NULL, "none");
    assert_ok(
        ask(f, "PUT /deny?restype=container", "x-ms-deny-encryption-scope-override: true", NULL),
        201);
    assert_answer(ask(f, "PUT /deny/b", BLOCK "\n" ONE, "x"), 403, DENIED);
    assert_ok(ask(f, "PUT /deny/b", BLOCK, "x"), 201);
}

/* ---- states of scopes ---- */

static void a_disabled_scope_is_not_available(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_answer(ask(f, "PUT /box/b", BLOCK "\nx-ms-encryption-scope: off", "x"), 409, CLOSED);
    assert_answer(ask(f, "PUT /box/b", BLOCK "\nx-ms-encryption-scope: none", "x"), 409, CLOSED);
    assert_ok(ask(f, "PUT /main/b", BLOCK "\nx-ms-meta-a: b", "x"), 201);
    put_scope("one", false, true);
    assert_answer(ask(f, "GET /main/b", NULL, NULL), 409, CLOSED);
    assert_answer(ask(f, "HEAD /main/b", NULL, NULL), 409, CLOSED);
    assert_answer(ask(f, "PUT /main/c", BLOCK, "x"), 409, CLOSED);
    assert_ok(ask(f, "PUT /main/c", BLOCK "\n" TWO, "x"), 201);
    got = ask(f, "GET /main?restype=container&comp=list&include=metadata", NULL, NULL);
    assert_ok(got, 200);
    assert_non_null(memmem(got.body.ptr, got.body.len, "<Metadata Encrypted=\"true\" />", 29));
    put_scope("one", false, false);
    assert_content(f, "GET /main/b", "one", "x");
    got = ask(f, "GET /main?restype=container&comp=list&include=metadata", NULL, NULL);
    assert_non_null(memmem(got.body.ptr, got.body.len, "<Metadata><a>b</a></Metadata>", 29));
    assert_non_null(memmem(got.body.ptr, got.body.len,
                           "<ServerEncrypted>true</ServerEncrypted><EncryptionScope>one<", 60));
    put_scope("one", false, true);
    assert_ok(ask(f, "DELETE /main/b", NULL, NULL), 202);
    put_scope("one", false, false);
}

/* ---- the Data Lake endpoint ---- */

static void paths_have_the_scope_of_their_container(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    fixture_serve(f, &dfs_service);
    got = ask(f, "PUT /main/f?resource=file", NULL, NULL);
    assert_ok(got, 201);
    assert_header(f, got, SHOWN, "one");
    assert_ok(ask(f, "PATCH /main/f?action=append&position=0", "Content-Length: 3", "abc"), 202);
    assert_ok(ask(f, "PATCH /main/f?action=flush&position=3", "Content-Length: 0", NULL), 200);
    assert_content(f, "GET /main/f", "one", "abc");
    assert_ok(ask(f, "PATCH /main/f?action=setProperties", "x-ms-properties: a=Yg==", NULL), 200);
    got = ask(f, "HEAD /main/f", NULL, NULL);
    assert_header(f, got, "x-ms-properties", "a=Yg==");
    assert_answer(ask(f, "PUT /main/g?resource=file", ONE, NULL), 400, "UnsupportedHeader");
    assert_ok(ask(f, "PUT /main/d?resource=directory", NULL, NULL), 201);
    got = ask(f, "GET /main?resource=filesystem&recursive=false", NULL, NULL);
    assert_non_null(memmem(got.body.ptr, got.body.len,
                           "{\"EncryptionScope\":\"one\",\"contentLength\":\"3\"", 43));
    fixture_serve(f, NULL);
}

/* ---- a container that is created anew while a body arrives ---- */

static void the_default_is_that_of_the_decision(void **state)
{
    struct fixture *f = *state;

    encryption_scopes_free(scopes);
    scopes = encryption_scopes_new();
    fixture_use_scopes(f, scopes);
    assert_answer(ask(f, "PUT /main/b", BLOCK, "x"), 409, CLOSED);
    assert_ok(ask(f, "PUT /box/b", BLOCK, "x"), 201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_letters_digits_and_single_dashes),
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        TEST(invalid_headers_are_refused),
        TEST(a_block_blob_keeps_its_scope),
        TEST(blocks_have_scopes),
        TEST(append_and_page_blobs_have_scopes),
        TEST(containers_show_their_scope),
        TEST(a_container_may_deny_other_scopes),
        TEST(a_disabled_scope_is_not_available),
        TEST(paths_have_the_scope_of_their_container),
        TEST(the_default_is_that_of_the_decision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
