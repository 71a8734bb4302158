/* See seed.h: options, files of a directory, and error messages. */
#include "seed/seed_private.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

#define FILE_MAX_BYTES   ((size_t)64 << 20)
#define FILES_MAX        1000u
#define ARENA_CAP_BYTES  ((size_t)4 << 30)
#define NAMES_MAX_COUNT  1000u
#define DEVELOPMENT_NAME "devstoreaccount1"

static size_t line_of(const struct seeding *s)
{
    size_t line = 1;

    for (const char *c = s->text.ptr; c < s->at; c++)
        line += *c == '\n';
    return line;
}

/* Prints the problem, if there is one. Returns true if none exists. */
static bool is_good(const struct seeding *s)
{
    if (!s->problem)
        return true;
    if (s->at)
        fprintf(stderr, "lagra: %s:%zu: %s\n", s->source, line_of(s), s->problem);
    else
        fprintf(stderr, "lagra: %s: %s\n", s->source, s->problem);
    return false;
}

/* ---- accounts ---- */

/* Returns the only account, or the development account; ptr NULL if the file must name one. */
static struct bytes find_account(const struct seeding *s)
{
    size_t count;
    const struct account *only = accounts_only(s->accounts, &count);

    if (only)
        return account_name(only);
    return accounts_find(s->accounts, bytes_from_string(DEVELOPMENT_NAME))
               ? bytes_from_string(DEVELOPMENT_NAME)
               : bytes_of(NULL, 0);
}

/* ---- names in options ---- */

static bool seed_names(struct seeding *s, enum seed_kind kind, const char *option, const char *list)
{
    struct bytes rest = bytes_from_string(list);
    unsigned count = 0;

    s->source = option;
    s->account = find_account(s);
    if (list && !s->account.ptr)
        seed_fail(s, "there are several accounts: name the account in a --seed file");
    while (rest.ptr && !s->problem) {
        struct seed_item item = { .kind = kind };

        bytes_cut(rest, ',', &item.name, &rest);
        item.name = bytes_trim(item.name);
        if (item.name.len == 0 || ++count > NAMES_MAX_COUNT)
            seed_fail(s, "expected up to %u names separated by commas", NAMES_MAX_COUNT);
        else
            seed_make(s, &item);
    }
    return is_good(s);
}

/* ---- files ---- */

/* Returns false after setting the problem. */
static bool read_text(struct seeding *s, const char *name)
{
    int fd = openat(s->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *text = NULL;

    s->at = NULL;
    if (fd < 0 || fstat(fd, &status) != 0)
        seed_fail(s, "cannot be read: %s", strerror(errno));
    else if (!S_ISREG(status.st_mode) || status.st_size > (off_t)FILE_MAX_BYTES)
        seed_fail(s, "is not a file of at most %zu MiB", FILE_MAX_BYTES >> 20);
    if (!s->problem) {
        text = arena_bytes(s->arena, (size_t)status.st_size);
        if (file_read_at(fd, text, (size_t)status.st_size, 0) != status.st_size)
            seed_fail(s, "cannot be read: %s", strerror(errno));
        s->text = bytes_of(text, (size_t)status.st_size);
    }
    if (fd >= 0)
        close(fd);
    return is_good(s);
}

static bool run_file(struct seeding *s, const char *name)
{
    struct bytes account = find_account(s);

    if (!read_text(s, name))
        return false;
    for (int i = 0; i < 2 && !s->problem; i++) {
        s->dry_run = i == 0;
        s->account = account;
        seed_file(s);
    }
    s->dry_run = false;
    return is_good(s);
}

static int is_json(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           bytes_has_suffix(bytes_from_string(entry->d_name), bytes_from_string(".json"));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool run_folder(struct seeding *s, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_json, by_bytes);
    bool good = count > 0 && count <= (int)FILES_MAX;

    s->source = path;
    if (!good)
        seed_fail(s, "contains no *.json files, contains more than %u, or cannot be read",
                  FILES_MAX);
    is_good(s);
    for (int i = 0; i < count; i++) {
        struct bytes source = arena_printf(s->arena, "%s/%s", path, entries[i]->d_name);

        s->source = arena_string(s->arena, source);
        good = good && run_file(s, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* path: not NULL */
static bool run_path(struct seeding *s, const char *path)
{
    char folder[PATH_MAX], name[PATH_MAX];
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode), good;

    s->source = path;
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return seed_fail(s, "is too long"), is_good(s);
    memcpy(name, folder, sizeof name);
    s->folder = open(is_folder ? path : dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->folder < 0)
        return seed_fail(s, "cannot be read: %s", strerror(errno)), is_good(s);
    good = is_folder ? run_folder(s, path) : run_file(s, basename(name));
    close(s->folder);
    return good;
}

bool seed_run(const struct seed_options *options, const struct endpoint_set *endpoints,
              struct accounts *accounts)
{
    struct seeding s = { .endpoints = endpoints,
                         .accounts = accounts,
                         .folder = -1,
                         .hierarchical = options->hierarchical };
    bool good;

    if (!options->path && !options->containers && !options->queues && !options->tables &&
        !options->shares)
        return true;
    s.arena = arena_new(ARENA_CAP_BYTES);
    good = (!options->path || run_path(&s, options->path)) &&
           seed_names(&s, SEED_CONTAINER, "--containers", options->containers) &&
           seed_names(&s, SEED_QUEUE, "--queues", options->queues) &&
           seed_names(&s, SEED_TABLE, "--tables", options->tables) &&
           seed_names(&s, SEED_SHARE, "--shares", options->shares);
    if (good && s.made > 0)
        log_line(LOG_INFO, "seeding created %llu resources", (unsigned long long)s.made);
    arena_free_secret(s.arena);
    return good;
}
