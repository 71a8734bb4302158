/* One row a malformed part. */
#include "malformed.h"

#include <string.h>

#include "http/http.h"

#define OP(name)   (UINT64_C(1) << OP_##name)
#define ACT(name)  (1u << ACT_##name)
#define EVERY      ((UINT64_C(1) << OPS) - 1)
#define LEASES     (OP(LEASE_BLOB) | OP(LEASE_CONTAINER))
#define LISTS      (OP(LIST_BLOBS) | OP(LIST_CONTAINERS))
#define COPIES     OP(COPY)
#define BODIES     (OP(PUT_BLOB) | OP(PUT_BLOCK) | OP(APPEND_BLOCK) | OP(PUT_PAGE))
#define PAGES      (OP(PUT_PAGE) | OP(CLEAR_PAGE))
#define METADATA   (OP(PUT_BLOB) | OP(SET_METADATA) | OP(PUT_BLOCK_LIST) | OP(CREATE_CONTAINER))
#define SNAPSHOTED (OP(GET_BLOB) | OP(HEAD_BLOB) | OP(GET_METADATA) | OP(DELETE_BLOB))
#define DATED      (OP(SET_PROPERTIES) | OP(PUT_BLOB) | OP(DELETE_CONTAINER) | OP(SET_METADATA))

#define HEADER(name, value, ops, acts, code)                                                       \
    {                                                                                              \
        name, value, false, ops, acts, false, 400, code                                            \
    }
#define QUERY(name, value, ops, code)                                                              \
    {                                                                                              \
        name, value, true, ops, 0, false, 400, code                                                \
    }

/* clang-format off */
static const struct malformed rows[] = {
    HEADER("x-ms-version", "newest", EVERY, 0, "InvalidHeaderValue"),
    HEADER("x-ms-lease-action", "grab", LEASES, 0, "InvalidHeaderValue"),
    HEADER("x-ms-lease-duration", "14", LEASES, ACT(ACQUIRE), "InvalidHeaderValue"),
    HEADER("x-ms-lease-duration", "61", LEASES, ACT(ACQUIRE), "InvalidHeaderValue"),
    HEADER("x-ms-lease-duration", "-2", LEASES, ACT(ACQUIRE), "InvalidHeaderValue"),
    HEADER("x-ms-lease-break-period", "61", LEASES, ACT(BREAK), "InvalidHeaderValue"),
    HEADER("x-ms-lease-break-period", "-1", LEASES, ACT(BREAK), "InvalidHeaderValue"),
    HEADER("x-ms-proposed-lease-id", "mine", LEASES, ACT(ACQUIRE) | ACT(CHANGE), "InvalidHeaderValue"),
    HEADER("x-ms-lease-id", "mine", LEASES, ACT(RENEW) | ACT(CHANGE) | ACT(RELEASE), "InvalidHeaderValue"),
    HEADER("x-ms-lease-id", "mine", OP(PUT_BLOB) | OP(DELETE_BLOB) | OP(HEAD_BLOB), 0, "InvalidHeaderValue"),
    HEADER("if-modified-since", "yesterday", DATED, 0, "InvalidHeaderValue"),
    HEADER("x-ms-blob-type", "HeapBlob", OP(PUT_BLOB), 0, "InvalidHeaderValue"),
    HEADER("x-ms-meta-1st", "x", METADATA, 0, "InvalidMetadata"),
    HEADER("x-ms-delete-snapshots", "all", OP(DELETE_BLOB), 0, "InvalidHeaderValue"),
    HEADER("x-ms-blob-public-access", "everyone", OP(SET_ACL) | OP(CREATE_CONTAINER), 0, "InvalidHeaderValue"),
    QUERY("maxresults", "0", LISTS, "OutOfRangeQueryParameterValue"),
    QUERY("maxresults", "-1", LISTS, "OutOfRangeQueryParameterValue"),
    QUERY("maxresults", "many", LISTS, "InvalidQueryParameterValue"),
    QUERY("include", "everything", LISTS, "InvalidQueryParameterValue"),
    QUERY("marker", "*", OP(LIST_BLOBS), "InvalidQueryParameterValue"),
    QUERY("snapshot", "now", SNAPSHOTED, "InvalidQueryParameterValue"),
    QUERY("blockid", "*", OP(PUT_BLOCK), "InvalidQueryParameterValue"),
    HEADER("range", "bytes=0-510", PAGES, 0, "InvalidHeaderValue"),
    HEADER("range", "bytes=1-512", PAGES, 0, "InvalidHeaderValue"),
    HEADER("x-ms-if-sequence-number-le", "-1", PAGES, 0, "InvalidInput"),
    HEADER("x-ms-blob-condition-appendpos", "end", OP(APPEND_BLOCK) | OP(SEAL), 0, "InvalidHeaderValue"),
    HEADER("x-ms-sequence-number-action", "decrement", OP(SET_PROPERTIES), 0, "InvalidHeaderValue"),
    QUERY("prevsnapshot", "then", OP(PAGE_RANGES), "InvalidQueryParameterValue"),
    HEADER("x-ms-access-tier", "Tepid", OP(SET_TIER), 0, "InvalidHeaderValue"),
    HEADER("x-ms-rehydrate-priority", "Highest", OP(SET_TIER), 0, "InvalidHeaderValue"),
    HEADER("x-ms-copy-source", "a", COPIES, 0, "InvalidHeaderValue"),
    HEADER("x-ms-if-tags", "k=1", OP(GET_BLOB) | OP(DELETE_BLOB), 0, "InvalidHeaderValue"),
    QUERY("where", "k", OP(FIND), "InvalidQueryParameterValue"),
    /* Of the body, which is read before the state is looked at for the last time. */
    { "content-md5", "c2hvcnQ=", false, BODIES, 0, true, 400, "InvalidMd5" },
    { "content-md5", "AAAAAAAAAAAAAAAAAAAAAA==", false, BODIES, 0, true, 400, "Md5Mismatch" },
};
/* clang-format on */
#define ROWS (sizeof rows / sizeof rows[0])

static bool fits(const struct malformed *row, const struct ask *ask)
{
    bool leases = ask->op == OP_LEASE_BLOB || ask->op == OP_LEASE_CONTAINER;

    if (!(row->ops >> ask->op & 1) || (ask->snapshot[0] && strcmp(row->name, "snapshot") == 0))
        return false;
    if (row->of_body && ask->op == OP_PUT_BLOB && ask->kind != KIND_BLOCKS)
        return false;
    return !leases || row->acts == 0 || row->acts >> ask->act & 1;
}

const struct malformed *malformed_draw(const struct ask *ask, uint64_t random)
{
    for (unsigned i = 0; i < ROWS; i++) {
        const struct malformed *row = &rows[(random + i) % ROWS];

        if (fits(row, ask))
            return row;
    }
    return NULL;
}

bool malformed_header(const struct ask *ask, const char *name)
{
    return ask->malformed && !ask->malformed->in_query && strcmp(ask->malformed->name, name) == 0;
}

bool malformed_query(const struct ask *ask, const char *name)
{
    return ask->malformed && ask->malformed->in_query && strcmp(ask->malformed->name, name) == 0;
}

bool malformed_is_missing(const struct ask *ask, const struct http_header *headers, size_t count)
{
    if (!ask->malformed || ask->malformed->in_query)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes_is(headers[i].name, ask->malformed->name))
            return false;
    }
    return true;
}
