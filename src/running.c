/* See running.h. */
#include "running.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_LINE_MAX ((size_t)64 << 10)
#define ARGUMENTS_MAX    1024

/* Another process with this program? */
static bool is_ours(int proc, const char *process)
{
    struct stat own, other;
    char path[64];

    snprintf(path, sizeof path, "%.20s/exe", process);
    return atoll(process) > 0 && atoll(process) != getpid() &&
           fstatat(proc, "self/exe", &own, 0) == 0 && fstatat(proc, path, &other, 0) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Its arguments, each with its NUL. 0: it has ended, or there are too many. */
static size_t read_command_line(int proc, const char *process, char to[COMMAND_LINE_MAX])
{
    size_t sum = 0;
    ssize_t got;
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%.20s/cmdline", process);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (sum < COMMAND_LINE_MAX && (got = read(fd, to + sum, COMMAND_LINE_MAX - sum)) > 0)
        sum += (size_t)got;
    close(fd);
    return sum < COMMAND_LINE_MAX && sum > 0 && to[sum - 1] == '\0' ? sum : 0;
}

/* Its options, which point into the command line. False: it does not serve. */
static bool read_options(char *command_line, size_t size, struct options *ret_options)
{
    char *arguments[ARGUMENTS_MAX + 1];
    int count = 0;

    for (size_t at = 0; at < size && count < ARGUMENTS_MAX; at += strlen(command_line + at) + 1)
        arguments[count++] = command_line + at;
    arguments[count] = NULL;
    optind = 0; /* getopt begins anew */
    return options_parse(count, arguments, ret_options) == OPTIONS_RUN &&
           ret_options->command == COMMAND_SERVE;
}

void running_servers(void (*found)(const struct options *options, void *context), void *context)
{
    static char command_line[COMMAND_LINE_MAX];
    DIR *folder = opendir("/proc");
    struct options options;
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        size_t size = 0;

        if (is_ours(dirfd(folder), entry->d_name))
            size = read_command_line(dirfd(folder), entry->d_name, command_line);
        if (size > 0 && read_options(command_line, size, &options))
            found(&options, context);
    }
    if (folder)
        closedir(folder);
}
