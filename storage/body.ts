import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as pako from 'pako';
import { StoreError } from '../core/base/ports.ts';
import { KINDS, type Kind, type RecordKey, type StoredRecord } from '../core/base/record.ts';

/** A record larger than this once compressed is refused (docs/policy.md#kinds). */
const MAX_COMPRESSED_BYTES = 8 * 1024;
/**
 * More for what the control plane says of a record whose maker wrote the rest before: who made one as large as may be does
 * not keep it, and what ends with it, from being ended.
 */
const STATUS_ROOM_BYTES = 8 * 1024;

/**
 * Text that deflate may refer back to, most frequent last. Stored bodies can be read with exactly these bytes only:
 * never change them; a better text gets the next codec number.
 */
const DICTIONARY = Buffer.from(
  [
    '"kubernetes.io/","team":"platform","app":"api","zone":"eu","tier":"frontend","tier":"backend","role":"cache"',
    '"stage":"staging","env":"dev","env":"prod","role":"web","role":"db"',
    '"policyPreset":"sandboxed","policyPreset":"coordinator","policyPreset":"isolated","policyPreset":"inherit"',
    '"parentRef":{"name":"","namespace":""},"ttl":"24h","scopes":["network:read","snapshots:read","network:write"]',
    '"depth":1,"phase":"Pending","phase":"Active","phase":"Expired","phase":"Revoked","peerRef":{"name":"',
    '"cidr":"10.96.0.0/24","mtu":1280,"defaultAction":"DENY","defaultAction":"ALLOW"},"status":{"allocated":0,"available":253',
    '"requestedBy":"user:admin","reviewedBy":"user:admin","reviewedAt":17,"note":"","auto_approve":false,"changes":[{"action":"create","resource":"MeshPolicy","name":"","before":null,"after":{"baseRevision":1,"resultRevision":2',
    '"phase":"pending","phase":"approved","phase":"executing","phase":"executed","phase":"rejected"',
    '{"action":"DENY","peerSelector":{},"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["',
    '"matchExpressions":[{"key":"role","operator":"NotIn","values":["',
    '{"action":"ALLOW","peerSelector":{"matchLabels":{"role":"db"}},"ingress":[{"from":[{"peerSelector":{"matchLabels":{"role":"web"}}}],"ports":[{"protocol":"UDP","port":53},{"protocol":"TCP","port":443},{"protocol":"TCP","port":5432}]}]},"status":{"matchedPeers":1,"ruleCount":1,"warnings":[]}',
    '"spec":{"displayName":"","hostname":"","platform":"agent","platform":"container","platform":"ios","platform":"macos","platform":"linux","publicKey":"","network":"default","agentRef":"","expiresAt":17',
    '"status":{"phase":"pending","phase":"revoked","phase":"ready","address":"10.96.0.","approvedBy":"user:admin","approvedAt":17,"online":false,"online":true,"lastSeenAt":17',
    '"status":"offline","status":"online","spec":{},"status":{},"unique":["pubkey:","ip:10.96.0.',
    '{"name":"","uid":"wf_","uid":"agt_","uid":"net_","uid":"pol_","uid":"r_","uid":"p_","labels":{},"annotations":{},"spec":{},"status":{},"unique":[],"createdAt":17,"generation":1}',
  ].join(''),
);
const DEFLATE_RAW_1 = 1;
/** Small buffers: setting up zlib's usual ones takes longer than compressing a record. The window holds the dictionary. */
const DEFLATE = { dictionary: DICTIONARY, level: 4, windowBits: 13, memLevel: 3, chunkSize: 1024 } as const;
const INFLATE = { dictionary: DICTIONARY, chunkSize: 1024 } as const;

/**
 * Node aborts the whole process where a thread is terminated between the two steps in which it makes a zlib object. pako,
 * which gives the same bytes, takes two to four times as long: only threads, which may be terminated, use it.
 */
const deflate = isMainThread
  ? (text: string) => deflateRawSync(text, DEFLATE)
  : (text: string) => pako.deflateRaw(text, DEFLATE);
const inflate = isMainThread
  ? (packed: Uint8Array) => inflateRawSync(packed, INFLATE)
  : (packed: Uint8Array) => pako.inflateRaw(packed, INFLATE);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A live record is plain text; a superseded one is packed. */
export type StoredBody = string | Uint8Array;

/** Everything of a record that is not a column. */
export type Body = Omit<StoredRecord, 'workspace' | 'kind' | 'revision'>;

/** @throws StoreError `too_large` */
export function encodeBody(key: RecordKey, body: Body, before?: Body): string {
  const text = JSON.stringify(body);
  if (text.length * MAX_UTF8_BYTES_PER_UNIT <= MAX_COMPRESSED_BYTES) return text;
  const { length } = packBody(text);
  const most = MAX_COMPRESSED_BYTES + (before && isTold(key, JSON.parse(text) as Body, before) ? STATUS_ROOM_BYTES : 0);
  if (length <= most) return text;
  throw new StoreError('too_large', `${key.kind}/${key.name} (${length} of ${most} bytes)`);
}

/**
 * True if a version keeps the labels, annotations and spec of the previous one, apart from the field that the control plane
 * writes.
 */
function isTold({ kind }: RecordKey, body: Body, before: Body): boolean {
  const { told = '' }: { readonly history: boolean; readonly told?: string } = KINDS[kind];
  const written = ({ labels, annotations, spec }: Body) => [labels, annotations, { ...spec, [told]: undefined }];
  return isDeepStrictEqual(written(body), written(before));
}

/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

export function packBody(body: StoredBody): Uint8Array {
  if (typeof body !== 'string') return body;
  const packed = deflate(body);
  const bytes = new Uint8Array(packed.length + 1);
  bytes[0] = DEFLATE_RAW_1;
  bytes.set(packed, 1);
  return bytes;
}

/** Returns the digest that the audit log records for a body, live or superseded: SHA-256 of its text, in hexadecimal. */
export function bodyDigest(stored: StoredBody): string {
  return hash('sha256', textOf(stored), 'hex');
}

export function decodeBody<K extends Kind>(
  workspace: string,
  kind: K,
  revision: number,
  stored: StoredBody,
): StoredRecord<K> {
  const body = parseStored<StoredRecord<K>>(textOf(stored));
  // Completed in place: a copy of each record is what a long list would spend its time on.
  return Object.assign(body, { workspace, kind, revision });
}

function textOf(stored: StoredBody): string {
  if (typeof stored === 'string') return stored;
  if (stored[0] !== DEFLATE_RAW_1) throw new StoreError('unavailable', `body codec ${stored[0]} is of a newer version`);
  try {
    return UTF8.decode(inflate(stored.subarray(1)));
  } catch (error) {
    throw notAsWritten(error);
  }
}

/** Text that this store wrote as JSON. @throws StoreError `lost` where it is none any more */
export function parseStored<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notAsWritten(error);
  }
}

/** Pages of a database have no sums: where a disk gives back others, only what is in them tells. */
function notAsWritten(error: unknown): StoreError {
  return new StoreError('lost', 'the database: a text in it is not what was written', { cause: error });
}
