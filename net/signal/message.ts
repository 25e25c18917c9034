import { costsOf, isDigest, type RelayCosts } from './relay-costs.ts';

/** A message between two nodes that sets up a connection; travels sealed with kind `signal`. */
export type SignalMessage =
  | { readonly kind: 'SYN'; readonly nonce: Uint8Array }
  | { readonly kind: 'ACK'; readonly nonce: Uint8Array }
  | {
      readonly kind: 'OFFER';
      readonly ufrag: string;
      readonly pwd: string;
      /** As drawn; what arrives may be another by up to 2, for it tells `firstCheck` on the wire. */
      readonly tieBreaker: bigint;
      readonly firstCheck: FirstCheck;
    }
  | { readonly kind: 'ANSWER'; readonly ufrag: string; readonly pwd: string; readonly tieBreaker: bigint }
  | { readonly kind: 'CANDIDATE'; readonly candidate: string }
  | { readonly kind: 'BYE'; readonly reason: string }
  | { readonly kind: 'PING' }
  | RelaysSignal;

/** Which relays a node can use, so that both ends of a pair choose the same one. */
export interface RelaysSignal {
  readonly kind: 'RELAYS';
  readonly costs: RelayCosts;
  /** Digest of the peer's costs as this node knows them (`digestOfCosts`); absent before the first. */
  readonly seen?: string;
  /** The peer is to answer: this node does not know whether it has heard of these costs. */
  readonly ask: boolean;
}

/** Whose checks begin a try; the other side begins later. */
export type FirstCheck = 'both' | 'offerer' | 'answerer';

type SignalKind = SignalMessage['kind'];

/** A kind of a later version is told apart from nonsense: it is counted and ignored. */
export type DecodedSignal =
  | { readonly ok: true; readonly message: SignalMessage }
  | { readonly ok: false; readonly reason: 'unknown-kind' | 'malformed' };

/** The largest is a CANDIDATE line; 2 KiB leave room for fields of later versions. */
export const MAX_SIGNAL_BYTES = 2_048;
const NONCE_BYTES = 16;
/** RFC 8839: ufrag 4 to 256 and pwd 22 to 256 of ice-char. */
const UFRAG = /^[A-Za-z0-9+/]{4,256}$/;
const PWD = /^[A-Za-z0-9+/]{22,256}$/;
const TIE_BREAKER = /^[0-9a-f]{16}$/;
const NONCE = /^[A-Za-z0-9_-]{22}$/;
/** A line of an SDP candidate, printable ASCII. */
const CANDIDATE = /^[\x20-\x7e]{1,512}$/;
const REASON = /^[\x20-\x7e]{0,128}$/;

const textDecoder = new TextDecoder('utf-8', { fatal: true });
const MALFORMED = { ok: false, reason: 'malformed' } as const;

/** The remainder of the OFFER's tie breaker, divided by three, is the index in this list: who checks first. */
const FIRST_CHECKS = ['both', 'offerer', 'answerer'] as const satisfies readonly FirstCheck[];
const TIE_BREAKERS = 2n ** 64n;

/** UTF-8 JSON: nonces base64url, the tie breaker 16 hex digits. */
export function encodeSignal(message: SignalMessage): Uint8Array {
  return Buffer.from(JSON.stringify(toWire(message)));
}

/** Never throws. Fields a version does not know are ignored. */
export function decodeSignal(bytes: Uint8Array): DecodedSignal {
  const fields = parseObject(bytes);
  if (fields === undefined || typeof fields['kind'] !== 'string') return MALFORMED;
  const kind = fields['kind'];
  if (!isSignalKind(kind)) return { ok: false, reason: 'unknown-kind' };
  const message = fromWire(kind, fields);
  return message === undefined ? MALFORMED : { ok: true, message };
}

function toWire(message: SignalMessage): object {
  switch (message.kind) {
    case 'SYN':
    case 'ACK':
      return { kind: message.kind, nonce: Buffer.from(message.nonce).toString('base64url') };
    case 'OFFER': {
      const { firstCheck, ...offer } = message;
      return { ...offer, tieBreaker: hexOf(tieBreakerWith(offer.tieBreaker, firstCheck)) };
    }
    case 'ANSWER':
      return { ...message, tieBreaker: hexOf(message.tieBreaker) };
    case 'CANDIDATE':
    case 'BYE':
    case 'PING':
      return message;
    case 'RELAYS': {
      const { kind, costs, seen, ask } = message;
      return { kind, costs: Object.fromEntries(costs), ...(seen !== undefined && { seen }), ...(ask && { ask }) };
    }
    default:
      return message satisfies never;
  }
}

function fromWire(kind: SignalKind, fields: Readonly<Record<string, unknown>>): SignalMessage | undefined {
  switch (kind) {
    case 'SYN':
    case 'ACK': {
      const nonce = textOf(fields['nonce'], NONCE);
      const bytes = nonce === undefined ? undefined : Uint8Array.from(Buffer.from(nonce, 'base64url'));
      return bytes?.length === NONCE_BYTES ? { kind, nonce: bytes } : undefined;
    }
    case 'OFFER':
    case 'ANSWER': {
      const ufrag = textOf(fields['ufrag'], UFRAG);
      const pwd = textOf(fields['pwd'], PWD);
      const tieBreaker = textOf(fields['tieBreaker'], TIE_BREAKER);
      if (ufrag === undefined || pwd === undefined || tieBreaker === undefined) return undefined;
      const credentials = { ufrag, pwd, tieBreaker: BigInt(`0x${tieBreaker}`) };
      return kind === 'ANSWER'
        ? { kind, ...credentials }
        : { kind, ...credentials, firstCheck: firstCheckOf(credentials.tieBreaker) };
    }
    case 'CANDIDATE': {
      const candidate = textOf(fields['candidate'], CANDIDATE);
      return candidate === undefined ? undefined : { kind, candidate };
    }
    case 'BYE': {
      const reason = textOf(fields['reason'], REASON);
      return reason === undefined ? undefined : { kind, reason };
    }
    case 'PING':
      return { kind };
    case 'RELAYS': {
      const costs = costsOf(fields['costs']);
      const { seen } = fields;
      return costs && { kind, costs, ...(isDigest(seen) && { seen }), ask: fields['ask'] === true };
    }
    default:
      return kind satisfies never;
  }
}

function tieBreakerWith(drawn: bigint, firstCheck: FirstCheck): bigint {
  const remainder = BigInt(FIRST_CHECKS.indexOf(firstCheck));
  const tieBreaker = drawn - (drawn % 3n) + remainder;
  return tieBreaker < TIE_BREAKERS ? tieBreaker : remainder;
}

function firstCheckOf(tieBreaker: bigint): FirstCheck {
  return FIRST_CHECKS[Number(tieBreaker % 3n)] ?? 'both';
}

function hexOf(tieBreaker: bigint): string {
  return tieBreaker.toString(16).padStart(16, '0');
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (bytes.length > MAX_SIGNAL_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(textDecoder.decode(bytes));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, form: RegExp): string | undefined {
  return typeof value === 'string' && form.test(value) ? value : undefined;
}

const SIGNAL_KINDS = {
  SYN: true,
  ACK: true,
  OFFER: true,
  ANSWER: true,
  CANDIDATE: true,
  BYE: true,
  PING: true,
  RELAYS: true,
} as const satisfies Record<SignalKind, true>;

function isSignalKind(kind: string): kind is SignalKind {
  return Object.hasOwn(SIGNAL_KINDS, kind);
}
