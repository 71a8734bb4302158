/* See framing.h. */
#include "framing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "malformed.h"
#include "world.h"

#define LINE_MAX_BYTES    4096u         /* of a size, with its extensions and CR LF */
#define TRAILER_MAX_BYTES (16u * 1024u) /* of all fields, with the CR LF behind them */
#define DISCARD_MAX       (64u * 1024u) /* of a refused body, before it is answered */
#define CHUNKS_MAX        5u
#define SLOW_PIECES       10u /* a body is given 30 s before its rate counts */
#define SECOND_NS         UINT64_C(1000000000)

/* ---- what is drawn ---- */

void framing_draw(const struct draws *of, struct framing *ret_framing)
{
    static const enum expectation expectations[] = {
        AWAITS_CONTINUE,
        AWAITS_CONTINUE,
        EXPECTS_IMPATIENTLY,
        EXPECTS_ELSE,
    };
    struct draws draws = { world_mix(of->state ^ UINT64_C(0x6672616D696E67)) };
    struct framing framing = { .expectation = EXPECTS_NOTHING };

    if (draw(&draws, 6) == 0)
        framing.expectation = expectations[draw(&draws, 4)];
    if (framing.expectation == EXPECTS_ELSE && draw(&draws, 4) > 0)
        framing.expectation = AWAITS_CONTINUE;
    if (draw(&draws, 3) == 0)
        framing.form = draw(&draws, 2) == 0 ? WELL_CHUNKED
                                            : (enum chunk_form)(1 + draw(&draws, CHUNK_FORMS - 1));
    framing.seed = world_mix(draws.state);
    *ret_framing = framing;
}

/* A PUT in chunks is refused, so there are few. */
struct framing framing_of(const struct framing *drawn, bool is_put, bool is_post, size_t length)
{
    struct framing framing = *drawn;

    framing.has_body = length > 0;
    framing.is_put = is_put;
    if (length == 0 || (!is_post && !(is_put && framing.seed % 16 == 0)))
        framing.form = NOT_CHUNKED;
    return framing;
}

bool framing_is_whole(const struct framing *framing)
{
    return framing->form < LINE_BEYOND;
}

bool framing_asks_early(const struct framing *framing)
{
    return framing->expectation != EXPECTS_NOTHING || framing->form != NOT_CHUNKED;
}

/* ---- chunks ---- */

struct frame {
    struct draws draws;
    unsigned char *bytes;
    size_t used, room;
};

static unsigned char *grow(struct frame *frame, size_t size)
{
    unsigned char *to;

    if (frame->used + size > frame->room) {
        frame->room = 2 * frame->room + size;
        frame->bytes = realloc(frame->bytes, frame->room);
    }
    to = frame->bytes + frame->used;
    frame->used += size;
    return to;
}

static void put(struct frame *frame, const void *from, size_t size)
{
    memcpy(grow(frame, size), from, size);
}

static void put_text(struct frame *frame, const char *text)
{
    put(frame, text, strlen(text));
}

static void put_many(struct frame *frame, char c, size_t count)
{
    memset(grow(frame, count), c, count);
}

static void put_extension(struct frame *frame)
{
    static const char *const extensions[] = { ";a", ";a=b", ";a=\"b c\"", ";\t" };

    if (draw(&frame->draws, 4) == 0)
        put_text(frame, extensions[draw(&frame->draws, 4)]);
}

/* form: of this line; WELL_CHUNKED: nothing is odd about it */
static void put_size(struct frame *frame, size_t size, enum chunk_form form)
{
    char digits[24] = "";
    size_t full = form == LINE_AT_LIMIT ? LINE_MAX_BYTES
                  : form == LINE_BEYOND ? LINE_MAX_BYTES + 1
                                        : 0;
    size_t fill;

    if (form == SIZE_BEYOND)
        (void)snprintf(digits, sizeof digits, "8000000000000000");
    else if (form != NO_SIZE)
        (void)snprintf(digits, sizeof digits, draw(&frame->draws, 2) == 0 ? "%zx" : "%zX", size);
    fill = full > 0 ? full - strlen(digits) - 2 : draw(&frame->draws, 4) == 0 ? 2 : 0;
    if (form != NO_SIZE && draw(&frame->draws, 2) == 0) {
        put_many(frame, '0', fill);
        fill = 0;
    }
    put_text(frame, digits);
    if (form == BLANK_BEHIND_SIZE)
        put_text(frame, " ");
    if (fill > 0) {
        put_text(frame, ";");
        put_many(frame, 'x', fill - 1);
    } else if (full == 0) {
        put_extension(frame);
    }
    if (form == CONTROL_IN_EXTENSION)
        put_text(frame, ";\x01");
    put_text(frame, form == BARE_LF ? "\n" : "\r\n");
}

static void put_field(struct frame *frame, size_t size)
{
    put_text(frame, "t:");
    put_many(frame, 'x', size - 4);
    put_text(frame, "\r\n");
}

static void put_trailer(struct frame *frame, enum chunk_form form)
{
    size_t full = form == TRAILER_AT_LIMIT ? TRAILER_MAX_BYTES
                  : form == TRAILER_BEYOND ? TRAILER_MAX_BYTES + 1
                                           : 0;
    size_t first = 4 + draw(&frame->draws, 9000);

    if (full > 0) {
        put_field(frame, first);
        put_field(frame, full - first - 2);
    } else if (draw(&frame->draws, 4) == 0) {
        put_text(frame, "X-Sum: 1\r\n");
    }
    if (form == NAMELESS_TRAILER)
        put_text(frame, ": 1\r\n");
    put_text(frame, "\r\n");
}

static enum chunk_form of_trailer(enum chunk_form form)
{
    return form == TRAILER_AT_LIMIT || form == TRAILER_BEYOND || form == NAMELESS_TRAILER
               ? form
               : WELL_CHUNKED;
}

static enum chunk_form of_size(enum chunk_form form)
{
    return of_trailer(form) == form || form == BYTE_BEHIND_DATA || form >= CUT_SHORT ? WELL_CHUNKED
                                                                                     : form;
}

/* What is odd is so about one line: of a chunk, or the last. */
static void put_chunks(struct frame *frame, enum chunk_form form, const unsigned char *body,
                       size_t length)
{
    unsigned count = 1 + draw(&frame->draws, CHUNKS_MAX), number = 0;
    unsigned odd = form == BYTE_BEHIND_DATA ? 0 : draw(&frame->draws, count + 1);
    size_t at = 0;

    for (; at < length; number++) {
        size_t left = length - at;
        size_t some = number + 1 == count ? left : 1 + draw(&frame->draws, (unsigned)left);

        if (at + some == length && odd > number)
            odd = number + draw(&frame->draws, 2);
        put_size(frame, some, number == odd ? of_size(form) : WELL_CHUNKED);
        put(frame, body + at, some);
        if (number == odd && form == BYTE_BEHIND_DATA)
            put_text(frame, "x");
        put_text(frame, "\r\n");
        at += some;
    }
    put_size(frame, 0, number == odd ? of_size(form) : WELL_CHUNKED);
    put_trailer(frame, of_trailer(form));
}

/* Often all but the end is there. */
static size_t cut(struct frame *frame)
{
    return draw(&frame->draws, 2) == 0 ? frame->used - 1 - draw(&frame->draws, 5)
                                       : draw(&frame->draws, (unsigned)frame->used);
}

unsigned char *framing_write(struct framing *framing, const unsigned char *body, size_t length)
{
    struct frame frame = { .draws = { framing->seed }, .room = length + 256 };

    framing->size = length;
    if (framing->form == NOT_CHUNKED)
        return NULL;
    frame.bytes = malloc(frame.room);
    put_chunks(&frame, framing->form, body, length);
    if (framing->form >= CUT_SHORT)
        frame.used = cut(&frame);
    framing->size = frame.used;
    return frame.bytes;
}

size_t framing_piece(const struct framing *framing, uint64_t pause_ns)
{
    static const size_t pieces[] = { 1, 3, 50, 1000 };
    size_t piece = 9000, least = 1;

    if (framing->form != NOT_CHUNKED)
        piece = pieces[framing->seed / 16 % 4];
    if (pause_ns > 0)
        least = framing->size / (pause_ns < SECOND_NS ? 1000 : SLOW_PIECES) + 1;
    return framing->form != NOT_CHUNKED && piece < least ? least : piece;
}

/* ---- the judge ---- */

static bool must_not_commit[CLIENTS_MAX];

void framing_begin(unsigned slot, bool may_commit)
{
    must_not_commit[slot] = !may_commit;
}

void framing_committed(unsigned slot)
{
    if (must_not_commit[slot])
        world_fail("client %u has sent no whole body, and its request commits", slot);
}

static noreturn void fail(const struct framing *framing, const struct ask *ask,
                          const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  framed:   form %d, expectation %d, %zu bytes, seed %llu\n"
               "  answered: %d %s, after %u times 100",
               why, asked, (int)framing->form, (int)framing->expectation, framing->size,
               (unsigned long long)framing->seed, answer->status, answer->code, framing->continues);
}

/* Whatever the state is, and before any of the body is read. */
static bool is_refused_by_head(const struct framing *framing, const struct ask *ask)
{
    return framing->expectation == EXPECTS_ELSE || ask->signature == SIGNED_WRONGLY ||
           (framing->is_put && framing->form != NOT_CHUNKED) ||
           (ask->malformed && !ask->malformed->of_body);
}

static const char *judge_continue(const struct framing *framing, const struct ask *ask,
                                  const struct reply *answer)
{
    bool waits = framing->expectation == AWAITS_CONTINUE;

    if (framing->continues > 1)
        return "a client is told twice to go on";
    if (framing->continues == 1 && !(waits || framing->expectation == EXPECTS_IMPATIENTLY))
        return "a client is told to go on that did not ask";
    if (framing->continues == 1 && !framing->has_body)
        return "a client is told to go on that has no body";
    if (framing->continues == 1 && answer->came && is_refused_by_head(framing, ask))
        return "a client is told to go on, and its head is refused";
    if (framing->has_body && waits && framing->continues == 0 && answer->came &&
        answer->status < 400)
        return "an answer to a body that was not asked for";
    if (framing->has_body && waits && framing->continues == 0 && answer->came && framing->stays)
        return "the connection goes on, and a body may follow";
    return NULL;
}

/* May the answer go before the body is read? */
static bool may_be_early(const struct framing *framing)
{
    return framing->expectation != EXPECTS_NOTHING || framing->size > DISCARD_MAX;
}

static bool is_answer(const struct reply *answer, int status, const char *code)
{
    return answer->status == status && strcmp(answer->code, code) == 0;
}

/* An answer that the framing demands: NULL. Else why it is none; empty: the service's judge may know. */
static const char *judge_form(const struct framing *framing, const struct ask *ask,
                              const struct reply *answer)
{
    int refusal = framing->form == SIZE_BEYOND ? 413 : 400;

    if (framing->expectation == EXPECTS_ELSE)
        return is_answer(answer, 417, "") ? NULL : "not 417 to what no server knows";
    if (!framing_is_whole(framing) && framing->form < CUT_SHORT && is_answer(answer, refusal, ""))
        return framing->stays ? "the connection goes on behind a body that has no end" : NULL;
    if (framing->is_put && framing->form != NOT_CHUNKED &&
        (framing_is_whole(framing) || may_be_early(framing)))
        return is_answer(answer, 411, "MissingContentLengthHeader") ? NULL
               : ask->malformed                                     ? ""
                                                                    : "not 411 to a PUT in chunks";
    if (framing->form != NOT_CHUNKED && framing_is_whole(framing) &&
        (is_answer(answer, 400, "") || is_answer(answer, 413, "")))
        return "chunks that are framed well are refused";
    if (framing_is_whole(framing))
        return "";
    if (answer->status < 400)
        return "success of a request whose body is not framed as one";
    return may_be_early(framing) ? "" : "another answer than to a body that is not framed as one";
}

void framing_judge(const struct framing *framing, const struct ask *ask, struct reply *answer)
{
    const char *why = judge_continue(framing, ask, answer);

    if (why)
        fail(framing, ask, answer, why);
    if (!answer->came)
        return;
    why = judge_form(framing, ask, answer);
    if (why && why[0])
        fail(framing, ask, answer, why);
    answer->came = why != NULL;
}
