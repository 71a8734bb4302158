// Structured bodies, written and read without the SDK: rest: Structured-Body-Format.

export const TYPE = 'XSM/1.0; properties=crc64';

const TABLE = new BigUint64Array(256).map((_, byte) => {
    let sum = BigInt(byte);
    for (let bit = 0; bit < 8; bit++)
        sum = sum & 1n ? (sum >> 1n) ^ 0x9A6C9329AC4BC9B5n : sum >> 1n;
    return sum;
});

export function crc64(bytes) {
    let sum = 0xFFFFFFFFFFFFFFFFn;
    for (const byte of bytes)
        sum = TABLE[Number((sum ^ BigInt(byte)) & 0xFFn)] ^ (sum >> 8n);
    return sum ^ 0xFFFFFFFFFFFFFFFFn;
}

function number(size, value) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes.subarray(0, size);
}

/** A message of these segments. */
export function encode(segments) {
    const parts = segments.map((one) => Buffer.from(one));
    const length = parts.reduce((sum, one) => sum + one.length + 18, 21);

    return Buffer.concat([number(1, 1), number(8, length), number(2, 1), number(2, parts.length),
        ...parts.flatMap((one, index) => [number(2, index + 1), number(8, one.length), one, number(8, crc64(one))]),
        number(8, crc64(Buffer.concat(parts)))]);
}

/** {content, segments: lengths} of a message; throws if it is damaged. */
export function decode(message) {
    let at = 13;
    const segments = [], need = (holds, what) => {
        if (!holds)
            throw new Error(`structured body: ${what}`);
    };
    const read = (size) => {
        const bytes = Buffer.alloc(8);
        message.copy(bytes, 0, at, at += size);
        return bytes.readBigUInt64LE();
    };

    need(message[0] === 1 && message.readBigUInt64LE(1) === BigInt(message.length) && message.readUInt16LE(9) === 1, 'header');
    for (let index = 1; index <= message.readUInt16LE(11); index++) {
        need(read(2) === BigInt(index), 'number of a segment');
        const length = Number(read(8));
        segments.push(message.subarray(at, at += length));
        need(read(8) === crc64(segments.at(-1)), `checksum of segment ${index}`);
    }
    const content = Buffer.concat(segments);
    need(read(8) === crc64(content) && at === message.length, 'trailer');
    return { content, segments: segments.map(({ length }) => length) };
}
