// CRC-64/XZ (ECMA-182, reflected), which OSS answers in x-oss-hash-crc64ecma and its SDKs compare. Two halves of 32
// bits and four tables: BigInt would be a hundred times slower.
const polyHigh = 0xc96c5795;
const polyLow = 0xd7870f42;
const slices = 8;

const tableHigh: Int32Array[] = Array.from({ length: slices }, () => new Int32Array(256));
const tableLow: Int32Array[] = Array.from({ length: slices }, () => new Int32Array(256));

for (let byte = 0; byte < 256; byte++) {
  let [high, low] = [0, byte];
  for (let bit = 0; bit < 8; bit++) {
    const odd = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (odd === 1) {
      high ^= polyHigh;
      low ^= polyLow;
    }
  }
  tableHigh[0]![byte] = high;
  tableLow[0]![byte] = low;
}
for (let slice = 1; slice < slices; slice++) {
  for (let byte = 0; byte < 256; byte++) {
    const [high, low] = [tableHigh[slice - 1]![byte]!, tableLow[slice - 1]![byte]!];
    tableHigh[slice]![byte] = (high >>> 8) ^ tableHigh[0]![low & 255]!;
    tableLow[slice]![byte] = ((low >>> 8) | (high << 24)) ^ tableLow[0]![low & 255]!;
  }
}

type Table = Int32Array;
type Eight = [Table, Table, Table, Table, Table, Table, Table, Table];

export function crc64(body: Uint8Array): bigint {
  let [high, low] = [-1, -1];
  const [h0, h1, h2, h3, h4, h5, h6, h7] = tableHigh as Eight;
  const [l0, l1, l2, l3, l4, l5, l6, l7] = tableLow as Eight;
  const whole = body.length - (body.length % 8);
  let i = 0;
  for (; i < whole; i += 8) {
    const a = low ^ (body[i]! | (body[i + 1]! << 8) | (body[i + 2]! << 16) | (body[i + 3]! << 24));
    const b = high ^ (body[i + 4]! | (body[i + 5]! << 8) | (body[i + 6]! << 16) | (body[i + 7]! << 24));
    const [a0, a1, a2, a3] = [a & 255, (a >>> 8) & 255, (a >>> 16) & 255, a >>> 24];
    const [b0, b1, b2, b3] = [b & 255, (b >>> 8) & 255, (b >>> 16) & 255, b >>> 24];
    high = h7[a0]! ^ h6[a1]! ^ h5[a2]! ^ h4[a3]! ^ h3[b0]! ^ h2[b1]! ^ h1[b2]! ^ h0[b3]!;
    low = l7[a0]! ^ l6[a1]! ^ l5[a2]! ^ l4[a3]! ^ l3[b0]! ^ l2[b1]! ^ l1[b2]! ^ l0[b3]!;
  }
  for (; i < body.length; i++) {
    const index = (low ^ body[i]!) & 255;
    low = ((low >>> 8) | (high << 24)) ^ l0[index]!;
    high = (high >>> 8) ^ h0[index]!;
  }
  return (BigInt(~high >>> 0) << 32n) | BigInt(~low >>> 0);
}

// --- combining: the checksum of a concatenation from those of its pieces (as zlib's crc32_combine) ---

type Matrix = BigUint64Array;

function times(matrix: Matrix, vector: bigint): bigint {
  let sum = 0n;
  for (let i = 0; vector !== 0n; i++, vector >>= 1n) if ((vector & 1n) === 1n) sum ^= matrix[i]!;
  return sum;
}

function square(matrix: Matrix): Matrix {
  return BigUint64Array.from(matrix, (row) => times(matrix, row));
}

/** The i-th advances a checksum by 2^i zero bytes. */
const zeroBytes: Matrix[] = [];

function advanceBy(power: number): Matrix {
  if (zeroBytes.length === 0) {
    const oneBit = new BigUint64Array(64);
    oneBit[0] = (BigInt(polyHigh) << 32n) | BigInt(polyLow);
    for (let i = 1; i < 64; i++) oneBit[i] = 1n << BigInt(i - 1);
    zeroBytes.push(square(square(square(oneBit))));
  }
  while (zeroBytes.length <= power) zeroBytes.push(square(zeroBytes.at(-1)!));
  return zeroBytes[power]!;
}

export function combineCrc64(first: bigint, second: bigint, secondLength: number): bigint {
  let result = first;
  for (let power = 0, left = secondLength; left > 0; power++, left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = times(advanceBy(power), result);
  }
  return result ^ second;
}
