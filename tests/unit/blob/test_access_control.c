/* Access control lists of files and directories: set, shown, inherited, and changed in a directory
 * with all of its content. blob/access_control_operations.h; recorded: dfs.jsonl, cpp.jsonl;
 * decisions: 1241 to 1246 */
#include "fixture.h"

#include <stdio.h>

#include "blob/access_control_operations.h"
#include "service/row.h"

OPERATION(get_access_control);
OPERATION(set_access_control);
OPERATION(set_access_control_recursive);

#define NEEDS(functions_, needs_) functions_, .passes = needs_

/* The rows of the Data Lake endpoint, under names that do not depend on its methods. */
static const struct operation rows[] = {
    ROW("Get Access Control", GET, BLOB, "", "?action=getAccessControl", READS,
        MAY("o", "r", "re", "", BLOB_READ, PRIVATE), "2018-11-09", IF_HTTP4, OTHER_READ, OPTIONAL,
        RETURNED, REFUSED, 0, 200, 0, blob_subject,
        NEEDS(&get_access_control_functions, NEEDS_STATUS)),
    ROW("Set Access Control", PUT, BLOB, "", "?action=setAccessControl", WRITES,
        MAY("o", "w", "op", "", BLOB_SUPER_USER, PRIVATE), "2018-11-09", IF_HTTP4, WRITE,
        WHEN_LEASED, RETURNED, REFUSED, 0, 200, 0, blob_subject,
        NEEDS(&set_access_control_functions, NEEDS_ACL)),
    ROW("Set Access Control Recursive", PUT, BLOB, "", "?action=setAccessControlRecursive", WRITES,
        MAY("o", "w", "op", "", BLOB_SUPER_USER, PRIVATE), "2019-12-12", NO_IF, WRITE, IGNORED,
        NONE, REFUSED, 0, 200, 0, blob_subject,
        NEEDS(&set_access_control_recursive_functions, NEEDS_ACL)),
};

static struct service acl_service;

static struct reply with_acls(struct fixture *f, const char *target, const char *headers)
{
    struct reply got;

    acl_service = blob_service;
    acl_service.operations = rows;
    acl_service.operation_count = sizeof rows / sizeof rows[0];
    fixture_serve(f, &acl_service);
    got = ask(f, target, headers, NULL);
    fixture_serve(f, NULL);
    return got;
}

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", name, "PUT /box/%s", name), 201);
}

static void set(struct fixture *f, const char *name, const char *headers)
{
    assert_ok(with_acls(f, textf(f, "PUT /box/%s?action=setAccessControl", name), headers), 200);
}

static void assert_acl(struct fixture *f, const char *name, const char *mode, const char *acl)
{
    struct reply got = with_acls(f, textf(f, "GET /box/%s?action=getAccessControl", name), NULL);

    assert_ok(got, 200);
    assert_header(f, got, "x-ms-permissions", mode);
    assert_header(f, got, "x-ms-acl", acl);
}

static void recursive(struct fixture *f, const char *query, const char *acl, const char *body)
{
    struct reply got = with_acls(f, textf(f, "PUT /box/%s", query), textf(f, "x-ms-acl: %s", acl));

    assert_ok(got, 200);
    assert_body(got, body);
}

/* Rule: new files and directories are the superuser's, with the recorded permissions. */
static void new_lists(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    put(f, "a/b");
    assert_acl(f, "a", "rwxr-x---", "user::rwx,group::r-x,other::---");
    assert_acl(f, "a/b", "rw-r-----", "user::rw-,group::r--,other::---");
    got = with_acls(f, "GET /box/a/b?action=getAccessControl", NULL);
    assert_header(f, got, "x-ms-owner", "$superuser");
    assert_header(f, got, "x-ms-group", "$superuser");
    assert_answer(with_acls(f, "GET /box/none?action=getAccessControl", NULL), 404, "BlobNotFound");
}

/* Rule: setting a list changes neither ETag nor Last-Modified, as recorded. An overwritten file
 * retains owner and group only, and it has a new creation time. decision: 1273 */
static void lists_are_set(void **state)
{
    struct fixture *f = *state;
    const char *etag, *modified;
    struct reply got;

    put(f, "a/b");
    got = ask(f, "HEAD /box/a/b", NULL, NULL);
    etag = header_of(f, &got, "ETag");
    modified = header_of(f, &got, "Last-Modified");
    set(f, "a/b",
        "x-ms-acl: user:ann:rwx,user::rwx,group::r--,other::---\nx-ms-owner: ann\nx-ms-group: "
        "staff");
    got = ask(f, "HEAD /box/a/b", NULL, NULL);
    assert_header(f, got, "ETag", etag);
    assert_header(f, got, "Last-Modified", modified);
    assert_acl(f, "a/b", "rwxrwx---+", "user::rwx,user:ann:rwx,group::r--,mask::rwx,other::---");
    assert_ok(ask(f, "PUT /box/a/b?comp=metadata", "x-ms-meta-k: v", NULL), 200);
    assert_acl(f, "a/b", "rwxrwx---+", "user::rwx,user:ann:rwx,group::r--,mask::rwx,other::---");
    set(f, "a/b", "x-ms-permissions: 0640");
    assert_acl(f, "a/b", "rw-r-----+", "user::rw-,user:ann:rwx,group::r--,mask::r--,other::---");
    clock_advance(5 * TICKS_PER_SECOND);
    put(f, "a/b");
    assert_acl(f, "a/b", "rw-r-----", "user::rw-,group::r--,other::---");
    got = with_acls(f, "GET /box/a/b?action=getAccessControl", NULL);
    assert_header(f, got, "x-ms-owner", "ann");
    assert_header(f, got, "x-ms-group", "staff");
    got = ask(f, "HEAD /box/a/b", NULL, NULL);
    assert_header(f, got, "x-ms-creation-time", header_of(f, &got, "Last-Modified"));
    set(f, "a", "x-ms-permissions: rwxr-xr-t");
    assert_acl(f, "a", "rwxr-xr-t", "user::rwx,group::r-x,other::r-x");
}

static void malformed_requests(void **state)
{
    static const struct {
        const char *headers, *code;
    } cases[] = {
        { NULL, "MissingRequiredHeader" },
        { "x-ms-acl: asdf", "InvaldAccessControlList" },
        { "x-ms-acl: user::rwx,group::rwx", "InvaldAccessControlList" },
        { "x-ms-acl: user::rwx,group::rwx,other::---,default:user::rwx",
          "InvaldAccessControlList" },
        { "x-ms-permissions: asdf", "InvalidPermission" },
        { "x-ms-owner: a b", "InvalidHeaderValue" },
        { "x-ms-acl: user::rwx,group::rwx,other::---\nx-ms-permissions: 0777", "InvalidInput" },
    };
    static const char *const queries[] = { "", "&mode=x", "&mode=set&maxRecords=0",
                                           "&mode=set&continuation=%20",
                                           "&mode=set&continuation=%2F%2F%2F%2F" };
    struct fixture *f = *state;

    fixture_make_hierarchical(f);
    put(f, "a/b");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_answer(with_acls(f, "PUT /box/a/b?action=setAccessControl", cases[i].headers), 400,
                      cases[i].code);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        assert_answer(
            with_acls(f, textf(f, "PUT /box/a?action=setAccessControlRecursive%s", queries[i]),
                      "x-ms-acl: user::rwx,group::rwx,other::---"),
            400, "InvalidQueryParameterValue");
    assert_answer(
        with_acls(f, "PUT /box/a?action=setAccessControlRecursive&mode=set", "x-ms-acl: user::rwx"),
        400, "InvaldAccessControlList");
}

/* Rule: children inherit default entries, whatever creates them. */
static void default_entries_are_inherited(void **state)
{
    struct fixture *f = *state;

    put(f, "a/b");
    set(f, "a",
        "x-ms-acl: user::rwx,group::r-x,other::---,default:user::rwx,default:user:ann:r-x,"
        "default:group::r-x,default:other::---");
    put(f, "a/d/e/f");
    assert_ok(ask(f, "PUT /box/a/d/g?comp=block&blockid=MQ%3D%3D", NULL, "x"), 201);
    assert_ok(ask(f, "PUT /box/a/d/g?comp=blocklist", NULL,
                  "<BlockList><Latest>MQ==</Latest></BlockList>"),
              201);
    assert_acl(f, "a/b", "rw-r-----", "user::rw-,group::r--,other::---");
    assert_acl(f, "a/d/e", "rwxr-x---+",
               "user::rwx,user:ann:r-x,group::r-x,mask::r-x,other::---,default:user::rwx,"
               "default:user:ann:r-x,default:group::r-x,default:mask::r-x,default:other::---");
    assert_acl(f, "a/d/e/f", "rw-r-----+",
               "user::rw-,user:ann:r-x,group::r-x,mask::r--,other::---");
    assert_acl(f, "a/d/g", "rw-r-----+", "user::rw-,user:ann:r-x,group::r-x,mask::r--,other::---");
}

#define ALL(directories, files)                                                                    \
    "{\"directoriesSuccessful\":" directories                                                      \
    ",\"failedEntries\":[],\"failureCount\":0,\"filesSuccessful\":" files "}\n"

/* Rule: a directory and all of its content change, in more commits than one, and nothing else. */
static void whole_directories_change(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 5; j++)
            put(f, textf(f, "a/s%u/f%u", i, j));
    put(f, "b/c");
    recursive(f, "a?action=setAccessControlRecursive&mode=set", "user::rwx,group::r-x,other::rwx",
              ALL("6", "25"));
    assert_acl(f, "a", "rwxr-xrwx", "user::rwx,group::r-x,other::rwx");
    assert_acl(f, "a/s4", "rwxr-xrwx", "user::rwx,group::r-x,other::rwx");
    assert_acl(f, "a/s4/f4", "rwxr-xrwx", "user::rwx,group::r-x,other::rwx");
    assert_acl(f, "b", "rwxr-x---", "user::rwx,group::r-x,other::---");
    assert_acl(f, "b/c", "rw-r-----", "user::rw-,group::r--,other::---");
    recursive(f, "a?action=setAccessControlRecursive&mode=modify",
              "user:ann:r--,default:user:ann:r--", ALL("6", "25"));
    assert_acl(f, "a/s0/f3", "rwxr-xrwx+",
               "user::rwx,user:ann:r--,group::r-x,mask::r-x,other::rwx");
    recursive(f, "a/s1?action=setAccessControlRecursive&mode=remove",
              "mask,default:user,user:ann,default:user:ann,default:group", ALL("1", "5"));
    assert_acl(f, "a/s1/f3", "rwxr-xrwx", "user::rwx,group::r-x,other::rwx");
    /* of a file */
    recursive(f, "a/s2/f1?action=setAccessControlRecursive&mode=set",
              "user::rwx,group::r-x,other::---", ALL("0", "1"));
    assert_acl(f, "a/s2/f1", "rwxr-x---", "user::rwx,group::r-x,other::---");
}

/* Returns base64 for a query. */
static const char *escaped(struct fixture *f, const char *token)
{
    const char *text = "";

    for (; *token; token++)
        text = *token == '+' || *token == '/' || *token == '='
                   ? textf(f, "%s%%%02X", text, (unsigned)*token)
                   : textf(f, "%s%c", text, *token);
    return text;
}

/* Rule: pages of maxRecords names, in the recorded order: a directory, then its content. */
static void pages_of_a_directory(void **state)
{
    struct fixture *f = *state;
    unsigned pages = 0, directories = 0, files = 0;
    const char *token = "";

    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 3; j++)
            put(f, textf(f, "a/s%u/f%u", i, j));
    do {
        struct reply got = with_acls(
            f,
            textf(
                f,
                "PUT "
                "/box/a?action=setAccessControlRecursive&mode=modify&maxRecords=2&continuation=%s",
                token),
            "x-ms-acl: user::r--");
        unsigned of_directories, of_files;

        assert_ok(got, 200);
        assert_int_equal(
            sscanf(textf(f, "%.*s", BYTES_ARG(got.body)),
                   "{\"directoriesSuccessful\":%u,\"failedEntries\":[],\"failureCount\":0,"
                   "\"filesSuccessful\":%u}",
                   &of_directories, &of_files),
            2);
        if (pages == 0)
            assert_int_equal(of_directories, 2); /* as recorded */
        directories += of_directories;
        files += of_files;
        pages++;
        token = header_of(f, &got, "x-ms-continuation");
        token = token ? escaped(f, token) : NULL;
    } while (token && pages < 20);
    assert_int_equal(pages, 7);
    assert_int_equal(directories, 4);
    assert_int_equal(files, 9);
    assert_acl(f, "a/s2/f2", "r--r-----", "user::r--,group::r--,other::---");
}

/* Rule: a flat container has no lists. */
static void flat_containers_have_none(void **state)
{
    struct fixture *f = *state;

    put(f, "a");
    assert_answer(with_acls(f, "GET /box/a?action=getAccessControl", NULL), 400,
                  "HierarchicalNamespaceNotEnabled");
    assert_answer(with_acls(f, "PUT /box/a?action=setAccessControl", "x-ms-permissions: 0777"), 400,
                  "HierarchicalNamespaceNotEnabled");
    assert_answer(with_acls(f, "PUT /box/a?action=setAccessControlRecursive&mode=set",
                            "x-ms-acl: user::rwx,group::rwx,other::---"),
                  400, "HierarchicalNamespaceNotEnabled");
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, fixture_setup_hierarchical, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(new_lists),
        TEST(lists_are_set),
        TEST(malformed_requests),
        TEST(default_entries_are_inherited),
        TEST(whole_directories_change),
        TEST(pages_of_a_directory),
        cmocka_unit_test_setup_teardown(flat_containers_have_none, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
