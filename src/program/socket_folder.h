/* The folder of a server that keeps its data elsewhere (--store with --location): it is there for the admin socket alone,
 * and for the lock that keeps another server out. Main thread. */
#ifndef LAGRA_PROGRAM_SOCKET_FOLDER_H
#define LAGRA_PROGRAM_SOCKET_FOLDER_H

/* Makes it if it is missing, and locks it until the descriptor is closed. One with other files is refused: it may be
 * somebody's data folder.
 *
 * returns the descriptor of the lock; -1 and *ret_problem, words for the operator (static) */
int socket_folder_take(const char *folder, const char **ret_problem);

#endif
