// What the tests of the File service share: clients that do not retry, and shares that go away with
// their test.
import { randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { ShareServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-share';
import { raw } from './raw.mjs';
import { account } from './setup.mjs';

export const url = process.env.LAGRA_TEST_FILE_URL;
export const credential = new StorageSharedKeyCredential(account.name, account.key);
export const once = { retryOptions: { maxTries: 1 } };
export const service = new ShareServiceClient(url, credential, once);
const run = randomBytes(4).toString('hex');
let count = 0;

export const shareName = () => `s-${run}-${++count}`;

/** A share of its own for the test `t`, deleted after it with its snapshots. */
export async function newShare(t, options) {
    const share = service.getShareClient(shareName());
    await share.create(options);
    t.after(() => share.delete({ deleteSnapshots: 'include-leased' }).catch(() => {}));
    return share;
}

// Names below localhost are not known to every resolver.
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest);

/** The same share where the host names the account: else what a rename returns of the client's is of no use. */
export function atHost(share) {
    const { port } = new URL(url);
    return new ShareServiceClient(`http://${account.name}.file.localhost:${port}`, credential, once)
        .getShareClient(share.name);
}

/** One signed request by hand to the File service. */
export function rawFile(method, path, headers, body, options) {
    const { hostname: host, port } = new URL(url);
    return raw(method, path, headers, body, { base: { host, port: Number(port) }, ...options });
}
