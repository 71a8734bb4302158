/* See curl.h. */
#include "fetch/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"

/* Debian's name of the GnuTLS variant, and the common one. */
static const char *const file_names[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };

/* The member for each function. */
#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "curl_" #name, offsetof(struct curl_library, name)                                         \
    }
static const struct {
    const char *name;
    size_t at;
} functions[] = {
    FUNCTION(global_init),      FUNCTION(global_cleanup),      FUNCTION(easy_init),
    FUNCTION(easy_setopt),      FUNCTION(easy_getinfo),        FUNCTION(easy_pause),
    FUNCTION(easy_strerror),    FUNCTION(easy_cleanup),        FUNCTION(multi_init),
    FUNCTION(multi_add_handle), FUNCTION(multi_perform),       FUNCTION(multi_info_read),
    FUNCTION(multi_poll),       FUNCTION(multi_remove_handle), FUNCTION(multi_cleanup),
    FUNCTION(slist_append),     FUNCTION(slist_free_all),      FUNCTION(easy_perform),
    FUNCTION(easy_reset),
};
_Static_assert(sizeof functions / sizeof functions[0] * sizeof(void (*)(void)) ==
                   sizeof(struct curl_library),
               "each function of the library has its row");

#define CONNECT_S 30L

static struct curl_library library;
static bool is_loaded;

static void *open_library(void)
{
    void *handle = NULL;

    for (size_t i = 0; !handle && i < sizeof file_names / sizeof file_names[0]; i++)
        handle = dlopen(file_names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

static bool find_functions(void *handle)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(handle, functions[i].name);

        if (!function)
            return false;
        memcpy((char *)&library + functions[i].at, &function, sizeof function);
    }
    return true;
}

/* Never unloaded, because threads may be inside it until the process ends. */
static void load(void)
{
    void *handle = open_library();

    is_loaded =
        handle && find_functions(handle) && library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!is_loaded) {
        const char *why = dlerror();

        log_line(LOG_ERROR, "copying from other servers is not possible: libcurl: %s",
                 why ? why : "it cannot be initialised");
    }
}

const struct curl_library *curl_library_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return is_loaded ? &library : NULL;
}

void curl_set_common(const struct curl_library *curl, CURL *easy, const char *ca_path,
                     char *problem)
{
    curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(easy, CURLOPT_PROXY, "");
    curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl->easy_setopt(easy, CURLOPT_USERAGENT, "Lagra/" LAGRA_VERSION);
    curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
    if (ca_path)
        curl->easy_setopt(easy, CURLOPT_CAINFO, ca_path);
}

void curl_library_release(void)
{
    if (is_loaded)
        library.global_cleanup();
}
