/* The record in the file `owner` of a cell: who owns it, or who owned it last. Pure.
 *
 * A slot of the file, OWNER_SLOT_BYTES long:
 *
 *   0   8  "LagraOwn"
 *   8   4  CRC-32C of all bytes that follow, little-endian
 *   12  2  length of the fields, big-endian
 *   14  .. fields (base/codec.h): version, cluster, cell, incarnation, renewal, is_held, lease_ms,
 *          renewed, boot, pid, name, address, client; since version 2 also forward; since version 3
 *          also used_bytes
 *   ..     zeros
 *
 * The file has two slots, which are written in turn, so a write that is torn by a crash leaves the
 * record before it. The newest valid one counts. To change the format, raise the version, keep the
 * reader of the old one, and add its bytes to tests/unit/cluster/test_owner_record.c. */
#ifndef LAGRA_CLUSTER_OWNER_RECORD_H
#define LAGRA_CLUSTER_OWNER_RECORD_H

#include "base/dates.h"
#include "base/ids.h"

#define OWNER_SLOT_BYTES   4096u
#define OWNER_FILE_BYTES   (2 * OWNER_SLOT_BYTES)
#define OWNER_NAME_MAX     64u
#define OWNER_ADDRESS_MAX  280u
#define OWNER_CLIENT_MAX   64u
#define OWNER_FORWARD_MAX  63u
#define OWNER_LEASE_MAX_MS 60000u
#define OWNER_CELL_MAX     9999u

/* A front end, as it identifies itself to others. The strings have no control characters. */
struct owner_identity {
    struct guid boot; /* of its machine: changes at each start of the kernel */
    uint64_t pid;
    char name[OWNER_NAME_MAX + 1];       /* of its machine */
    char address[OWNER_ADDRESS_MAX + 1]; /* "host:port" of its Blob service */
    char client[OWNER_CLIENT_MAX + 1];   /* "client4123" of its CephFS mount; "": not known */
    /* "192.0.2.1:10020" where other front ends forward requests to (address_read()); "": nowhere */
    char forward[OWNER_FORWARD_MAX + 1];
};

struct owner_record {
    struct guid cluster;
    uint32_t cell;
    uint64_t incarnation; /* raised by each owner; 0 if the cell never had one */
    uint64_t renewal;     /* raised by each write of the record */
    bool is_held;         /* false: the owner gave it up in good order */
    uint32_t lease_ms;
    instant renewed; /* the owner's wall clock at the renewal, for operators only */
    struct owner_identity owner;
    uint64_t used_bytes; /* of contents and records in the cell, as the owner last counted them */
};

/* Encodes the record into a slot, all OWNER_SLOT_BYTES of it. */
void owner_record_write(const struct owner_record *record, char slot[OWNER_SLOT_BYTES]);
/* Decodes a slot. Returns false if it holds anything else than a record that
 * owner_record_write() has written; *ret_record is undefined then. */
bool owner_record_read(const char slot[OWNER_SLOT_BYTES], struct owner_record *ret_record);
/* Finds the newest record of a whole file. Returns false if neither slot has a valid one. */
bool owner_record_newest(const char file[OWNER_FILE_BYTES], struct owner_record *ret_record);
/* Returns the offset in the file of the slot that this record goes to. */
uint64_t owner_record_offset(const struct owner_record *record);

#endif
