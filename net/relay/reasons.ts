/** Why a session ends, with its number on the wire. */
export const BYE_REASONS = {
  /** The other side is done. */
  normal: 1,
  revoked: 2,
  /** The same identity proved itself on another connection. */
  replaced: 3,
  /** The relay goes down for a restart: connect again, here or elsewhere, after the time given. */
  restart: 4,
  'handshake-timeout': 5,
  /** Nothing was heard for the dead time. */
  silent: 6,
  'bad-credential': 7,
  'credential-expired': 8,
  'bad-proof': 9,
  /** Another key in this workspace has the same id. */
  collision: 10,
  /** A frame that is malformed, too large, or out of place. */
  protocol: 11,
  /** Too many connections, in all or from one address. */
  limit: 12,
} as const;

export type ByeReason = keyof typeof BYE_REASONS;

const reasonByCode = new Map(Object.entries(BYE_REASONS).map(([reason, code]) => [code as number, reason]));

/** The reason of a code; one of a later version counts as `normal`. */
export function byeReasonOf(code: number): ByeReason {
  return (reasonByCode.get(code) ?? 'normal') as ByeReason;
}

/** True if a client that receives this reason may try the same relay again with the same credential. */
export function mayReturn(reason: ByeReason): boolean {
  switch (reason) {
    case 'normal':
    case 'restart':
    case 'handshake-timeout':
    case 'silent':
    case 'limit':
      return true;
    case 'revoked':
    case 'replaced':
    case 'bad-credential':
    case 'credential-expired':
    case 'bad-proof':
    case 'collision':
    case 'protocol':
      return false;
    default:
      return reason satisfies never;
  }
}

/** Why a frame was not forwarded. */
export type DropReason =
  /** The receiver reads too slowly. */
  | 'queue-full'
  /** Nobody of that id is connected in the sender's workspace. */
  | 'unknown-peer'
  | 'to-self';

export const NO_DROPS: Readonly<Record<DropReason, number>> = { 'queue-full': 0, 'unknown-peer': 0, 'to-self': 0 };
