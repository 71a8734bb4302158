// A service SAS of a container, as the query of a request, by the account's key.
// rest: Create-service-SAS

import { createHmac } from 'node:crypto';
import { DEVELOPMENT } from './sign.mjs';

const VERSION = '2026-10-06';

/** container: its name. fields: { sp, st, se, si ... }. Gives "sv=...&sig=...". */
export function containerSas(container, fields, { account, key } = DEVELOPMENT) {
    const given = { sv: VERSION, sr: 'c', ...fields };
    const line = (name) => given[name] ?? '';
    const string = [
        line('sp'), line('st'), line('se'), `/blob/${account}/${container}`, line('si'), line('sip'),
        line('spr'), given.sv, 'c', '', line('ses'), line('rscc'), line('rscd'), line('rsce'), line('rscl'),
        line('rsct'),
    ].join('\n');
    const sig = createHmac('sha256', Buffer.from(key, 'base64')).update(string, 'utf8').digest('base64');

    return Object.entries({ ...given, sig })
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}
