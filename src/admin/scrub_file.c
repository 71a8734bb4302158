/* The file `scrub`: see scrubber.h. */
#include "admin/scrub_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"

#define NAME           "scrub"
#define NAME_NEW       "scrub.new"
#define BEGIN          "lagra scrub 1\n"
/* Maximum size of the file; a record's key may be as long as a record. */
#define FILE_MAX_BYTES (16u << 20)

/* ---- reading ---- */

static bool take_line(struct bytes *text, struct bytes *ret_line)
{
    struct bytes tail;

    bytes_cut(*text, '\n', ret_line, &tail);
    *text = tail;
    return tail.ptr != NULL;
}

static bool take_number(struct bytes *text, uint64_t *ret_number)
{
    struct bytes line;

    return take_line(text, &line) && bytes_parse_u64(line, UINT64_MAX, ret_number);
}

static bool take_place(struct bytes *text, struct scrub_note *note)
{
    struct bytes line;

    if (!take_line(text, &line) || line.len % 2 != 0)
        return false;
    note->place_size = line.len / 2;
    note->place = xmalloc(note->place_size + 1);
    for (size_t i = 0; i < note->place_size; i++) {
        int high = bytes_hex_digit(line.ptr[2 * i]), low = bytes_hex_digit(line.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        note->place[i] = (char)(high << 4 | low);
    }
    return true;
}

static bool read_note(struct bytes all, struct scrub_note *note)
{
    struct scrub_state *state = &note->state;
    struct bytes text = all, line;
    uint64_t running, crc;
    size_t end;

    if (!bytes_has_prefix(text, (struct bytes)BYTES(BEGIN)))
        return false;
    text = bytes_from(text, strlen(BEGIN));
    if (!take_number(&text, &running) || !take_number(&text, &state->began) ||
        !take_number(&text, &state->bytes) || !take_number(&text, &state->records) ||
        !take_number(&text, &state->errors) || !take_number(&text, &state->last_end) ||
        !take_number(&text, &state->last_errors) || !take_place(&text, note))
        return false;
    end = all.len - text.len;
    state->is_running = running > 0;
    return take_line(&text, &line) && bytes_parse_u64(line, UINT32_MAX, &crc) && text.len == 0 &&
           crc == crc32c(0, all.ptr, end);
}

void scrub_note_read(int folder, struct scrub_note *ret_note)
{
    int fd = openat(folder, NAME, O_RDONLY | O_CLOEXEC);
    struct stat status;

    *ret_note = (struct scrub_note){ .place = NULL };
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= FILE_MAX_BYTES) {
        char *text = xmalloc((size_t)status.st_size);
        ssize_t size = file_read_at(fd, text, (size_t)status.st_size, 0);

        if (size != status.st_size || !read_note(bytes_of(text, (size_t)size), ret_note)) {
            free(ret_note->place);
            *ret_note = (struct scrub_note){ .place = NULL };
        }
        free(text);
    }
    close(fd);
}

/* ---- writing ---- */

static char *make_text(const struct scrub_state *state, struct bytes place, size_t *ret_size)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, ret_size);

    if (!to)
        return NULL;
    fprintf(to,
            BEGIN "%d\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64
                  "\n",
            state->is_running, state->began, state->bytes, state->records, state->errors,
            state->last_end, state->last_errors);
    for (size_t i = 0; i < place.len; i++)
        fprintf(to, "%02x", (unsigned char)place.ptr[i]);
    fprintf(to, "\n");
    if (fflush(to) == 0)
        fprintf(to, "%" PRIu32 "\n", crc32c(0, text, *ret_size));
    fclose(to);
    return text;
}

void scrub_note_write(int folder, const struct scrub_state *state, struct bytes place)
{
    size_t size = 0;
    char *text = make_text(state, place, &size);
    int fd = openat(folder, NAME_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = text && fd >= 0 && write(fd, text, size) == (ssize_t)size &&
                   renameat(folder, NAME_NEW, folder, NAME) == 0;

    if (!written)
        log_errno("scrub: record its progress");
    if (fd >= 0)
        close(fd);
    free(text);
}
