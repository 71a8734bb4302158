/* What paths name, and which method a POST stands for. rest/request.h;
 * rest: Addressing-Table-Service-Resources, Setting-the-X-HTTP-Method-Header */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "service/problem.h"
#include "table/rest/entity_json.h"
#include "table/rest/odata.h"

#include <cmocka.h> /* last: it has a macro `fail` */

static const char *const levels[] = { "service", "tables", "named", "table", "entity", "batch" };

static enum error read_path(struct arena *arena, struct bytes path, struct table_resource *to)
{
    struct request request = { .method = METHOD_GET };
    struct problem problem = { .detail = NULL };
    struct call call = { .request = &request, .arena = arena, .problem = &problem };

    *to = (struct table_resource){ .table = { NULL, 0 } };
    return table_read_resource(&call, path, &to->base);
}

/* "level table|PartitionKey|RowKey" or a code; names are checked too. */
static struct bytes describe(struct arena *arena, const char *path)
{
    struct table_resource named;
    enum error e = read_path(arena, bytes_from_string(path), &named);

    if (!e)
        e = table_check_names(&named.base);
    if (e)
        return bytes_from_string(error_code(e));
    if (named.base.level == LEVEL_ENTITY)
        return arena_printf(arena, "entity %.*s|%.*s|%.*s", BYTES_ARG(named.table),
                            BYTES_ARG(named.partition_key), BYTES_ARG(named.row_key));
    assert_null(named.partition_key.ptr);
    assert_null(named.row_key.ptr);
    if (!named.table.ptr)
        return bytes_from_string(levels[named.base.level]);
    return arena_printf(arena, "%s %.*s", levels[named.base.level], BYTES_ARG(named.table));
}

struct path_row {
    const char *path, *named;
};

static void assert_named(const struct path_row *rows, size_t count)
{
    struct arena *arena = arena_new(1u << 24);

    for (size_t i = 0; i < count; i++) {
        struct bytes named = describe(arena, rows[i].path);

        if (!bytes_is(named, rows[i].named))
            fail_msg("%s: %.*s, not %s", rows[i].path, BYTES_ARG(named), rows[i].named);
    }
    arena_free(arena);
}

#define ASSERT_NAMED(rows) assert_named(rows, sizeof(rows) / sizeof(rows)[0])

/* Rule: the paths of the reference, with what clients put between and around. */
static void paths_name_resources(void **state)
{
    static const struct path_row rows[] = {
        { "", "service" },
        { "Tables", "tables" },
        { "Tables()", "tables" },
        { "tables", "tables" },
        { "$batch", "batch" },
        { "%24batch", "batch" },
        { "Tables('abc')", "named abc" },
        { "Tables(%27aBC%27)", "named aBC" },
        { "TABLES( 'abc' )", "named abc" },
        { "abc", "table abc" },
        { "Abc()", "table Abc" },
        { "abc( )", "table abc" },
        { "abc%28%29", "table abc" },
        { "abc(PartitionKey='p',RowKey='r')", "entity abc|p|r" },
        { "abc(RowKey='r',PartitionKey='p')", "entity abc|p|r" },
        { "abc( PartitionKey = 'p' , RowKey = 'r' )", "entity abc|p|r" },
        { "abc(PartitionKey=%27p%27,%20RowKey=%27r%27)", "entity abc|p|r" },
        { "abc(PartitionKey='',RowKey='')", "entity abc||" },
        { "abc(PartitionKey='it''s',RowKey='''')", "entity abc|it's|'" },
        { "abc(PartitionKey='a,b)',RowKey='(c=d')", "entity abc|a,b)|(c=d" },
        { "abc(PartitionKey='RowKey=',RowKey=',PartitionKey=')",
          "entity abc|RowKey=|,PartitionKey=" },
        { "abc(PartitionKey='%2520',RowKey='a+b')", "entity abc|%20|a+b" },
        { "abc(PartitionKey='%C3%A9',RowKey='%F0%9F%98%80')",
          "entity abc|\xC3\xA9|\xF0\x9F\x98\x80" },
    };

    (void)state;
    ASSERT_NAMED(rows);
}

/* Rule: all else is refused: what is no path of OData, and names that there cannot be. */
static void other_paths_are_refused(void **state)
{
    static const struct path_row rows[] = {
        { "abc(", "InvalidInput" },
        { "abc)", "InvalidResourceName" },
        { "abc()x", "InvalidInput" },
        { "abc('p')", "InvalidInput" },
        { "abc(PartitionKey='p')", "InvalidInput" },
        { "abc(PartitionKey='p',)", "InvalidInput" },
        { "abc(PartitionKey='p',RowKey='r'", "InvalidInput" },
        { "abc(PartitionKey='p',RowKey='r)", "InvalidInput" },
        { "abc(PartitionKey='p',RowKey='r')x", "InvalidInput" },
        { "abc(PartitionKey='p',RowKey='r',RowKey='s')", "InvalidInput" },
        { "abc(PartitionKey='p',PartitionKey='q')", "InvalidInput" },
        { "abc(PartitionKey='p',Other='q')", "InvalidInput" },
        { "abc(PartitionKey='p' RowKey='r')", "InvalidInput" },
        { "abc(PartitionKey=p,RowKey=r)", "InvalidInput" },
        { "abc(PartitionKey=\"p\",RowKey=\"r\")", "InvalidInput" },
        { "abc(PartitionKey='it's',RowKey='r')", "InvalidInput" },
        { "abc(partitionkey='p',rowkey='r')", "InvalidInput" },
        { "Tables(abc)", "InvalidInput" },
        { "Tables('abc'", "InvalidInput" },
        { "Tables('abc')/x", "InvalidInput" },
        { "Tables('')", "OutOfRangeInput" },
        { "Tables('ab')", "OutOfRangeInput" },
        { "Tables('a''b')", "InvalidResourceName" },
        { "Tables('tables')", "InvalidResourceName" },
        { "1abc", "InvalidResourceName" },
        { "a-bc", "InvalidResourceName" },
        { "abc/def", "InvalidResourceName" },
        { "$metadata", "InvalidResourceName" },
        { "$Batch", "InvalidResourceName" },
        { "$batch()", "InvalidResourceName" },
        { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc",
          "table abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc" },
        { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd", "OutOfRangeInput" },
        { "abc(PartitionKey='a%2Fb',RowKey='r')", "OutOfRangeInput" },
        { "abc(PartitionKey='p',RowKey='%00')", "OutOfRangeInput" },
        { "abc(PartitionKey='p',RowKey='%C2%85')", "OutOfRangeInput" },
        { "abc%", "InvalidUri" },
        { "abc%2", "InvalidUri" },
        { "abc%GG", "InvalidUri" },
        { "abc%80", "InvalidUri" },
        { "abc%ED%A0%80", "InvalidUri" },
    };

    (void)state;
    ASSERT_NAMED(rows);
}

#define LETTERS_MAX 3

/* The nth text of the alphabet's letters, of up to LETTERS_MAX of them; ptr NULL: there is none. */
static struct bytes nth_key(struct arena *arena, size_t n)
{
    static const char *const alphabet[] = { "'", ",", "(", ")", "=", " ", "%", "&", "\xC3\xA9" };
    static const size_t count = sizeof alphabet / sizeof alphabet[0];
    size_t texts = 1, length = 0;
    struct text key;

    text_init(&key, arena, 16);
    for (; n >= texts && length <= LETTERS_MAX; length++) {
        n -= texts;
        texts *= count;
    }
    if (length > LETTERS_MAX)
        return (struct bytes){ NULL, 0 };
    for (size_t i = 0; i < length; i++, n /= count)
        text_add_string(&key, alphabet[n % count]);
    return text_bytes(&key);
}

/* Rule: the path of an entity, as answers give it, names that entity: every key of up to three of
 * the characters that mean something in a path. */
static void written_paths_are_read(void **state)
{
    static const struct bytes table = BYTES("abc");
    struct arena *arena = arena_new(1u << 28);
    size_t n;

    (void)state;
    for (n = 0; nth_key(arena, n).ptr; n++) {
        struct bytes partition_key = nth_key(arena, n);
        struct bytes row_key = nth_key(arena, n * 7 % 820);
        struct table_resource named;
        struct text path;

        text_init(&path, arena, 64);
        entity_path_write(&path, table, partition_key, row_key);
        assert_int_equal(read_path(arena, text_bytes(&path), &named), OK);
        assert_int_equal(named.base.level, LEVEL_ENTITY);
        assert_true(bytes_equal(named.table, table));
        assert_true(bytes_equal(named.partition_key, partition_key));
        assert_true(bytes_equal(named.row_key, row_key));
    }
    assert_int_equal(n, 1 + 9 + 81 + 729);
    arena_free(arena);
}

/* Rule: a POST, and no other, may stand for four methods, by one header. decision: 189 */
static void a_post_stands_for_a_method(void **state)
{
    static const struct {
        enum http_method sent;
        const char *said, *again;
        enum error e;
        enum http_method method;
    } rows[] = {
        { METHOD_POST, NULL, NULL, OK, METHOD_POST },
        { METHOD_POST, "MERGE", NULL, OK, METHOD_MERGE },
        { METHOD_POST, "PATCH", NULL, OK, METHOD_PATCH },
        { METHOD_POST, "PUT", NULL, OK, METHOD_PUT },
        { METHOD_POST, "delete", NULL, OK, METHOD_DELETE },
        { METHOD_POST, "GET", NULL, E_XMethodIncorrectValue, METHOD_POST },
        { METHOD_POST, "POST", NULL, E_XMethodIncorrectValue, METHOD_POST },
        { METHOD_POST, "", NULL, E_XMethodIncorrectValue, METHOD_POST },
        { METHOD_POST, "PUT", "MERGE", E_XMethodIncorrectCount, METHOD_POST },
        { METHOD_PUT, "PUT", NULL, E_XMethodNotUsingPost, METHOD_PUT },
        { METHOD_GET, "DELETE", NULL, E_XMethodNotUsingPost, METHOD_GET },
    };
    static const struct bytes name = BYTES("x-http-method");
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_header headers[] = { { name, bytes_from_string(rows[i].said), name },
                                         { name, bytes_from_string(rows[i].again), name } };
        struct request request = { .method = rows[i].sent, .headers = headers };
        struct call call = { .method = rows[i].sent, .arena = arena };
        struct table_resource named;

        request.header_count = rows[i].again ? 2 : rows[i].said ? 1 : 0;
        call_set_request(&call, &request);
        assert_int_equal(table_read_resource(&call, bytes_from_string("abc"), &named.base),
                         rows[i].e);
        assert_int_equal(call.method, rows[i].method);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_name_resources),
        cmocka_unit_test(other_paths_are_refused),
        cmocka_unit_test(written_paths_are_read),
        cmocka_unit_test(a_post_stands_for_a_method),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
