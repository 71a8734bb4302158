/* Get Blob Service Properties, Set Blob Service Properties. */
#include "file/file.h"
#include "listed.h"

#define PROPERTIES "/?restype=service&comp=properties"
#define XML_BEGIN  "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>"

#define DEFAULTS_TO_METRICS                                                                        \
    XML_BEGIN                                                                                      \
    "<StorageServiceProperties><Logging><Version>1.0</Version><Read>false</Read>"                  \
    "<Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>false</Enabled>"          \
    "</RetentionPolicy></Logging><HourMetrics><Version>1.0</Version><Enabled>false"                \
    "</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics>"          \
    "<MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy>"               \
    "<Enabled>false</Enabled></RetentionPolicy></MinuteMetrics>"
#define DEFAULTS_AFTER_CORS                                                                        \
    "<DeleteRetentionPolicy><Enabled>false</Enabled><AllowPermanentDelete>false"                   \
    "</AllowPermanentDelete></DeleteRetentionPolicy><StaticWebsite><Enabled>false</Enabled>"       \
    "</StaticWebsite></StorageServiceProperties>"
#define DEFAULTS_OF_2018                                                                           \
    "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy><StaticWebsite>"       \
    "<Enabled>false</Enabled></StaticWebsite></StorageServiceProperties>"

static void assert_has(struct reply got, const char *part)
{
    assert_ok(got, 200);
    assert_non_null(memmem(got.body.ptr, got.body.len, part, strlen(part)));
}

static struct reply set(struct fixture *f, const char *inside)
{
    return ask(f, "PUT " PROPERTIES, NULL,
               textf(f, "<StorageServiceProperties>%s</StorageServiceProperties>", inside));
}

/* Rule: what an account without any setting answers, as recorded of 2018-11-09
 * (test_service_properties.test_disabled_static_website_properties, but for its
 * DefaultServiceVersion), and what versions before an element do not get. */
static void defaults_as_recorded(void **state)
{
    struct fixture *f = *state;
    struct reply got = ask(f, "GET " PROPERTIES, "x-ms-version: 2018-11-09", NULL);

    assert_ok(got, 200);
    assert_header(f, got, "Content-Type", "application/xml");
    assert_body(got, DEFAULTS_TO_METRICS "<Cors />" DEFAULTS_OF_2018);
    got = ask(f, "GET " PROPERTIES, "x-ms-version: 2016-05-31", NULL);
    assert_body(got, DEFAULTS_TO_METRICS "<Cors /></StorageServiceProperties>");
}

/* Rule: CORS rules come back as recorded (test_service_properties.test_set_cors): methods first,
 * names of headers before prefixes. rest: Set-Blob-Service-Properties */
static void cors_rules_come_back(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(set(f,
                  "<Cors><CorsRule><AllowedOrigins>www.xyz.com</AllowedOrigins><AllowedMethods>GET"
                  "</AllowedMethods><MaxAgeInSeconds>0</MaxAgeInSeconds><ExposedHeaders />"
                  "<AllowedHeaders /></CorsRule><CorsRule><AllowedOrigins>www.xyz.com,www.ab.com"
                  "</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><MaxAgeInSeconds>500"
                  "</MaxAgeInSeconds><ExposedHeaders>x-ms-meta-data*,x-ms-meta-source*,"
                  "x-ms-meta-abc,x-ms-meta-bcd</ExposedHeaders><AllowedHeaders>x-ms-meta-data*,"
                  "x-ms-meta-target*,x-ms-meta-xyz,x-ms-meta-foo</AllowedHeaders></CorsRule>"
                  "</Cors>"),
              202);
    got = ask(f, "GET " PROPERTIES, NULL, NULL);
    assert_body(got, DEFAULTS_TO_METRICS
                "<Cors><CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>www.xyz.com"
                "</AllowedOrigins><AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>0"
                "</MaxAgeInSeconds></CorsRule><CorsRule><AllowedMethods>GET,PUT</AllowedMethods>"
                "<AllowedOrigins>www.xyz.com,www.ab.com</AllowedOrigins><AllowedHeaders>"
                "x-ms-meta-xyz,x-ms-meta-foo,x-ms-meta-data*,x-ms-meta-target*</AllowedHeaders>"
                "<ExposedHeaders>x-ms-meta-abc,x-ms-meta-bcd,x-ms-meta-data*,x-ms-meta-source*"
                "</ExposedHeaders><MaxAgeInSeconds>500</MaxAgeInSeconds></CorsRule></"
                "Cors>" DEFAULTS_AFTER_CORS);
    assert_ok(ask_bytes(f, "PUT " PROPERTIES, NULL, got.body), 202);
}

/* Rule: a section that is not sent stays, an empty Cors ends CORS.
 * rest: Set-Blob-Service-Properties */
static void sections_not_sent_stay(void **state)
{
    struct fixture *f = *state;

    assert_ok(set(f, "<Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET"
                     "</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>"),
              202);
    assert_ok(set(f, "<StaticWebsite><Enabled>False</Enabled></StaticWebsite>"), 202);
    assert_string_equal(first_text(f, ask(f, "GET " PROPERTIES, NULL, NULL), "AllowedOrigins"),
                        "*");
    assert_ok(set(f, ""), 202);
    assert_string_equal(first_text(f, ask(f, "GET " PROPERTIES, NULL, NULL), "AllowedOrigins"),
                        "*");
    assert_ok(set(f, "<Cors />"), 202);
    assert_null(first_text(f, ask(f, "GET " PROPERTIES, NULL, NULL), "AllowedOrigins"));
}

#define RETENTION    "<RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy>"
#define NO_RETENTION "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"

/* Rule: for how long deleted blobs are kept comes back, stays where it is not named, and goes when it is switched off.
 * recorded: test_service_properties.test_set_delete_retention_policy, BlobServiceClientTest.SetProperties */
static void retention_comes_back(void **state)
{
    struct fixture *f = *state;

    assert_ok(set(f, "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days>"
                     "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>"),
              202);
    assert_ok(set(f, "<Cors />"), 202);
    assert_has(
        ask(f, "GET " PROPERTIES, NULL, NULL),
        "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days><AllowPermanentDelete>true"
        "</AllowPermanentDelete></DeleteRetentionPolicy>");
    assert_has(
        ask(f, "GET " PROPERTIES, "x-ms-version: 2018-11-09", NULL),
        "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days></DeleteRetentionPolicy>");
    assert_ok(set(f, "<Logging><Version>1.0</Version><Delete>False</Delete><Read>False</Read>"
                     "<Write>False</Write>" NO_RETENTION
                     "</Logging><HourMetrics><Version>1.0</Version>"
                     "<Enabled>False</Enabled>" NO_RETENTION "</HourMetrics><Cors />"
                     "<DeleteRetentionPolicy><Enabled>False</Enabled></DeleteRetentionPolicy>"),
              202);
    assert_body(ask(f, "GET " PROPERTIES, NULL, NULL),
                DEFAULTS_TO_METRICS "<Cors />" DEFAULTS_AFTER_CORS);
}

#define ANALYTICS                                                                                  \
    XML_BEGIN                                                                                      \
    "<StorageServiceProperties><Logging><Version>2.0</Version><Read>true</Read>"                   \
    "<Write>false</Write><Delete>true</Delete>" RETENTION                                          \
    "</Logging><HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true"        \
    "</IncludeAPIs>" RETENTION "</HourMetrics><MinuteMetrics><Version>1.0</Version>"               \
    "<Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>" NO_RETENTION                         \
    "</MinuteMetrics><Cors />" DEFAULTS_OF_2018

/* Rule: what Storage Analytics is asked for comes back, and stays when it is not named.
 * rest: Set-Blob-Service-Properties; decision: 514 */
static void analytics_come_back(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT " PROPERTIES, NULL, ANALYTICS), 202);
    assert_body(ask(f, "GET " PROPERTIES, "x-ms-version: 2018-11-09", NULL), ANALYTICS);
    assert_ok(set(f, "<StaticWebsite><Enabled>False</Enabled></StaticWebsite>"), 202);
    assert_body(ask(f, "GET " PROPERTIES, "x-ms-version: 2018-11-09", NULL), ANALYTICS);
    fixture_serve(f, &file_service);
    assert_answer(set(f, "<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write>"
                         "<Delete>true</Delete>" NO_RETENTION "</Logging>"),
                  400, "InvalidXmlDocument");
    fixture_serve(f, NULL);
}

static void put_record(struct fixture *f, struct bytes value)
{
    struct arena *arena = arena_new(1u << 16);
    struct partition at = { .space = blob_account_space(bytes_from_string("devstoreaccount1")),
                            .key = BYTES("") };
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, bytes_from_string("p"), value, NULL, 0);
    assert_int_equal(store_commit(store_of(f), &(struct commit_part){ snapshot, changes }, 1, 1,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

static struct bytes record_of(struct fixture *f, struct arena *arena)
{
    struct partition at = { .space = blob_account_space(bytes_from_string("devstoreaccount1")),
                            .key = BYTES("") };
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct record record;

    assert_int_equal(read_view_get(snapshot, RECORD_INNER, bytes_from_string("p"), arena, &record),
                     STORE_OK);
    read_view_close(snapshot);
    return record.value;
}

/* Rule: records of all versions are read; one without what a version brought is written as earlier programs read it;
 * one that no version has written is damage. docs/upgrade.md */
static void records_of_all_versions(void **state)
{
    static const char first[] = "\x01\x01\x00\x00\x00\x00\x00\x00";
    static const char second[] = "\x02\x01\x00\x00\x00\x00\x00\x00\x05\x02\x05\x03\x05\x01\x00";
    static const char third[] =
        "\x03\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x01";
    static const char wrong[][sizeof second - 1] = {
        "\x02\x01\x00\x00\x00\x00\x00\x00\x08\x02\x05\x03\x05\x01",
        "\x02\x01\x00\x00\x00\x00\x00\x00\x05\x03\x05\x03\x05\x01",
        "\x02\x01\x00\x00\x00\x00\x00\x00\x05\x02\x05\x04\x05\x01",
        "\x04\x01\x00\x00\x00\x00\x00\x00\x05\x02\x05\x03\x05\x01",
        "\x03\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00",
    };
    struct arena *arena = arena_new(1u << 16);
    struct fixture *f = *state;
    struct bytes got;

    assert_ok(set(f, ""), 202);
    got = record_of(f, arena);
    assert_int_equal(got.len, sizeof first - 1);
    assert_memory_equal(got.ptr, first, got.len);
    assert_ok(ask(f, "PUT " PROPERTIES, NULL, ANALYTICS), 202);
    got = record_of(f, arena);
    assert_int_equal(got.len, sizeof second - 1);
    assert_memory_equal(got.ptr, second, got.len);
    put_record(f, bytes_of(first, sizeof first - 1));
    assert_body(ask(f, "GET " PROPERTIES, "x-ms-version: 2016-05-31", NULL),
                DEFAULTS_TO_METRICS "<Cors /></StorageServiceProperties>");
    put_record(f, bytes_of(second, sizeof second - 1));
    assert_body(ask(f, "GET " PROPERTIES, "x-ms-version: 2018-11-09", NULL), ANALYTICS);
    put_record(f, bytes_of(first, sizeof first - 1));
    assert_ok(set(f, "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days>"
                     "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>"),
              202);
    got = record_of(f, arena);
    assert_int_equal(got.len, sizeof third - 1);
    assert_memory_equal(got.ptr, third, got.len);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put_record(f, bytes_of(wrong[i], sizeof wrong[i]));
        assert_answer(ask(f, "GET " PROPERTIES, NULL, NULL), 500, "InternalError");
    }
    arena_free(arena);
}

#define RULE(origins, methods, headers, age)                                                       \
    "<Cors><CorsRule><AllowedOrigins>" origins "</AllowedOrigins><AllowedMethods>" methods         \
    "</AllowedMethods><AllowedHeaders>" headers "</AllowedHeaders><ExposedHeaders />"              \
    "<MaxAgeInSeconds>" age "</MaxAgeInSeconds></CorsRule></Cors>"
#define SHORT_RULE                                                                                 \
    "<CorsRule><AllowedOrigins>o</AllowedOrigins><AllowedMethods>GET</AllowedMethods>"             \
    "<MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule>"

/* Rule: a body that is not the documented form changes nothing. rest: Set-Blob-Service-Properties;
 * recorded: test_retention_too_long, and IndexDocument of a website that is off */
static void wrong_bodies_are_refused(void **state)
{
    static const struct {
        const char *inside;
        const char *code;
    } wrong[] = {
        { "<Loging />", "InvalidXmlDocument" },
        { "<Cors /><Cors />", "InvalidXmlDocument" },
        { "<Cors>", "InvalidXmlDocument" },
        { "<Cors><Rule /></Cors>", "InvalidXmlDocument" },
        { "<Cors>" SHORT_RULE SHORT_RULE SHORT_RULE SHORT_RULE SHORT_RULE SHORT_RULE "</Cors>",
          "InvalidXmlDocument" },
        { "<Cors><CorsRule></CorsRule></Cors>", "MissingRequiredXmlNode" },
        { RULE("", "GET", "", "1"), "MissingRequiredXmlNode" },
        { RULE("o", "", "", "1"), "MissingRequiredXmlNode" },
        { RULE("o", "GET", "", ""), "MissingRequiredXmlNode" },
        { RULE("o,,p", "GET", "", "1"), "InvalidXmlNodeValue" },
        { RULE("o", "FETCH", "", "1"), "InvalidXmlNodeValue" },
        { RULE("o", "GET", "a*b", "1"), "InvalidXmlNodeValue" },
        { RULE("o", "GET", "a*,b*,c*", "1"), "InvalidXmlNodeValue" },
        { RULE("o", "GET", "", "-1"), "InvalidXmlNodeValue" },
        { "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false"
          "</Delete>" NO_RETENTION "<More /></Logging>",
          "InvalidXmlDocument" },
        { "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write></Logging>",
          "MissingRequiredXmlNode" },
        { "<HourMetrics><Version>3.0</Version><Enabled>false</Enabled></HourMetrics>",
          "InvalidXmlNodeValue" },
        { "<HourMetrics><Version>1.0</Version><Enabled>maybe</Enabled></HourMetrics>",
          "InvalidXmlNodeValue" },
        { "<HourMetrics><Version>1.0</Version><Enabled>false</Enabled><IncludeAPIs>true</"
          "IncludeAPIs>"
          "</HourMetrics>",
          "InvalidXmlDocument" },
        { "<MinuteMetrics><Version>1.0</Version><Enabled>True</"
          "Enabled><RetentionPolicy><Enabled>True"
          "</Enabled><Days>366</Days></RetentionPolicy></MinuteMetrics>",
          "InvalidXmlDocument" },
        { "<DeleteRetentionPolicy><Enabled>true</Enabled></DeleteRetentionPolicy>",
          "InvalidXmlDocument" },
        { "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>0</Days></DeleteRetentionPolicy>",
          "InvalidXmlDocument" },
        { "<StaticWebsite><Enabled>false</Enabled><IndexDocument>i</IndexDocument></StaticWebsite>",
          "InvalidXmlDocument" },
    };
    struct fixture *f = *state;
    struct reply got;

    assert_ok(set(f, "<Cors>" SHORT_RULE "</Cors>"), 202);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_answer(set(f, wrong[i].inside), 400, wrong[i].code);
    assert_answer(ask(f, "PUT " PROPERTIES, NULL, NULL), 400, "InvalidXmlDocument");
    assert_answer(ask(f, "PUT " PROPERTIES, NULL, "<Properties />"), 400, "InvalidXmlDocument");
    got = set(f, "<StaticWebsite><Enabled>false</Enabled><IndexDocument>i</IndexDocument>"
                 "</StaticWebsite>");
    assert_string_equal(first_text(f, got, "Reason"), "Element IndexDocument is only expected when "
                                                      "StaticWebsite/Enabled is enabled.");
    assert_string_equal(first_text(f, ask(f, "GET " PROPERTIES, NULL, NULL), "AllowedOrigins"),
                        "o");
}

static struct reply set_origins(struct fixture *f, const char *origins)
{
    return set(f, textf(f,
                        "<Cors><CorsRule><AllowedOrigins>%s</AllowedOrigins><AllowedMethods>GET"
                        "</AllowedMethods><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors>",
                        origins));
}

/* Rule: a list of origins has at most 64 entries; all CORS rules together take at most 2 KiB.
 * semantics 10.1 */
static void cors_rules_are_limited(void **state)
{
    struct fixture *f = *state;
    char origins[2050];

    for (size_t i = 0; i < sizeof origins; i++)
        origins[i] = i % 200 == 199 ? ',' : 'o';
    origins[sizeof origins - 1] = '\0';
    assert_answer(set_origins(f, origins), 400, "InvalidXmlDocument");
    for (size_t i = 0; i < sizeof origins; i++)
        origins[i] = i % 2 == 1 ? ',' : 'o';
    origins[2 * 65 - 1] = '\0';
    assert_answer(set_origins(f, origins), 400, "InvalidXmlNodeValue");
    origins[2 * 64 - 1] = '\0';
    assert_ok(set_origins(f, origins), 202);
}

/* Rule: the website and the default version come back in the order that was recorded, and go when
 * they are taken back. rest: Set-Blob-Service-Properties */
static void website_and_version_come_back(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(set(f, "<StaticWebsite><Enabled>true</Enabled><IndexDocument>i</IndexDocument>"
                     "<ErrorDocument404Path>/e/4</ErrorDocument404Path></StaticWebsite>"
                     "<DefaultServiceVersion>2014-02-14</DefaultServiceVersion>"),
              202);
    got = ask(f, "GET " PROPERTIES, NULL, NULL);
    assert_body(got, DEFAULTS_TO_METRICS
                "<Cors /><DeleteRetentionPolicy><Enabled>false</Enabled><AllowPermanentDelete>false"
                "</AllowPermanentDelete></DeleteRetentionPolicy><StaticWebsite><Enabled>true</"
                "Enabled><IndexDocument>i</IndexDocument>"
                "<ErrorDocument404Path>e/4</ErrorDocument404Path></StaticWebsite>"
                "<DefaultServiceVersion>2014-02-14</DefaultServiceVersion>"
                "</StorageServiceProperties>");
    assert_ok(ask_bytes(f, "PUT " PROPERTIES, NULL, got.body), 202);
    assert_answer(set(f, "<DefaultServiceVersion>2014</DefaultServiceVersion>"), 400,
                  "InvalidXmlNodeValue");
    assert_ok(set(f, "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>"
                     "<DefaultServiceVersion />"),
              202);
    got = ask(f, "GET " PROPERTIES, NULL, NULL);
    assert_body(got, DEFAULTS_TO_METRICS "<Cors />" DEFAULTS_AFTER_CORS);
}

#define SWITCH(protocol, name, element, value)                                                     \
    "<ProtocolSettings><" protocol "><" name "><" element ">" value "</" element "></" name        \
    "></" protocol "></ProtocolSettings>"

/* Rule: of what the file service's protocols could do, what is not there can be said to be off, and not switched on.
 * rest: Set-File-Service-Properties */
static void protocols_switch_nothing_on(void **state)
{
    static const struct {
        const char *inside;
        int status;
        const char *code;
    } rows[] = {
        { SWITCH("SMB", "Multichannel", "Enabled", "false"), 202, "" },
        { SWITCH("SMB", "Multichannel", "Enabled", "true"), 501, "NotImplemented" },
        { SWITCH("SMB", "EncryptionInTransit", "Required", "false"), 202, "" },
        { SWITCH("SMB", "EncryptionInTransit", "Required", "true"), 501, "NotImplemented" },
        { SWITCH("NFS", "EncryptionInTransit", "Required", "false"), 202, "" },
        { SWITCH("NFS", "EncryptionInTransit", "Required", "true"), 501, "NotImplemented" },
        { SWITCH("NFS", "Multichannel", "Enabled", "false"), 400, "InvalidXmlDocument" },
        { SWITCH("FTP", "Multichannel", "Enabled", "false"), 400, "InvalidXmlDocument" },
        { SWITCH("SMB", "Multichannel", "Enabled", "yes"), 400, "InvalidXmlNodeValue" },
    };
    struct fixture *f = *state;

    fixture_serve(f, &file_service);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_answer(set(f, rows[i].inside), rows[i].status, rows[i].code);
    fixture_serve(f, NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(defaults_as_recorded),          TEST(cors_rules_come_back),
        TEST(sections_not_sent_stay),        TEST(retention_comes_back),
        TEST(wrong_bodies_are_refused),      TEST(cors_rules_are_limited),
        TEST(website_and_version_come_back), TEST(protocols_switch_nothing_on),
        TEST(analytics_come_back),           TEST(records_of_all_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
