/* See certificate_renewal.h. */
#include "program/certificate_renewal.h"

#include <sys/stat.h>

#include "base/log.h"
#include "base/metrics.h"
#include "observe/access_log.h"

static struct file_mark mark_of(const char *path)
{
    struct stat status;

    if (!path || stat(path, &status) != 0)
        return (struct file_mark){ .size = 0 };
    return (struct file_mark){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = (uint64_t)status.st_size,
        .changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec,
    };
}

/* Whether the file is another one than it was. */
static bool look_at(const char *path, struct file_mark *seen)
{
    struct file_mark now = mark_of(path);
    bool is_same = now.device == seen->device && now.inode == seen->inode &&
                   now.size == seen->size && now.changed_ns == seen->changed_ns;

    *seen = now;
    return !is_same;
}

static bool have_changed(struct certificate_renewal *renewal)
{
    bool cert = look_at(renewal->options->cert_path, &renewal->seen[0]);
    bool key = look_at(renewal->options->key_path, &renewal->seen[1]);

    return cert || key;
}

void certificate_renewal_init(struct certificate_renewal *renewal, const struct options *options)
{
    *renewal = (struct certificate_renewal){ .options = options };
    (void)have_changed(renewal);
}

void certificate_renewal_show(const struct certificate *certificate)
{
    static const struct metric_family family = {
        "lagra_certificate_expires_timestamp_seconds",
        "When the certificate expires, or the first one of its chain, since 1970.", METRIC_GAUGE
    };
    static int64_t shown_s;

    if (!certificate->chain)
        return;
    metric_add(metric_series(&family, ""), certificate->expires_s - shown_s);
    shown_s = certificate->expires_s;
}

void certificate_renewal_look(struct certificate_renewal *renewal)
{
    struct certificate renewed;
    const char *problem = NULL;

    if (!have_changed(renewal))
        return;
    if (!certificate_read(renewal->options, &renewed))
        problem = "it cannot be read";
    for (size_t i = 0; i < RENEWED_SERVERS_MAX && !problem; i++) {
        if (renewal->servers[i])
            http_renew_certificate(renewal->servers[i], renewed.chain, renewed.key, &problem);
    }
    if (!problem)
        certificate_renewal_show(&renewed);
    certificate_free(&renewed);
    if (problem) {
        log_line(LOG_WARN, "the previous certificate remains in use: %s", problem);
        return;
    }
    log_line(LOG_INFO, "the certificate was renewed");
    audit_note("the certificate was renewed", bytes_of(NULL, 0));
}
