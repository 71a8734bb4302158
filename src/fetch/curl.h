/* Internal to fetch/: libcurl, loaded at the first fetch. It pulls in eighteen other libraries,
 * whose linking took a third of the program's start-up time, and most servers never copy from a
 * URL.
 * decision: 243 */
#ifndef LAGRA_FETCH_CURL_H
#define LAGRA_FETCH_CURL_H

#include <curl/curl.h>

/* libcurl's functions by name, with the types from its header. */
struct curl_library {
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_global_cleanup) global_cleanup;
    __typeof__(&curl_easy_init) easy_init;
    __typeof__(&curl_easy_setopt) easy_setopt;
    __typeof__(&curl_easy_getinfo) easy_getinfo;
    __typeof__(&curl_easy_pause) easy_pause;
    __typeof__(&curl_easy_perform) easy_perform;
    __typeof__(&curl_easy_reset) easy_reset;
    __typeof__(&curl_easy_strerror) easy_strerror;
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_multi_init) multi_init;
    __typeof__(&curl_multi_add_handle) multi_add_handle;
    __typeof__(&curl_multi_perform) multi_perform;
    __typeof__(&curl_multi_info_read) multi_info_read;
    __typeof__(&curl_multi_poll) multi_poll;
    __typeof__(&curl_multi_remove_handle) multi_remove_handle;
    __typeof__(&curl_multi_cleanup) multi_cleanup;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
};

/* Loads libcurl once. Returns NULL, after logging it, if that fails. Thread-safe. */
const struct curl_library *curl_library_load(void);
/* Sets the options common to all requests: only HTTP and HTTPS, no proxy, the connect timeout.
 * Errors are written to `problem`, of CURL_ERROR_SIZE bytes, which must live as long as the handle.
 * ca_path: PEM file with trusted certificate authorities; NULL means the system's. */
void curl_set_common(const struct curl_library *curl, CURL *easy, const char *ca_path,
                     char *problem);
/* Frees its resources, if it was loaded. Call when there are no more fetches. */
void curl_library_release(void);

#endif
