// The server that permutations run against: one for all of them, replaced when it dies.

import { TRUSTS_PROXY } from '../lib/customer_key.mjs';
import { Control, freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { GATES } from './language.mjs';
import { SmbPool } from './smb.mjs';

export class Target {
    host;
    port;
    ports = {};                 /* of each service */
    base;
    credentials = DEVELOPMENT;
    control;                    /* null: the server has no gates */
    smb = null;                 /* clients of its SMB; null: it has none that we know */
    offset = { ms: 0 };         /* how far its clock was moved */
    location = null;            /* its data folder; null: it is not ours */
    complaints = [];
    #server = null;             /* null: not ours */
    #start = null;
    #repairing = Promise.resolve();

    /** Somebody else's server. */
    static async foreign(text) {
        const url = new URL(text);
        const target = new Target();

        const port = Number(url.port || 80);
        await target.#use(url.hostname, { blob: port, queue: port + 1, table: port + 2, file: port + 3 }, url.pathname.replace(/\/$/, ''));
        return target;
    }

    /** A server of ours, with gates. */
    static async own(binary, args) {
        const target = new Target();
        const [smbPort] = await freePorts(1);

        target.#start = () => Server.start({ binary, args: [...args, '--smbPort', `${smbPort}`, ...TRUSTS_PROXY] });
        target.smb = new SmbPool(smbPort);
        await target.#startServer();
        if (!target.hasGates) {
            await target.close();
            throw new Error(`${binary} has no gates: set it up with -Dgates=true`);
        }
        return target;
    }

    get hasGates() {
        return this.control !== null;
    }

    async #startServer() {
        this.#server = await this.#start();
        this.offset = { ms: 0 };
        this.location = this.#server.location;
        await this.#use(this.#server.host, this.#server.ports, `/${this.#server.account}`);
    }

    async #use(host, ports, base) {
        this.host = host;
        this.port = ports.blob;
        this.ports = ports;
        this.base = base;
        this.control = new Control(this);
        if (!(await this.control.works())) {
            this.control.close();
            this.control = null;
        }
    }

    /** Gives the target when it is fit for the next permutation. */
    async ready() {
        await this.#repairing;
        return this;
    }

    /** After a permutation that broke off: what it may have left at gates goes on; a server that
     *  does not answer is replaced. */
    async repair({ usedGates }) {
        this.#repairing = this.#repairing.then(() => this.#repair(usedGates ? [...GATES] : []));
        await this.#repairing;
    }

    async #repair(gates) {
        const control = new Control(this);
        const answers = (await control.works()) || !this.hasGates;

        for (const gate of answers ? gates : [])
            await control.go(gate);
        if (gates.length > 0)
            await control.stopJobsAt('nowhere');
        control.close();
        if (answers)
            return;
        if (!this.#server)
            throw new Error('the server is gone');
        await this.#server.kill();
        await this.smb.close();
        const said = this.#server.stderr || '(nothing)';
        this.complaints.push(`a server was replaced; it said:\n${said}`);
        await this.#server.remove();
        await this.#startServer();
    }

    /** Ends a server of ours; gives what is wrong with how it ended. */
    async close() {
        this.control?.close();
        await this.smb?.close();
        try {
            await this.#server?.stop();
            return [];
        } catch (error) {
            return [error.message];
        }
    }
}
