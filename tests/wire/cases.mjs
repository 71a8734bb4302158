// What is sent and what must come back, byte by byte. See run.mjs for how a case is read.
//
//   name    what is tried
//   rule    where it is written
//   send    bytes (strings are latin1), or a list of them, sent one after the other in their own
//           packets
//   expect  the statuses that come back, in order; GET, PUT and POST stand for the service's own
//           answer to the well-formed request it is (run.mjs asks first)
//   then    'open': a further request on the connection is answered; 'closed': nothing more comes
//
// Nothing here is signed, so that nearly all end in a refusal of the service: what is tested is
// where a request begins and ends, and that a malformed one never gets to the service.

export const TARGET = '/devstoreaccount1/wire/blob';
export const GET = 'GET';
export const PUT = 'PUT';
export const POST = 'POST';

const HOST = 'Host: 127.0.0.1\r\n';
const get = (more = '', target = TARGET) => `GET ${target} HTTP/1.1\r\n${HOST}${more}\r\n`;
const put = (headers, body = '') => `PUT ${TARGET} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
// By POST: a PUT without a length is refused before it is looked at.
const chunked = (body) => `POST ${TARGET} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${body}`;
const LONG = 'x'.repeat(100_000);

const line = (name, send, status, rule = 'rfc: 9112 3') => ({
    name: `request line: ${name}`, rule, send, expect: [status], then: 'closed',
});

const requestLines = [
    line('one word', 'GARBAGE\r\n\r\n', 400),
    line('a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abc\r\n\r\n', 400),
    line('method that is no token', `G@T ${TARGET} HTTP/1.1\r\n${HOST}\r\n`, 400, 'rfc: 9110 9.1'),
    line('method and blank', `GET \r\n${HOST}\r\n`, 400),
    line('no version', `GET ${TARGET}\r\n${HOST}\r\n`, 400),
    line('version without number', `GET ${TARGET} HTTP\r\n${HOST}\r\n`, 400),
    line('version in lower case', `GET ${TARGET} http/1.1\r\n${HOST}\r\n`, 400),
    line('version with more digits', `GET ${TARGET} HTTP/1.10\r\n${HOST}\r\n`, 400),
    line('HTTP/0.9', `GET ${TARGET} HTTP/0.9\r\n${HOST}\r\n`, 505),
    line('HTTP/1.2', `GET ${TARGET} HTTP/1.2\r\n${HOST}\r\n`, 505),
    line('HTTP/2.0', `GET ${TARGET} HTTP/2.0\r\n${HOST}\r\n`, 505),
    line('HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505),
    line('blank in the target', get('', '/a b'), 400, 'rfc: 9112 3.2'),
    line('two blanks before the version', get('', '/a '), 400, 'rfc: 9112 3'),
    line('tab in the target', get('', '/a\tb'), 400, 'rfc: 9112 3.2'),
    line('control character in the target', get('', '/a\x01b'), 400, 'rfc: 9112 3.2'),
    line('DEL in the target', get('', '/a\x7fb'), 400, 'rfc: 9112 3.2'),
    line('bare CR in the target', get('', '/a\rb'), 400, 'rfc: 9112 2.2'),
    line('NUL in the target', get('', '/a\0b'), 400, 'rfc: 9112 3.2'),
    line('NUL in the query', get('', '/a?b\0c'), 400, 'rfc: 9112 3.2'),
    line('target without slash', get('', 'a'), 400, 'rfc: 9112 3.2'),
    line('asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 400, 'rfc: 9112 3.2.4'),
    line('authority only', `CONNECT 127.0.0.1:80 HTTP/1.1\r\n${HOST}\r\n`, 400, 'rfc: 9112 3.2.3'),
    line('other scheme', get('', 'ftp://127.0.0.1/a'), 400, 'rfc: 9112 3.2.2'),
    line('scheme without host', get('', `http://${TARGET}`), 400, 'rfc: 9110 4.2.1'),
    line('user name in the authority', get('', `http://user@127.0.0.1${TARGET}`), 400, 'rfc: 9110 4.2.4'),
    line('port that is no number', get('', `http://127.0.0.1:x${TARGET}`), 400, 'rfc: 3986 3.2.3'),
    line('fragment behind the authority', get('', `http://127.0.0.1#${TARGET}`), 400, 'rfc: 9112 3.2'),
    line('fragment behind the path', get('', `${TARGET}#more`), 400, 'rfc: 9112 3.2'),
    line('longer than all memory for it', get('', `/${LONG}`), 414, 'rfc: 9110 15.5.15'),
    line('method longer than all memory for it', `${LONG} / HTTP/1.1\r\n`, 414, 'rfc: 9112 3'),
    { name: 'request line: query of very many parts', rule: 'rfc: 9112 3', send: get('', `${TARGET}?${'a&'.repeat(5000)}`), expect: ['any'], then: 'open' },
    { name: 'request line: after empty lines', rule: 'rfc: 9112 2.2', send: `\r\n\r\n${get()}`, expect: [GET], then: 'open' },
    { name: 'request line: authority that ends at the query', rule: 'rfc: 3986 3.2; decision: 270', send: get('', `http://127.0.0.1?x=${TARGET}`), expect: [404], then: 'open' },
    { name: 'request line: authority alone', rule: 'rfc: 9110 4.2.3', send: get('', 'http://127.0.0.1'), expect: [404], then: 'open' },
    { name: 'request line: absolute form', rule: 'rfc: 9112 3.2.2', send: get('', `http://127.0.0.1${TARGET}`), expect: [GET], then: 'open' },
];

const field = (name, header, rule = 'rfc: 9112 5') => ({
    name: `header: ${name}`, rule, send: `GET ${TARGET} HTTP/1.1\r\n${HOST}${header}\r\n`, expect: [400], then: 'closed',
});

const headers = [
    field('without colon', 'nonsense\r\n'),
    field('without name', ': value\r\n'),
    field('blank in the name', 'a b: c\r\n', 'rfc: 9110 5.1'),
    field('blank before the colon', 'a : b\r\n', 'rfc: 9112 5.1'),
    field('tab before the colon', 'a\t: b\r\n', 'rfc: 9112 5.1'),
    field('not a token', 'a@b: c\r\n', 'rfc: 9110 5.1'),
    field('letters beyond ASCII in the name', 'a\xe4: c\r\n', 'rfc: 9110 5.1'),
    field('folded', 'a: b\r\n c\r\n', 'rfc: 9112 5.2'),
    field('folded, then another', 'a: b\r\n\tc\r\nd: e\r\n', 'rfc: 9112 5.2'),
    field('NUL in the value', 'a: b\0c\r\n', 'rfc: 9110 5.5'),
    field('NUL at the end of the value', 'a: b\0\r\nd: e\r\n', 'rfc: 9110 5.5'),
    field('NUL in the name', 'a\0b: c\r\n', 'rfc: 9110 5.1'),
    field('control character in the value', 'a: b\x01c\r\n', 'rfc: 9110 5.5'),
    field('bare CR in the value', 'a: b\rc\r\n', 'rfc: 9112 2.2'),
    field('a second Host', 'Host: other\r\n', 'rfc: 9112 3.2'),
    { name: 'header: first one folded', rule: 'rfc: 9112 2.2', send: `GET ${TARGET} HTTP/1.1\r\n ${HOST}\r\n`, expect: [400], then: 'closed' },
    ...['a b', 'a/b', 'user@a', 'a:b', '[::1', '[a]', 'a"b', '%', '\xe4'].map((host) => ({
        name: `header: Host: ${host}`, rule: 'rfc: 9112 3.2', send: `GET ${TARGET} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, expect: [400], then: 'closed',
    })),
    ...['', 'localhost:10000', '[::1]:10000'].map((host) => ({
        name: `header: Host: ${host}`, rule: 'rfc: 9112 3.2', send: `GET ${TARGET} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, expect: [GET], then: 'open',
    })),
    { name: 'header: a second Expect that is unknown', rule: 'rfc: 9110 10.1.1', send: put('Content-Length: 1\r\nExpect: 100-continue\r\nExpect: more\r\n'), expect: [417], then: 'closed' },
    { name: 'header: an unknown member of Expect', rule: 'rfc: 9110 10.1.1', send: put('Content-Length: 1\r\nExpect: 100-continue, more\r\n'), expect: [417], then: 'closed' },
    { name: 'header: no Host', rule: 'rfc: 9112 3.2', send: `GET ${TARGET} HTTP/1.1\r\n\r\n`, expect: [400], then: 'closed' },
    { name: 'header: no Host in HTTP/1.0', rule: 'rfc: 9112 3.2', send: `GET ${TARGET} HTTP/1.0\r\n\r\n`, expect: [GET], then: 'closed' },
    { name: 'header: 300 of them', rule: 'rfc: 6585 5', send: get('a: b\r\n'.repeat(300)), expect: [431], then: 'closed' },
    { name: 'header: cookie of very many parts', rule: 'rfc: 6585 5', send: get(`Cookie: ${'a=b;'.repeat(2000)}\r\n`), expect: [GET], then: 'open' },
    { name: 'header: longer than all memory for it', rule: 'rfc: 6585 5', send: get(`a: ${LONG}\r\n`), expect: [431], then: 'closed' },
    { name: 'header: name longer than all memory for it', rule: 'rfc: 6585 5', send: get(`${LONG}: a\r\n`), expect: [431], then: 'closed' },
    { name: 'header: 8 KiB, with a target of 9 KiB', rule: 'semantics', send: get(`x-ms-meta-a: ${'x'.repeat(8192)}\r\n`, `${TARGET}${'x'.repeat(9216 - TARGET.length)}`), expect: ['any'], then: 'open' },
    { name: 'header: letters beyond ASCII in the value', rule: 'rfc: 9110 5.5', send: get('a: \xe4\xff\r\n'), expect: [GET], then: 'open' },
    { name: 'header: empty value, tabs around a value', rule: 'rfc: 9112 5.1', send: get('a:\r\nb:\t c\t \r\n'), expect: [GET], then: 'open' },
    { name: 'header: lines that end with LF only', rule: 'rfc: 9112 2.2', send: get('a: b\r\n').replaceAll('\r\n', '\n'), expect: [400], then: 'closed' },
    { name: 'header: one line that ends with LF only', rule: 'rfc: 9112 2.2', send: get('a: b\nc: d\r\n'), expect: [400], then: 'closed' },
    { name: 'header: 17 KiB of them', rule: 'rfc: 6585 5', send: get(`a: ${'x'.repeat(17 * 1024)}\r\n`), expect: [431], then: 'closed' },
    { name: 'header: byte by byte', rule: 'rfc: 9112 2.2', send: [...get('a: b\r\n')], expect: [GET], then: 'open' },
    { name: 'header: Connection: close', rule: 'rfc: 9112 9.6', send: get('Connection: close\r\n') + get(), expect: [GET], then: 'closed' },
];

const framing = (name, more, status = 400, rule = 'rfc: 9112 6.3') => ({
    name: `framing: ${name}`, rule, send: put(more, 'hello'), expect: [status], then: 'closed',
});

const lengths = [
    framing('length below zero', 'Content-Length: -1\r\n'),
    framing('length with sign', 'Content-Length: +5\r\n'),
    framing('length with letters', 'Content-Length: 5x\r\n'),
    framing('length in hexadecimal', 'Content-Length: 0x5\r\n'),
    framing('length with a point', 'Content-Length: 5.0\r\n'),
    framing('empty length', 'Content-Length:\r\n'),
    framing('length with a blank in it', 'Content-Length: 5 5\r\n'),
    framing('length beyond 64 bits', 'Content-Length: 99999999999999999999\r\n', 413),
    framing('length beyond 63 bits', 'Content-Length: 9223372036854775808\r\n'),
    framing('two lengths that differ', 'Content-Length: 5\r\nContent-Length: 6\r\n'),
    framing('two lengths that agree', 'Content-Length: 5\r\nContent-Length: 5\r\n'),
    framing('a list of lengths', 'Content-Length: 5, 5\r\n'),
    framing('length and chunked', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 400, 'rfc: 9112 6.1'),
    framing('chunked and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', 400, 'rfc: 9112 6.1'),
    framing('chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', 400, 'rfc: 9112 6.1'),
    framing('chunked, chunked', 'Transfer-Encoding: chunked, chunked\r\n', 501, 'rfc: 9112 6.1'),
    framing('gzip, chunked', 'Transfer-Encoding: gzip, chunked\r\n', 501, 'rfc: 9112 6.1'),
    framing('chunked, gzip', 'Transfer-Encoding: chunked, gzip\r\n', 501, 'rfc: 9112 6.1'),
    framing('identity', 'Transfer-Encoding: identity\r\n', 501, 'rfc: 9112 6.1'),
    framing('xchunked', 'Transfer-Encoding: xchunked\r\n', 501, 'rfc: 9112 6.1'),
    framing('vertical tab before chunked', 'Transfer-Encoding: \x0bchunked\r\n', 400, 'rfc: 9112 6.1'),
    framing('empty coding', 'Transfer-Encoding:\r\n', 501, 'rfc: 9112 6.1'),
    { name: 'framing: chunked in HTTP/1.0', rule: 'rfc: 9112 6.1', send: `PUT ${TARGET} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, expect: [400], then: 'closed' },
    { name: 'framing: a request hidden behind length and chunked', rule: 'rfc: 9112 11.2', send: put('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${get()}`), expect: [400], then: 'closed' },
    { name: 'framing: leading zeros', rule: 'rfc: 9110 8.6', send: put('Content-Length: 0005\r\n', 'hello'), expect: [PUT], then: 'open' },
    { name: 'framing: "Chunked" in capitals', rule: 'rfc: 9110 10.1.4', send: chunked('0\r\n\r\n').replace('chunked', 'Chunked'), expect: [POST], then: 'open' },
    framing('blank after chunked', 'Transfer-Encoding: chunked \r\n', 400, 'rfc: 9112 11.2'),
    framing('tab after chunked', 'Transfer-Encoding: chunked\t\r\n', 400, 'rfc: 9112 11.2'),
    { name: 'framing: PUT without a length', rule: 'rest: Status-and-Error-Codes2', send: put(''), expect: [411], then: 'open' },
    { name: 'framing: chunked PUT', rule: 'rest: Status-and-Error-Codes2', send: put('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'), expect: [411], then: 'open' },
    { name: 'framing: body of a GET', rule: 'rfc: 9110 9.3.1', send: get('Content-Length: 5\r\n') + 'hello', expect: [400], then: 'open' },
];

const bad = (name, body, status = 400) => ({
    name: `chunks: ${name}`, rule: 'rfc: 9112 7.1', send: chunked(body), expect: [status], then: 'closed',
});
const good = (name, body) => ({
    name: `chunks: ${name}`, rule: 'rfc: 9112 7.1', send: chunked(body), expect: [POST], then: 'open',
});

const chunks = [
    bad('size below zero', '-1\r\nhello\r\n0\r\n\r\n'),
    bad('size with sign', '+5\r\nhello\r\n0\r\n\r\n'),
    bad('size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'),
    bad('size of letters', 'xyz\r\nhello\r\n0\r\n\r\n'),
    bad('no size', '\r\nhello\r\n0\r\n\r\n'),
    bad('blank before the size', ' 5\r\nhello\r\n0\r\n\r\n'),
    bad('blank after the size', '5 \r\nhello\r\n0\r\n\r\n'),
    bad('extension without size', ';a=b\r\nhello\r\n0\r\n\r\n'),
    bad('NUL after the size', '5\0\r\nhello\r\n0\r\n\r\n'),
    bad('size beyond 64 bits', '10000000000000000\r\nhello\r\n', 413),
    bad('size beyond 64 bits by far', `${'f'.repeat(100)}\r\nhello\r\n`, 413),
    bad('more bytes than the size', '5\r\nhello!\r\n0\r\n\r\n'),
    bad('fewer bytes than the size', '7\r\nhello\r\n0\r\n\r\n'),
    bad('size of one bit more than 63', '8000000000000000\r\nhello\r\n', 413),
    bad('LF only behind the size', '5\nhello\r\n0\r\n\r\n'),
    bad('LF only behind the bytes', '5\r\nhello\n0\r\n\r\n'),
    bad('LF only behind an extension', '5;a\nhello\r\n0\r\n\r\n'),
    bad('bare CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'),
    bad('NUL in an extension', '5;a\0b\r\nhello\r\n0\r\n\r\n'),
    bad('extension without end', `5;${'a'.repeat(5000)}\r\nhello\r\n0\r\n\r\n`),
    bad('blank before a trailer', '5\r\nhello\r\n0\r\n a: b\r\n\r\n'),
    bad('LF only behind a trailer', '5\r\nhello\r\n0\r\na: b\n\r\n'),
    bad('LF only at the end', '5\r\nhello\r\n0\r\n\n'),
    bad('trailers without end', `5\r\nhello\r\n0\r\n${'a: b\r\n'.repeat(3000)}\r\n`),
    bad('trailer without colon', '5\r\nhello\r\n0\r\nnonsense\r\n\r\n'),
    good('with extensions', '5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n'),
    good('with trailers', '5\r\nhello\r\n0\r\na: b\r\nContent-Length: 7\r\n\r\n'),
    good('sizes in both cases, leading zeros', '00A\r\n0123456789\r\nb\r\n0123456789a\r\n000\r\n\r\n'),
    good('none', '0\r\n\r\n'),
    good('of one byte each', '1\r\nx\r\n'.repeat(5000) + '0\r\n\r\n'),
    { name: 'chunks: byte by byte', rule: 'rfc: 9112 7.1', send: [...chunked('5;a\r\nhello\r\n0\r\nb: c\r\n\r\n')], expect: [POST], then: 'open' },
    { name: 'chunks: a request behind lines that end with LF only', rule: 'rfc: 9112 11.2', send: chunked(`5\nhello\n0\n\n${get()}`), expect: [400], then: 'closed' },
    { name: 'chunks: a request behind them', rule: 'rfc: 9112 11.2', send: chunked(`5\r\nhello\r\n0\r\n\r\n${get()}`), expect: [POST, GET], then: 'open' },
];

const order = [
    { name: 'pipeline: three at once', rule: 'rfc: 9112 9.3.2', send: get() + get() + get(), expect: [GET, GET, GET], then: 'open' },
    { name: 'pipeline: with bodies', rule: 'rfc: 9112 9.3.2', send: (put('Content-Length: 5\r\n', 'hello') + get()).repeat(10), expect: Array(10).fill([PUT, GET]).flat(), then: 'open' },
    { name: 'pipeline: a body that looks like a request', rule: 'rfc: 9112 6.3', send: put(`Content-Length: ${get().length}\r\n`, get()) + get(), expect: [PUT, GET], then: 'open' },
    { name: 'pipeline: 500 in one write', rule: 'rfc: 9112 9.3.2', send: get().repeat(500), expect: Array(500).fill(GET), then: 'open' },
    { name: 'pipeline: good, malformed, good', rule: 'rfc: 9112 9.3.2', send: get() + get('a b: c\r\n') + get(), expect: [GET, 400], then: 'closed' },
    { name: 'body: 64 KiB that are refused', rule: 'rfc: 9112 9.6; decision: 272', send: put('Content-Length: 65536\r\n', 'x'.repeat(65536)), expect: [PUT], then: 'open' },
    { name: 'body: a byte more', rule: 'rfc: 9112 9.6; decision: 272', send: put('Content-Length: 65537\r\n', 'x'.repeat(65537)), expect: [PUT], then: 'closed' },
    { name: 'body: eight megabytes that are refused', rule: 'rfc: 9112 9.6; decision: 272', send: put('Content-Length: 8000000\r\n', 'x'.repeat(8_000_000)), expect: [PUT], then: 'closed' },
    { name: 'body: refused, of which nothing comes', rule: 'rfc: 9112 9.6; decision: 272', send: put('Content-Length: 1000000000000\r\n'), expect: [PUT], then: 'closed' },
    { name: 'body: refused, in chunks without end', rule: 'rfc: 9112 9.6; decision: 272', send: chunked('4000\r\n' + `${'x'.repeat(0x4000)}\r\n4000\r\n`.repeat(20)), expect: [POST], then: 'closed' },
    { name: 'body: much behind a malformed head', rule: 'rfc: 9112 9.6; decision: 272', send: `G@T / HTTP/1.1\r\n${HOST}\r\n${'x'.repeat(8_000_000)}`, expect: [400], then: 'closed' },
    { name: 'body: cut', rule: 'rfc: 9112 8', send: put('Content-Length: 1000\r\n', 'hello'), leave: true },
    { name: 'body: cut in a chunk', rule: 'rfc: 9112 8', send: chunked('100\r\nhello'), leave: true },
    { name: 'body: cut in a chunk size', rule: 'rfc: 9112 8', send: chunked('1'), leave: true },
    { name: 'head: cut', rule: 'rfc: 9112 8', send: `GET ${TARGET} HTTP/1.1\r\nHos`, leave: true },
    { name: 'answer: not waited for', rule: 'rfc: 9112 9.6', send: get().repeat(100), leave: true },
    { name: 'expect: refused without the body', rule: 'rfc: 9110 10.1.1', send: put('Content-Length: 5\r\nExpect: 100-continue\r\n'), expect: [PUT], then: 'closed' },
    { name: 'expect: refused, the body sent all the same', rule: 'rfc: 9110 10.1.1', send: put('Content-Length: 5\r\nExpect: 100-continue\r\n', 'hello'), expect: [PUT], then: 'closed' },
    { name: 'expect: without a body', rule: 'rfc: 9110 10.1.1', send: get('Expect: 100-continue\r\n'), expect: [GET], then: 'open' },
    { name: 'expect: something else', rule: 'rfc: 9110 10.1.1', send: put('Content-Length: 5\r\nExpect: 200-maybe\r\n', 'hello'), expect: [417], then: 'closed' },
];

export const CASES = [...requestLines, ...headers, ...lengths, ...chunks, ...order];
