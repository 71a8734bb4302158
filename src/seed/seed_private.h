/* Internal to seed/. Files are read twice: first a dry run, so that a file with an error creates
 * nothing, then for real. */
#ifndef LAGRA_SEED_PRIVATE_H
#define LAGRA_SEED_PRIVATE_H

#include "base/json.h"
#include "seed/seed.h"
#include "request/internal_request.h"

enum seed_kind { SEED_CONTAINER, SEED_QUEUE, SEED_TABLE, SEED_SHARE, SEED_KINDS };

#define SEED_METADATA_MAX 64u
/* x-ms-version of requests to all services except tables. */
#define SEED_VERSION      "2025-11-05"
/* Metadata that marks a queue or file whose messages or bytes are incomplete. */
#define SEED_MARK         "x-ms-meta-lagra_unfinished"

/* A resource to create. All strings point into the file or the arena. */
struct seed_item {
    enum seed_kind kind;
    struct bytes name;
    struct bytes access;   /* of a container; ptr NULL means private */
    struct bytes quota;    /* of a share: digits; ptr NULL means default */
    struct bytes upload;   /* directory, relative to the file's; ptr NULL if none */
    const char *upload_at; /* position in the text */
    struct bytes list;     /* JSON: messages of a queue, entities of a table; ptr NULL if none */
    struct http_header metadata[SEED_METADATA_MAX];
    size_t metadata_count;
};

struct seeding {
    const struct endpoint_set *endpoints;
    struct accounts *accounts;
    struct arena *arena;
    const char *source;   /* file name or option, for error messages */
    struct bytes text;    /* contents of the file */
    int folder;           /* descriptor of the file's directory */
    struct bytes account; /* account of the following items */
    bool hierarchical;    /* as in struct seed_options */
    bool dry_run;
    /* position of the current item in `text`, for error messages; NULL if it is from an option */
    const char *at;
    const char *problem; /* NULL if none exists yet */
    struct seed_item *item;
    /* number of containers, queues, tables, shares, files, entities and messages created */
    uint64_t made;
};

/* ---- seed_request.c ---- */

/* Sets the first problem (printf). Returns false. */
bool seed_fail(struct seeding *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sends a request to a service; the error `accepted` counts as success. Returns false, and sets the
 * problem, if it failed. */
bool seed_request(struct seeding *s, const char *service, const struct internal_request *asked,
                  enum error accepted, struct internal_response *ret_answer);
/* Returns a request header; name: static, in lower case. */
struct http_header seed_header(const char *name, struct bytes value);

/* ---- seed_file.c ---- */

/* Reads s->text, and creates its resources unless it is a dry run. */
void seed_file(struct seeding *s);

/* ---- seed_make.c ---- */

/* Creates a container, queue, table or share with its contents. */
void seed_make(struct seeding *s, const struct seed_item *item);
/* Sets the CORS rules of a service. rules: JSON list */
void seed_cors(struct seeding *s, struct bytes service, struct bytes rules);
/* Creates an account, unless it exists. count: number of keys, at least one */
void seed_account(struct seeding *s, struct bytes name, const struct bytes *keys, size_t count,
                  bool hierarchical);

/* Sets settings of the account (seed_settings.c). object: JSON */
void seed_settings(struct seeding *s, struct bytes object);

/* ---- seed_upload.c ---- */

/* Uploads all files below a directory to a container or share. In a dry run, only checks that the
 * directory exists. */
void seed_upload(struct seeding *s, const struct seed_item *item);

#endif
