// Writers of versions with retention policies and legal holds, against a server that will be cut off, and the look
// afterwards: each version has the policy and the hold of the last acknowledged change, or of the one that was under way;
// none that was protected is gone. docs/immutability.md

import { run as runLagra } from '../lib/program.mjs';
import { Client, gateHeader, Unexpected } from './client.mjs';
import { untilGone } from './campaign.mjs';

const WRITERS = 4;
const CONTAINER = '/crash-holds';
const GATES = ['decided', 'applied', 'synced'];
const UNTIL = ['Fri, 11 Jun 2049 20:00:00 GMT', 'Sat, 12 Jun 2049 20:00:00 GMT'];
const VERSIONS_MAX = 40; /* of a writer */

/* What a change makes of a version: { until, hold }, or null if it is deleted. */
const CHANGES = {
    policy: ({ hold }, { until }) => ({ until, hold }),
    noPolicy: ({ hold }) => ({ until: undefined, hold }),
    hold: ({ until }) => ({ until, hold: true }),
    release: ({ until }) => ({ until, hold: false }),
    remove: (state) => (state.until || state.hold ? state : null),
};
const isSame = (one, other) => one?.until === other?.until && one?.hold === other?.hold && !one === !other;
const shown = (state) => (state ? `until ${state.until}, hold ${state.hold}` : 'deleted');

export class HoldCampaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    /* Of each writer: { id, state, asked }; the last one is the current version, which is not deleted. */
    #versions = Array.from({ length: WRITERS }, () => []);

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new Client(this.#server);

        await client.ask('PUT', '/?restype=service&comp=properties',
            { body: Buffer.from('<StorageServiceProperties><IsVersioningEnabled>true</IsVersioningEnabled></StorageServiceProperties>') });
        await client.ask('PUT', `${CONTAINER}?restype=container`);
        client.close();
        const { code, errors } = await runLagra(['container', 'protect', CONTAINER.slice(1), 'versions', '--location', this.#server.location]);
        if (code !== 0)
            throw new Error(errors);
    }

    #gate(gateAt) {
        return gateHeader(this.changes++ === gateAt ? GATES[this.#random(GATES.length)] : null);
    }

    async #put(client, n, gateAt) {
        const state = { until: this.#random(2) ? UNTIL[0] : undefined, hold: this.#random(3) === 0 };
        const answer = await client.ask('PUT', `${CONTAINER}/b${n}`, {
            headers: [['x-ms-blob-type', 'BlockBlob'], ...this.#gate(gateAt),
                ...(state.until ? [['x-ms-immutability-policy-until-date', state.until]] : []),
                ...(state.hold ? [['x-ms-legal-hold', 'true']] : [])],
            body: Buffer.from('x'),
        });

        if (answer.status !== 201)
            throw new Unexpected(`Put Blob: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        this.#versions[n].push({ id: answer.headers.get('x-ms-version-id'), state, asked: null });
    }

    #request(n, { id, asked }) {
        const at = `${CONTAINER}/b${n}?versionid=${encodeURIComponent(id)}`;

        switch (asked.kind) {
        case 'policy': return ['PUT', `${at}&comp=immutabilityPolicies`, [['x-ms-immutability-policy-until-date', asked.until]]];
        case 'noPolicy': return ['DELETE', `${at}&comp=immutabilityPolicies`, []];
        case 'remove': return ['DELETE', at, []];
        default: return ['PUT', `${at}&comp=legalhold`, [['x-ms-legal-hold', `${asked.kind === 'hold'}`]]];
        }
    }

    /** Changes a version, and requires the status that its state demands. */
    async #change(client, n, gateAt) {
        const mine = this.#versions[n], at = this.#random(mine.length), version = mine[at], kinds = Object.keys(CHANGES);
        const kind = kinds[this.#random(at === mine.length - 1 ? kinds.length - 1 : kinds.length)];

        version.asked = { kind, until: UNTIL[this.#random(2)] };
        const [method, target, headers] = this.#request(n, version);
        const { status } = await client.ask(method, target, { headers: [...headers, ...this.#gate(gateAt)] });
        const wanted = kind !== 'remove' ? 200 : version.state.until || version.state.hold ? 409 : 202;
        if (status !== wanted)
            throw new Unexpected(`${kind} of a version ${shown(version.state)}: ${status}`);
        this.#settle(n, version, CHANGES[kind](version.state, version.asked));
    }

    #settle(n, version, state) {
        version.state = state;
        version.asked = null;
        if (!state)
            this.#versions[n].splice(this.#versions[n].indexOf(version), 1);
    }

    async #write(n, isOver, gateAt) {
        const client = new Client(this.#server);

        while (!isOver()) {
            const count = this.#versions[n].length;
            if (count === 0 || (count < VERSIONS_MAX && this.#random(4) === 0))
                await this.#put(client, n, gateAt);
            else
                await this.#change(client, n, gateAt);
        }
        client.close();
    }

    /** As Campaign's. */
    async work({ ms, gated, cut }) {
        const gateAt = gated ? this.changes + this.#random(40) : -1;

        await untilGone({ ms, cut, failures: this.failures,
            started: (isOver) => Array.from({ length: WRITERS }, (_, n) => this.#write(n, isOver, gateAt)) });
    }

    async #look(client, n, version) {
        const { status, headers } = await client.ask('HEAD', `${CONTAINER}/b${n}?versionid=${encodeURIComponent(version.id)}`);
        const found = status === 404 ? null
            : { until: headers.get('x-ms-immutability-policy-until-date') ?? undefined, hold: headers.get('x-ms-legal-hold') === 'true' };
        const states = [version.state, ...(version.asked ? [CHANGES[version.asked.kind](version.state, version.asked)] : [])];

        if (states.some((state) => isSame(state, found)))
            this.#settle(n, version, found);
        else
            this.failures.push(`b${n} ${version.id}: ${shown(found)} instead of ${states.map(shown).join(' or ')}`);
    }

    async verify() {
        const before = this.failures.length, client = new Client(this.#server);

        for (const [n, versions] of this.#versions.entries())
            for (const version of [...versions])
                await this.#look(client, n, version);
        client.close();
        return this.failures.length === before;
    }

    /** Nothing to do: the contents are so short that nothing of them lies in extents. */
    async removeAll() {}
}
