/* Internal to transfer/: requests to an account's services, signed with its key or a shared access
 * signature, and retried when a service is busy. Belongs to one thread at a time, which it
 * blocks. */
#ifndef LAGRA_TRANSFER_API_CLIENT_H
#define LAGRA_TRANSFER_API_CLIENT_H

#include "base/dates.h"
#include "fetch/client.h"
#include "transfer/endpoint.h"

/* x-ms-version for the Blob, Queue and File services. */
#define ASKER_VERSION     "2021-12-02"
/* Maximum size of a response other than blob data, such as a page of a listing. */
#define ASKER_LISTING_MAX ((size_t)64 << 20)
#define ASKER_HEADERS_MAX 400u

struct api_client;

/* Returns NULL with *ret_problem, static, if libcurl cannot be loaded or the key is not base64. The
 * place remains the caller's. */
struct api_client *api_client_new(const struct account_endpoint *place, const char *ca_path,
                                  const char **ret_problem);
void api_client_free(struct api_client *api_client);

struct api_request {
    const char *method;
    enum endpoint_kind service;
    struct bytes path;  /* encoded: "/container/blob"; may be empty */
    struct bytes query; /* encoded, without '?'; may be empty */
    const struct fetch_header *headers;
    size_t header_count;
    struct bytes body; /* ptr NULL if none */
    /* requested bytes of a blob, the maximum size of the response; 0 for a listing */
    uint64_t range_bytes;
    int accepted;  /* a status other than 2xx that counts as success; 0 if none */
    bool is_probe; /* do not retry if there is no response */
};

/* Returns true if the status is 2xx, or the accepted one. Otherwise api_client_problem() describes
 * request and response, without secrets. */
bool api_client_request(struct api_client *api_client, struct arena *arena,
                        const struct api_request *api_request,
                        struct fetch_client_answer *ret_answer);
/* Valid until the next request. */
const char *api_client_problem(const struct api_client *api_client);
/* Returns true if the last request got no response. */
bool api_client_got_no_response(const struct api_client *api_client);
/* Finds out whether the account has a hierarchical namespace. Returns false, with
 * *ret_hierarchical false, if the server does not say. rest: Get-Account-Information */
bool api_client_is_hierarchical(struct api_client *api_client, struct arena *arena,
                                bool *ret_hierarchical);
bool api_client_has_service(const struct api_client *api_client, enum endpoint_kind service);
/* Returns the service's time, at most a second late: from the date of its last response, or the
 * local clock if none exists. */
instant api_client_now(const struct api_client *api_client);
/* Returns true if it uses a shared access signature, which does not grant access to access
 * policies. */
bool api_client_is_shared(const struct api_client *api_client);

#endif
