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

#define NAME     "pins"
#define NAME_NEW "pins.new"

/* ---- pins ---- */

static struct pin *find(struct pins *pins, struct bytes account)
{
    for (unsigned i = 0; i < pins->count; i++)
        if (bytes_is(account, pins->pins[i].account))
            return &pins->pins[i];
    return NULL;
}

uint32_t pins_find(const struct pins *pins, struct bytes account)
{
    for (unsigned i = 0; i < pins->count; i++)
        if (bytes_is(account, pins->pins[i].account))
            return pins->pins[i].cell;
    return 0;
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
    struct pin *pin = find(pins, account);

    if (!is_name(account) || cell > OWNER_CELL_MAX)
        return false;
    if (cell == 0) {
        if (pin)
            *pin = pins->pins[--pins->count];
        return true;
    }
    if (!pin && pins->count == PINS_MAX)
        return false;
    if (!pin) {
        pin = &pins->pins[pins->count++];
        snprintf(pin->account, sizeof pin->account, "%.*s", BYTES_ARG(account));
    }
    pin->cell = cell;
    return true;
}

bool pins_parse(struct bytes text, struct pins *ret_pins)
{
    struct bytes line, account, number;
    uint64_t cell;

    ret_pins->count = 0;
    while (text.len > 0) {
        bytes_cut(text, '\n', &line, &text);
        bytes_cut(line, ' ', &account, &number);
        if (!text.ptr || !number.ptr || !bytes_parse_u64(number, OWNER_CELL_MAX, &cell) ||
            cell == 0 || pins_find(ret_pins, account) > 0 ||
            !pins_set(ret_pins, account, (uint32_t)cell))
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
    int fd = folder >= 0 ? openat(folder, NAME, O_RDONLY | O_CLOEXEC) : -1;
    bool is_read = fd < 0 && folder >= 0 && errno == ENOENT;

    ret_pins->count = 0;
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

static bool write_all(int fd, const struct pins *pins)
{
    char line[PIN_ACCOUNT_MAX + sizeof " 9999\n"];

    for (unsigned i = 0; i < pins->count; i++) {
        int length = snprintf(line, sizeof line, "%s %u\n", pins->pins[i].account,
                              (unsigned)pins->pins[i].cell);

        if (write(fd, line, (size_t)length) != length)
            return false;
    }
    return fsync(fd) == 0;
}

bool pins_write(const char *path, const struct pins *pins, const char **ret_problem)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd =
        folder >= 0 ? openat(folder, NAME_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    bool is_done = fd >= 0 && write_all(fd, pins) &&
                   renameat(folder, NAME_NEW, folder, NAME) == 0 && fsync(folder) == 0;

    if (!is_done)
        failed("its file `pins` cannot be written", ret_problem);
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    return is_done;
}
