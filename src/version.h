/* The version of the program. */
#ifndef LAGRA_VERSION_H
#define LAGRA_VERSION_H

#define LAGRA_VERSION "0.1.0"

#endif
