// An SMB client that writes to files of a server which will be cut off, and the look afterwards, over REST: what
// docs/smb.md promises is there. Each write has a place of its own, so what was not promised may be there or not.

import { Rest, SHARE, getRange } from '../smb/rest.mjs';
import { SmbClient } from '../smb/smb_client.mjs';
import { untilGone } from './campaign.mjs';

const FILES = 4;
const PLACE = 16; /* bytes */
/* A plain write is durable 5 s after its answer. */
const LEISURE_MS = 5000;
const OPEN = { access: 'RW' };

/** How a write becomes durable, besides by time: `by` is asked after it, and is answered for all of the handle's. */
const KINDS = [{ through: true }, { by: 'flush' }, { by: 'close' }, {}, {}];

export class SmbCampaign {
    static args = ['--smbPort', '0'];
    static cuts = 8; /* in make test: a client takes half a second to begin */
    failures = [];
    #server;
    #random;
    #rest;
    #deaf = false; /* answers no longer count */
    #files = []; /* { name, places: [{ text, answered, promised }] } */
    #names = 0;

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
        this.#rest = new Rest(server);
    }

    create() {
        return this.#rest.createShare();
    }

    async #write(smb, file, { through = false, by }) {
        const place = { text: `${file.name}-${file.places.length}`.padEnd(PLACE, '.') };

        file.places.push(place);
        await smb.must('write', { name: file.name, offset: (file.places.length - 1) * PLACE, text: place.text, through });
        if (this.#deaf)
            return;
        place.answered = Date.now();
        place.promised = through;
        if (by)
            await smb.must(by, { name: file.name });
        if (by && !this.#deaf)
            for (const each of file.places)
                each.promised = true;
        if (by === 'close' && !this.#deaf)
            await smb.open(file.name, file.name, OPEN);
    }

    /** waits: plain writes, and then nothing that would make them durable with itself. */
    async #run(smb, isOver, waits) {
        for (const file of waits ? this.#files : [])
            await this.#write(smb, file, {});
        while (!waits && !isOver())
            await this.#write(smb, this.#files[this.#random(FILES)], KINDS[this.#random(KINDS.length)]);
    }

    /** As Campaign's. */
    async work({ ms, cut, deaf = false }) {
        const waits = this.#names === 0;

        this.#files = [];
        for (let i = 0; i < FILES; i++)
            this.#files.push({ name: await this.#rest.fresh(`f${this.#names++}`), places: [] });
        const smb = await SmbClient.start(this.#server.ports.smb, SHARE);
        let isCut = false;

        for (const { name } of this.#files)
            await smb.open(name, name, OPEN);
        await untilGone({
            ms: waits ? LEISURE_MS + 1000 : 5 * ms, failures: this.failures, cut,
            started: (isOver) => [this.#run(smb, isOver, waits).catch((error) => isCut || this.failures.push(error.message))],
            cutting: () => {
                isCut = true;
                this.#deaf = deaf;
                for (const { places } of this.#files)
                    for (const place of places)
                        place.promised ||= place.answered < Date.now() - LEISURE_MS;
            },
        });
        await smb.stop();
        this.#deaf = false;
    }

    async #look({ name, places }) {
        for (const [i, { text, promised }] of places.entries()) {
            const { status, body } = await this.#rest.ask(name, getRange(i * PLACE, (i + 1) * PLACE - 1));
            const found = status < 300 ? `${body}` : `status ${status}`;

            if (promised && found !== text)
                this.failures.push(`${name}: "${text}" was promised, "${found.replaceAll('\0', '0')}" is there`);
        }
    }

    async verify() {
        for (const file of this.#files)
            await this.#look(file);
    }
}
