// A service SAS of a container or queue, as the query of a request, by the account's key.
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
    return signed(given, string, key);
}

function signed(fields, string, key) {
    const sig = createHmac('sha256', Buffer.from(key, 'base64')).update(string, 'utf8').digest('base64');

    return Object.entries({ ...fields, sig })
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/** The same of a queue. */
export function queueSas(queue, fields, { account, key } = DEVELOPMENT) {
    const given = { sv: VERSION, ...fields };
    const line = (name) => given[name] ?? '';
    const string = [
        line('sp'), line('st'), line('se'), `/queue/${account}/${queue}`, line('si'), line('sip'), line('spr'), given.sv,
    ].join('\n');

    return signed(given, string, key);
}

/** The same of a table; keys of its entities may be limited: spk, srk, epk, erk. */
export function tableSas(table, fields, { account, key } = DEVELOPMENT) {
    const given = { sv: VERSION, tn: table, ...fields };
    const line = (name) => given[name] ?? '';
    const string = [
        line('sp'), line('st'), line('se'), `/table/${account}/${table.toLowerCase()}`, line('si'), line('sip'),
        line('spr'), given.sv, line('spk'), line('srk'), line('epk'), line('erk'),
    ].join('\n');

    return signed(given, string, key);
}

/** The same of a share; nothing says which kind of resource is signed, but the path. */
export function shareSas(share, fields, { account, key } = DEVELOPMENT) {
    const given = { sv: VERSION, sr: 's', ...fields };
    const line = (name) => given[name] ?? '';
    const string = [
        line('sp'), line('st'), line('se'), `/file/${account}/${share}`, line('si'), line('sip'), line('spr'), given.sv,
        line('rscc'), line('rscd'), line('rsce'), line('rscl'), line('rsct'),
    ].join('\n');

    return signed(given, string, key);
}
