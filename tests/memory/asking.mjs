// Requests by the thousand: a few connections to each service, each used for one exchange at a time.

import { Connection } from '../lib/http.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const LANES = 16;

/** One lane: a connection to each service that it has asked. */
class Lane {
    #server;
    #connections = {};

    constructor(server) {
        this.#server = server;
    }

    /** One exchange. target: behind the account, or whole with `whole`. status: what it must be answered; several
     *  as a list. unsigned: sent as it is. */
    async ask(service, method, target, { headers = [], body = '', status, unsigned = false, whole = false } = {}) {
        const bytes = Buffer.from(body);
        const request = {
            method, target: whole ? target : `/${DEVELOPMENT.account}${target}`,
            headers: [...(headers.some(([name]) => name === 'Host') ? [] : [['Host', `${this.#server.host}:${this.#server.ports[service]}`]]),
                ...(bytes.length > 0 || !['GET', 'HEAD'].includes(method) ? [['Content-Length', `${bytes.length}`]] : []), ...headers],
        };
        this.#connections[service] ??= await Connection.open(this.#server.host, this.#server.ports[service], this.#server.secure);
        const answer = await this.#connections[service].exchange(unsigned ? request : sign(request, { service }), bytes);

        if (answer.headers.get('connection') === 'close')
            this.close(service);
        if (status !== undefined && ![status].flat().includes(answer.status))
            throw new Error(`${method} ${target}: ${answer.status} ${answer.body}`);
        return answer;
    }

    close(...services) {
        for (const service of services.length > 0 ? services : Object.keys(this.#connections)) {
            this.#connections[service]?.close();
            delete this.#connections[service];
        }
    }
}

/** Does each(ask, i) for every i from `from` up to `to`, some at the same time. */
export async function times(server, from, to, each) {
    let next = from;

    await Promise.all(Array.from({ length: LANES }, async () => {
        const lane = new Lane(server);

        try {
            while (next < to)
                await each(lane.ask.bind(lane), next++);
        } finally {
            lane.close();
        }
    }));
}

export async function once(server, each) {
    await times(server, 0, 1, each);
}
