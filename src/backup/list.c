/* Reads and writes file lists: see list.h. */
#include "backup/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/file.h"
#include "store/keyring.h"

#define FIRST_LINE     "lagra backup 1\n"
/* Enough for a million files. */
#define LIST_MAX_BYTES (128u << 20)
#define NAME_MAX_BYTES 63

void backup_list_add(struct backup_list *list, const struct backup_file *file)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        list->files = xrealloc(list->files, list->capacity * sizeof list->files[0]);
    }
    list->files[list->count] = *file;
    list->files[list->count++].name = xstrdup(file->name);
}

static int by_name(const void *a, const void *b)
{
    const struct backup_file *left = a, *right = b;

    return strcmp(left->name, right->name);
}

void backup_list_sort(struct backup_list *list)
{
    if (list->count > 0)
        qsort(list->files, list->count, sizeof list->files[0], by_name);
}

const struct backup_file *backup_list_find(const struct backup_list *list, const char *name)
{
    struct backup_file key = { .name = (char *)(uintptr_t)name };

    if (list->count == 0)
        return NULL;
    return bsearch(&key, list->files, list->count, sizeof list->files[0], by_name);
}

void backup_list_release(struct backup_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].name);
    free(list->files);
    *list = (struct backup_list){ 0 };
}

bool backup_list_knows(const char *name)
{
    static const char characters[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ-.";
    const char *rest = NULL;

    if (strcmp(name, "format") == 0 || strcmp(name, "synced") == 0 ||
        strcmp(name, KEYRING_FILE) == 0)
        return true;
    if (strncmp(name, "records/", strlen("records/")) == 0)
        rest = name + strlen("records/");
    else if (strncmp(name, "extents/", strlen("extents/")) == 0)
        rest = name + strlen("extents/");
    return rest && *rest && *rest != '.' && strlen(name) <= NAME_MAX_BYTES &&
           strspn(rest, characters) == strlen(rest);
}

/* ---- writing ---- */

static void print(FILE *to, const struct backup_list *list)
{
    char made[INSTANT_ISO_SIZE];

    instant_format_iso(list->made, made);
    fprintf(to, FIRST_LINE "made %s\nsequence %" PRIu64 "\n", made, list->sequence);
    for (size_t i = 0; i < list->count; i++) {
        const struct backup_file *file = &list->files[i];

        fprintf(to, "file %08" PRIx32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", file->crc,
                file->size, file->inode, file->changed_ns, file->name);
    }
}

static bool write_all(int fd, const char *at, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return fsync(fd) == 0;
}

bool backup_list_write(const struct backup_list *list, int fd)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    bool written;

    if (!to)
        return false;
    print(to, list);
    written = fflush(to) == 0;
    if (written)
        fprintf(to, "end %zu %08" PRIx32 "\n", list->count, crc32c(0, text, size));
    written = fclose(to) == 0 && written;
    written = written && write_all(fd, text, size);
    free(text);
    return written;
}

/* ---- reading ---- */

/* Consumes a line and its line end. Returns false if there is no complete line. */
static bool take_line(struct bytes *text, struct bytes *ret_line)
{
    struct bytes tail;

    bytes_cut(*text, '\n', ret_line, &tail);
    if (!tail.ptr)
        return false;
    *text = tail;
    return true;
}

/* Consumes a word followed by a space. */
static bool take_word(struct bytes *line, struct bytes *ret_word)
{
    struct bytes tail;

    if (!line->ptr)
        return false;
    bytes_cut(*line, ' ', ret_word, &tail);
    *line = tail;
    return ret_word->len > 0;
}

static bool take_number(struct bytes *line, uint64_t *ret_number)
{
    struct bytes word;

    return take_word(line, &word) && bytes_parse_u64(word, UINT64_MAX, ret_number);
}

static bool take_crc(struct bytes *line, uint32_t *ret_crc)
{
    struct bytes word;
    uint32_t crc = 0;

    if (!take_word(line, &word) || word.len != 8)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        int digit = bytes_hex_digit(word.ptr[i]);

        if (digit < 0)
            return false;
        crc = crc << 4 | (uint32_t)digit;
    }
    *ret_crc = crc;
    return true;
}

/* Consumes the prefix "NAME ". */
static bool take_begin(struct bytes *line, const char *name)
{
    struct bytes word;

    return take_word(line, &word) && bytes_is(word, name);
}

static bool read_file(struct bytes line, struct backup_list *list)
{
    char name[NAME_MAX_BYTES + 1];
    struct backup_file file = { .name = name };

    if (!take_begin(&line, "file") || !take_crc(&line, &file.crc) ||
        !take_number(&line, &file.size) || !take_number(&line, &file.inode) ||
        !take_number(&line, &file.changed_ns) || !line.ptr || line.len > NAME_MAX_BYTES ||
        memchr(line.ptr, '\0', line.len))
        return false;
    memcpy(name, line.ptr, line.len);
    name[line.len] = '\0';
    /* sorted, without duplicates */
    if (!backup_list_knows(name) ||
        (list->count > 0 && strcmp(list->files[list->count - 1].name, name) >= 0))
        return false;
    backup_list_add(list, &file);
    return true;
}

static bool read_head(struct bytes *text, struct backup_list *list)
{
    struct bytes first = bytes_of(FIRST_LINE, strlen(FIRST_LINE) - 1), line;

    return take_line(text, &line) && bytes_equal(line, first) && take_line(text, &line) &&
           take_begin(&line, "made") && instant_parse_iso(line, &list->made) &&
           take_line(text, &line) && take_begin(&line, "sequence") &&
           take_number(&line, &list->sequence);
}

static bool read_list(struct bytes all, struct backup_list *list)
{
    struct bytes text = all, line = { 0 };
    uint64_t count;
    uint32_t crc;
    size_t end;

    if (!read_head(&text, list))
        return false;
    while (text.len > 0 && bytes_has_prefix(text, (struct bytes)BYTES("file ")))
        if (!take_line(&text, &line) || !read_file(line, list))
            return false;
    end = all.len - text.len;
    return take_line(&text, &line) && text.len == 0 && take_begin(&line, "end") &&
           take_number(&line, &count) && count == list->count && take_crc(&line, &crc) &&
           !line.ptr && crc == crc32c(0, all.ptr, end);
}

bool backup_list_read(int fd, struct backup_list *ret_list)
{
    struct backup_list list = { 0 };
    struct stat status;
    char *text;
    ssize_t size;
    bool good;

    if (fstat(fd, &status) < 0)
        return false;
    errno = 0;
    if (status.st_size <= 0 || status.st_size > LIST_MAX_BYTES)
        return false;
    text = xmalloc((size_t)status.st_size);
    size = file_read_at(fd, text, (size_t)status.st_size, 0);
    good = size == status.st_size && read_list(bytes_of(text, (size_t)size), &list);
    if (size >= 0)
        errno = 0;
    free(text);
    if (good)
        *ret_list = list;
    else
        backup_list_release(&list);
    return good;
}
