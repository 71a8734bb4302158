/* The envelope of a forwarded request: cluster/envelope.h. Whatever arrives, it is read only if it was written, and never
 * before all of it has arrived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/envelope.h"
#include "cluster/protocol.h"

static struct envelope sample(void)
{
    struct envelope envelope = {
        .version = PROTOCOL_NEWEST,
        .service = 2,
        .cell = 7,
        .incarnation = 300,
        .renewed_ns = 12345,
        .said = { .client_is_known = true,
                  .port = 5000,
                  .is_tls = true,
                  .authority = BYTES("blob.example.com:443") },
    };

    memcpy(envelope.said.client, "0123456789abcdef", ADDRESS_SIZE);
    memcpy(envelope.said.request.b, "request id bytes", sizeof envelope.said.request.b);
    return envelope;
}

static void read_as_written(void **state)
{
    struct envelope envelope = sample(), read;
    char written[INTRODUCTION_MAX + 1];
    size_t size = envelope_write(&envelope, written);

    (void)state;
    assert_int_equal(size, ENVELOPE_BYTES + envelope.said.authority.len);
    for (size_t length = 0; length < size; length++)
        assert_int_equal(envelope_read(bytes_of(written, length), &read), INTRODUCTION_PART);
    written[size] = 'G';
    assert_int_equal(envelope_read(bytes_of(written, size + 1), &read), INTRODUCTION_WHOLE);
    assert_int_equal(read.said.size, size);
    assert_int_equal(read.version, PROTOCOL_NEWEST);
    assert_int_equal(read.service, 2);
    assert_int_equal(read.cell, 7);
    assert_int_equal(read.incarnation, 300);
    assert_int_equal(read.renewed_ns, 12345);
    assert_memory_equal(read.said.client, envelope.said.client, ADDRESS_SIZE);
    assert_int_equal(read.said.port, 5000);
    assert_true(guid_equal(&read.said.request, &envelope.said.request));
    assert_true(read.said.client_is_known && read.said.is_tls && !read.said.is_forwarded);
    assert_true(bytes_equal(read.said.authority, envelope.said.authority));
}

/* Without what is optional, and with all of it at its longest. */
static void extremes(void **state)
{
    struct envelope envelope = { .version = PROTOCOL_NEWEST,
                                 .cell = UINT32_MAX,
                                 .incarnation = UINT64_MAX,
                                 .renewed_ns = UINT64_MAX },
                    read;
    char written[INTRODUCTION_MAX], longest[ENVELOPE_AUTHORITY_MAX];
    size_t size = envelope_write(&envelope, written);

    (void)state;
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_WHOLE);
    assert_int_equal(read.incarnation, UINT64_MAX);
    assert_false(read.said.client_is_known);
    assert_null(read.said.authority.ptr);
    memset(longest, 'a', sizeof longest);
    envelope.said.authority = bytes_of(longest, sizeof longest);
    envelope.said.is_forwarded = true;
    envelope.said.expects = true;
    envelope.said.placement = UINT64_MAX - 1;
    size = envelope_write(&envelope, written);
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_WHOLE);
    assert_true(read.said.is_forwarded && read.said.expects);
    assert_true(read.said.placement == UINT64_MAX - 1);
    assert_int_equal(read.said.authority.len, sizeof longest);
    envelope.said.authority = bytes_of("", 0); /* HTTP/1.1 with an empty Host */
    size = envelope_write(&envelope, written);
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_WHOLE);
    assert_non_null(read.said.authority.ptr);
}

static void assert_malformed(size_t at, uint8_t byte)
{
    struct envelope envelope = sample(), read;
    char written[INTRODUCTION_MAX];
    size_t size = envelope_write(&envelope, written);

    written[at] = (char)byte;
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_MALFORMED);
}

static void hostile(void **state)
{
    struct envelope read;

    (void)state;
    for (size_t at = 0; at < 5; at++)
        assert_malformed(at, 0xff);
    assert_malformed(4, PROTOCOL_OLDEST - 1); /* version: of an older front end */
    assert_malformed(4, PROTOCOL_NEWEST + 1); /* of a newer one */
    assert_malformed(5, 5);                   /* service */
    assert_malformed(6, 0x4b);                /* an unknown flag */
    assert_malformed(6, 0x0a);                /* no client, but an address */
    assert_malformed(6, 0x03);                /* no authority, but a length */
    assert_malformed(7, 0);                   /* hops */
    assert_malformed(7, 2);                   /* it was forwarded twice */
    assert_malformed(11, 0);                  /* cell 0 */
    assert_malformed(38, 0xff);               /* an authority longer than any */
    /* A request without an envelope, and a part of one. */
    assert_int_equal(envelope_read(bytes_from_string("GET / HTTP/1.1\r\n"), &read),
                     INTRODUCTION_MALFORMED);
    assert_int_equal(envelope_read(bytes_from_string("G"), &read), INTRODUCTION_MALFORMED);
    assert_int_equal(envelope_read(bytes_of("", 0), &read), INTRODUCTION_PART);
}

static void no_incarnation(void **state)
{
    struct envelope envelope = { .version = PROTOCOL_NEWEST, .cell = 1 }, read;
    char written[INTRODUCTION_MAX];
    size_t size = envelope_write(&envelope, written);

    (void)state;
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_MALFORMED);
}

/* A request of a front end itself has no client, nor anything else of one. */
static void of_a_peer(void **state)
{
    struct envelope envelope = { .version = PROTOCOL_NEWEST,
                                 .service = ENVELOPE_OF_PEER,
                                 .cell = 2,
                                 .incarnation = 3,
                                 .renewed_ns = 4 },
                    read;
    char written[INTRODUCTION_MAX];
    size_t size = envelope_write(&envelope, written);

    (void)state;
    assert_int_equal(size, ENVELOPE_BYTES);
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_WHOLE);
    assert_int_equal(read.service, ENVELOPE_OF_PEER);
    assert_int_equal(read.renewed_ns, 4);
    for (unsigned flag = 1; flag < 256; flag <<= 1) {
        written[6] = (char)flag;
        assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_MALFORMED);
    }
    written[6] = 0;
    written[47] = 1; /* a placement */
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_MALFORMED);
    written[47] = 0;
    written[71] = 1; /* a request id */
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_MALFORMED);
    written[71] = 0;
    assert_int_equal(envelope_read(bytes_of(written, size), &read), INTRODUCTION_WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written), cmocka_unit_test(extremes),  cmocka_unit_test(hostile),
        cmocka_unit_test(no_incarnation),  cmocka_unit_test(of_a_peer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
