/* The ways to compute MD5 in lanes, each by itself: for md5.c and its test only. */
#ifndef LAGRA_BASE_MD5_PRIVATE_H
#define LAGRA_BASE_MD5_PRIVATE_H

#include "base/md5.h"

/* Adds so many whole blocks to the state of each lane. Lanes may share data, and a state of which
 * nobody wants to know. */
typedef void md5_lanes_fn(uint32_t *const states[MD5_LANES], const uint8_t *const data[MD5_LANES],
                          size_t blocks);

md5_lanes_fn md5_lanes_portable;
#if defined(__x86_64__)
md5_lanes_fn md5_lanes_avx2; /* only where __builtin_cpu_supports("avx2") */
#endif
/* The fastest of this CPU. */
md5_lanes_fn *md5_lanes(void);

#endif
