/* Notifications to systemd of a service of Type=notify: READY=1, RELOADING=1, STOPPING=1. man: sd_notify(3) */
#ifndef LAGRA_PROGRAM_SUPERVISOR_H
#define LAGRA_PROGRAM_SUPERVISOR_H

/* Sends the state to the socket that NOTIFY_SOCKET names. Without one, or where nobody listens, nothing
 * happens: a server runs without a supervisor too. Main thread. */
void supervisor_notify(const char *state);

#endif
