/* The Blob service without sockets: requests as text go through routing, intake, decide and commit
 * on a memory store, as request/exchange.c does it, but for authorization and waiting. */
#ifndef LAGRA_TESTS_UNIT_BLOB_FIXTURE_H
#define LAGRA_TESTS_UNIT_BLOB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "blob/blob.h"
#include "service/operation.h"
#include "service/server.h"

#include <cmocka.h> /* last: it has a macro `fail` */

struct fixture; /* all memory of the answers lives as long as it */

/* For cmocka: a fixture with the empty container "box" as *state, and its end. */
/* Makes the account hierarchical. */
void fixture_make_hierarchical(struct fixture *f);
int fixture_setup(void **state);
/* The same on a store of the caller's, which the fixture closes. */
int fixture_setup_on(void **state, struct store *store);
/* The same with a hierarchical container. */
int fixture_setup_hierarchical(void **state);
/* A hierarchical account with the containers "box" and "bag", which share a tree. */
int fixture_setup_filesystems(void **state);
int fixture_teardown(void **state);

struct reply {
    int status;
    const char *code; /* x-ms-error-code; "" */
    const struct response *response;
    struct bytes body;
};

/* target: "PUT /box/b?comp=block&blockid=MQ%3D%3D"; headers: "name: value" lines, or NULL; body may
 * be NULL. x-ms-version is 2026-10-06 unless given. */
struct reply ask(struct fixture *f, const char *target, const char *headers, const char *body);
struct reply ask_bytes(struct fixture *f, const char *target, const char *headers,
                       struct bytes body);
/* A request of the operator, who has operations of their own. */
struct reply ask_as_operator(struct fixture *f, const char *target, const char *headers);
/* As ask(), with a printf target. */
struct reply askf(struct fixture *f, const char *headers, const char *body, const char *target, ...)
    __attribute__((format(printf, 4, 5)));
/* "name: value" from printf, in the fixture's memory. */
const char *textf(struct fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Value of a header of the answer, NULL without one. */
const char *header_of(struct fixture *f, const struct reply *answer, const char *name);

/* From now on requests are of another service; NULL: of the Blob service again. */
void fixture_serve(struct fixture *f, const struct service *service);
/* From now on sources of copies on other servers are read, and pending copies are carried on. */
void fixture_read_sources(struct fixture *f, struct fetcher *fetcher,
                          struct background *background);
/* From now on deferred tasks run only when they are asked for. */
void fixture_hold_tasks(struct fixture *f);
/* Does what is due of the list of deferred tasks, of the service that is served. */
void fixture_run_due(struct fixture *f);

struct store *store_of(struct fixture *f);
/* Does what is due of the list of deferred tasks. */
void run_due(struct store *store);
/* The partition of blob "b" of "box"; to be closed. */
struct read_view *open_blob(struct fixture *f);
/* Bytes of pieces that records refer to: 0 when nothing is left behind. */
uint64_t bytes_kept(struct fixture *f);
/* Records of a family of that blob. */
unsigned count_blob_records(struct fixture *f, enum record_family family);
/* Runs what is due; then there are no records of that blob, and no bytes. */
void assert_nothing_is_left(struct fixture *f);

#define assert_answer(got, status_wanted, code_wanted)                                             \
    do {                                                                                           \
        struct reply answer_ = (got);                                                              \
        assert_string_equal(answer_.code, code_wanted);                                            \
        assert_int_equal(answer_.status, status_wanted);                                           \
    } while (0)
#define assert_ok(answer, status_wanted) assert_answer(answer, status_wanted, "")
#define assert_body(answer, text)        assert_bytes((answer).body, text)
#define assert_bytes(bytes_got, text)                                                              \
    do {                                                                                           \
        struct bytes got_ = (bytes_got);                                                           \
        assert_int_equal(got_.len, strlen(text));                                                  \
        assert_memory_equal(got_.ptr, text, got_.len);                                             \
    } while (0)
#define assert_header(f, answer, name, text)                                                       \
    do {                                                                                           \
        const char *value_ = header_of(f, &(answer), name);                                        \
        assert_non_null(value_);                                                                   \
        assert_string_equal(value_, text);                                                         \
    } while (0)
#define assert_no_header(f, answer, name) assert_null(header_of(f, &(answer), name))

#endif
