import { countOf, MAX_COALESCED } from '../../platform/segments.ts';
import { HEADER_BYTES, type Header, readHeader, typeAt, viewOf, writeHeader } from './frame.ts';
import { type Challenge, decodeChallenge, decodeHello, encodeChallenge, encodeHello, type Hello } from './handshake.ts';
import { decodeMember, encodeMember, MEMBER_BYTES, type Member } from './member.ts';
import { BYE_REASONS, type ByeReason, byeReasonOf } from './reasons.ts';

/** All that travels between a relay and its clients. Packets are a view into what was read, all other bytes are copies. */
export type RelayMessage =
  | { readonly type: 'hello'; readonly hello: Hello }
  | { readonly type: 'challenge'; readonly challenge: Challenge }
  /** A MAC of 32 bytes for each thing to prove. */
  | { readonly type: 'proof'; readonly macs: Uint8Array }
  | {
      readonly type: 'ready';
      /** The client's own id. */
      readonly peer: bigint;
      readonly keepaliveMs: number;
      readonly deadMs: number;
      readonly maxPayload: number;
      /** When the session ends unless the credential is renewed; milliseconds since the epoch. */
      readonly expiresAt: number;
    }
  | {
      readonly type: 'forward';
      /** The receiver in what a node sends, the sender in what it gets. */
      readonly peer: bigint;
      readonly packets: Uint8Array;
      /** Segment size of coalesced packets (platform/segments.ts); 0 for a single packet. */
      readonly segment: number;
      /** True if the sender takes coalesced packets; a node that sends coalesced packets does. */
      readonly takesCoalesced: boolean;
    }
  | { readonly type: 'keepalive' }
  | { readonly type: 'keepalive-reply' }
  /** Is the peer connected? */
  | { readonly type: 'probe'; readonly peer: bigint; readonly echo: Uint8Array }
  | { readonly type: 'probe-reply'; readonly peer: bigint; readonly isPresent: boolean; readonly echo: Uint8Array }
  | { readonly type: 'bye'; readonly reason: ByeReason; readonly retryAfterMs: number }
  /** A fresh credential for the same key and workspace. */
  | { readonly type: 'renew'; readonly credential: Uint8Array }
  /** `until` in milliseconds since the epoch; 0 takes the revocation back. */
  | { readonly type: 'revoke'; readonly member: Member; readonly until: number }
  | { readonly type: 'revoke-reply'; readonly publicKey: Uint8Array };

type Kind = RelayMessage['type'];
export type Receiver = 'relay' | 'node' | 'control';

/** The number of each on the wire, which a reply shares with its question, and who takes it. */
const WIRE = {
  hello: { number: 1, to: ['relay'] },
  challenge: { number: 2, to: ['node', 'control'] },
  proof: { number: 3, to: ['relay'] },
  ready: { number: 4, to: ['node', 'control'] },
  forward: { number: 5, to: ['relay', 'node'] },
  keepalive: { number: 6, to: ['relay', 'node'] },
  'keepalive-reply': { number: 6, isReply: true, to: ['relay', 'node', 'control'] },
  probe: { number: 7, to: ['relay'] },
  'probe-reply': { number: 7, isReply: true, to: ['node'] },
  bye: { number: 8, to: ['relay', 'node', 'control'] },
  renew: { number: 9, to: ['relay'] },
  revoke: { number: 10, to: ['relay'] },
  'revoke-reply': { number: 10, isReply: true, to: ['control'] },
} as const satisfies Record<Kind, { number: number; isReply?: true; to: readonly Receiver[] }>;

type Messages = { readonly [K in Kind]: Extract<RelayMessage, { readonly type: K }> };
type MessageOf<K extends Kind> = Messages[K];
type KindTo<R extends Receiver> = { [K in Kind]: R extends (typeof WIRE)[K]['to'][number] ? K : never }[Kind];
/** The messages that a receiver handles. */
export type MessageTo<R extends Receiver> = MessageOf<KindTo<R>>;

export type Refusal =
  /** A type of a later version. */
  | 'unknown-type'
  /** Nothing that this receiver takes. */
  | 'out-of-place'
  | 'malformed'
  /** More coalesced packets than a frame may carry. Another node wrote them: no fault of the relay. */
  | 'too-many-packets';

/** In `flags` of keepalive, probe and revoke: an answer, which is never answered. */
const REPLY = 1;
/** In `flags` of forward: one packet, of a node that takes coalesced ones. More is the segment of coalesced packets. */
const TAKES_COALESCED = 1;
const MIN_SEGMENT = 2;

const READY_BYTES = 20;
const BYE_BYTES = 5;
const REVOKE_BYTES = MEMBER_BYTES + 8;
/** A probe carries at most a time stamp and a number. */
const MAX_ECHO_BYTES = 64;
const NO_PAYLOAD = new Uint8Array(0);

/** A whole frame. */
export function encodeMessage(message: RelayMessage): Uint8Array {
  const payload = encodePayload(message);
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  const peer = 'peer' in message ? message.peer : 0n;
  writeHeader(viewOf(bytes), 0, { type: WIRE[message.type].number, flags: flagsOf(message), peer }, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Decodes a whole frame, as `FrameSplitter` cuts them. Never throws. */
export function decodeMessage<R extends Receiver>(
  receiver: R,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): MessageOf<KindTo<R>> | Refusal {
  const header = readHeader(view, start);
  const kind = ((header.flags & REPLY) === 0 ? undefined : REPLIES[header.type]) ?? MESSAGES[header.type];
  if (kind === undefined) return 'unknown-type';
  if (!isFor(receiver, kind)) return 'out-of-place';
  return decodeKind<KindTo<R>>(kind, bytes.subarray(start + HEADER_BYTES, end), header);
}

/** For a relay that passes packets on as they are: it looks at the header alone. */
export function isForward(view: DataView, start: number): boolean {
  return typeAt(view, start) === WIRE.forward.number;
}

/**
 * Writes a forward frame where it will be sent from.
 *
 * @param segment of coalesced packets; 0 for one alone
 * @returns the first byte behind it; there must be room
 */
export function writeForward(
  into: Uint8Array,
  view: DataView,
  at: number,
  peer: bigint,
  packets: Uint8Array,
  segment: number,
): number {
  const flags = segment === 0 ? TAKES_COALESCED : segment;
  writeHeader(view, at, { type: WIRE.forward.number, flags, peer }, packets.length);
  into.set(packets, at + HEADER_BYTES);
  return at + HEADER_BYTES + packets.length;
}

function encodePayload(message: RelayMessage): Uint8Array {
  switch (message.type) {
    case 'hello':
      return encodeHello(message.hello);
    case 'challenge':
      return encodeChallenge(message.challenge);
    case 'proof':
      return message.macs;
    case 'ready':
      return encodeReady(message);
    case 'forward':
      return message.packets;
    case 'keepalive':
    case 'keepalive-reply':
      return NO_PAYLOAD;
    case 'probe':
      return message.echo;
    case 'probe-reply':
      return Buffer.concat([Uint8Array.of(message.isPresent ? 1 : 0), message.echo]);
    case 'bye':
      return encodeBye(message);
    case 'renew':
      return message.credential;
    case 'revoke':
      return encodeRevoke(message);
    case 'revoke-reply':
      return message.publicKey;
    default:
      return message satisfies never;
  }
}

function flagsOf(message: RelayMessage): number {
  if (message.type !== 'forward') return 'isReply' in WIRE[message.type] ? REPLY : 0;
  if (message.segment > 0) return message.segment;
  return message.takesCoalesced ? TAKES_COALESCED : 0;
}

type Decoders = { readonly [K in Kind]: (payload: Uint8Array, header: Header) => Messages[K] | Refusal };

const DECODERS: Decoders = {
  hello(payload) {
    const hello = decodeHello(payload);
    return hello ? { type: 'hello', hello } : 'malformed';
  },
  challenge(payload) {
    const challenge = decodeChallenge(payload);
    return challenge ? { type: 'challenge', challenge } : 'malformed';
  },
  proof: (payload) => ({ type: 'proof', macs: Uint8Array.from(payload) }),
  ready: decodeReady,
  forward: decodeForward,
  keepalive: () => ({ type: 'keepalive' }),
  'keepalive-reply': () => ({ type: 'keepalive-reply' }),
  probe(payload, { peer }) {
    if (payload.length > MAX_ECHO_BYTES) return 'malformed';
    return { type: 'probe', peer, echo: Uint8Array.from(payload) };
  },
  'probe-reply'(payload, { peer }) {
    if (payload.length === 0) return 'malformed';
    return { type: 'probe-reply', peer, isPresent: payload[0] === 1, echo: Uint8Array.from(payload.subarray(1)) };
  },
  bye: decodeBye,
  renew: (payload) => ({ type: 'renew', credential: Uint8Array.from(payload) }),
  revoke: decodeRevoke,
  'revoke-reply': (payload) => ({ type: 'revoke-reply', publicKey: Uint8Array.from(payload) }),
};

function decodeKind<K extends Kind>(kind: K, payload: Uint8Array, header: Header): MessageOf<K> | Refusal {
  return DECODERS[kind](payload, header);
}

function decodeForward(packets: Uint8Array, { flags, peer }: Header): Messages['forward'] | Refusal {
  const segment = flags >= MIN_SEGMENT && flags < packets.length ? flags : 0;
  if (countOf(packets, segment) > MAX_COALESCED) return 'too-many-packets';
  return { type: 'forward', peer, packets, segment, takesCoalesced: flags > 0 };
}

/** keepalive ms u32 | dead ms u32 | largest payload u32 | session end u64. More may follow in a later version. */
function encodeReady({ keepaliveMs, deadMs, maxPayload, expiresAt }: Messages['ready']): Uint8Array {
  const bytes = new Uint8Array(READY_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, keepaliveMs);
  view.setUint32(4, deadMs);
  view.setUint32(8, maxPayload);
  view.setBigUint64(12, BigInt(expiresAt));
  return bytes;
}

function decodeReady(payload: Uint8Array, { peer }: Header): Messages['ready'] | Refusal {
  if (payload.length < READY_BYTES) return 'malformed';
  const view = viewOf(payload);
  return {
    type: 'ready',
    peer,
    keepaliveMs: view.getUint32(0),
    deadMs: view.getUint32(4),
    maxPayload: view.getUint32(8),
    expiresAt: Number(view.getBigUint64(12)),
  };
}

/** reason u8 | retry after ms u32. More may follow in a later version. */
function encodeBye({ reason, retryAfterMs }: Messages['bye']): Uint8Array {
  const bytes = new Uint8Array(BYE_BYTES);
  bytes[0] = BYE_REASONS[reason];
  viewOf(bytes).setUint32(1, retryAfterMs);
  return bytes;
}

function decodeBye(payload: Uint8Array): Messages['bye'] | Refusal {
  if (payload.length < BYE_BYTES) return 'malformed';
  return { type: 'bye', reason: byeReasonOf(payload[0] ?? 0), retryAfterMs: viewOf(payload).getUint32(1) };
}

/** key 32 | workspace 16 | until u64 */
function encodeRevoke({ member, until }: Messages['revoke']): Uint8Array {
  const bytes = new Uint8Array(REVOKE_BYTES);
  bytes.set(encodeMember(member));
  viewOf(bytes).setBigUint64(MEMBER_BYTES, BigInt(until));
  return bytes;
}

function decodeRevoke(payload: Uint8Array): Messages['revoke'] | Refusal {
  if (payload.length !== REVOKE_BYTES) return 'malformed';
  const until = Number(viewOf(payload).getBigUint64(MEMBER_BYTES));
  return { type: 'revoke', member: decodeMember(payload), until };
}

function isFor<R extends Receiver>(receiver: R, kind: Kind): kind is KindTo<R> {
  const to: readonly Receiver[] = WIRE[kind].to;
  return to.includes(receiver);
}

/** Kinds by their number. */
const MESSAGES = kindsByNumber(false);
const REPLIES = kindsByNumber(true);

function kindsByNumber(areReplies: boolean): (Kind | undefined)[] {
  const kinds: (Kind | undefined)[] = [];
  for (const [kind, wire] of Object.entries(WIRE)) {
    if ('isReply' in wire === areReplies) kinds[wire.number] = kind as Kind;
  }
  return kinds;
}
