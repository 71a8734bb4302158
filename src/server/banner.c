/* Messages on stdout: see banner.h. */
#include "server/banner.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const names[SERVICE_COUNT] = { "Blob", "Queue", "Table", "File", "Dfs" };

/* Placeholders: %N service, %n service in lower case, %U URL, %H host and port. The messages of
 * azurite differ from those of Azurite's commands for one service; the Table service's has a
 * wording of its own. */
static const char *const together[BANNERS] = {
    "Azurite %N service is starting at %U",
    "Azurite %N service is successfully listening at %U",
    "Azurite %N service is closing...",
    "Azurite %N service successfully closed",
};
static const char *const alone[BANNERS] = {
    "Azurite %N service is starting on %H",
    "Azurite %N service successfully listens on %U",
    "Azurite %N service is closing...",
    "Azurite %N service successfully closed",
};
static const char *const own_listening = "Lagra %n service listens on %U";
static const char *const table_listening_alone = "Azurite %N service successfully started on %H";

static void print_line(const char *line, const struct options *options, size_t service,
                       uint16_t port)
{
    const char *host = options->listen[service].host;
    const char *scheme = options->cert_path ? "https" : "http";
    bool is_ipv6 = strchr(host, ':');

    for (; *line; line++) {
        if (line[0] != '%') {
            putchar(*line);
            continue;
        }
        line++;
        if (*line == 'N') {
            fputs(names[service], stdout);
        } else if (*line == 'n') {
            printf("%c%s", tolower(names[service][0]), names[service] + 1);
        } else {
            if (*line == 'U')
                printf("%s://", scheme);
            printf(is_ipv6 ? "[%s]:%u" : "%s:%u", host, port);
        }
    }
    putchar('\n');
    fflush(stdout);
}

static bool serves_one(const struct options *options)
{
    size_t count = 0;

    for (size_t i = 0; i < SERVICE_COUNT; i++)
        count += options->listen[i].wanted;
    return count == 1;
}

static const char *line_of(const struct options *options, enum banner what, size_t service)
{
    if (!serves_one(options))
        return together[what];
    return what == BANNER_LISTENING && service == SERVICE_TABLE ? table_listening_alone
                                                                : alone[what];
}

void banner_print(const struct options *options, enum banner what, size_t service, uint16_t port)
{
    if (options->is_azurite)
        print_line(line_of(options, what, service), options, service, port);
    else if (what == BANNER_LISTENING && !options->silent)
        print_line(own_listening, options, service, port);
}

void banner_print_all(const struct options *options, enum banner what)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (options->listen[i].wanted)
            banner_print(options, what, i, options->listen[i].port);
    }
}
