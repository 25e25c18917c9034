import type { Workspace } from './directory.ts';
import { halvesOf } from './frame.ts';
import type { Claim } from './gate.ts';
import type { Member } from './member.ts';
import type { MessageTo } from './message.ts';
import { Outbox } from './outbox.ts';
import type { ByeReason } from './reasons.ts';
import type { SlabPool } from './slab-pool.ts';
import { FrameSplitter } from './splitter.ts';

/** `hello` and `proof`: that frame is awaited. `closing`: a bye is on its way out and nothing is read any more. */
type SessionState = 'hello' | 'proof' | 'ready' | 'control' | 'closing' | 'closed';

/** The states in which each message is taken. Forward frames of a ready session never come that far. */
export const TAKEN_IN: { readonly [Type in MessageTo<'relay'>['type']]: readonly SessionState[] } = {
  hello: ['hello'],
  proof: ['proof'],
  forward: [],
  keepalive: ['ready', 'control'],
  'keepalive-reply': ['ready', 'control'],
  probe: ['ready'],
  renew: ['ready'],
  revoke: ['control'],
  bye: ['ready', 'control'],
};

/** A connection as the relay sees it. Its owner writes the result of `outbox.take()` and closes the socket when told. */
export class RelaySession {
  openedAt: number;
  readonly splitter: FrameSplitter;
  readonly outbox: Outbox;
  state: SessionState = 'hello';
  heardAt: number;
  /** Ends with the credential. */
  expiresAt = Number.POSITIVE_INFINITY;
  /** Once it is proven. */
  member: Member | undefined;
  workspace: Workspace<RelaySession> | undefined;
  idHigh = 0;
  idLow = 0;
  /** The unproven claim of the client. */
  claim: Claim | undefined;
  closing: { readonly reason: ByeReason; readonly at: number } | undefined;
  /** Already in the list of sessions with something to write. */
  isDirty = false;

  constructor(now: number, pool: SlabPool, queueBytes: number, maxPayload: number) {
    this.openedAt = now;
    this.heardAt = now;
    this.outbox = new Outbox(pool, queueBytes);
    this.splitter = new FrameSplitter(maxPayload, pool);
  }

  get id(): bigint {
    return (BigInt(this.idHigh) << 32n) | BigInt(this.idLow);
  }

  set id(id: bigint) {
    ({ high: this.idHigh, low: this.idLow } = halvesOf(id));
  }

  isOf({ publicKey, workspace }: Member): boolean {
    if (this.member === undefined) return false;
    const { member } = this;
    return Buffer.compare(member.publicKey, publicKey) === 0 && Buffer.compare(member.workspace, workspace) === 0;
  }

  get isHandshaking(): boolean {
    return this.state === 'hello' || this.state === 'proof';
  }
}
