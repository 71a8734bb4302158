/* Entering the sandbox: see sandbox.h. */
#include "server/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define WORDS_SIZE 96

/* Words for the log. False: said why on stderr. */
static bool enter_files(const struct options *options, char words[WORDS_SIZE])
{
    int abi = sandbox_files_abi();
    const char *path = "";

    if (options->sandbox == SANDBOX_LOG)
        snprintf(words, WORDS_SIZE,
                 "files are not restricted, because violations cannot be logged");
    else if (abi < SANDBOX_ABI_LEAST)
        snprintf(words, WORDS_SIZE, "files are not restricted (this kernel lacks Landlock)");
    else
        snprintf(words, WORDS_SIZE, "files are restricted by Landlock, version %d", abi);
    if (options->sandbox == SANDBOX_LOG || abi < SANDBOX_ABI_LEAST ||
        sandbox_files_enter(options, abi, &path))
        return true;
    fprintf(stderr, "lagra: --sandbox on: files cannot be restricted: %s%s%s\n", path,
            *path ? ": " : "", strerror(errno));
    return false;
}

bool sandbox_enter(const struct options *options, char words[SANDBOX_WORDS_SIZE])
{
    char files[WORDS_SIZE];
    unsigned count;

    words[0] = '\0';
    if (options->sandbox == SANDBOX_OFF)
        return true;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        fprintf(stderr, "lagra: --sandbox: %s\n", strerror(errno));
        return false;
    }
    if (!enter_files(options, files))
        return false;
    if (sandbox_calls_enter(options->sandbox == SANDBOX_LOG, &count)) {
        snprintf(words, SANDBOX_WORDS_SIZE, "%s; %u system calls are allowed, others are %s", files,
                 count, options->sandbox == SANDBOX_LOG ? "logged by the kernel" : "refused");
        return true;
    }
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
        snprintf(words, SANDBOX_WORDS_SIZE, "%s; system calls are not limited: this kernel cannot",
                 files);
        return true;
    }
    fprintf(stderr, "lagra: --sandbox: system calls cannot be restricted: %s\n", strerror(errno));
    return false;
}
