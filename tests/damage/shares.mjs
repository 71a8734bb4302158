// Data folders with shares to be damaged: directories and files that writers change all the time (crash/files.mjs),
// snapshots of them, and what must or may be there at the moment when the folder is copied.

import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FileCampaign } from '../crash/files.mjs';
import { FileClient } from '../crash/file_client.mjs';
import { differs } from '../crash/file_model.mjs';
import { Server } from '../lib/server.mjs';
import { ENVIRONMENT } from './folder.mjs';
import { LoadedFolder } from './moments.mjs';

const BYTES_OF_A_CHANGE = 20000; /* about */

const isAtOrBelow = (at, folder) => folder === '' || at === folder || at.startsWith(`${folder}/`);

/** Without what the server has said it cannot read, and what is below that. */
const without = (said, nodes) => new Map([...nodes].filter(([at]) => !said.some((folder) => isAtOrBelow(at, folder))));

/** What was acknowledged at one moment: FileCampaign.frozen(). */
class FrozenShares {
    #writers;

    constructor(writers) {
        this.#writers = writers;
    }

    async #look(client, { folder }, states, id, verdict) {
        const said = [];
        const found = await client.look(folder, id, said);
        const wrong = states.map((state) => differs(without(said, state), without(said, found)));
        const what = `${folder}${id ? ` in the snapshot ${id}` : ''}`;

        verdict.errors.push(...said.map((at) => `${what}: ${at}`));
        if (!wrong.includes(null))
            verdict.wrong.push(`${what}: ${wrong.join(' or ')}`);
    }

    /** Of the snapshots, one that was under way may be there, one whose delete was may be gone. */
    async #lookAtSnapshots(client, writer, verdict) {
        const ids = await client.snapshots(writer.share);
        const { snapshots, states, asked, id: leaving } = writer;

        if (ids.some((id) => !snapshots.has(id) && asked !== 'snapshot'))
            verdict.wrong.push(`${writer.share}: a snapshot that nobody took`);
        for (const [id, state] of snapshots) {
            if (ids.includes(id))
                await this.#look(client, writer, [state], id, verdict);
            else if (asked !== 'removeSnapshot' || id !== leaving)
                verdict.wrong.push(`${writer.share}: the snapshot ${id} is lost`);
        }
        if (asked === 'snapshot')
            for (const id of ids.filter((one) => !snapshots.has(one)))
                await this.#look(client, writer, states, id, verdict);
    }

    /** How a server does with the folder: { wrong, errors }. */
    async compare(server) {
        const verdict = { wrong: [], errors: [] };

        for (const writer of this.#writers) {
            const client = new FileClient(server);
            const saidOr = (error) => {
                const isSaid = error.status >= 500;

                verdict[isSaid ? 'errors' : 'wrong'].push(`${writer.folder}: ${error.message}`);
            };

            await this.#look(client, writer, writer.states, null, verdict).catch(saidOr);
            if (writer.snapshots)
                await this.#lookAtSnapshots(client, writer, verdict).catch(saidOr);
            client.close();
        }
        return verdict;
    }

    /** Of what was salvaged each tree is whole; bytes may be lost. */
    async compareSalvaged(server, how) {
        const client = new FileClient(server);
        const { body } = await client.ask('GET', '/?comp=list');
        const shares = [...body.toString().matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);

        for (const share of shares)
            await client.look(`/${share}`, null, []);
        client.close();
        await server.kill();
        const checked = await new Promise((resolve) => execFile(process.env.LAGRA_BINARY, ['check', server.location],
            { env: { ...process.env, ...ENVIRONMENT } }, (error, stdout) => resolve({ error, stdout })));
        const damaged = checked.stdout.split('\n').filter((line) => line.startsWith('damaged') && !line.includes('bytes'));
        return damaged.length > 0 ? { crashed: `what was salvaged is damaged: ${checked.stdout}, behind\n${how.stdout}` }
            : { saved: shares.length, missing: 0, report: how.stdout };
    }
}

/** As Load of folder.mjs. */
export class ShareLoad extends LoadedFolder {
    #campaign;

    constructor(server, random, work, campaign) {
        super(server, random, work);
        this.#campaign = campaign;
    }

    static async start(random) {
        const work = await mkdtemp(path.join(tmpdir(), 'lagra-damage-'));
        const server = await Server.start({ location: path.join(work, 'live'), env: ENVIRONMENT });
        const campaign = new FileCampaign(server, random);

        await campaign.create();
        return new ShareLoad(server, random, work, campaign);
    }

    frozen() {
        return new FrozenShares(this.#campaign.frozen());
    }

    /** Writes about that many bytes in all. */
    async write(bytes) {
        const end = this.#campaign.changes + bytes / BYTES_OF_A_CHANGE;

        await this.#campaign.run(() => this.#campaign.changes >= end);
    }
}
