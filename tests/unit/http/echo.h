/* An application for tests of the http room: does what path and query of a request say.
 *
 *   /echo             answers the body it received
 *   /request          answers the request's head as the application sees it
 *   /bytes/N          N bytes from memory: byte i is 'a' + i % 26
 *   /file/OFFSET/N    the same bytes from OFFSET on, from a file
 *   /source/N         the same bytes, made while they are sent
 *   /refuse           403 in head()
 *   /refuse-late      409 at the first bytes of the body
 *   /cut              no answer
 * and 503 to whatever is asked of a busy server.
 * Words in the query (between '&'):
 *   head, body, end   head() is paused once; body() at every run of bytes; end() once
 *   after             body() is paused after every run that it took
 *   round             end() is paused until round(), unless it is the last of the round, which ends the
 *                     pauses of the others
 *   source            the source is paused before every block
 *   fail              the source fails in the middle
 *   sip               body() takes, and a source gives, at most 1000 bytes at a time
 *   blob-headers      the headers of a blob in the answer
 *   trust             the connection counts as one of an authenticated client
 *   large-headers     64 headers of 100 bytes in the answer
 * Pauses are ended by a thread of its own, as the store does it. */
#ifndef LAGRA_TESTS_ECHO_H
#define LAGRA_TESTS_ECHO_H

#include "http/http.h"

#define ECHO_BYTES_MAX ((size_t)8 * 1024 * 1024)

extern const struct http_application echo_application;

/* Starts and stops the thread that ends pauses; makes the bytes and the file. */
void echo_start(void);
void echo_stop(void);
/* Pauses end only after echo_release() when held. */
void echo_hold(void);
void echo_release(void);
/* How many exchanges had head() called, and how many done(). */
unsigned echo_heads(void);
unsigned echo_dones(void);
/* How many are paused and held. */
unsigned echo_held(void);
/* The bytes of /bytes: ECHO_BYTES_MAX of them. */
const char *echo_bytes(void);

#endif
