/* What census.h counts of each service. */
#ifndef LAGRA_SIM_CENSUS_PART_H
#define LAGRA_SIM_CENSUS_PART_H

#include "store/inspect.h"

/* A service's part. Every record of a container's space (a queue's, a table's) is shown twice. */
struct census_part {
    const char *service;
    const char *record_key;                  /* of what names a space, in the account's own */
    bool (*is_key)(struct bytes record_key); /* the same, where several keys do */
    bool (*read)(struct bytes value, struct guid *ret_space);
    /* Another LISTED record of the account's space. NULL: there is none */
    void (*read_other)(const struct record_place *place, const struct record *record);
    /* What is reachable; of LISTED records. */
    void (*note)(struct store *store, const struct record_place *place,
                 const struct record *record);
    /* NULL, or why the record should not be there. */
    const char *(*judge)(const struct record_place *place, const struct record *record);
    /* A row of the index that the end need not count. *ret_why: why it should not be there. NULL: there is none */
    bool (*judge_row)(const struct guid *space, struct bytes key, const char **ret_why);
    /* A space, when all its records were shown. index_rows: that it has. NULL, or what is wrong. */
    const char *(*end)(struct store *store, const struct guid *space, unsigned index_rows);
    bool shares_spaces; /* several records may name one */
    bool keeps_tasks;   /* that are not due when days have passed */
};
struct cursor;
/* Calls `look` for each row of a kind, if it is not NULL. Returns their number. */
unsigned census_rows(struct store *store, char kind,
                     void (*look)(const struct cursor *cursor, void *context), void *context);
/* census_kept.c */
void census_kept_paths(struct store *store);
/* Placements of names in the cells of a cluster: census_placement.c. Each returns false for other records, counters and tasks. */
bool census_placement_record(const struct record_place *place, const struct record *record,
                             const char **ret_why);
bool census_placement_counter(struct bytes key);
bool census_placement_task(struct bytes value);
/* When all records were shown. */
void census_placement_end(struct store *store, struct guid account);

extern const struct census_part census_blob, census_queue, census_table, census_file, census_path;

#endif
