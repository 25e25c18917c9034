import { decodeXorAddress, encodeXorAddress } from '../../../net/stun/address.ts';
import {
  ATTRIBUTES,
  BINDING,
  checkFingerprint,
  decodeErrorCode,
  decodeStun,
  encodeErrorCode,
  encodeStun,
  hasIntegrity,
  OPTIONAL_FROM,
  type StunAttribute,
} from '../../../net/stun/message.ts';
import { formatIp, parseIp } from '../../../platform/ip.ts';
import { FULL_PACKET_BYTES } from '../../tunnel/mtu.ts';
import type { Endpoint } from '../../tunnel/tunnel.ts';

export type IceRole = 'controlling' | 'controlled';

/** Credentials of one side of a session (RFC 8445 section 5.3). */
export interface IceCredentials {
  readonly ufrag: string;
  readonly pwd: string;
}

/** A message of ICE as it arrived. Nothing of it may be believed before `isSignedWith` said so. */
export type IceMessage =
  | {
      readonly kind: 'check';
      readonly transactionId: Uint8Array;
      /** Names of the receiver, then of the sender. */
      readonly ufrags: readonly [string, string];
      readonly priority: number;
      readonly role: IceRole;
      readonly tieBreaker: bigint;
      readonly isNominating: boolean;
      /** The sender has no relay for its packets: a path that loses large ones is better than none. */
      readonly isOnlyPath: boolean;
    }
  | { readonly kind: 'success'; readonly transactionId: Uint8Array; readonly mapped: Endpoint }
  | { readonly kind: 'role-conflict'; readonly transactionId: Uint8Array }
  /** Over the relay: the sender lost its consent and left the direct path. */
  | { readonly kind: 'lost'; readonly ufrags: readonly [string, string]; readonly cause: LossCause };

/** Why a side leaves the direct path: its checks stay unanswered, or those of full size alone. */
export type LossCause = 'silence' | 'large-packets';

/** RFC 8445 section 7.3.1.1. */
const ROLE_CONFLICT = 487;
const UNDERSTOOD: ReadonlySet<number> = new Set(Object.values(ATTRIBUTES));
const USERNAME = /^([A-Za-z0-9+/]{4,256}):([A-Za-z0-9+/]{4,256})$/;

export interface CheckFields {
  readonly transactionId: Uint8Array;
  readonly local: IceCredentials;
  readonly remote: IceCredentials;
  readonly priority: number;
  readonly role: IceRole;
  readonly tieBreaker: bigint;
  readonly isNominating: boolean;
  /** Filled to the size of the largest packet that WireGuard sends. */
  readonly isFull?: boolean;
  readonly isOnlyPath?: boolean;
}

const ATTRIBUTE_HEADER_BYTES = 4;

/** A connectivity check (RFC 8445 section 7.2.2). */
export function encodeCheck({ isFull = false, ...fields }: CheckFields): Uint8Array {
  const check = encodeFilled(fields, undefined);
  const missing = FULL_PACKET_BYTES - check.length - ATTRIBUTE_HEADER_BYTES;
  return isFull && missing >= 0 ? encodeFilled(fields, missing) : check;
}

function encodeFilled(
  { transactionId, local, remote, priority, role, tieBreaker, isNominating, isOnlyPath }: Omit<CheckFields, 'isFull'>,
  fillBytes: number | undefined,
): Uint8Array {
  const attributes: StunAttribute[] = [
    { type: ATTRIBUTES.username, value: Buffer.from(`${remote.ufrag}:${local.ufrag}`) },
    { type: ATTRIBUTES.priority, value: u32(priority) },
    {
      type: role === 'controlling' ? ATTRIBUTES.iceControlling : ATTRIBUTES.iceControlled,
      value: u64(tieBreaker),
    },
    ...(isNominating ? [{ type: ATTRIBUTES.useCandidate, value: new Uint8Array(0) }] : []),
    ...(isOnlyPath ? [{ type: ATTRIBUTES.onlyPath, value: new Uint8Array(0) }] : []),
    ...(fillBytes === undefined ? [] : [{ type: ATTRIBUTES.fill, value: new Uint8Array(fillBytes) }]),
  ];
  return encodeStun({ class: 'request', method: BINDING, transactionId, attributes }, signedWith(remote.pwd));
}

/** The answer to a check; undefined when `from` is no address. */
export function encodeSuccess(transactionId: Uint8Array, from: Endpoint, pwd: string): Uint8Array | undefined {
  const ip = parseIp(from.address);
  if (ip === undefined) return undefined;
  const value = encodeXorAddress(ip, from.port, transactionId);
  const attributes = [{ type: ATTRIBUTES.xorMappedAddress, value }];
  return encodeStun({ class: 'success', method: BINDING, transactionId, attributes }, signedWith(pwd));
}

export function encodeRoleConflict(transactionId: Uint8Array, pwd: string): Uint8Array {
  const value = encodeErrorCode(ROLE_CONFLICT, 'Role Conflict');
  const attributes = [{ type: ATTRIBUTES.errorCode, value }];
  return encodeStun({ class: 'error', method: BINDING, transactionId, attributes }, signedWith(pwd));
}

/** Tells the other side, over the relay, that the direct path is left. */
export function encodeLost(
  transactionId: Uint8Array,
  local: IceCredentials,
  remote: IceCredentials,
  cause: LossCause,
): Uint8Array {
  const attributes = [
    { type: ATTRIBUTES.username, value: Buffer.from(`${remote.ufrag}:${local.ufrag}`) },
    ...(cause === 'large-packets' ? [{ type: ATTRIBUTES.lossCause, value: new Uint8Array(0) }] : []),
  ];
  return encodeStun({ class: 'indication', method: BINDING, transactionId, attributes }, signedWith(remote.pwd));
}

/** Undefined for what is no message of ICE. Never throws. */
export function decodeIce(bytes: Uint8Array): IceMessage | undefined {
  const message = decodeStun(bytes);
  if (message === undefined || message.method !== BINDING || checkFingerprint(bytes) !== 'right') return undefined;
  const end = message.attributes.findIndex(({ type }) => type === ATTRIBUTES.messageIntegrity);
  if (end < 0) return undefined;
  // Anyone can write attributes behind MESSAGE-INTEGRITY.
  const signed = new Map(message.attributes.slice(0, end).map(({ type, value }) => [type, value] as const));
  if ([...signed.keys()].some((type) => type < OPTIONAL_FROM && !UNDERSTOOD.has(type))) return undefined;
  const { transactionId } = message;
  switch (message.class) {
    case 'request':
      return decodeCheck(transactionId, signed);
    case 'success': {
      const value = signed.get(ATTRIBUTES.xorMappedAddress);
      const mapped = value && decodeXorAddress(value, transactionId);
      return mapped && { kind: 'success', transactionId, mapped: { address: formatIp(mapped.ip), port: mapped.port } };
    }
    case 'error': {
      const code = signed.get(ATTRIBUTES.errorCode);
      const isConflict = code !== undefined && decodeErrorCode(code) === ROLE_CONFLICT;
      return isConflict ? { kind: 'role-conflict', transactionId } : undefined;
    }
    case 'indication': {
      const ufrags = ufragsOf(signed);
      return ufrags && { kind: 'lost', ufrags, cause: signed.has(ATTRIBUTES.lossCause) ? 'large-packets' : 'silence' };
    }
    default:
      return message.class satisfies never;
  }
}

/** Tells whether the holder of this password made the message. */
export function isSignedWith(bytes: Uint8Array, pwd: string): boolean {
  return hasIntegrity(bytes, Buffer.from(pwd));
}

function decodeCheck(transactionId: Uint8Array, signed: ReadonlyMap<number, Uint8Array>): IceMessage | undefined {
  const ufrags = ufragsOf(signed);
  const priority = signed.get(ATTRIBUTES.priority);
  const controlling = signed.get(ATTRIBUTES.iceControlling);
  const tieBreaker = controlling ?? signed.get(ATTRIBUTES.iceControlled);
  if (!ufrags || priority?.length !== 4 || tieBreaker?.length !== 8) return undefined;
  return {
    kind: 'check',
    transactionId,
    ufrags,
    priority: Buffer.from(priority).readUInt32BE(),
    role: controlling ? 'controlling' : 'controlled',
    tieBreaker: Buffer.from(tieBreaker).readBigUInt64BE(),
    isNominating: signed.has(ATTRIBUTES.useCandidate),
    isOnlyPath: signed.has(ATTRIBUTES.onlyPath),
  };
}

function ufragsOf(signed: ReadonlyMap<number, Uint8Array>): readonly [string, string] | undefined {
  const value = signed.get(ATTRIBUTES.username);
  const [, receiver, sender] = USERNAME.exec(value ? Buffer.from(value).toString('latin1') : '') ?? [];
  return receiver !== undefined && sender !== undefined ? [receiver, sender] : undefined;
}

function signedWith(pwd: string) {
  return { integrityKey: Buffer.from(pwd), fingerprint: true };
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
