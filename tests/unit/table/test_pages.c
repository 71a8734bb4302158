/* Pages of entities that end before they are full: after so many bytes of JSON, after so much was
 * looked at (after so long: test_slow_page.c). rest: Query-Timeout-and-Pagination; decision: 192 */
#include "fixture.h"

#include <stdio.h>

#include "table/table.h"

#define PROPERTIES_MAX 15u
#define VALUE_BASE64   87380u /* 65,535 bytes */

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &table_service);
    assert_ok(ask(*state, "POST /Tables", NULL, "{\"TableName\":\"abc\"}"), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

/* Of so many properties of 64 KiB each; the rows are in order. */
static void insert(struct fixture *f, unsigned row, unsigned properties)
{
    static char body[PROPERTIES_MAX * (VALUE_BASE64 + 64) + 64];
    char *to =
        body + snprintf(body, sizeof body, "{\"PartitionKey\":\"p\",\"RowKey\":\"%03u\"", row);

    for (unsigned i = 0; i < properties; i++) {
        to += snprintf(to, 64, ",\"P%u@odata.type\":\"Edm.Binary\",\"P%u\":\"", i, i);
        memset(to, 'x', VALUE_BASE64);
        to = stpcpy(to + VALUE_BASE64, "\"");
    }
    stpcpy(to, "}");
    assert_ok(ask(f, "POST /abc", "Prefer: return-no-content", body), 204);
}

static unsigned count_rows(struct reply answer)
{
    static const char mark[] = "\"RowKey\":";
    const char *at = answer.body.ptr, *end = at + answer.body.len;
    unsigned count = 0;

    while ((at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
        at += strlen(mark);
        count++;
    }
    return count;
}

/* Follows the tokens to the end; counts entities, and pages. */
static unsigned read_all(struct fixture *f, const char *query, unsigned *ret_pages)
{
    const char *from = "";
    unsigned count = 0;

    *ret_pages = 0;
    for (;;) {
        struct reply answer = askf(f, NULL, NULL, "GET /abc()?%s%s", query, from);
        const char *partition = header_of(f, &answer, "x-ms-continuation-NextPartitionKey");
        const char *row = header_of(f, &answer, "x-ms-continuation-NextRowKey");

        assert_ok(answer, 200);
        count += count_rows(answer);
        ++*ret_pages;
        if (!partition)
            return count;
        assert_non_null(row);
        from = textf(f, "&NextPartitionKey=%s&NextRowKey=%s", partition, row);
    }
}

/* Rule: a page has 4 MiB of JSON and what its last entity adds. */
static void a_page_is_not_large(void **state)
{
    struct fixture *f = *state;
    unsigned pages;

    for (unsigned row = 0; row < 10; row++)
        insert(f, row, PROPERTIES_MAX);
    assert_in_range(ask(f, "GET /abc()", NULL, NULL).body.len, 4u << 20, 6u << 20);
    assert_int_equal(read_all(f, "", &pages), 10);
    assert_in_range(pages, 3, 5);
}

/* Rule: a filter that finds nothing gives empty pages with tokens, and none twice. */
static void a_page_does_not_look_at_everything(void **state)
{
    struct fixture *f = *state;
    unsigned pages;

    for (unsigned row = 0; row < 80; row++)
        insert(f, row, PROPERTIES_MAX);
    insert(f, 80, 0);
    assert_int_equal(read_all(f, "$filter=P0%20eq%20X'00'", &pages), 0);
    assert_int_equal(pages, 2);
    assert_int_equal(read_all(f, "$filter=RowKey%20ge%20'080'%20or%20P0%20eq%20X'00'", &pages), 1);
    assert_int_equal(pages, 2);
    assert_int_equal(
        read_all(f, "$filter=PartitionKey%20eq%20'p'%20and%20RowKey%20ge%20'080'", &pages), 1);
    assert_int_equal(pages, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_is_not_large, setup, teardown),
        cmocka_unit_test_setup_teardown(a_page_does_not_look_at_everything, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
