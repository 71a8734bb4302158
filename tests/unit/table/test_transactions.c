/* Entity group transactions: all or nothing, in their order, and which part is to blame.
 * service/batch.h; rest: Performing-Entity-Group-Transactions; decision: 146 */
#include "fixture.h"

#include "table/table.h"

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

static struct reply ask_batch(struct fixture *f, const char *body)
{
    return ask(f, "POST /$batch", "Content-Type: multipart/mixed; boundary=b", body);
}

#define PART   "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define PREFIX "http://h/devstoreaccount1/"

/* A changeset of these parts, each with its line end. */
static struct reply ask_changes(struct fixture *f, const char *parts)
{
    return ask_batch(f, textf(f,
                              "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n%s--c--\r\n"
                              "--b--\r\n",
                              parts));
}

/* The text between the last of `before` and the next of `after`. */
static struct bytes between(struct reply answer, const char *before, const char *after)
{
    const char *from = memmem(answer.body.ptr, answer.body.len, before, strlen(before)), *to;
    size_t left;

    if (!from)
        return (struct bytes){ NULL, 0 };
    from += strlen(before);
    left = answer.body.len - (size_t)(from - answer.body.ptr);
    to = memmem(from, left, after, strlen(after));
    return bytes_of(from, to ? (size_t)(to - from) : left);
}

static size_t count_of(struct bytes text, const char *what)
{
    size_t count = 0;
    const char *at;

    while (text.len > 0 && (at = memmem(text.ptr, text.len, what, strlen(what)))) {
        text = bytes_from(text, (size_t)(at - text.ptr) + strlen(what));
        count++;
    }
    return count;
}

static void assert_refused(struct reply answer, const char *status, const char *code,
                           const char *message)
{
    assert_int_equal(answer.status, 202);
    assert_int_equal(count_of(answer.body, "HTTP/1.1 "), 1);
    assert_bytes(between(answer, "HTTP/1.1 ", " "), status);
    assert_bytes(between(answer, "\"code\":\"", "\""), code);
    assert_bytes(between(answer, "\"value\":\"", "\\n"), message);
}

/* ---- every two operations on two entities ---- */

/* What is done to an entity, what is answered where it is there and where it is not, and whether it
 * is there afterwards. */
static const struct change_asked {
    const char *method, *headers;
    const char *with, *without; /* NULL: done; else "status code" */
    bool there;
} actions[] = {
    { "POST", "", "409 EntityAlreadyExists", NULL, true },
    { "PUT", "", NULL, NULL, true },
    { "PUT", "If-Match: *\r\n", NULL, "404 ResourceNotFound", true },
    { "MERGE", "If-Match: W/\"datetime'2009-04-30T00%3A00%3A00Z'\"\r\n",
      "412 UpdateConditionNotSatisfied", "404 ResourceNotFound", true },
    { "DELETE", "If-Match: *\r\n", NULL, "404 ResourceNotFound", false },
};
#define ACTIONS (sizeof actions / sizeof actions[0])

static const char *part_of(struct fixture *f, const struct change_asked *action, const char *row,
                           int n)
{
    bool inserts = strcmp(action->method, "POST") == 0;
    const char *at = inserts ? "" : textf(f, "(PartitionKey='p',RowKey='%s')", row);
    const char *body = textf(f, "{\"PartitionKey\":\"p\",\"RowKey\":\"%s\",\"n\":%d}", row, n);

    return textf(f, PART "%s " PREFIX "abc%s HTTP/1.1\r\n%s\r\n%s\r\n", action->method, at,
                 action->headers, strcmp(action->method, "DELETE") == 0 ? "" : body);
}

/* n of the entity; -1: it is not there. */
static int number_of(struct fixture *f, const char *row)
{
    struct reply answer =
        askf(f, NULL, NULL, "GET /abc(PartitionKey='p',RowKey='%s')?$select=n", row);
    uint64_t n = 0;

    if (answer.status == 404)
        return -1;
    assert_int_equal(answer.status, 200);
    assert_true(bytes_parse_u64(between(answer, "\"n\":", "}"), 100, &n));
    return (int)n;
}

static void set_number(struct fixture *f, const char *row, bool there)
{
    askf(f, "If-Match: *", NULL, "DELETE /abc(PartitionKey='p',RowKey='%s')", row);
    if (there)
        assert_ok(askf(f, NULL, "{\"n\":1}", "PUT /abc(PartitionKey='p',RowKey='%s')", row), 204);
}

static void check_two(struct fixture *f, const struct change_asked *first,
                      const struct change_asked *second, bool a, bool b)
{
    const char *refusals[] = { a ? first->with : first->without,
                               b ? second->with : second->without };
    size_t failed = refusals[0] ? 0 : 1;
    struct reply answer;

    set_number(f, "a", a);
    set_number(f, "b", b);
    answer =
        ask_changes(f, textf(f, "%s%s", part_of(f, first, "a", 2), part_of(f, second, "b", 3)));
    assert_int_equal(answer.status, 202);
    if (refusals[failed]) {
        assert_int_equal(count_of(answer.body, "HTTP/1.1 "), 1);
        assert_bytes(between(answer, "HTTP/1.1 ", " "), textf(f, "%.3s", refusals[failed]));
        assert_bytes(between(answer, "\"code\":\"", "\""), refusals[failed] + strlen("409 "));
        assert_bytes(between(answer, "\"value\":\"", ":"), textf(f, "%zu", failed));
        assert_int_equal(number_of(f, "a"), a ? 1 : -1);
        assert_int_equal(number_of(f, "b"), b ? 1 : -1);
        return;
    }
    assert_int_equal(count_of(answer.body, "HTTP/1.1 20"), 2);
    assert_int_equal(number_of(f, "a"), first->there ? 2 : -1);
    assert_int_equal(number_of(f, "b"), second->there ? 3 : -1);
}

/* Rule: both are done, or nothing, and the first that is refused is named: every two operations, on
 * entities that are there or not. rest: Performing-Entity-Group-Transactions */
static void all_or_nothing(void **state)
{
    for (size_t i = 0; i < ACTIONS * ACTIONS * 4; i++)
        check_two(*state, &actions[i / 4 / ACTIONS], &actions[i / 4 % ACTIONS], i & 1, i & 2);
}

/* ---- what may be in one ---- */

static const char *insert(struct fixture *f, const char *table, const char *partition,
                          const char *row)
{
    return textf(f,
                 PART "POST " PREFIX "%s HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n"
                      "{\"PartitionKey\":\"%s\",\"RowKey\":\"%s\"}\r\n",
                 table, partition, row);
}

/* `count` inserts, of rows from 0 on. */
static const char *inserts(struct fixture *f, unsigned count)
{
    const char *parts = "";

    for (unsigned i = 0; i < count; i++)
        parts = textf(f, "%s%s", parts, insert(f, "abc", "p", textf(f, "%u", i)));
    return parts;
}

/* Rule: 100 operations, one partition, a row once; the words as recorded. */
static void what_is_refused(void **state)
{
    struct fixture *f = *state;
    const char *one = insert(f, "abc", "p", "a");

    assert_ok(ask(f, "POST /Tables", NULL, "{\"TableName\":\"xyz\"}"), 201);
    assert_refused(ask_changes(f, inserts(f, 101)), "400", "InvalidInput",
                   "99:The batch request operation exceeds the maximum 100 changes per change "
                   "set.");
    assert_refused(ask_changes(f, textf(f, "%s%s", one, one)), "400", "InvalidDuplicateRow",
                   "1:The batch request contains multiple changes with same row key. An entity can "
                   "appear only once in a batch request.");
    assert_refused(ask_changes(f, textf(f, "%s%s", one, insert(f, "abc", "q", "b"))), "400",
                   "CommandsInBatchActOnDifferentPartitions",
                   "1:All commands in a batch must operate on same entity group.");
    assert_refused(ask_changes(f, textf(f, "%s%s", one, insert(f, "xyz", "p", "b"))), "400",
                   "CommandsInBatchActOnDifferentPartitions",
                   "1:All commands in a batch must operate on same entity group.");
    assert_refused(ask_changes(f, insert(f, "none", "p", "a")), "404", "TableNotFound",
                   "0:The table specified does not exist.");
    assert_int_equal(ask(f, "GET /abc(PartitionKey='p',RowKey='a')", NULL, NULL).status, 404);
    assert_int_equal(count_of(ask_changes(f, inserts(f, 100)).body, "HTTP/1.1 204 No Content"),
                     100);
    /* Of a batch of one operation this error was recorded without a number. */
    assert_refused(ask_changes(f, insert(f, "ABC", "p", "99")), "409", "EntityAlreadyExists",
                   "The specified entity already exists.");
}

/* Rule: a part that is malformed is refused by its number, as are those that no changeset has. */
static void parts_that_are_refused(void **state)
{
    static const struct {
        const char *request, *status, *code;
    } rows[] = {
        { "GET " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\n\r\n", "400",
          "InvalidInput" },
        { "POST " PREFIX "Tables HTTP/1.1\r\n\r\n{\"TableName\":\"made\"}", "400", "InvalidInput" },
        { "POST " PREFIX "$batch HTTP/1.1\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n",
          "400", "InvalidInput" },
        { "POST " PREFIX "abc HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\"}", "400",
          "PropertiesNeedValue" },
        { "POST " PREFIX "abc HTTP/1.1\r\n\r\n{", "400", "InvalidInput" },
        { "PUT " PREFIX "abc(PartitionKey='p') HTTP/1.1\r\n\r\n{}", "400", "InvalidInput" },
        { "DELETE " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\n\r\n", "400",
          "MissingRequiredHeader" },
        { "POST " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\n"
          "X-HTTP-Method: DELETE\r\n\r\n",
          "400", "MissingRequiredHeader" },
        { "LOOK " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\n\r\n", "405",
          "UnsupportedHttpVerb" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reply answer = ask_changes(
            f, textf(f, "%s" PART "%s\r\n", insert(f, "abc", "p", "a"), rows[i].request));

        assert_int_equal(answer.status, 202);
        assert_bytes(between(answer, "HTTP/1.1 ", " "), rows[i].status);
        assert_bytes(between(answer, "\"code\":\"", "\""), rows[i].code);
        assert_bytes(between(answer, "\"value\":\"", ":"), "1");
        assert_int_equal(number_of(f, "a"), -1);
    }
}

/* Rule: a batch has one changeset or one query; all else is refused as the request that it is. */
static void batches_that_are_none(void **state)
{
    static const char query[] = "--b\r\nContent-Type: application/http\r\n\r\n"
                                "GET " PREFIX "abc(PartitionKey='p',RowKey='a') HTTP/1.1\r\n\r\n";
    struct fixture *f = *state;

    assert_answer(ask(f, "POST /$batch", NULL, "--b--\r\n"), 400, "MissingRequiredHeader");
    assert_answer(ask(f, "POST /$batch", "Content-Type: application/json", "{}"), 400,
                  "InvalidHeaderValue");
    assert_answer(ask_batch(f, ""), 400, "InvalidInput");
    assert_answer(ask_batch(f, "--b--\r\n"), 400, "InvalidInput");
    assert_answer(ask_changes(f, ""), 400, "InvalidInput");
    assert_answer(ask_batch(f, textf(f, "%s\r\n%s\r\n--b--\r\n", query, query)), 400,
                  "InvalidInput");
    assert_answer(ask_batch(f, query), 400, "InvalidInput"); /* its end is missing */
    assert_answer(ask(f, "GET /$batch", NULL, NULL), 405, "UnsupportedHttpVerb");
    assert_refused(ask_batch(f, textf(f, "%s\r\n--b--\r\n", query)), "404", "ResourceNotFound",
                   "0:The specified resource does not exist.");
    set_number(f, "a", true);
    assert_bytes(between(ask_batch(f, textf(f, "%s\r\n--b--\r\n", query)), "HTTP/1.1 ", "\r\n"),
                 "200 OK");
}

/* Rule: lines end with CR LF or LF, as clients like; an entity's own line ends stay. The first is
 * as npm's azure-storage sends it, the second as Debian's azure-cosmosdb-table does, the third is
 * both kinds in one body, the last two are a query and one that nothing ends. decision: 260 */
static void line_ends(void **state)
{
    static const char node[] =
        "--b\ncontent-type: multipart/mixed;charset=\"utf-8\";boundary=c\n\n"
        "--c\ncontent-type: application/http\ncontent-transfer-encoding: binary\n\n"
        "PUT " PREFIX "abc(PartitionKey='p',RowKey='a') HTTP/1.1\naccept: application/json\n\n"
        "{\"s\":\"x\\n--c--\\ny\",\n\n\"n\":7\r\n}\n"
        "--c\ncontent-type: application/http\ncontent-transfer-encoding: binary\n\n"
        "DELETE " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\nif-match: *\n\n\n"
        "--c--\n--b--";
    static const char python[] =
        "--b\nContent-Type: multipart/mixed; boundary=c\n\n"
        "--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n"
        "PUT /abc(PartitionKey='p',RowKey='a') HTTP/1.1\nContent-ID: 1\n"
        "Content-Length: 7\n\n{\"n\":8}\n\n"
        "--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n"
        "DELETE /abc(PartitionKey='p',RowKey='b') HTTP/1.1\nContent-ID: 2\nIf-Match: *\n\n"
        "--c--\n--b--";
    static const char mixed[] =
        "--b\r\nContent-Type: multipart/mixed; boundary=c\n\r\n\n"
        "--c\r\nContent-Type: application/http\n\r\n"
        "PUT /abc(PartitionKey='p',RowKey='a') HTTP/1.1\nPrefer: x\r\n\n{\"n\":9}\r\n"
        "--c\nContent-Type: application/http\r\n\n"
        "DELETE /abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\nIf-Match: *\n\n\n"
        "--c--\r\n--b--\n";
    static const char query[] = "--b\nContent-Type: application/http\n\n"
                                "GET " PREFIX "abc(PartitionKey='p',RowKey='a') HTTP/1.1\n\n"
                                "--b--";
    const char *const all[] = { node, python, mixed };
    struct fixture *f = *state;

    for (size_t i = 0; i < 3; i++) {
        set_number(f, "b", true);
        assert_int_equal(count_of(ask_batch(f, all[i]).body, "HTTP/1.1 204 No Content\r\n"), 2);
        assert_int_equal(number_of(f, "a"), 7 + (int)i);
        assert_int_equal(number_of(f, "b"), -1);
    }
    assert_int_equal(count_of(ask_batch(f, query).body, "HTTP/1.1 200 OK\r\n"), 1);
    assert_answer(ask_batch(f, textf(f, "%.*s", (int)(sizeof query - 8), query)), 400,
                  "InvalidInput");
}

/* Rule: the message of a changeset of one operation has no number where the data refused it; a part has
 * the Content-ID of its request, not that of its own head; no header says the code. decision: 146;
 * recorded: test_new_delete_nonexistent_entity, test_new_non_existent_table,
 * test_batch_update_if_doesnt_match, test_batch_single_insert */
static void parts_as_recorded(void **state)
{
    static const char begin[] =
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: "
        "application/http\r\nContent-ID: 0\r\n\r\n";
    static const char end[] = "\r\n--c--\r\n--b--\r\n";
    static const struct {
        const char *request, *status, *message;
    } rows[] = {
        { "DELETE " PREFIX "abc(PartitionKey='p',RowKey='a') HTTP/1.1\r\nIf-Match: *\r\n\r\n",
          "404", "The specified resource does not exist." },
        { "PATCH " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\n"
          "If-Match: W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\"\r\n\r\n{}",
          "412", "The update condition specified in the request was not satisfied." },
        { "POST " PREFIX "none HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}", "404",
          "0:The table specified does not exist." },
        { "DELETE " PREFIX "abc(PartitionKey='p',RowKey='b') HTTP/1.1\r\nContent-ID: 7\r\n"
          "If-Match: *\r\n\r\n",
          "204", NULL },
    };
    struct fixture *f = *state;

    set_number(f, "b", true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reply answer = ask_batch(f, textf(f, "%s%s%s", begin, rows[i].request, end));

        assert_int_equal(answer.status, 202);
        assert_bytes(between(answer, "HTTP/1.1 ", " "), rows[i].status);
        if (rows[i].message)
            assert_bytes(between(answer, "\"value\":\"", "\\n"), rows[i].message);
        assert_int_equal(count_of(answer.body, "x-ms-error-code"), 0);
        assert_int_equal(count_of(answer.body, "Content-ID: 0"), 0);
        assert_int_equal(count_of(answer.body, "Content-ID: 7"), rows[i].message ? 0 : 1);
        assert_int_equal(count_of(answer.body, "Cache-Control: no-cache"), i == 2 ? 0 : 1);
    }
}

/* The names of the headers of the last part, each with a blank behind it. */
static const char *names_of_last(struct fixture *f, struct reply answer)
{
    struct bytes head = between(answer, "HTTP/1.1 ", "\r\n\r\n"), line;
    const char *names = "";

    bytes_cut(head, '\n', &line, &head); /* the status line */
    while (head.ptr) {
        struct bytes name, value;

        bytes_cut(head, '\n', &line, &head);
        bytes_cut(line, ':', &name, &value);
        names = textf(f, "%s%.*s ", names, BYTES_ARG(name));
    }
    return names;
}

/* Rule: headers of a part are in the recorded order, which is another one if it has an entity.
 * decision: 146; recorded: test_batch_insert_replace, test_new_delete_nonexistent_entity, and node's
 * tableservice-batch-tests */
static void headers_in_order(void **state)
{
    static const struct {
        const char *request, *names;
    } rows[] = {
        { "POST " PREFIX "abc HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n"
          "{\"PartitionKey\":\"p\",\"RowKey\":\"o\"}",
          "X-Content-Type-Options Cache-Control Preference-Applied DataServiceVersion Location "
          "DataServiceId ETag " },
        { "POST " PREFIX "abc HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n"
          "{\"PartitionKey\":\"p\",\"RowKey\":\"o\"}",
          "X-Content-Type-Options Cache-Control Preference-Applied DataServiceVersion "
          "Content-Type " },
        { "PUT " PREFIX "abc(PartitionKey='p',RowKey='o') HTTP/1.1\r\nContent-ID: 3\r\n\r\n{}",
          "Content-ID X-Content-Type-Options Cache-Control DataServiceVersion ETag " },
        { "DELETE " PREFIX "abc(PartitionKey='p',RowKey='o') HTTP/1.1\r\nIf-Match: *\r\n\r\n",
          "X-Content-Type-Options Cache-Control DataServiceVersion " },
        { "POST " PREFIX "abc HTTP/1.1\r\nContent-ID: 4\r\nPrefer: return-content\r\n\r\n"
          "{\"PartitionKey\":\"p\",\"RowKey\":\"o\"}",
          "DataServiceVersion Content-Type Content-ID X-Content-Type-Options Cache-Control "
          "Preference-Applied Location ETag " },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reply answer = ask_changes(f, textf(f, PART "%s\r\n", rows[i].request));

        assert_int_equal(answer.status, 202);
        assert_string_equal(names_of_last(f, answer), rows[i].names);
    }
}

/* Rule: keys in the body of an update are ignored; those of the URL count. decision: 891 */
static void keys_of_the_url_count(void **state)
{
    struct fixture *f = *state;

    set_number(f, "u", true);
    assert_ok(ask(f, "PATCH /abc(PartitionKey='p',RowKey='u')", "If-Match: *",
                  "{\"PartitionKey\":\"q\",\"RowKey\":\"v\",\"n\":2}"),
              204);
    assert_int_equal(number_of(f, "u"), 2);
    assert_int_equal(
        count_of(ask_changes(f, PART "PUT " PREFIX "abc(PartitionKey='p',RowKey='u') HTTP/1.1\r\n"
                                     "\r\n{\"RowKey\":\"v\",\"n\":3}\r\n")
                     .body,
                 "HTTP/1.1 204 No Content"),
        1);
    assert_int_equal(number_of(f, "u"), 3);
    assert_int_equal(number_of(f, "v"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_or_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_that_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(batches_that_are_none, setup, teardown),
        cmocka_unit_test_setup_teardown(line_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_as_recorded, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_of_the_url_count, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
