'use strict';
/* A ZIP archive of stored (not compressed) files. Format: PKWARE APPNOTE 6.3, without ZIP64. */

const CRC_TABLE = Uint32Array.from({length: 256}, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
});

function crc32(bytes) {
    let crc = 0xffffffff;
    for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
    return (crc ^ 0xffffffff) >>> 0;
}

/* Numbers of 2 or 4 bytes, little-endian: fields([2, 0x14], [4, n], ...). */
function zipFields(...pairs) {
    const bytes = [];
    for (const [size, value] of pairs) for (let i = 0; i < size; i++) bytes.push((value >>> (8 * i)) & 0xff);
    return Uint8Array.from(bytes);
}

/* files: bytes by name. The time of every file is 1 January 1980, so that the same files give the same archive. */
function zipFiles(files) {
    const UTF8_NAMES = 0x800, VERSION = 20, DATE = 0x21;
    const parts = [];
    const directory = [];
    let offset = 0;
    let directorySize = 0;
    for (const [name, bytes] of Object.entries(files)) {
        const path = new TextEncoder().encode(name);
        const common = [[2, VERSION], [2, UTF8_NAMES], [2, 0], [2, 0], [2, DATE], [4, crc32(bytes)], [4, bytes.length],
            [4, bytes.length], [2, path.length], [2, 0]];
        const local = zipFields([4, 0x04034b50], ...common);
        const central = zipFields([4, 0x02014b50], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]);
        parts.push(local, path, bytes);
        directory.push(central, path);
        offset += local.length + path.length + bytes.length;
        directorySize += central.length + path.length;
    }
    const n = Object.keys(files).length;
    const end = zipFields([4, 0x06054b50], [2, 0], [2, 0], [2, n], [2, n], [4, directorySize], [4, offset], [2, 0]);
    return new Blob([...parts, ...directory, end], {type: 'application/zip'});
}
