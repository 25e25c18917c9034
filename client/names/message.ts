/**
 * As much of DNS (RFC 1035, EDNS of RFC 6891) as a server of few names needs: one question in, at most one record out. The
 * question goes back byte by byte as it came, whatever is in it.
 */
export const TYPE = { A: 1, NS: 2, SOA: 6, PTR: 12, AAAA: 28, OPT: 41, IXFR: 251, AXFR: 252, ANY: 255 } as const;
export const RCODE = { ok: 0, format: 1, noName: 3, notImplemented: 4, refused: 5 } as const;
export type Rcode = (typeof RCODE)[keyof typeof RCODE];
const CLASS_IN = 1;

const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
/** Largest answer that any network carries unfragmented; ours stay below 512. */
const UDP_BYTES = 1_232;
/** Names come and go with policies: nobody keeps an answer, or that there is none, for long. */
const TTL_SECONDS = 5;

const IS_RESPONSE = 0x80_00;
const OPCODE = 0x78_00;
const AUTHORITATIVE = 0x04_00;
const RECURSION_DESIRED = 0x01_00;
const CHECKING_DISABLED = 0x00_10;
/** Extended code 1 in the first byte of the TTL of OPT. */
const BAD_VERSION = 1;

export interface Query {
  readonly id: number;
  readonly flags: number;
  /** In lower case, without the root. */
  readonly labels: readonly string[];
  readonly type: number;
  readonly isInternet: boolean;
  /** As it came. */
  readonly question: Uint8Array;
  readonly edns: 'none' | 'known' | 'unknown';
}

/** Whoever sent this is answered with no more than the header, or not at all. */
export type Rejected =
  | { readonly reject: Rcode; readonly id: number; readonly flags: number }
  | { readonly reject: 'silently' };

/** Content of an answer. `zone`: how many labels at the end of the question name the zone that has it. */
export type Reply =
  | { readonly rcode: typeof RCODE.refused }
  | { readonly rcode: typeof RCODE.ok; readonly zone: number; readonly records: readonly DnsRecord[] }
  | { readonly rcode: typeof RCODE.noName; readonly zone: number };

export type DnsRecord =
  | { readonly type: typeof TYPE.A | typeof TYPE.AAAA; readonly address: Uint8Array }
  | { readonly type: typeof TYPE.PTR; readonly labels: readonly string[] }
  /** Start of authority of the zone itself. */
  | { readonly type: typeof TYPE.SOA };

/** Reads what arrived. Never throws. */
export function readQuery(bytes: Uint8Array): Query | Rejected {
  if (bytes.length < HEADER_BYTES) return { reject: 'silently' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [id, flags, questions, answers, authorities, additionals] = [0, 2, 4, 6, 8, 10].map((at) =>
    view.getUint16(at),
  ) as [number, number, number, number, number, number];
  // An answer to an answer would never end.
  if ((flags & IS_RESPONSE) !== 0) return { reject: 'silently' };
  if ((flags & OPCODE) !== 0) return { reject: RCODE.notImplemented, id, flags };
  const malformed = { reject: RCODE.format, id, flags } as const;
  if (questions !== 1 || answers !== 0 || authorities !== 0) return malformed;
  const name = readName(bytes, HEADER_BYTES);
  if (!name || name.end + 4 > bytes.length) return malformed;
  const end = name.end + 4;
  return {
    id,
    flags,
    labels: name.labels,
    type: view.getUint16(name.end),
    isInternet: view.getUint16(name.end + 2) === CLASS_IN,
    question: bytes.subarray(HEADER_BYTES, end),
    edns: additionals === 0 ? 'none' : readEdns(view, end),
  };
}

/** A question has nothing before it that it could point to: what is compressed is no question. */
function readName(bytes: Uint8Array, from: number): { labels: string[]; end: number } | undefined {
  const labels: string[] = [];
  for (let at = from; at - from < MAX_NAME_BYTES; ) {
    const length = bytes[at];
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    at += 1;
    if (length === 0) return { labels, end: at };
    if (at + length > bytes.length) return undefined;
    labels.push(
      Buffer.from(bytes.subarray(at, at + length))
        .toString('latin1')
        .toLowerCase(),
    );
    at += length;
  }
  return undefined;
}

/** OPT stands first wherever a resolver sends it; what else there may be is of no use here. */
function readEdns(view: DataView, at: number): Query['edns'] {
  const isThere = at + 11 <= view.byteLength && view.getUint8(at) === 0 && view.getUint16(at + 1) === TYPE.OPT;
  if (!isThere) return 'none';
  return view.getUint8(at + 6) === 0 ? 'known' : 'unknown';
}

/** The header alone, for what could not be read. */
export function writeRejection({ id, flags, reject }: Exclude<Rejected, { reject: 'silently' }>): Uint8Array {
  return header(id, flags, reject, [0, 0, 0, 0]);
}

export function writeReply(query: Query, reply: Reply): Uint8Array {
  const edns = query.edns === 'none' ? [] : [writeEdns(query.edns === 'unknown' ? BAD_VERSION : 0)];
  if (query.edns === 'unknown') return joined(query, RCODE.ok, 0, [], [], edns);
  if (reply.rcode === RCODE.refused) return joined(query, reply.rcode, 0, [], [], edns);
  const zoneAt = HEADER_BYTES + offsetOf(query.labels, reply.zone);
  const records = reply.rcode === RCODE.ok ? reply.records : [];
  const answers = records.map((record) =>
    record.type === TYPE.SOA ? writeSoa(zoneAt) : writeRecord(HEADER_BYTES, record.type, dataOf(record)),
  );
  const authorities = answers.length === 0 ? [writeSoa(zoneAt)] : [];
  return joined(query, reply.rcode, AUTHORITATIVE, answers, authorities, edns);
}

function joined(
  { id, flags, question }: Query,
  rcode: Rcode,
  more: number,
  answers: readonly Uint8Array[],
  authorities: readonly Uint8Array[],
  additionals: readonly Uint8Array[],
): Uint8Array {
  const counts = [1, answers.length, authorities.length, additionals.length] as const;
  return Buffer.concat([header(id, flags, rcode, counts, more), question, ...answers, ...authorities, ...additionals]);
}

function header(id: number, flags: number, rcode: Rcode, counts: readonly number[], more = 0): Uint8Array {
  const kept = flags & (OPCODE | RECURSION_DESIRED | CHECKING_DISABLED);
  const bytes = Buffer.alloc(HEADER_BYTES);
  for (const [at, value] of [id, IS_RESPONSE | kept | more | rcode, ...counts].entries())
    bytes.writeUInt16BE(value, at * 2);
  return bytes;
}

/** Where the last so many labels of a question begin in it. */
function offsetOf(labels: readonly string[], last: number): number {
  return labels.slice(0, labels.length - last).reduce((sum, label) => sum + 1 + label.length, 0);
}

function dataOf(record: Exclude<DnsRecord, { type: typeof TYPE.SOA }>): Uint8Array {
  return 'address' in record ? record.address : writeName(record.labels);
}

function writeName(labels: readonly string[]): Uint8Array {
  return Buffer.concat([
    ...labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ]);
}

/** The zone, its server and its mailbox are one name; the numbers but the last are for secondary servers, which there are none of. */
function writeSoa(zoneAt: number): Uint8Array {
  const data = Buffer.alloc(2 + 2 + 5 * 4);
  data.writeUInt16BE(pointerTo(zoneAt), 0);
  data.writeUInt16BE(pointerTo(zoneAt), 2);
  for (const [index, value] of [1, 3_600, 600, 86_400, TTL_SECONDS].entries()) data.writeUInt32BE(value, 4 + index * 4);
  return writeRecord(zoneAt, TYPE.SOA, data);
}

function writeRecord(ownerAt: number, type: number, data: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(pointerTo(ownerAt), 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(CLASS_IN, 4);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function writeEdns(extendedCode: number): Uint8Array {
  const bytes = Buffer.alloc(11);
  bytes.writeUInt16BE(TYPE.OPT, 1);
  bytes.writeUInt16BE(UDP_BYTES, 3);
  bytes.writeUInt8(extendedCode, 5);
  return bytes;
}

function pointerTo(offset: number): number {
  return 0xc0_00 | offset;
}
