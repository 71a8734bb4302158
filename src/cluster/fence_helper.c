/* See fence_helper.h. */
#include "cluster/fence_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_MAX 2048u

static int helper = -1; /* our end of the socket */

/* ---- messages ---- */

/* A message, and the descriptor sent with it. */
struct message {
    struct msghdr header;
    struct iovec part;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    char text[MESSAGE_MAX];
};

static struct cmsghdr *prepare(struct message *message, size_t length)
{
    message->part = (struct iovec){ message->text, length };
    message->header = (struct msghdr){ .msg_iov = &message->part,
                                       .msg_iovlen = 1,
                                       .msg_control = message->control,
                                       .msg_controllen = sizeof message->control };
    return CMSG_FIRSTHDR(&message->header);
}

static bool send_words(char *const words[FENCE_WORDS + 1], int result)
{
    struct message message = { .text = "" };
    struct cmsghdr *control;
    size_t length = 0;

    for (unsigned i = 1; i < FENCE_WORDS; i++) {
        size_t size = strlen(words[i]) + 1;

        if (length + size > MESSAGE_MAX) {
            errno = EMSGSIZE;
            return false;
        }
        memcpy(message.text + length, words[i], size);
        length += size;
    }
    control = prepare(&message, length);
    *control = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                 .cmsg_type = SCM_RIGHTS,
                                 .cmsg_len = CMSG_LEN(sizeof result) };
    memcpy(CMSG_DATA(control), &result, sizeof result);
    return sendmsg(helper, &message.header, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Points the words to the arguments in a message. Returns false if it has a different number of
 * arguments. */
static bool split(char *text, size_t length, char *words[FENCE_WORDS + 1])
{
    size_t at = 0;

    for (unsigned i = 1; i < FENCE_WORDS; i++) {
        char *end = memchr(text + at, '\0', length - at);

        if (!end)
            return false;
        words[i] = text + at;
        at = (size_t)(end - text) + 1;
    }
    words[FENCE_WORDS] = NULL;
    return at == length;
}

/* ---- the helper ---- */

/* Runs the command in a child, which writes the result. */
static void run_in_child(char *words[FENCE_WORDS + 1], int result)
{
    struct fence_end end;

    if (fork() != 0)
        return;
    signal(SIGCHLD, SIG_DFL);
    fence_execute(words, &end);
    _exit(write(result, &end, sizeof end) != sizeof end);
}

/* Receives a request. Returns false when the server has ended. */
static bool serve_one(int from, const char *command)
{
    char *words[FENCE_WORDS + 1] = { (char *)(uintptr_t)command };
    struct message message;
    struct cmsghdr *control = prepare(&message, sizeof message.text);
    ssize_t n = recvmsg(from, &message.header, MSG_CMSG_CLOEXEC);
    int result = -1;

    if (n <= 0)
        return n < 0 && errno == EINTR;
    control = CMSG_FIRSTHDR(&message.header);
    if (control && control->cmsg_type == SCM_RIGHTS && control->cmsg_len == CMSG_LEN(sizeof result))
        memcpy(&result, CMSG_DATA(control), sizeof result);
    if (result >= 0 && split(message.text, (size_t)n, words))
        run_in_child(words, result);
    if (result >= 0)
        close(result);
    return true;
}

bool fence_helper_start(const char *command)
{
    int ends[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        (void)prctl(PR_SET_NAME, "lagra-fence");
        signal(SIGCHLD, SIG_IGN); /* children are reaped by the kernel */
        while (serve_one(ends[1], command)) {
        }
        _exit(0);
    }
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    else
        helper = ends[0];
    return child > 0;
}

/* ---- the server ---- */

bool fence_helper_is_started(void)
{
    return helper >= 0;
}

void fence_helper_run(char *const words[FENCE_WORDS + 1], struct fence_end *ret_end)
{
    int ends[2];
    ssize_t n = -1;

    *ret_end = (struct fence_end){ .error = EPIPE }; /* the helper or its child has ended */
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ret_end->error = errno;
        return;
    }
    if (!send_words(words, ends[1]))
        ret_end->error = errno;
    close(ends[1]);
    if (ret_end->error == EPIPE)
        do
            n = read(ends[0], ret_end, sizeof *ret_end);
        while (n < 0 && errno == EINTR);
    close(ends[0]);
    if (n != sizeof *ret_end && ret_end->error == 0)
        ret_end->error = EPIPE;
}
