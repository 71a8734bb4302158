/* See pins.h. */
#include "cluster/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "cluster/owner_record.h"

#define DRAINED "-" /* in place of an account; the cell is drained */

/* ---- pins ---- */

/* Returns the index of the account's pin, or the number of pins. */
static unsigned find(const struct pins *pins, struct bytes account)
{
    unsigned i = 0;

    while (i < pins->count && !bytes_is(account, pins->pins[i].account))
        i++;
    return i;
}

uint32_t pins_find(const struct pins *pins, struct bytes account)
{
    unsigned i = find(pins, account);

    return i < pins->count ? pins->pins[i].cell : 0;
}

static unsigned find_drained(const struct pins *pins, uint32_t cell)
{
    unsigned i = 0;

    while (i < pins->drained_count && pins->drained[i] != cell)
        i++;
    return i;
}

bool pins_is_drained(const struct pins *pins, uint32_t cell)
{
    return find_drained(pins, cell) < pins->drained_count;
}

bool pins_set_drained(struct pins *pins, uint32_t cell, bool is_drained)
{
    unsigned i = find_drained(pins, cell);

    if (is_drained && i == pins->drained_count) {
        if (i == DRAINED_MAX)
            return false;
        pins->drained[pins->drained_count++] = cell;
    } else if (!is_drained && i < pins->drained_count) {
        pins->drained[i] = pins->drained[--pins->drained_count];
    }
    return true;
}

static bool is_name(struct bytes account)
{
    for (size_t i = 0; i < account.len; i++)
        if (!(account.ptr[i] >= 'a' && account.ptr[i] <= 'z') &&
            !(account.ptr[i] >= '0' && account.ptr[i] <= '9'))
            return false;
    return account.len > 0 && account.len <= PIN_ACCOUNT_MAX;
}

bool pins_set(struct pins *pins, struct bytes account, uint32_t cell)
{
    unsigned i = find(pins, account);

    if (!is_name(account) || cell > OWNER_CELL_MAX || (cell > 0 && i == PINS_MAX))
        return false;
    if (cell > 0) {
        snprintf(pins->pins[i].account, sizeof pins->pins[i].account, "%.*s", BYTES_ARG(account));
        pins->pins[i].cell = cell;
        if (i == pins->count)
            pins->count++;
    } else if (i < pins->count) {
        pins->pins[i] = pins->pins[--pins->count];
    }
    return true;
}

/* Adds a line's pin or drained cell. Returns false if it is a duplicate or invalid. */
static bool add_line(struct pins *pins, struct bytes account, uint32_t cell)
{
    if (bytes_is(account, DRAINED))
        return !pins_is_drained(pins, cell) && pins_set_drained(pins, cell, true);
    return pins_find(pins, account) == 0 && pins_set(pins, account, cell);
}

bool pins_parse(struct bytes text, struct pins *ret_pins)
{
    struct bytes line, account, number;
    uint64_t cell;

    ret_pins->count = ret_pins->drained_count = 0;
    while (text.len > 0) {
        bytes_cut(text, '\n', &line, &text);
        bytes_cut(line, ' ', &account, &number);
        if (!text.ptr || !number.ptr || !bytes_parse_u64(number, OWNER_CELL_MAX, &cell) ||
            cell == 0 || !add_line(ret_pins, account, (uint32_t)cell))
            return false;
    }
    return true;
}

/* ---- the file ---- */

static bool failed(const char *what, const char **ret_problem)
{
    static char problem[256];

    snprintf(problem, sizeof problem, "%s: %s", what, strerrordesc_np(errno));
    *ret_problem = problem;
    return false;
}

static bool read_file(int fd, struct pins *ret_pins, const char **ret_problem)
{
    char *text = xmalloc(PINS_FILE_MAX + 1);
    ssize_t n = file_read_at(fd, text, PINS_FILE_MAX + 1, 0);
    bool is_read =
        n >= 0 && (size_t)n <= PINS_FILE_MAX && pins_parse(bytes_of(text, (size_t)n), ret_pins);

    if (n < 0)
        failed("its file `pins` cannot be read", ret_problem);
    else if (!is_read)
        *ret_problem = "its file `pins` is malformed";
    free(text);
    return is_read;
}

bool pins_read(const char *path, struct pins *ret_pins, const char **ret_problem)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = folder >= 0 ? openat(folder, PINS_NAME, O_RDONLY | O_CLOEXEC) : -1;
    bool is_read = fd < 0 && folder >= 0 && errno == ENOENT;

    ret_pins->count = ret_pins->drained_count = 0;
    if (fd >= 0)
        is_read = read_file(fd, ret_pins, ret_problem);
    else if (!is_read)
        failed("its file `pins` cannot be opened", ret_problem);
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    return is_read;
}

static bool write_file(int folder, const struct pins *pins)
{
    char *text = xmalloc(PINS_FILE_MAX + 1);
    size_t length = 0;
    bool is_done;

    for (unsigned i = 0; i < pins->count; i++)
        length += (size_t)snprintf(text + length, PINS_FILE_MAX + 1 - length, "%s %u\n",
                                   pins->pins[i].account, (unsigned)pins->pins[i].cell);
    for (unsigned i = 0; i < pins->drained_count; i++)
        length += (size_t)snprintf(text + length, PINS_FILE_MAX + 1 - length, DRAINED " %u\n",
                                   (unsigned)pins->drained[i]);
    is_done = file_replace(folder, PINS_NAME, bytes_of(text, length));
    free(text);
    return is_done;
}

bool pins_write(const char *path, const struct pins *pins, const char **ret_problem)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_done = folder >= 0 && write_file(folder, pins);

    if (!is_done)
        failed("its file `pins` cannot be written", ret_problem);
    if (folder >= 0)
        close(folder);
    return is_done;
}
