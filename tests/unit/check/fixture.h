/* What the tests of `lagra check` share: a data folder, records in it, and what a check of it says. */
#ifndef LAGRA_TESTS_CHECK_FIXTURE_H
#define LAGRA_TESTS_CHECK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

#include <cmocka.h>

#define ACCOUNT "devstoreaccount1"
#define ARENA   (1u << 20)

struct fixture {
    char folder[64];
    struct store *store;
    struct arena *arena;
    char said[8192], salvaged[100]; /* salvage() */
};

int setup(void **state);
int teardown(void **state);
void open_store(struct fixture *f);
void commit(struct fixture *f, struct partition partition, const struct changes *changes);
/* In the space of an account. */
struct partition named(const char *service, const char *name);
/* One record of these bytes. */
void put_raw(struct fixture *f, struct partition partition, enum record_family family,
             struct bytes key, const char *value);
/* Closes the store. What a check of the folder prints. */
const char *check(struct fixture *f, int status);
/* The same of a salvage of the folder, after which the new one, f->salvaged, is found whole. */
const char *salvage(struct fixture *f);
/* The same of one that has lost nothing. */
const char *salvage_whole(struct fixture *f);

#endif
