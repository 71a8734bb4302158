/* The implementations of MD5 in lanes. Internal to md5.c and its test. */
#ifndef LAGRA_BASE_MD5_PRIVATE_H
#define LAGRA_BASE_MD5_PRIVATE_H

#include "base/md5.h"

/* Adds `blocks` blocks to the state of each lane. Lanes may share data, and may share a state that
 * is discarded. */
typedef void md5_lanes_fn(uint32_t *const states[MD5_LANES], const uint8_t *const data[MD5_LANES],
                          size_t blocks);

md5_lanes_fn md5_lanes_portable;
#if defined(__x86_64__)
md5_lanes_fn md5_lanes_avx2; /* requires __builtin_cpu_supports("avx2") */
#endif
/* Returns the fastest implementation for this CPU. */
md5_lanes_fn *md5_lanes(void);

#endif
