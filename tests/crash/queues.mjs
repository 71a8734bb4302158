// Producers and consumers of one queue against a server that will be cut off, and the look
// afterwards: every message whose put was acknowledged is there until a delete of it was asked for,
// none whose delete was acknowledged comes back, and none is handed to two while it is hidden.

import { Client, gateHeader, Unexpected } from './client.mjs';
import { untilGone } from './campaign.mjs';
import { Control } from '../lib/server.mjs';

/* That produce, and that consume. */
const CLIENTS = 3;
const GATES = ['staged', 'decided', 'applied', 'synced'];
/* Longer than a round takes: what was got in it is not visible again. */
const HIDDEN_S = 600;
const QUEUE = '/crash-queue';

const element = (xml, name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
const messagesIn = (xml) => [...xml.matchAll(/<QueueMessage>.*?<\/QueueMessage>/gs)].map(([message]) => ({
    id: element(message, 'MessageId'), receipt: element(message, 'PopReceipt'), text: element(message, 'MessageText'),
    dequeued: Number(element(message, 'DequeueCount')),
}));

export class QueueCampaign {
    failures = [];
    changes = 0;
    messages = 0; /* whose put was acknowledged */
    #server;
    #random;
    #number = 0;
    #messages = new Map(); /* text -> { put, deleted: 'no' | 'asked' | 'yes', dequeued } */
    #deaf = false;
    #longEvery = 4;
    #aheadS = 0;

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async #ask(client, wanted, method, target, options) {
        const answer = await client.ask(method, `${QUEUE}${target}`, { ...options, offsetMs: this.#aheadS * 1000 });

        if (answer.status !== wanted)
            throw new Unexpected(`${method} ${target}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`, answer.status);
        return answer.body.toString();
    }

    async create() {
        const client = new Client(this.#server, 'queue');

        await this.#ask(client, 201, 'PUT', '');
        client.close();
    }

    #gate(gateAt) {
        return gateHeader(this.changes++ === gateAt ? GATES[this.#random(GATES.length)] : null);
    }

    async #produce(isOver, gateAt) {
        const client = new Client(this.#server, 'queue');

        while (!isOver()) {
            const text = `m${++this.#number}${'x'.repeat(this.#random(this.#random(this.#longEvery) ? 200 : 60000))}`;
            const message = { put: false, deleted: 'no', dequeued: 0 };

            this.#messages.set(text, message);
            await this.#ask(client, 201, 'POST', '/messages', {
                headers: this.#gate(gateAt),
                body: Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`),
            });
            if (this.#deaf)
                return;
            message.put = true;
            this.messages++;
        }
        client.close();
    }

    #got(message, taken) {
        const known = this.#messages.get(message.text);

        if (!known)
            this.failures.push(`a message that nobody put: ${message.text.slice(0, 20)}`);
        else if (known.deleted === 'yes')
            this.failures.push(`${message.text.slice(0, 20)} came back after its delete`);
        else if (taken.has(message.text))
            this.failures.push(`${message.text.slice(0, 20)} was handed to two`);
        else if (message.dequeued <= known.dequeued)
            this.failures.push(`${message.text.slice(0, 20)} was got ${message.dequeued} times, before ${known.dequeued}`);
        taken.add(message.text);
        if (known)
            known.dequeued = message.dequeued;
        return known;
    }

    async #consume(isOver, gateAt, taken) {
        const client = new Client(this.#server, 'queue');

        while (!isOver()) {
            const count = 1 + this.#random(4);
            const xml = await this.#ask(client, 200, 'GET', `/messages?numofmessages=${count}&visibilitytimeout=${HIDDEN_S}`,
                { headers: this.#gate(gateAt) });
            if (this.#deaf)
                break;
            for (const { id, receipt, text, known } of messagesIn(xml).map((one) => ({ ...one, known: this.#got(one, taken) }))) {
                if (!known || this.#random(8) === 0)
                    continue; /* its consumer went away */
                known.deleted = 'asked';
                await this.#ask(client, 204, 'DELETE', `/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`,
                    { headers: this.#gate(gateAt) });
                if (this.#deaf)
                    return;
                known.deleted = 'yes';
                this.#messages.get(text).deleted = 'yes';
            }
        }
        client.close();
    }

    /** As Campaign's. clients: of each kind; longEvery: one message in so many is long */
    async work({ ms, gated, cut, deaf = false, clients = CLIENTS, longEvery = 4 }) {
        const gateAt = gated ? this.changes + this.#random(40) : -1;
        const taken = new Set();

        this.#longEvery = longEvery;
        await untilGone({
            ms, cut, failures: this.failures,
            started: (isOver) => [
                ...Array.from({ length: clients }, () => this.#produce(isOver, gateAt)),
                ...Array.from({ length: clients }, () => this.#consume(isOver, gateAt, taken)),
            ],
            cutting: () => {
                this.#deaf = deaf;
            },
        });
        this.#deaf = false;
    }

    /** All that is in the queue, once it is visible again. */
    async #drain(client) {
        const control = new Control(this.#server);
        const found = [];

        /* A server that starts is ahead of the wall by all that the ones before were moved. */
        this.#aheadS += HIDDEN_S + 1;
        await control.clock(this.#aheadS);
        control.close();
        for (;;) {
            const some = messagesIn(await this.#ask(client, 200, 'GET',
                `/messages?numofmessages=32&visibilitytimeout=${HIDDEN_S}`));
            if (some.length === 0)
                return found;
            found.push(...some);
        }
    }

    /** Compares the queue with what must or may be in it, and deletes all. */
    async verify() {
        const before = this.failures.length;
        const client = new Client(this.#server, 'queue');
        const taken = new Set();
        const found = await this.#drain(client);

        for (const message of found)
            this.#got(message, taken);
        for (const [text, { put, deleted }] of this.#messages)
            if (put && deleted === 'no' && !taken.has(text))
                this.failures.push(`${text.slice(0, 20)} is lost`);
        const metadata = await client.ask('GET', `${QUEUE}?comp=metadata`, { offsetMs: this.#aheadS * 1000 });
        const count = Number(metadata.headers.get('x-ms-approximate-messages-count'));
        if (count !== found.length)
            this.failures.push(`${found.length} messages are there, and ${count} are counted`);
        if (found.length > 0)
            await this.#ask(client, 204, 'DELETE', '/messages');
        this.#messages.clear();
        client.close();
        return this.failures.length === before;
    }

    /** Nothing to do: nothing of messages lies in extents. */
    async removeAll() {}
}
