/* See journal.h. File format: a magic string, the hash of the pair, hashes of items. */
#include "transfer/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define MAGIC      "lagra import 1\n"
#define HEAD_BYTES (sizeof MAGIC - 1 + ITEM_HASH_SIZE)
#define READ_ONCE  1024u

struct record {
    struct item_hash hash;
    uint64_t number;
};

struct journal {
    int fd;
    bool goes_on;
    char *path;
    struct record *slots; /* open addressing; a zero hash marks a free slot */
    uint64_t mask;
};

static const struct item_hash nothing;

static bool is_free(const struct record *slot)
{
    return memcmp(&slot->hash, &nothing, sizeof nothing) == 0;
}

static struct record *find_slot(const struct journal *journal, const struct item_hash *hash)
{
    uint64_t at;

    memcpy(&at, hash->of, sizeof at);
    for (;; at++) {
        struct record *slot = &journal->slots[at & journal->mask];

        if (is_free(slot) || memcmp(&slot->hash, hash, sizeof *hash) == 0)
            return slot;
    }
}

bool journal_goes_on(const struct journal *journal)
{
    return journal->goes_on;
}

bool journal_has(const struct journal *journal, const struct item_hash *hash)
{
    return journal_number(journal, hash) != JOURNAL_NONE;
}

uint64_t journal_number(const struct journal *journal, const struct item_hash *hash)
{
    const struct record *slot = find_slot(journal, hash);

    return is_free(slot) ? JOURNAL_NONE : slot->number;
}

bool journal_add(struct journal *journal, const struct item_hash *hash)
{
    ssize_t n = write(journal->fd, hash, sizeof *hash);

    if (n >= 0 && n < (ssize_t)sizeof *hash)
        errno = ENOSPC;
    return n == (ssize_t)sizeof *hash;
}

/* Returns false with errno on failure. */
static bool read_records(struct journal *journal, uint64_t count)
{
    struct item_hash some[READ_ONCE];
    uint64_t slots = 1024;

    while (slots < 2 * count)
        slots *= 2;
    journal->mask = slots - 1;
    journal->slots = xcalloc(slots, sizeof journal->slots[0]);
    for (uint64_t i = 0; i < count;) {
        uint64_t now = count - i < READ_ONCE ? count - i : READ_ONCE;
        ssize_t n = file_read_at(journal->fd, some, (size_t)now * sizeof some[0],
                                 HEAD_BYTES + i * sizeof some[0]);

        if (n != (ssize_t)(now * sizeof some[0]))
            return false;
        for (uint64_t j = 0; j < now; j++) {
            struct record *slot = find_slot(journal, &some[j]);

            if (is_free(slot))
                *slot = (struct record){ .hash = some[j], .number = i + j };
        }
        i += now;
    }
    return true;
}

static const char *begin_file(struct journal *journal, const struct item_hash *pair)
{
    char head[HEAD_BYTES];

    memcpy(head, MAGIC, sizeof MAGIC - 1);
    memcpy(head + sizeof MAGIC - 1, pair, sizeof *pair);
    if (ftruncate(journal->fd, 0) != 0 ||
        write(journal->fd, head, sizeof head) != (ssize_t)sizeof head || !read_records(journal, 0))
        return "it cannot be written";
    return NULL;
}

static const char *read_file(struct journal *journal, const struct item_hash *pair)
{
    char head[HEAD_BYTES];
    struct stat status;
    uint64_t records;

    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
        return "another import uses it";
    if (fstat(journal->fd, &status) != 0)
        return "it cannot be read";
    if (status.st_size == 0)
        return begin_file(journal, pair);
    if (file_read_at(journal->fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, MAGIC, sizeof MAGIC - 1) != 0)
        return "it is not an import journal";
    if (memcmp(head + sizeof MAGIC - 1, pair, sizeof *pair) != 0)
        return "it is of another import: finish that one, remove it, or name another by --journal";
    journal->goes_on = true;
    records = ((uint64_t)status.st_size - HEAD_BYTES) / ITEM_HASH_SIZE;
    if (ftruncate(journal->fd, (off_t)(HEAD_BYTES + records * ITEM_HASH_SIZE)) != 0 ||
        !read_records(journal, records))
        return "it cannot be read";
    return NULL;
}

struct journal *journal_open(const char *path, const struct item_hash *pair,
                             const char **ret_problem)
{
    struct journal *journal = xcalloc(1, sizeof *journal);

    journal->path = xstrdup(path);
    journal->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    *ret_problem = journal->fd < 0 ? "it cannot be opened" : read_file(journal, pair);
    if (!*ret_problem)
        return journal;
    journal_close(journal, false);
    return NULL;
}

void journal_close(struct journal *journal, bool is_over)
{
    if (is_over)
        (void)unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    free(journal->slots);
    free(journal->path);
    free(journal);
}
