/* Answers of a source of a copy, whatever it says: to each operation that names one, and to a pending
 * copy afterwards. The first byte of the input chooses the operation, what follows its line are the
 * answers (hostile.h). No answer may end the process, or make one of ours impossible; what was stored
 * can be sent. decisions: 240, 241 */
#include <stdlib.h>
#include <string.h>

#include "../unit/blob/fixture.h"
#include "fuzz.h"
#include "hostile.h"
#include "http/answer_head.h"

/* Looks of the list of deferred tasks, five seconds from each other. */
#define LOOKS 4

static const struct {
    char letter;
    const char *target, *headers;
} operations[] = {
    { 'p', "PUT /box/new", "x-ms-copy-source: http://h/b\nx-ms-blob-type: BlockBlob" },
    { 'c', "PUT /box/new", "x-ms-copy-source: http://h/b\nx-ms-requires-sync: true" },
    { 'b', "PUT /box/new", "x-ms-copy-source: http://h/b" },
    { 's', "PUT /box/new?comp=block&blockid=MQ%3D%3D",
      "x-ms-copy-source: http://h/b\nx-ms-source-range: bytes=1-512" },
    { 'o', "PUT /box/new?comp=block&blockid=MQ%3D%3D",
      "x-ms-copy-source: http://h/b\nx-ms-source-range: bytes=1-" },
    { 'a', "PUT /box/append?comp=appendblock", "x-ms-copy-source: http://h/b" },
    { 'g', "PUT /box/page?comp=page",
      "x-ms-copy-source: http://h/b\nx-ms-page-write: update\nx-ms-range: bytes=0-511\n"
      "x-ms-source-range: bytes=0-511" },
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* All of it goes out: no header was stored that has to be left out. */
static void require_answer(const struct reply *answer)
{
    static const struct date_text date = { .text = "Sun, 06 Nov 1994 08:49:37 GMT" };
    static char to[ANSWER_HEAD_BYTES];

    require(answer->status >= 200 && answer->status <= 599);
    require(answer_head_write(answer->response, &date, CONNECTION_NONE, to, sizeof to) > 0);
}

static void ask_and_read(struct fixture *f, size_t operation)
{
    static const char *const reads[] = { "HEAD /box/new", "GET /box/new", "HEAD /box/append",
                                         "HEAD /box/page", "GET /box?restype=container&comp=list" };
    struct reply answer = ask(f, operations[operation].target, operations[operation].headers, NULL);

    require_answer(&answer);
    for (unsigned i = 0; i < LOOKS; i++) {
        fixture_run_due(f);
        hostile_run_jobs();
        clock_advance(6 * TICKS_PER_SECOND);
    }
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        answer = ask(f, reads[i], NULL, NULL);
        require_answer(&answer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes first, answers;
    size_t operation = 0;
    void *state = NULL;

    bytes_cut(bytes_of(data, size), '\n', &first, &answers);
    while (operation < sizeof operations / sizeof operations[0] && first.len > 0 &&
           first.ptr[0] != operations[operation].letter)
        operation++;
    if (first.len == 0 || operation == sizeof operations / sizeof operations[0])
        return 0;
    fixture_setup(&state);
    ask(state, "PUT /box/append", "x-ms-blob-type: AppendBlob", NULL);
    ask(state, "PUT /box/page", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 1024", NULL);
    fixture_read_sources(state, hostile_fetcher(answers), hostile_background());
    ask_and_read(state, operation);
    fixture_teardown(&state);
    return 0;
}
