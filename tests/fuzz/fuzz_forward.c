/* What passes between front ends: an envelope is whole with the same bytes however much follows, and is written again as it
 * came; a response's head never has more than its input, and its headers can be sent to a client. */
#include <stdlib.h>

#include "cluster/envelope.h"
#include "cluster/key.h"
#include "fuzz.h"
#include "http/response_head.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_envelope(struct bytes input)
{
    struct envelope envelope, of_less;
    enum http_introduced found = envelope_read(input, &envelope);
    char written[INTRODUCTION_MAX];

    require(found != INTRODUCTION_PART || input.len < INTRODUCTION_MAX);
    for (size_t less = 0; less < input.len && less < INTRODUCTION_MAX; less++) {
        enum http_introduced found_less = envelope_read(bytes_of(input.ptr, less), &of_less);

        if (found == INTRODUCTION_WHOLE)
            require(found_less ==
                    (less < envelope.said.size ? INTRODUCTION_PART : INTRODUCTION_WHOLE));
        require(found != INTRODUCTION_PART || found_less == INTRODUCTION_PART);
    }
    if (found != INTRODUCTION_WHOLE)
        return;
    require(envelope.said.size <= input.len && envelope.service < ENVELOPE_SERVICES);
    require(envelope_write(&envelope, written) == envelope.said.size);
    require(memcmp(written, input.ptr, envelope.said.size) == 0);
}

static void check_head(struct bytes input)
{
    struct arena *arena = arena_new(1 << 20);
    struct response_head head;
    struct response response;

    response_init(&response, arena);
    if (response_head_read(input, 0, &response, &head) == RESPONSE_WHOLE) {
        require(head.size <= input.len && response.status == head.status);
        for (size_t i = 0; i < response.header_count; i++)
            require(response.headers[i].name.len > 0 &&
                    !http_has_control(response.headers[i].value, '\t'));
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(size > 0 ? (const void *)data : "", size);
    struct net_secrets secret;
    char text[CLUSTER_KEY_FILE_MAX];

    check_envelope(input);
    check_head(input);
    if (cluster_key_text_read(input, &secret)) {
        cluster_key_text_write(&secret, text);
        require(bytes_equal(input, bytes_from_string(text)));
    }
    return 0;
}
