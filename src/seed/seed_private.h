/* Inside of seed/ only. Files are read twice: a trial, in which nothing is made, so that one with a fault changes
 * nothing; then in earnest. */
#ifndef LAGRA_SEED_PRIVATE_H
#define LAGRA_SEED_PRIVATE_H

#include "base/json_rows.h"
#include "seed/seed.h"
#include "service/own_request.h"

enum seed_kind { SEED_CONTAINER, SEED_QUEUE, SEED_TABLE, SEED_SHARE, SEED_KINDS };

#define SEED_METADATA_MAX 64u
/* Of requests of all services but tables. */
#define SEED_VERSION      "2025-11-05"
/* The metadata of a queue or file that has not got all of its messages or bytes. */
#define SEED_MARK         "x-ms-meta-lagra_unfinished"

/* What is read before anything is made of it; all of it points into the file or the arena. */
struct seed_item {
    enum seed_kind kind;
    struct bytes name;
    struct bytes access;   /* of a container; ptr NULL: nobody's but the account's */
    struct bytes quota;    /* of a share: digits; ptr NULL: the service's default */
    struct bytes upload;   /* a folder, relative to the file's; ptr NULL: none */
    const char *upload_at; /* in the text */
    struct bytes list;     /* JSON: messages of a queue, entities of a table; ptr NULL: none */
    struct http_header metadata[SEED_METADATA_MAX];
    size_t metadata_count;
};

struct seeding {
    const struct endpoint_set *endpoints;
    struct accounts *accounts;
    struct arena *arena;
    const char *source;   /* for words: the file, or an option */
    struct bytes text;    /* of the file */
    int folder;           /* it lies in */
    struct bytes account; /* whose the next things are */
    bool is_trial;
    const char *at;      /* in the text, where what is being read begins; NULL: not of a text */
    const char *problem; /* NULL: none yet */
    struct seed_item *item;
    uint64_t made; /* containers, queues, tables, shares, files, entities, messages */
};

/* ---- seed_ask.c ---- */

/* The first thing that is wrong (printf). returns false */
bool seed_fail(struct seeding *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Asks the service; an answer of `accepted` is as good as a success. False: refused, which is the problem now. */
bool seed_ask(struct seeding *s, const char *service, const struct own_request *asked,
              enum error accepted, struct own_answer *ret_answer);
/* A header of a request; name: static, in lower case. */
struct http_header seed_header(const char *name, struct bytes value);

/* ---- seed_file.c ---- */

/* Reads s->text, and makes what it says unless it is a trial. */
void seed_file(struct seeding *s);

/* ---- seed_make.c ---- */

/* Makes a container, queue, table or share with what is in it. */
void seed_make(struct seeding *s, const struct seed_item *item);
/* rules: JSON, a list; of the service */
void seed_cors(struct seeding *s, struct bytes service, struct bytes rules);
/* An account, unless it is there. keys: of `count`, at least one */
void seed_account(struct seeding *s, struct bytes name, const struct bytes *keys, size_t count);

/* ---- seed_upload.c ---- */

/* All files of a folder, and of those in it, into a container or share. In a trial: whether it is there. */
void seed_upload(struct seeding *s, const struct seed_item *item);

#endif
