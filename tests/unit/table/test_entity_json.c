/* Entities in requests and in answers. rest/entity_json.h; rest:
 * Payload-Format-for-Table-Service-Operations */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "table/rest/entity_json.h"

#define ARENA_CAP ((size_t)1 << 26)

/* What comes of a body: the entity as it is answered, from its keys on, or the code of the
 * refusal. */
static const char *read_body(struct arena *arena, struct bytes body)
{
    struct entity_view view = { .metadata = ODATA_MINIMAL_METADATA, .table = BYTES("T") };
    const char *message = NULL;
    struct entity entity;
    struct text out;
    enum error e = entity_json_read(arena, body, &entity, &message);

    if (e)
        return error_code(e);
    text_init(&out, arena, 256);
    entity_json_write(&out, &view, &entity);
    return strstr(arena_string(arena, text_bytes(&out)), "\"PartitionKey\"");
}

#define KEYS  "\"PartitionKey\":\"p\",\"RowKey\":\"r\""
#define SHOWN "\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"Timestamp\":\"0001-01-01T00:00:00Z\""

/* A body behind its keys, and what is shown behind them, or the code of the refusal. */
struct body_row {
    const char *given, *shown;
};

static void assert_read(const struct body_row *rows, size_t count)
{
    struct arena *arena = arena_new(ARENA_CAP);

    for (size_t i = 0; i < count; i++) {
        struct bytes body = arena_printf(arena, "{" KEYS "%s}", rows[i].given);
        bool read = rows[i].shown[0] == '\0' || rows[i].shown[0] == ',';
        struct bytes shown = read ? arena_printf(arena, SHOWN "%s}", rows[i].shown)
                                  : bytes_from_string(rows[i].shown);

        assert_string_equal(read_body(arena, body), arena_string(arena, shown));
    }
    arena_free(arena);
}

/* Rule: each type by its annotation, before or behind, or by its look; null is absent. decision:
 * 162 */
static void bodies_are_read(void **state)
{
    static const struct body_row rows[] = {
        { "", "" },
        { ",\"S\":\"x\"", ",\"S\":\"x\"" },
        { ",\"S\":\"x\",\"S@odata.type\":\"Edm.String\"", ",\"S\":\"x\"" },
        { ",\"S@odata.type\":\"Edm.String\",\"S\":\"\"", ",\"S\":\"\"" },
        { ",\"I\":42", ",\"I\":42" },
        { ",\"I\":-2147483648", ",\"I\":-2147483648" },
        { ",\"I\":2147483648", ",\"I\":2147483648.0" },
        { ",\"I\":123456789012345678", ",\"I\":1.2345678901234568E+17" },
        { ",\"I@odata.type\":\"Edm.Int32\",\"I\":\"42\"", ",\"I\":42" },
        { ",\"D\":1.0", ",\"D\":1.0" },
        { ",\"D\":1e2", ",\"D\":100.0" },
        { ",\"D\":10,\"D@odata.type\":\"Edm.Double\"", ",\"D\":10.0" },
        { ",\"D\":\"10\",\"D@odata.type\":\"Edm.Double\"", ",\"D\":10.0" },
        { ",\"D@odata.type\":\"Edm.Double\",\"D\":\"NaN\"",
          ",\"D@odata.type\":\"Edm.Double\",\"D\":\"NaN\"" },
        { ",\"D@odata.type\":\"Edm.Double\",\"D\":\"-Infinity\"",
          ",\"D@odata.type\":\"Edm.Double\",\"D\":\"-Infinity\"" },
        { ",\"D\":\"NaN\"", ",\"D\":\"NaN\"" }, /* a string */
        { ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"-9223372036854775808\"",
          ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"-9223372036854775808\"" },
        { ",\"L@odata.type\":\"Edm.Int64\",\"L\":9007199254740993",
          ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"9007199254740993\"" },
        { ",\"B\":true,\"C\":false", ",\"B\":true,\"C\":false" },
        { ",\"B\":\"True\",\"B@odata.type\":\"Edm.Boolean\"", ",\"B\":true" },
        { ",\"G@odata.type\":\"Edm.Guid\",\"G\":\"{DD3CB8F8-93B7-44E2-B74A-C0AA3B27A6D2}\"",
          ",\"G@odata.type\":\"Edm.Guid\",\"G\":\"dd3cb8f8-93b7-44e2-b74a-c0aa3b27a6d2\"" },
        { ",\"X@odata.type\":\"Edm.Binary\",\"X\":\"U2FtcGxl\"",
          ",\"X@odata.type\":\"Edm.Binary\",\"X\":\"U2FtcGxl\"" },
        { ",\"X@odata.type\":\"Edm.Binary\",\"X\":\"\"",
          ",\"X@odata.type\":\"Edm.Binary\",\"X\":\"\"" },
        { ",\"W@odata.type\":\"Edm.DateTime\",\"W\":\"2014-05-07T08:20:53.000Z\"",
          ",\"W@odata.type\":\"Edm.DateTime\",\"W\":\"2014-05-07T08:20:53Z\"" },
        { ",\"W\":\"2014-05-07T08:20:53.000Z\"", ",\"W\":\"2014-05-07T08:20:53.000Z\"" },
        { ",\"L@odata.type@odata.type\":\"Edm.String\",\"L@odata.type\":\"Edm.Int64\",\"L\":\"1\"",
          ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"1\"" },
        { ",\"N\":null,\"M@odata.type\":\"Edm.Int64\",\"M\":null", "" },
        { ",\"Timestamp\":\"anything\",\"odata.etag\":\"W/x\",\"odata.metadata\":1", "" },
        { ",\"Timestamp@odata.type\":\"Edm.DateTime\",\"Timestamp\":\"2014-05-07T08:20:53Z\"", "" },
        { ",\"PartitionKey@odata.type\":\"Edm.String\"", "" },
        { ",\"\\u00c4_1\":1", ",\"\\u00c4_1\":1" },
        { ",\"a\":1,\"A\":2", ",\"a\":1,\"A\":2" },
    };

    (void)state;
    assert_read(rows, sizeof rows / sizeof rows[0]);
}

/* Rule: a value that its type does not have, a name that is none, a property given twice.
 * decision: 162 */
static void bodies_are_refused(void **state)
{
    static const struct body_row rows[] = {
        { ",\"I@odata.type\":\"Edm.Int32\",\"I\":2147483648", "InvalidInput" },
        { ",\"I@odata.type\":\"Edm.Int32\",\"I\":1.5", "InvalidInput" },
        { ",\"I@odata.type\":\"Edm.Int32\",\"I\":true", "InvalidInput" },
        { ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"9223372036854775808\"", "InvalidInput" },
        { ",\"L@odata.type\":\"Edm.Int64\",\"L\":\"\"", "InvalidInput" },
        { ",\"S@odata.type\":\"Edm.String\",\"S\":1", "InvalidInput" },
        { ",\"D@odata.type\":\"Edm.Double\",\"D\":\"13e7705\"", "InvalidInput" },
        { ",\"D\":1e400", "InvalidInput" },
        { ",\"D@odata.type\":\"Edm.Double\",\"D\":\"nan\"", "InvalidInput" },
        { ",\"B@odata.type\":\"Edm.Boolean\",\"B\":1", "InvalidInput" },
        { ",\"B@odata.type\":\"Edm.Boolean\",\"B\":\"yes\"", "InvalidInput" },
        { ",\"G@odata.type\":\"Edm.Guid\",\"G\":\"x\"", "InvalidInput" },
        { ",\"X@odata.type\":\"Edm.Binary\",\"X\":\"U2Ft=\"", "InvalidInput" },
        { ",\"X@odata.type\":\"Edm.Binary\",\"X\":1", "InvalidInput" },
        { ",\"W@odata.type\":\"Edm.DateTime\",\"W\":\"yesterday\"", "InvalidInput" },
        { ",\"W@odata.type\":\"Edm.DateTime\",\"W\":1", "InvalidInput" },
        { ",\"W@odata.type\":\"Edm.DateTime\",\"W\":\"0001-01-01T00:00:00Z\"", "OutOfRangeInput" },
        { ",\"S@odata.type\":\"Edm.Single\",\"S\":1", "InvalidInput" },
        { ",\"S@odata.type\":1,\"S\":1", "InvalidInput" },
        { ",\"S@odata.type\":\"Edm.String\"", "InvalidInput" },
        { ",\"S@odata.other\":\"Edm.String\",\"S\":\"x\"", "InvalidInput" },
        { ",\"@odata.type\":\"Edm.String\"", "InvalidInput" },
        { ",\"S\":{\"a\":1}", "InvalidInput" },
        { ",\"S\":[1]", "InvalidInput" },
        { ",\"a\":1,\"a\":1", "DuplicatePropertiesSpecified" },
        { ",\"a\":1,\"b\":1,\"a\":null", "DuplicatePropertiesSpecified" },
        { ",\"PartitionKey\":\"q\"", "DuplicatePropertiesSpecified" },
        { ",\"a@odata.type\":\"Edm.Int32\",\"a@odata.type\":\"Edm.Int32\",\"a\":1",
          "DuplicatePropertiesSpecified" },
        { ",\"\":1", "PropertyNameInvalid" },
        { ",\"a-b\":1", "PropertyNameInvalid" },
        { ",\"a b\":null", "PropertyNameInvalid" },
        { ",\"1a\":1", "PropertyNameInvalid" },
        { ",\"a.b\":1", "PropertyNameInvalid" },
        { ",\"PartitionKey@odata.type\":\"Edm.Int32\"", "InvalidInput" },
        { ",", "InvalidInput" },
    };

    (void)state;
    assert_read(rows, sizeof rows / sizeof rows[0]);
}

/* Rule: keys are strings without / \ # ? and control characters, of 512 code units; which are
 * not there is told. rest: Understanding-the-Table-Service-Data-Model "Characters Disallowed in
 * Key Fields" */
static void keys_are_read(void **state)
{
    static const struct {
        const char *body;
        enum error e;
        const char *partition_key, *row_key; /* NULL: not there */
    } rows[] = {
        { "{}", OK, NULL, NULL },
        { "{\"RowKey\":\"\"}", OK, NULL, "" },
        { "{\"PartitionKey\":null,\"RowKey\":\"r\"}", OK, NULL, "r" },
        { "{\"PartitionKey\":\"a b\",\"RowKey\":\"\\u00e4\"}", OK, "a b", "\xC3\xA4" },
        { "{\"PartitionKey\":1}", E_InvalidInput, NULL, NULL },
        { "{\"RowKey\":\"a/b\"}", E_OutOfRangeInput, NULL, NULL },
        { "{\"RowKey\":\"\\u0000\"}", E_OutOfRangeInput, NULL, NULL },
        { "{\"PartitionKey\":\"\\u0085\"}", E_OutOfRangeInput, NULL, NULL },
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct text body;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct entity entity = { .count = 7 };
        const char *message = NULL;

        assert_int_equal(
            entity_json_read(arena, bytes_from_string(rows[i].body), &entity, &message), rows[i].e);
        if (rows[i].e)
            continue;
        assert_int_equal(!entity.partition_key.ptr, !rows[i].partition_key);
        assert_int_equal(!entity.row_key.ptr, !rows[i].row_key);
        assert_true(bytes_is(entity.partition_key, rows[i].partition_key));
        assert_true(bytes_is(entity.row_key, rows[i].row_key));
    }
    text_init(&body, arena, 0);
    text_add_string(&body, "{\"RowKey\":\"");
    for (int i = 0; i < 513; i++)
        text_add_char(&body, 'k');
    text_add_string(&body, "\"}");
    assert_string_equal(read_body(arena, text_bytes(&body)), "KeyValueTooLarge");
    arena_free(arena);
}

/* Rule: what is out of range is named. Known from the service */
static void messages_name_what_is_out_of_range(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct entity entity;
    const char *message = NULL;

    (void)state;
    assert_int_equal(
        entity_json_read(arena, bytes_from_string("{\"RowKey\":\"a/b\"}"), &entity, &message),
        E_OutOfRangeInput);
    assert_string_equal(message, "The 'RowKey' parameter of value 'a/b' is out of range.");
    assert_int_equal(entity_json_read(arena, bytes_from_string("{"), &entity, &message),
                     E_InvalidInput);
    assert_string_equal(message, "An error occurred while processing this request.");
    arena_free(arena);
}

/* Rule: 252 properties, 255 characters of a name, 64 KiB of a value as UTF-16 or as bytes. rest:
 * Understanding-the-Table-Service-Data-Model "Property Limitations" */
static void bodies_have_limits(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (int extra = 0; extra < 3; extra++) {
        struct text body;

        text_init(&body, arena, 0);
        text_add_string(&body, "{" KEYS);
        for (int i = 0; i < 252 + extra; i++)
            text_printf(&body, ",\"p%d\":1", i);
        text_add_char(&body, '}');
        if (extra == 0)
            assert_non_null(strstr(read_body(arena, text_bytes(&body)), "\"p251\":1}"));
        else
            assert_string_equal(read_body(arena, text_bytes(&body)), "TooManyProperties");
        /* Types of properties that never come count as well. */
        text_init(&body, arena, 0);
        text_add_string(&body, "{" KEYS);
        for (int i = 0; i < 255 + extra; i++)
            text_printf(&body, ",\"p%d@odata.type\":\"Edm.Int64\"", i);
        text_add_char(&body, '}');
        if (extra > 0)
            assert_string_equal(read_body(arena, text_bytes(&body)), "TooManyProperties");
    }
    for (int extra = 0; extra < 2; extra++) {
        const char *const rows[][2] = { { "{" KEYS ",\"", "\":1}" },
                                        { "{" KEYS ",\"S\":\"", "\"}" },
                                        { "{" KEYS ",\"B@odata.type\":\"Edm.Binary\",\"B\":\"",
                                          "\"}" } };
        const size_t lengths[] = { 255, 32768, 65536 / 3 * 4 };
        const char *const codes[] = { "PropertyNameTooLong", "PropertyValueTooLarge",
                                      "PropertyValueTooLarge" };

        for (size_t i = 0; i < 3; i++) {
            struct text body;
            const char *read;

            text_init(&body, arena, 0);
            text_add_string(&body, rows[i][0]);
            for (size_t j = 0; j < lengths[i] + (i == 2 ? 4u : 1u) * (unsigned)extra; j++)
                text_add_char(&body, 'A');
            text_add_string(&body, rows[i][1]);
            read = read_body(arena, text_bytes(&body));
            if (extra == 0)
                assert_int_equal(read[0], '"');
            else
                assert_string_equal(read, codes[i]);
        }
    }
    arena_free(arena);
}

/* Rule: a letter or _, then letters, digits and _; every ASCII character, and the borders of
 * others. rest: Understanding-the-Table-Service-Data-Model "Property Names" */
static void names_are_identifiers(void **state)
{
    static const struct {
        const char *name;
        bool valid;
    } rows[] = {
        { "\xC3\x84", true },
        { "\xC3\x97", false },
        { "a\xC3\x97", false },
        { "\xC2\xB7", false },
        { "a\xC2\xB7", true },
        { "\xCC\x80", false },
        { "a\xCC\x80", true },
        { "\xE4\xBD\xA0", true },
        { "\xEE\x80\x80", false },
        { "\xF0\x9F\x98\x80", true },
        { "\xE2\x80\x8B", false },
        { "a\xE2\x80\xBF", true },
        { "\xEF\xBF\xBF", false },
        { "_", true },
        { "_1", true },
    };

    (void)state;
    for (int c = 0; c < 0x80; c++) {
        char name[2] = { 'a', (char)c };
        bool start = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9';

        assert_int_equal(entity_name_check(bytes_of(name + 1, 1)),
                         start ? OK : E_PropertyNameInvalid);
        assert_int_equal(entity_name_check(bytes_of(name, 2)),
                         start || digit ? OK : E_PropertyNameInvalid);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(entity_name_check(bytes_from_string(rows[i].name)),
                         rows[i].valid ? OK : E_PropertyNameInvalid);
}

/* ---- answers ---- */

static const struct property sample[] = {
    { BYTES("S"), { .type = EDM_STRING, .as.bytes = BYTES("s") } },
    { BYTES("B"), { .type = EDM_BOOLEAN, .as.boolean = true } },
    { BYTES("X"), { .type = EDM_BINARY, .as.bytes = BYTES("Sample") } },
    { BYTES("I"), { .type = EDM_INT32, .as.integer = 42 } },
    { BYTES("L"), { .type = EDM_INT64, .as.integer = 5432873627392 } },
    { BYTES("D"), { .type = EDM_DOUBLE, .as.real = 4.81516 } },
    { BYTES("G"), { .type = EDM_GUID, .as.guid = { { 0xdd } } } },
};
/* 2017-01-05T03:26:23.482704Z */
#define SAMPLE_TIME 636191835834827040ull
static const struct entity sample_entity = { .partition_key = BYTES("p'\xC3\xB4 1"),
                                             .row_key = BYTES("r"),
                                             .timestamp = SAMPLE_TIME,
                                             .properties = sample,
                                             .count = 7 };

static struct entity_view view_of(enum odata_metadata metadata, const struct bytes *select,
                                  size_t count)
{
    return (struct entity_view){ .metadata = metadata,
                                 .url_prefix = BYTES("http://h/account"),
                                 .account = BYTES("account"),
                                 .table = BYTES("T"),
                                 .select = select,
                                 .select_count = count };
}

static const char *written(struct arena *arena, struct entity_view view)
{
    struct text out;

    text_init(&out, arena, 0);
    entity_json_write(&out, &view, &sample_entity);
    return arena_string(arena, text_bytes(&out));
}

#define ETAG "\"odata.etag\":\"W/\\\"datetime'2017-01-05T03%3A26%3A23.482704Z'\\\"\""
#define PATH "T(PartitionKey='p''%C3%B4%201',RowKey='r')"

/* Rule: what each level of metadata tells, in the order that was recorded. rest:
 * Payload-Format-for-Table-Service-Operations */
static void answers_have_levels(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    assert_string_equal(
        written(arena, view_of(ODATA_NO_METADATA, NULL, 0)),
        "{\"PartitionKey\":\"p'\\u00f4 1\",\"RowKey\":\"r\",\"Timestamp\":\"2017-01-05T03:26:23."
        "482704Z\",\"S\":\"s\",\"B\":true,\"X\":\"U2FtcGxl\",\"I\":42,\"L\":\"5432873627392\","
        "\"D\":"
        "4.81516,\"G\":\"dd000000-0000-0000-0000-000000000000\"}");
    assert_string_equal(
        written(arena, view_of(ODATA_MINIMAL_METADATA, NULL, 0)),
        "{\"odata.metadata\":\"http://h/account/$metadata#T/@Element\"," ETAG ",\"PartitionKey\":"
        "\"p'\\u00f4 "
        "1\",\"RowKey\":\"r\",\"Timestamp\":\"2017-01-05T03:26:23.482704Z\",\"S\":\"s\","
        "\"B\":true,\"X@odata.type\":\"Edm.Binary\",\"X\":\"U2FtcGxl\",\"I\":42,\"L@odata.type\":"
        "\"Edm.Int64\",\"L\":\"5432873627392\",\"D\":4.81516,\"G@odata.type\":\"Edm.Guid\",\"G\":"
        "\"dd000000-0000-0000-0000-000000000000\"}");
    assert_string_equal(
        written(arena, view_of(ODATA_FULL_METADATA, NULL, 0)),
        "{\"odata.metadata\":\"http://h/account/$metadata#T/"
        "@Element\",\"odata.type\":\"account.T\","
        "\"odata.id\":\"http://h/account/" PATH "\"," ETAG ",\"odata.editLink\":\"" PATH "\","
        "\"PartitionKey\":\"p'\\u00f4 "
        "1\",\"RowKey\":\"r\",\"Timestamp@odata.type\":\"Edm.DateTime\","
        "\"Timestamp\":\"2017-01-05T03:26:23.482704Z\",\"S\":\"s\",\"B\":true,\"X@odata.type\":"
        "\"Edm.Binary\",\"X\":\"U2FtcGxl\",\"I\":42,\"L@odata.type\":\"Edm.Int64\",\"L\":"
        "\"5432873627392\",\"D\":4.81516,\"G@odata.type\":\"Edm.Guid\",\"G\":"
        "\"dd000000-0000-0000-0000-000000000000\"}");
    arena_free(arena);
}

/* Rule: the path of an entity and its ETag as recorded: quotes doubled, all else escaped. */
static void entities_have_paths_and_etags(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    char etag[ENTITY_ETAG_SIZE];
    struct text out;

    (void)state;
    text_init(&out, arena, 0);
    entity_path_write(&out, (struct bytes)BYTES("queryteststestdata4"),
                      (struct bytes)BYTES("partition1-\xC3\xB4- -'-\"-%20-%27-pk"),
                      (struct bytes)BYTES("'"));
    assert_string_equal(
        arena_string(arena, text_bytes(&out)),
        "queryteststestdata4(PartitionKey='partition1-%C3%B4-%20-''-%22-%2520-%2527-"
        "pk',RowKey='''')");
    entity_etag_format(EDM_DATETIME_MAX, etag);
    assert_string_equal(etag, "W/\"datetime'9999-12-31T23%3A59%3A59.9999999Z'\"");
    arena_free(arena);
}

/* Rule: $select shows the names asked for, null where there is none, and is part of odata.metadata
 * (recorded). decision: 164 */
static void answers_show_what_is_selected(void **state)
{
    static const struct bytes select[] = { BYTES("RowKey"), BYTES("Missing"), BYTES("L") };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    assert_string_equal(written(arena, view_of(ODATA_NO_METADATA, select, 3)),
                        "{\"RowKey\":\"r\",\"Missing\":null,\"L\":\"5432873627392\"}");
    assert_string_equal(
        written(arena, view_of(ODATA_MINIMAL_METADATA, select, 3)),
        "{\"odata.metadata\":\"http://h/account/$metadata#T/@Element&$select=RowKey,"
        "Missing,L\"," ETAG ",\"RowKey\":\"r\",\"Missing\":null,\"L@odata.type\":"
        "\"Edm.Int64\",\"L\":\"5432873627392\"}");
    arena_free(arena);
}

/* Rule: lists as recorded, empty ones too. */
static void lists_are_written(void **state)
{
    static const struct bytes select[] = { BYTES("I") };
    struct arena *arena = arena_new(ARENA_CAP);
    static const struct {
        enum odata_metadata metadata;
        int count;
        const char *text;
    } rows[] = {
        { ODATA_NO_METADATA, 0, "{\"value\":[]}" },
        { ODATA_NO_METADATA, 2, "{\"value\":[{\"I\":42},{\"I\":42}]}" },
        { ODATA_MINIMAL_METADATA, 0,
          "{\"odata.metadata\":\"http://h/account/$metadata#T&$select=I\",\"value\":[]}" },
        { ODATA_MINIMAL_METADATA, 2,
          "{\"odata.metadata\":\"http://h/account/$metadata#T&$select=I\",\"value\":[{" ETAG
          ",\"I\":42},{" ETAG ",\"I\":42}]}" },
        { ODATA_FULL_METADATA, 1,
          "{\"odata.metadata\":\"http://h/account/$metadata#T&$select=I\",\"value\":["
          "{\"odata.type\":\"account.T\",\"odata.id\":\"http://h/account/" PATH "\"," ETAG
          ",\"odata.editLink\":\"" PATH "\",\"I\":42}]}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct entity_view view = view_of(rows[i].metadata, select, 1);
        struct text out;

        text_init(&out, arena, 0);
        entity_list_begin(&out, &view);
        for (int j = 0; j < rows[i].count; j++)
            entity_list_add(&out, &view, &sample_entity);
        entity_list_end(&out);
        assert_string_equal(arena_string(arena, text_bytes(&out)), rows[i].text);
    }
    arena_free(arena);
}

/* Rule: what is answered with minimal metadata can be sent back and is the same entity. */
static void answers_can_be_sent_back(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (int metadata = ODATA_MINIMAL_METADATA; metadata <= ODATA_FULL_METADATA; metadata++) {
        struct entity_view view = view_of((enum odata_metadata)metadata, NULL, 0);
        struct bytes body = bytes_from_string(written(arena, view));
        struct entity back;
        const char *message;
        struct text out;

        assert_int_equal(entity_json_read(arena, body, &back, &message), OK);
        assert_int_equal(back.count, sample_entity.count);
        back.timestamp = SAMPLE_TIME;
        text_init(&out, arena, 0);
        entity_json_write(&out, &view, &back);
        assert_true(bytes_equal(text_bytes(&out), body));
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_read),
        cmocka_unit_test(bodies_are_refused),
        cmocka_unit_test(keys_are_read),
        cmocka_unit_test(messages_name_what_is_out_of_range),
        cmocka_unit_test(bodies_have_limits),
        cmocka_unit_test(names_are_identifiers),
        cmocka_unit_test(answers_have_levels),
        cmocka_unit_test(entities_have_paths_and_etags),
        cmocka_unit_test(answers_show_what_is_selected),
        cmocka_unit_test(lists_are_written),
        cmocka_unit_test(answers_can_be_sent_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
