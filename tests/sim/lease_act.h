/* What is done to a lease, of any service. */
#ifndef LAGRA_SIM_LEASE_ACT_H
#define LAGRA_SIM_LEASE_ACT_H

enum lease_act { ACT_ACQUIRE, ACT_RENEW, ACT_CHANGE, ACT_RELEASE, ACT_BREAK, ACTS };

#endif
