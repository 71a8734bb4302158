/* What SMB clients do with files of the share "sha", without SMB: attempts of handles/handle.h, each committed as
 * its server does, beside requests of the File service (blob/fixture.h). In memory; with
 * LAGRA_TEST_STORE=embedded in the environment, in a folder.
 *
 * Memory of what comes of an attempt lives as long as the fixture. */
#ifndef LAGRA_TESTS_UNIT_FILE_HANDLES_H
#define LAGRA_TESTS_UNIT_FILE_HANDLES_H

#include "../blob/fixture.h"

#include "handles/handle_info.h"
#include "handles/handle_io.h"
#include "handles/handle_locks.h"
#include "handles/handle_names.h"
#include "handles/handle_open.h"

#define R       ACCESS_READ
#define W       ACCESS_WRITE
#define D       ACCESS_DELETE
#define RWD     ACCESS_ALL

#define MAY_RWD (MAY_READ_DATA | MAY_WRITE_DATA | MAY_DELETE)

/* *state: of type struct fixture. */
int handles_setup(void **state);
int handles_teardown(void **state);
/* The share as it is connected to. */
const struct tree_connect *the_mount(void);
struct arena *handles_arena(void);

/* One attempt, and the commit of what it changes. returns what the attempt did */
enum error run(struct fixture *f, attempt_fn *attempt, void *of);
/* The same of one that goes on waiting: *waits_until as it left it. */
enum error run_again(struct fixture *f, attempt_fn *attempt, void *of, instant *waits_until);
/* Runs one attempt, something else, and then the commit. Returns what the commit did. */
struct between {
    void (*run)(struct fixture *f, void *of);
    void *of;
};
enum error run_around(struct fixture *f, attempt_fn *attempt, void *of,
                      const struct between *between);
/* The instant of the newest attempt. */
instant decided_at(void);

/* What opens "dir\\file" with these rights, sharing all; not run yet. */
struct handle_open asked(const char *path, uint32_t desired, enum open_disposition disposition);
/* Opens it. */
struct held_handle opened(struct fixture *f, const char *path, uint32_t desired,
                          enum open_disposition disposition);
struct held_handle opened_directory(struct fixture *f, const char *path, uint32_t desired);
/* The last one of the file? */
bool closed(struct fixture *f, const struct held_handle *handle);

enum error writes(struct fixture *f, struct held_handle *handle, uint64_t offset, const char *text);
/* What the handle reads: at most 1 MiB; NULL: refused by *ret_error. */
const char *reads(struct fixture *f, const struct held_handle *handle, uint64_t offset,
                  uint64_t length, enum error *ret_error);
struct handle_info shown(struct fixture *f, const struct held_handle *handle);
enum error sets_pending(struct fixture *f, const struct held_handle *handle, bool deletes);
/* Names of a path, split at backslashes. */
const struct bytes *names_of(const char *path, size_t *ret_count);

#endif
