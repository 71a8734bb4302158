// Containers that the operator holds and releases, and gives policies, beside writers of their blobs, against a server that will be
// cut off, and the look afterwards: the protection is that of the last acknowledged command, or of the one that was under way, and
// no blob was changed by a request that began when its container was protected. docs/immutability.md

import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { Client, gateHeader, Unexpected } from './client.mjs';
import { untilGone } from './campaign.mjs';

const CONTAINERS = 3;
const GATES = ['decided', 'applied', 'synced'];

/* What a command makes of { hold, policy, locked }. Only the last container gets a locked policy. */
const COMMANDS = {
    hold: (is) => ({ ...is, hold: true }),
    release: (is) => ({ ...is, hold: false }),
    policy: (is) => (is.locked ? is : { ...is, policy: true }),
    remove: (is) => (is.locked ? is : { ...is, policy: false }),
    lock: (is) => ({ ...is, locked: is.policy }),
};
const ARGUMENTS = { hold: { tags: 'case1' }, release: { tags: 'case1' }, policy: { days: '1' } };
const isProtected = ({ hold, policy }) => hold || policy;
const shown = ({ hold, policy, locked }) => `${hold ? 'held' : 'not held'}, ${locked ? 'locked' : policy ? 'with' : 'without'} policy`;

export class ProtectedCampaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    #containers = Array.from({ length: CONTAINERS }, (_, n) =>
        ({ name: `crash-protected-${n}`, is: { hold: false, policy: false, locked: false }, asked: null, turns: 0, blob: null, writing: null }));

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new Client(this.#server);

        for (const { name } of this.#containers)
            await client.ask('PUT', `/${name}?restype=container`);
        client.close();
    }

    /** A command of the operator. Its connection ends with the server. */
    async #command(name, words) {
        const request = http.request({ socketPath: path.join(this.#server.location, 'admin.sock'), path: name, method: 'POST' });

        request.end(JSON.stringify(words));
        const [answer] = await once(request, 'response');
        return JSON.parse((await answer.toArray()).join(''));
    }

    #draw(n) {
        const names = ['hold', 'release', 'release', 'policy', 'remove', 'remove', ...(n === CONTAINERS - 1 ? ['lock'] : [])];

        return names[this.#random(names.length)];
    }

    async #operate(isOver) {
        while (!isOver()) {
            const n = this.#random(CONTAINERS), container = this.#containers[n], change = this.#draw(n);

            container.turns++;
            container.asked = change;
            const { code } = await this.#command('/container-protect', { name: container.name, change, ...ARGUMENTS[change] });
            const { policy, locked } = container.is;
            const wanted = ['policy', 'remove', 'lock'].includes(change) && locked ? 'ContainerImmutabilityPolicyLocked'
                : ['remove', 'lock'].includes(change) && !policy ? 'InvalidInput' : undefined;
            if (code !== wanted)
                throw new Unexpected(`${change} of a container ${shown(container.is)}: ${code}`);
            if (!code)
                container.is = COMMANDS[change](container.is);
            container.asked = null;
            container.turns++;
        }
    }

    /** Writes the blob. The answer is certain if no command ran beside it. */
    async #write(n, isOver, gateAt) {
        const client = new Client(this.#server), container = this.#containers[n];

        for (let i = 0; !isOver(); i++) {
            const text = `${n} ${i}`, before = container.turns, isSafe = container.blob !== null && isProtected(container.is);
            const gate = this.changes++ === gateAt ? GATES[this.#random(GATES.length)] : null;

            container.writing = text;
            const { status } = await client.ask('PUT', `/${container.name}/b`,
                { headers: [['x-ms-blob-type', 'BlockBlob'], ...gateHeader(gate)], body: Buffer.from(text) });
            const isCertain = before % 2 === 0 && before === container.turns;
            if (isCertain ? status !== (isSafe ? 409 : 201) : status !== 409 && status !== 201)
                throw new Unexpected(`Put Blob to a container ${shown(container.is)}: ${status}`);
            if (status === 201)
                container.blob = text;
            container.writing = null;
        }
        client.close();
    }

    /** As Campaign's. */
    async work({ ms, gated, cut }) {
        const gateAt = gated ? this.changes + this.#random(40) : -1;

        await untilGone({ ms, cut, failures: this.failures,
            started: (isOver) => [this.#operate(isOver), ...this.#containers.map((_, n) => this.#write(n, isOver, gateAt))] });
    }

    async #look(client, container) {
        const { is, asked, blob, writing, name } = container;
        const { policy, holds } = await this.#command('/container-show', { name });
        const found = { hold: holds.length > 0, policy: policy !== undefined, locked: policy === 'locked' };
        const states = [is, ...(asked ? [COMMANDS[asked](is)] : [])].map(shown);
        const { status, body } = await client.ask('GET', `/${name}/b`);
        const text = status === 200 ? body.toString() : null;

        if (!states.includes(shown(found)))
            this.failures.push(`${name}: ${shown(found)} instead of ${states.join(' or ')}`);
        /* A write is refused as long as the container is protected, whatever command is under way. */
        const wasSafe = blob !== null && isProtected(is) && (!asked || isProtected(COMMANDS[asked](is)));
        if (text !== blob && (wasSafe || text !== writing))
            this.failures.push(`${name}/b: ${text} instead of ${blob}${writing ? `, or ${writing}` : ''}`);
        Object.assign(container, { is: found, asked: null, turns: 0, blob: text, writing: null });
    }

    async verify() {
        const before = this.failures.length, client = new Client(this.#server);

        for (const container of this.#containers)
            await this.#look(client, container);
        client.close();
        return this.failures.length === before;
    }

    /** Nothing to do, as in HoldCampaign. */
    async removeAll() {}
}
