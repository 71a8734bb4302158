/* Small texts from outside: ranges, conditions, dates, ids, encodings. What is accepted is checked
 * to make sense. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/ids.h"
#include "base/url.h"
#include "concurrency/conditions.h"
#include "fetch/fetch.h"
#include "fuzz.h"
#include "http/http.h"
#include "queue/message_operations.h"

static void check_range(struct bytes text)
{
    static const uint64_t sizes[] = { 0, 1, 1000, UINT64_MAX };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t offset = 0, length = 0;

        if (range_parse(text, sizes[i], &offset, &length) != RANGE_PART)
            continue;
        if (length == 0 || offset >= sizes[i] || length > sizes[i] - offset)
            abort();
    }
}

static void check_dates(struct bytes text)
{
    char iso[INSTANT_ISO_SIZE], http[INSTANT_HTTP_SIZE];
    instant t, again;

    if (instant_parse_iso(text, &t)) {
        instant_format_iso(t, iso);
        if (!instant_parse_iso(bytes_from_string(iso), &again) || again != t)
            abort();
    }
    if (instant_parse_http(text, &t)) {
        instant_format_http(t, http);
        if (!instant_parse_http(bytes_from_string(http), &again) ||
            instant_seconds(again) != instant_seconds(t))
            abort();
    }
}

static void check_encodings(struct arena *arena, struct bytes text)
{
    struct bytes decoded = base64_decode(arena, text);
    struct bytes lenient = base64_decode_lenient(arena, text);
    struct bytes query = query_decode(arena, text);
    struct guid id;

    if (decoded.ptr && !bytes_equal(base64_encode(arena, decoded), text))
        abort();
    if (decoded.ptr && !bytes_equal(lenient, decoded))
        abort();
    if (lenient.len > text.len / 4 * 3 + 2 || query.len > text.len)
        abort();
    if (!query.ptr != !percent_decode(arena, text).ptr && text.len > 0)
        abort();
    decoded = percent_decode(arena, percent_encode(arena, text, ""));
    if (!bytes_equal(decoded, text))
        abort();
    percent_decode(arena, text);
    guid_parse(text, &id);
}

/* The source of a copy. */
static void check_url(struct arena *arena, struct bytes text)
{
    struct address_list list = { .count = 0 };
    struct bytes without = url_without(arena, text, "sig");
    struct bytes normalized = url_normalize_path(arena, text);
    struct url url;

    if (normalized.len > text.len ||
        !bytes_equal(url_normalize_path(arena, normalized), normalized))
        abort();
    if (without.len > text.len || !bytes_equal(url_without(arena, without, "sig"), without))
        abort();
    if (url_parse(text, &url) &&
        (url.host.len == 0 || url.port == 0 || url.path.len == 0 || url.path.ptr[0] != '/' ||
         url.host.ptr < text.ptr || url.host.ptr + url.host.len > text.ptr + text.len ||
         memchr(url.authority.ptr, '@', url.authority.len)))
        abort();
    if (text.ptr && address_list_parse(text, &list) && list.count == 0)
        abort();
}

/* A pop receipt is one text: what is read is written the same. */
static void check_receipt(struct arena *arena, struct bytes text)
{
    struct receipt receipt;

    if (receipt_parse(arena, text, &receipt) && !bytes_equal(receipt_text(arena, receipt), text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 26);
    struct bytes text = bytes_of(data, size);
    struct condition_headers headers = { .if_match = text,
                                         .if_none_match = text,
                                         .if_modified_since = text };
    struct conditions conditions;

    check_range(text);
    check_dates(text);
    check_encodings(arena, text);
    check_url(arena, text);
    check_receipt(arena, text);
    conditions_parse(arena, &headers, &conditions);
    arena_free(arena);
    return 0;
}
