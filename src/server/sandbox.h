/* What a server may still do once its options are read: the files that they name and those of the system that it
 * reads (Landlock), and the system calls that it makes (seccomp). Whoever takes the process over by what clients
 * send finds no other file to write, no program to run and no process to make. decision: 371, docs/sandbox.md
 * man: landlock(7), seccomp(2) */
#ifndef LAGRA_SERVER_SANDBOX_H
#define LAGRA_SERVER_SANDBOX_H

#include "server/options.h"

#define SANDBOX_WORDS_SIZE 192

/* Enters it as the options say. words: what is limited, for the operator; on an older kernel less; empty: nothing. The main thread is
 * the only one. False: said why on stderr; what was asked for and should be there is not. */
bool sandbox_enter(const struct options *options, char words[SANDBOX_WORDS_SIZE]);

/* ---- sandbox_files.c ---- */

/* Of Landlock: below it no file can be renamed or linked to another folder. */
#define SANDBOX_ABI_LEAST 2

/* The version of Landlock that this kernel has; below 1: none. */
int sandbox_files_abi(void);
/* False: errno, with the path in *ret_path (static). */
bool sandbox_files_enter(const struct options *options, int abi, const char **ret_path);

/* ---- sandbox_calls.c ---- */

/* The list is in force, or what is outside it is only logged by the kernel (logs). ret_count: calls in it. False:
 * errno. */
bool sandbox_calls_enter(bool logs, unsigned *ret_count);

#endif
