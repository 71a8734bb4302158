// One connection to a target, for what the load generator does not do.

import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { ACCOUNT } from './targets.mjs';

const HOST = '127.0.0.1';

export class Client {
    #target;
    #container;
    #connection;

    constructor(target, container, connection) {
        this.#target = target;
        this.#container = container;
        this.#connection = connection;
    }

    static async open(target, container) {
        return new Client(target, container, await Connection.open(HOST, target.port));
    }

    close() {
        this.#connection.close();
    }

    url(name) {
        return `http://${HOST}:${this.#target.port}/${ACCOUNT}/${this.#container}/${name}`;
    }

    async ask(method, name, headers = {}, body = Buffer.alloc(0)) {
        const answer = await this.#connection.exchange(sign({
            method, target: `/${ACCOUNT}/${this.#container}/${name}`,
            headers: [['Host', `${HOST}:${this.#target.port}`], ['Content-Length', `${body.length}`], ...Object.entries(headers)],
        }), body);

        if (answer.status >= 300)
            throw new Error(`${method} ${name}: ${answer.status} ${answer.body}`);
        return answer;
    }
}
