/* Lines of logs of Storage Analytics: fields, their order, quoting.
 * rest: Storage-Analytics-Log-Format, with its samples */
#include "analytics/analytics_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/auth.h"

#define TICKS_PER_MS (TICKS_PER_SECOND / 1000)

static struct {
    struct arena *arena;
    struct accounts *accounts;
    const struct account *account;
} w;

static int set_up(void **state)
{
    const char *problem;

    (void)state;
    w.arena = arena_new(8u << 20);
    w.accounts = accounts_new();
    accounts_add_list(w.accounts, "storagesample:a2V5", &problem);
    w.account = accounts_find(w.accounts, bytes_from_string("storagesample"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    accounts_free(w.accounts);
    arena_free(w.arena);
    return 0;
}

/* Behind a struct, as a worker leaves it. */
static struct analytics_event *event_of(const struct analytics_event *event,
                                        const struct bytes texts[ANALYTICS_TEXTS])
{
    size_t size = sizeof *event;
    struct analytics_event *made;
    char *to;

    for (size_t i = 0; i < ANALYTICS_TEXTS; i++)
        size += texts[i].len;
    made = arena_alloc(w.arena, size);
    *made = *event;
    to = (char *)(made + 1);
    for (size_t i = 0; i < ANALYTICS_TEXTS; i++) {
        made->lengths[i] = (uint16_t)texts[i].len;
        if (texts[i].len > 0)
            memcpy(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
    }
    return made;
}

static const char *line_of(const struct analytics_event *event,
                           const struct bytes texts[ANALYTICS_TEXTS], unsigned version)
{
    struct text line;

    text_init(&line, w.arena, 0);
    line_write(event_of(event, texts), version, &line);
    return arena_string(w.arena, text_bytes(&line));
}

static const struct operation put_blob = { .name = "Put Blob" };
static const struct operation copy_blob = { .name = "Copy Blob" };
static const struct operation clear_page = { .name = "Put Page", .logged_as = "ClearPage" };

/* The sample of Put Blob. */
static struct analytics_event sample(void)
{
    instant began;

    instant_parse_iso(bytes_from_string("2014-06-19T01:33:54.0926521Z"), &began);
    return (struct analytics_event){
        .account = w.account,
        .service_name = "blob",
        .operation = &put_blob,
        .status = 201,
        .says_code = true,
        .ended = began + 197 * TICKS_PER_MS,
        .all_ns = UINT64_C(197000000),
        .wire_ns = UINT64_C(143000000),
        .received = 23,
        .request_head_bytes = 460,
        .response_head_bytes = 225,
        .content_length = 23,
        .request = { { 0xa2, 0x00, 0xbe, 0x85, 0x1c, 0x98, 0x4d, 0xd9, 0x91, 0x8e, 0xf1, 0x3d, 0x8c,
                       0x05, 0x38, 0xe0 } },
    };
}

#define KEY  "/storagesample/sample-container1/00001.txt"
#define HOST "https://storagesample.blob.core.windows.net/"

static const struct bytes sample_texts[ANALYTICS_TEXTS] = {
    [ANALYTICS_URL] = BYTES(HOST "sample-container1/00001.txt?a=1&b=2"),
    [ANALYTICS_KEY] = BYTES(KEY),
    [ANALYTICS_SOURCE] = BYTES(HOST "c/source"),
    [ANALYTICS_CLIENT] = BYTES("192.100.0.102:4362"),
    [ANALYTICS_VERSION] = BYTES("2014-02-14"),
    [ANALYTICS_REQUEST_MD5] = BYTES("DrPO6z1f00SCsomhaf+J/A=="),
    [ANALYTICS_SERVER_MD5] = BYTES("DrPO6z1f00SCsomhaf+J/A=="),
    [ANALYTICS_ETAG] = BYTES("\"0x8D15975AA456EA4\""),
    [ANALYTICS_MODIFIED] = BYTES("Thu, 19 Jun 2014 01:33:53 GMT"),
    [ANALYTICS_CONDITIONS] = BYTES("If-Match=*;If-None-Match=\"0x1\""),
    [ANALYTICS_AGENT] = BYTES("WA-Storage/4.0.1 (.NET CLR 4.0.30319.34014; Win32NT 6.3.9600.0)"),
    [ANALYTICS_CLIENT_REQUEST] = BYTES("1fe6814a-e4cb-4195-a3cf-837dc7120f68"),
    [ANALYTICS_OWNER] = BYTES("e5981635-dcf0-4279-ab7b-ca1cbdf4a5c7"),
    [ANALYTICS_TENANT] = BYTES("72f988bf-86f1-41af-91ab-2d7cd011db47"),
};

#define ID "a200be85-1c98-4dd9-918e-f13d8c0538e0"
#define TAIL                                                                                       \
    "\"WA-Storage/4.0.1 (.NET CLR 4.0.30319.34014; Win32NT 6.3.9600.0)\";;"                        \
    "\"1fe6814a-e4cb-4195-a3cf-837dc7120f68\""
#define PUT_BLOB                                                                                   \
    ";2014-06-19T01:33:54.0926521Z;PutBlob;Success;201;197;54;authenticated;storagesample;"        \
    "storagesample;blob;\"" HOST "sample-container1/00001.txt?a=1&amp;b=2\";\"" KEY "\";" ID       \
    ";0;192.100.0.102:4362;2014-02-14;460;23;225;0;23;\"DrPO6z1f00SCsomhaf+J/A==\";"               \
    "\"DrPO6z1f00SCsomhaf+J/A==\";\"&quot;0x8D15975AA456EA4&quot;\";"                              \
    "Thursday, 19-Jun-14 01:33:53 GMT;\"If-Match=*;If-None-Match=&quot;0x1&quot;\";" TAIL

static void as_the_samples(void **state)
{
    struct analytics_event event = sample();

    (void)state;
    assert_string_equal(line_of(&event, sample_texts, 1), "1.0" PUT_BLOB "\n");
    assert_string_equal(line_of(&event, sample_texts, 2),
                        "2.0" PUT_BLOB
                        ";\"e5981635-dcf0-4279-ab7b-ca1cbdf4a5c7\";\"72f988bf-86f1-41af-91ab-"
                        "2d7cd011db47\";;;;;;\n");
}

/* Of a copy there are three lines, with one id. */
static void a_copy_is_three_operations(void **state)
{
    struct analytics_event event = sample();
    const char *lines;

    (void)state;
    event.operation = &copy_blob;
    event.status = 202;
    lines = line_of(&event, sample_texts, 1);
    assert_non_null(strstr(lines, ";CopyBlob;Success;202;"));
    assert_non_null(strstr(lines, "\";\"" KEY "\";" ID ";0;"));
    assert_non_null(strstr(lines, ";CopyBlobSource;Success;202;"));
    assert_non_null(strstr(lines, "\";\"" HOST "c/source\";" ID ";1;"));
    assert_non_null(strstr(lines, ";CopyBlobDestination;Success;202;"));
    assert_non_null(strstr(lines, "\";\"" KEY "\";" ID ";2;"));
    assert_non_null(strstr(lines, ";23;;;;;;" TAIL "\n"));
}

static const char *fields_3_to_9(const struct analytics_event *event, unsigned version)
{
    static const struct bytes none[ANALYTICS_TEXTS] = { { NULL, 0 } };
    const char *line = line_of(event, none, version), *from = line, *to;

    for (int i = 0; i < 3; i++)
        from = strchr(from, ';') + 1;
    to = from;
    for (int i = 0; i < 6; i++)
        to = strchr(to, ';') + 1;
    return arena_string(w.arena, bytes_of(from, (size_t)(to - from)));
}

/* Status messages, status, latencies, who asked and for which account.
 * rest: Storage-Analytics-Logged-Operations-and-Status-Messages */
static void status_messages(void **state)
{
    static const struct {
        enum analytics_who who;
        enum analytics_outcome outcome;
        enum error error;
        int status;
        bool is_bearer, says_code;
        unsigned version;
        const char *wanted;
    } rows[] = {
        { WHO_SAS, OUTCOME_SUCCESS, OK, 200, false, true, 1, "SASSuccess;200;197;54;sas;;" },
        { WHO_ANONYMOUS, OUTCOME_SUCCESS, OK, 200, false, true, 1,
          "AnonymousSuccess;200;197;54;anonymous;;" },
        { WHO_AUTHORIZED, OUTCOME_SUCCESS, OK, 200, true, true, 1,
          "Success;200;197;54;bearer;storagesample;" },
        { WHO_AUTHORIZED, OUTCOME_SUCCESS, OK, 200, true, true, 2,
          "OAuthSuccess;200;197;54;bearer;storagesample;" },
        { WHO_SAS, OUTCOME_CLIENT_OTHER, E_BlobNotFound, 404, false, true, 1,
          "BlobNotFound;404;197;54;sas;;" },
        { WHO_SAS, OUTCOME_CLIENT_OTHER, E_BlobNotFound, 404, false, false, 1,
          "SASClientOtherError;404;197;54;sas;;" },
        { WHO_AUTHORIZED, OUTCOME_THROTTLING, E_ServerBusy, 503, false, true, 1,
          "ThrottlingError;503;197;54;authenticated;storagesample;" },
        { WHO_AUTHORIZED, OUTCOME_AUTHORIZATION, E_AuthenticationFailed, 403, false, true, 1,
          "AuthorizationError;403;197;54;authenticated;storagesample;" },
        { WHO_ANONYMOUS, OUTCOME_NETWORK, OK, 0, false, true, 1,
          "AnonymousNetworkError;Unknown;197;54;anonymous;;" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct analytics_event event = sample();

        event.who = rows[i].who;
        event.outcome = rows[i].outcome;
        event.error = rows[i].error;
        event.status = rows[i].status;
        event.is_bearer = rows[i].is_bearer;
        event.says_code = rows[i].says_code;
        assert_string_equal(fields_3_to_9(&event, rows[i].version), rows[i].wanted);
    }
}

/* "Any field that may contain a quote, a semicolon, or a newline is HTML encoded and quoted." */
static void hostile_texts_stay_in_their_field(void **state)
{
    struct bytes texts[ANALYTICS_TEXTS] = { { NULL, 0 } };
    struct analytics_event event = sample();
    const char *line;

    (void)state;
    event.operation = &clear_page;
    texts[ANALYTICS_AGENT] = bytes_from_string("a\"b;c\nd<e>'f&\xC3\xA9");
    texts[ANALYTICS_REFERRER] = bytes_from_string("\xFF\x80z");
    texts[ANALYTICS_MODIFIED] = bytes_from_string("not a date");
    line = line_of(&event, texts, 1);
    assert_non_null(strstr(line, ";ClearPage;"));
    assert_non_null(
        strstr(line, ";\"a&quot;b;c&#10;d&lt;e&gt;&#39;f&amp;\xC3\xA9\";\"%FF%80z\";\n"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

/* The longest texts fit. */
static void longest(void **state)
{
    struct bytes texts[ANALYTICS_TEXTS];
    struct analytics_event event = sample();
    char *long_text = arena_alloc(w.arena, ANALYTICS_URL_MAX);

    (void)state;
    memset(long_text, '"', ANALYTICS_URL_MAX);
    event.operation = &copy_blob;
    for (size_t i = 0; i < ANALYTICS_TEXTS; i++)
        texts[i] = bytes_of(long_text, i <= ANALYTICS_KEY ? ANALYTICS_URL_MAX : ANALYTICS_TEXT_MAX);
    assert_true(strlen(line_of(&event, texts, 2)) > 3 * 6 * (size_t)ANALYTICS_URL_MAX);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(as_the_samples),  TEST(a_copy_is_three_operations),
        TEST(status_messages), TEST(hostile_texts_stay_in_their_field),
        TEST(longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
