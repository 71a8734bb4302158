/* Every field of the properties of a service, and of the source of a pending copy, survives, next to others with any value; so
 * does each of them when only it is set. service_properties.c, pending_source.c */
#include "properties/service_properties.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"
#include "source/pending_source.h"

#define RULE_FIELDS(i)                                                                             \
    TEXT(service_properties, cors.items[i].methods),                                               \
        TEXT(service_properties, cors.items[i].origins),                                           \
        TEXT(service_properties, cors.items[i].allowed_headers),                                   \
        TEXT(service_properties, cors.items[i].exposed_headers),                                   \
        VALUE(service_properties, cors.items[i].max_age_s)
#define METRICS_FIELDS(of)                                                                         \
    VALUE(service_properties, of.enabled), VALUE(service_properties, of.includes_apis),            \
        VALUE(service_properties, of.retention_days)

static const struct field properties_fields[] = {
    RULE_FIELDS(0),
    RULE_FIELDS(1),
    RULE_FIELDS(2),
    RULE_FIELDS(3),
    RULE_FIELDS(4),
    VALUE(service_properties, cors.count),
    TEXT(service_properties, default_version),
    VALUE(service_properties, website.enabled),
    TEXT(service_properties, website.index_document),
    TEXT(service_properties, website.error_document),
    TEXT(service_properties, website.default_index),
    VALUE(service_properties, share_retention_days),
    VALUE(service_properties, container_retention_days),
    VALUE(service_properties, blob_retention_days),
    VALUE(service_properties, allows_permanent_delete),
    VALUE(service_properties, is_versioning_enabled),
    VALUE(service_properties, logging.kinds),
    VALUE(service_properties, logging.version),
    VALUE(service_properties, logging.retention_days),
    METRICS_FIELDS(hour_metrics),
    METRICS_FIELDS(minute_metrics),
};

static void properties_trip(struct arena *arena, const void *from, void *to)
{
    struct set_service_properties_parameters all = { .has_cors = true,
                                                     .has_default_version = true,
                                                     .has_website = true,
                                                     .has_share_retention = true,
                                                     .has_container_retention = true,
                                                     .has_blob_retention = true,
                                                     .has_logging = true,
                                                     .has_hour_metrics = true,
                                                     .has_minute_metrics = true,
                                                     .has_versioning = true };
    const struct input input = { .account = BYTES("a") };
    struct decision d = { .arena = arena, .changes = changes_new(arena), .input = &input };
    struct set_service_properties_result result;
    struct changes *marker = changes_new(arena);
    struct written before, after;

    changes_put(marker, RECORD_INNER, bytes_from_string("other"), bytes_of("", 0), NULL, 0);
    before = written_begin(marker);
    d.before = before.snapshot;
    memcpy(&all.properties, from, sizeof all.properties);
    assert_int_equal(set_service_properties_decide(&d, &all, &result), OK);
    written_end(&before);
    after = written_begin(d.changes);
    assert_int_equal(service_properties_read(after.snapshot, arena, to), STORE_OK);
    written_end(&after);
}

#define RULE(n)                                                                                    \
    {                                                                                              \
        .methods = BYTES("m" #n), .origins = BYTES("o" #n), .allowed_headers = BYTES("a" #n),      \
        .exposed_headers = BYTES("e" #n), .max_age_s = n                                           \
    }

static const struct record_form properties_form =
    RECORD_FORM(service_properties, properties_fields, properties_trip);

static const struct service_properties properties[] = {
    { .cors = { .items = { RULE(1), RULE(2), RULE(3), RULE(4), RULE(5) }, .count = 5 },
      .default_version = BYTES("6"),
      .website = { .index_document = BYTES("7"),
                   .error_document = BYTES("8"),
                   .default_index = BYTES("9") },
      .share_retention_days = 10,
      .container_retention_days = 11,
      .blob_retention_days = 12,
      .logging = { .kinds = LOGS_READS, .version = 1, .retention_days = 13 },
      .hour_metrics = { .retention_days = 14 },
      .minute_metrics = { .retention_days = 15 } },
    { .cors = { .items = { RULE(101), RULE(102), RULE(103), RULE(104), RULE(105) }, .count = 5 },
      .default_version = BYTES("106"),
      .website = { .enabled = true,
                   .index_document = BYTES("107"),
                   .error_document = BYTES("108"),
                   .default_index = BYTES("109") },
      .share_retention_days = 110,
      .container_retention_days = 111,
      .blob_retention_days = 112,
      .allows_permanent_delete = true,
      .is_versioning_enabled = true,
      .logging = { .kinds = LOGS_WRITES | LOGS_DELETES, .version = 2, .retention_days = 113 },
      .hour_metrics = { .enabled = true, .includes_apis = true, .retention_days = 114 },
      .minute_metrics = { .enabled = true, .includes_apis = true, .retention_days = 115 } },
};
static const struct service_properties nothing_set = { .logging = { .version = 1 } };
static const struct service_properties one_rule = { .logging = { .version = 1 },
                                                    .cors = { .items = { RULE(1) }, .count = 1 } };

static void all_properties(void **state)
{
    (void)state;
    fields_survive(&properties_form, &properties[0], &properties[1]);
    fields_all_differed(
        &properties_form,
        (const void *const[]){ &properties[0], &properties[1], &nothing_set, &one_rule }, 4);
}

/* Which version of the record is written depends on what is set: each field alone. A field that says nothing by itself
 * is set next to the one that it belongs to. */
static void each_alone(void **state)
{
    static const struct service_properties alone[] = {
        { .logging = { .version = 1 }, .default_version = BYTES("1") },
        { .logging = { .version = 1 }, .website = { .enabled = true } },
        { .logging = { .version = 1 }, .website = { .error_document = BYTES("2") } },
        { .logging = { .version = 1 }, .share_retention_days = 3 },
        { .logging = { .version = 1 }, .container_retention_days = 4 },
        { .logging = { .version = 1 }, .blob_retention_days = 5 },
        { .logging = { .version = 1 }, .allows_permanent_delete = true },
        { .logging = { .version = 1 }, .is_versioning_enabled = true },
        { .logging = { .version = 2 } },
        { .logging = { .version = 1, .kinds = LOGS_DELETES } },
        { .logging = { .version = 1, .retention_days = 6 } },
        { .logging = { .version = 1 }, .hour_metrics = { .enabled = true } },
        { .logging = { .version = 1 }, .hour_metrics = { .retention_days = 7 } },
        { .logging = { .version = 1 }, .minute_metrics = { .enabled = true } },
        { .logging = { .version = 1 }, .minute_metrics = { .retention_days = 8 } },
        { .logging = { .version = 1 },
          .minute_metrics = { .enabled = true, .includes_apis = true } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        fields_survive(&properties_form, &alone[i], &alone[i]);
}

static const struct field source_fields[] = {
    VALUE(pending_source, id),       VALUE(pending_source, begun), VALUE(pending_source, is_own),
    VALUE(pending_source, is_other), TEXT(pending_source, url),    TEXT(pending_source, account),
    TEXT(pending_source, etag),
};

static void source_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct written written;
    struct decoder rest;
    struct bytes target;
    struct text out;

    text_init(&out, arena, 64);
    pending_record_begin(&out, from, bytes_from_string("target"));
    encode_u8(&out, 77);
    changes_put(changes, RECORD_INNER, pending_record_key, text_bytes(&out), NULL, 0);
    written = written_begin(changes);
    assert_int_equal(pending_record_read(written.snapshot, arena, to, &target, &rest), STORE_OK);
    written_end(&written);
    assert_true(bytes_is(target, "target"));
    assert_int_equal(decode_u8(&rest), 77);
    assert_true(decoder_ok(&rest));
}

static void sources(void **state)
{
    static const struct record_form form = RECORD_FORM(pending_source, source_fields, source_trip);
    static const struct pending_source samples[] = {
        { .id = { { 1 } },
          .begun = 2,
          .url = BYTES("3"),
          .account = BYTES("4"),
          .etag = BYTES("5") },
        { .id = { { 11 } },
          .begun = 12,
          .is_own = true,
          .is_other = true,
          .url = BYTES("13"),
          .account = BYTES("14"),
          .etag = BYTES("15") },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_properties),
        cmocka_unit_test(each_alone),
        cmocka_unit_test(sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
