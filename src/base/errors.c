/* The table of errors.def in memory. */
#include "base/errors.h"

#include <assert.h>

struct error_row {
    const char *code;
    int status;
    const char *message;
};

static const struct error_row rows[ERROR_COUNT] = {
    [OK] = { "", 200, "" },
#define ERROR(name, code, status, message) [E_##name] = { code, status, message },
#include "base/errors.def"
#undef ERROR
};

static const struct error_row *row(enum error e)
{
    assert((unsigned)e < ERROR_COUNT);
    return &rows[e];
}

const char *error_code(enum error e)
{
    return row(e)->code;
}

int error_status(enum error e)
{
    return row(e)->status;
}

const char *error_message(enum error e)
{
    return row(e)->message;
}

bool error_find(struct bytes code, enum error *ret_error)
{
    for (int e = OK + 1; e < ERROR_COUNT; e++) {
        if (!bytes_is(code, rows[e].code))
            continue;
        *ret_error = (enum error)e;
        return true;
    }
    return false;
}
