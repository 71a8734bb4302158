/* How bytes are received. How a connection ends: what the client sent and nobody read is taken first where it is to
 * see the end of what it was sent, since the kernel else resets the connection. net_private.h, transport_receive(),
 * transport_end(); rfc: 9112 9.6 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/net_private.h"

#include <cmocka.h> /* last: it has a macro `fail` */

#define UNREAD_BYTES 1000

/* Two ends of a connection. */
static void make_pair(int ends[2])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *)&address, size), 0);
    ends[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(ends[1] >= 0);
    close(listener);
}

static int unread(int fd)
{
    int bytes = -1;

    assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
    return bytes;
}

/* Bytes that are left unread after such an end. */
static int left_after(enum transport_end how)
{
    static const char bytes[UNREAD_BYTES];
    struct worker worker = { .input = malloc(CONNECTION_INPUT_BYTES) };
    struct connection connection = { .worker = &worker };
    int ends[2], left;

    make_pair(ends);
    connection.fd = ends[1];
    assert_int_equal(write(ends[0], bytes, sizeof bytes), UNREAD_BYTES);
    while (unread(ends[1]) < UNREAD_BYTES)
        assert_int_equal(poll(&(struct pollfd){ .fd = ends[1], .events = POLLIN }, 1, 60000), 1);
    transport_end(&connection, how);
    left = unread(ends[1]);
    close(ends[0]);
    close(ends[1]);
    free(worker.input);
    return left;
}

static void an_orderly_end_takes_what_is_unread(void **state)
{
    (void)state;
    assert_int_equal(left_after(TRANSPORT_ORDERLY), 0);
    assert_int_equal(left_after(TRANSPORT_HALF_CLOSED), UNREAD_BYTES);
    assert_int_equal(left_after(TRANSPORT_CUT), UNREAD_BYTES);
}

/* Rule: what came is received at once. Less than there was room for says that no more is there, so that nobody
 * asks again; as much as there was room for says nothing. An end is one, whatever errno says of an earlier call. */
static void what_came_is_received(void **state)
{
    struct connection connection = { .readable = true };
    char got[8];
    int ends[2];

    (void)state;
    alarm(60);
    make_pair(ends);
    connection.fd = ends[1];
    assert_int_equal(write(ends[0], "abcdef", 6), 6);
    while (unread(ends[1]) < 6)
        assert_int_equal(poll(&(struct pollfd){ .fd = ends[1], .events = POLLIN }, 1, 60000), 1);
    assert_int_equal(transport_receive(&connection, got, 4), 4);
    assert_true(connection.readable);
    assert_int_equal(transport_receive(&connection, got + 4, 4), 2);
    assert_memory_equal(got, "abcdef", 6);
    assert_false(connection.readable);
    connection.readable = true;
    assert_int_equal(transport_receive(&connection, got, 4), TRANSPORT_WAITS);
    assert_false(connection.readable);
    close(ends[0]);
    assert_int_equal(poll(&(struct pollfd){ .fd = ends[1], .events = POLLIN }, 1, 60000), 1);
    errno = EINTR;
    assert_int_equal(transport_receive(&connection, got, 4), 0);
    close(ends[1]);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_is_received),
        cmocka_unit_test(an_orderly_end_takes_what_is_unread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
