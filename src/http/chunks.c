/* Chunk decoder, a state machine that takes one framing byte per step. */
#include "http/chunks.h"

#include <assert.h>

#include "http/tokens.h"

static void assert_chunks(const struct chunks *chunks)
{
    assert(chunks->place <= CHUNK_ENDED);
    assert(chunks->place != CHUNK_DATA || chunks->left > 0);
}

static enum chunk_result go(struct chunks *chunks, enum chunk_place place)
{
    chunks->place = place;
    return CHUNK_MORE;
}

static enum chunk_result expect(struct chunks *chunks, char c, char expected,
                                enum chunk_place place)
{
    return c == expected ? go(chunks, place) : CHUNK_MALFORMED;
}

static enum chunk_result step_size(struct chunks *chunks, char c)
{
    int digit = bytes_hex_digit(c);

    if (digit >= 0) {
        if (chunks->left > (uint64_t)INT64_MAX >> 4)
            return CHUNK_TOO_LARGE;
        chunks->left = chunks->left << 4 | (unsigned)digit;
        return go(chunks, CHUNK_SIZE);
    }
    if (chunks->place == CHUNK_SIZE_FIRST)
        return CHUNK_MALFORMED;
    if (c == ';')
        return go(chunks, CHUNK_EXTENSION);
    return expect(chunks, c, '\r', CHUNK_SIZE_LF);
}

/* Skips the line, up to its CR. */
static enum chunk_result step_text(struct chunks *chunks, char c, enum chunk_place at_cr)
{
    if (c == '\r')
        return go(chunks, at_cr);
    return http_has_control(bytes_of(&c, 1), '\t') ? CHUNK_MALFORMED : CHUNK_MORE;
}

static enum chunk_result step_size_end(struct chunks *chunks, char c)
{
    if (c != '\n')
        return CHUNK_MALFORMED;
    chunks->line_size = 0;
    return go(chunks, chunks->left > 0 ? CHUNK_DATA : CHUNK_LINE);
}

static enum chunk_result step_data_end(struct chunks *chunks, char c)
{
    chunks->line_size = 0;
    return expect(chunks, c, '\n', CHUNK_SIZE_FIRST);
}

static enum chunk_result step_trailer_name(struct chunks *chunks, char c)
{
    if (c == ':' && chunks->place == CHUNK_TRAILER_NAME)
        return go(chunks, CHUNK_TRAILER_VALUE);
    if (c == '\r' && chunks->place == CHUNK_LINE)
        return go(chunks, CHUNK_LAST_LF);
    return http_is_token(bytes_of(&c, 1)) ? go(chunks, CHUNK_TRAILER_NAME) : CHUNK_MALFORMED;
}

static enum chunk_result step(struct chunks *chunks, char c)
{
    switch (chunks->place) {
    case CHUNK_SIZE_FIRST:
    case CHUNK_SIZE:
        return step_size(chunks, c);
    case CHUNK_EXTENSION:
        return step_text(chunks, c, CHUNK_SIZE_LF);
    case CHUNK_SIZE_LF:
        return step_size_end(chunks, c);
    case CHUNK_DATA_CR:
        return expect(chunks, c, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return step_data_end(chunks, c);
    case CHUNK_LINE:
    case CHUNK_TRAILER_NAME:
        return step_trailer_name(chunks, c);
    case CHUNK_TRAILER_VALUE:
        return step_text(chunks, c, CHUNK_TRAILER_LF);
    case CHUNK_TRAILER_LF:
        return expect(chunks, c, '\n', CHUNK_LINE);
    case CHUNK_LAST_LF:
        return expect(chunks, c, '\n', CHUNK_ENDED);
    case CHUNK_DATA:
    case CHUNK_ENDED:
        break;
    }
    assert(false); /* no framing expected */
    return CHUNK_MALFORMED;
}

static bool is_in_trailer(const struct chunks *chunks)
{
    return chunks->place >= CHUNK_LINE;
}

enum chunk_result chunks_next(struct chunks *chunks, struct bytes input, size_t *ret_framing,
                              size_t *ret_run)
{
    size_t at = 0;
    enum chunk_result result = CHUNK_MORE;

    *ret_run = 0;
    while (result == CHUNK_MORE && chunks->place != CHUNK_DATA && chunks->place != CHUNK_ENDED) {
        if (at == input.len)
            break;
        if (++chunks->line_size > (is_in_trailer(chunks) ? CHUNK_TRAILER_MAX : CHUNK_LINE_MAX))
            result = CHUNK_MALFORMED;
        else
            result = step(chunks, input.ptr[at++]);
    }
    assert(at <= input.len);
    *ret_framing = at;
    if (result != CHUNK_MORE)
        return result;
    if (chunks->place == CHUNK_ENDED)
        return CHUNK_END;
    if (chunks->place != CHUNK_DATA || at == input.len)
        return CHUNK_MORE;
    *ret_run = chunks->left < input.len - at ? (size_t)chunks->left : input.len - at;
    assert_chunks(chunks);
    return CHUNK_RUN;
}

void chunks_took(struct chunks *chunks, size_t bytes)
{
    assert(chunks->place == CHUNK_DATA && bytes <= chunks->left);
    chunks->left -= bytes;
    if (chunks->left == 0)
        chunks->place = CHUNK_DATA_CR;
    assert_chunks(chunks);
}
