import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { ordered } from '../core/base/ordered.ts';
import type { Clock } from '../core/base/ports.ts';
import type { Keyring } from '../core/model/services.ts';

/** A question, with who asked it where. */
export interface RunRequest {
  readonly workspace: string;
  readonly owner: string;
  readonly asked: Readonly<Record<string, unknown>>;
}

/** Ids of runs: each proves which question it was given for, and when, also to a control plane that has forgotten the run. */
export interface RunIds {
  make(run: RunRequest): string;
  /** Returns when the run of an id began, in milliseconds; undefined where it is of another question. */
  beginOf(id: string, run: RunRequest): number | undefined;
}

/** An id is 12 bytes: the seconds of its begin, chance, and the proof. Who forges one skips events of an own question. */
const SECONDS_BYTES = 4;
const CHANCE_BYTES = 3;
const PROOF_BYTES = 5;

export function runIds({ controlPrivateKey }: Pick<Keyring, 'controlPrivateKey'>, clock: Clock): RunIds {
  const secret = Buffer.from(controlPrivateKey.reveal(), 'base64');
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'mesh debug runs', 32));
  const proofOf = (head: Uint8Array, { workspace, owner, asked }: RunRequest) =>
    createHmac('sha256', key)
      .update(head)
      .update(JSON.stringify([workspace, owner, ordered(asked)]))
      .digest()
      .subarray(0, PROOF_BYTES);
  return {
    make(run) {
      const seconds = Buffer.alloc(SECONDS_BYTES);
      seconds.writeUInt32BE(Math.floor(clock.now() / 1_000) % 2 ** 32);
      const head = Buffer.concat([seconds, randomBytes(CHANCE_BYTES)]);
      return Buffer.concat([head, proofOf(head, run)]).toString('base64url');
    },
    beginOf(id, run) {
      const bytes = Buffer.from(id, 'base64url');
      const head = bytes.subarray(0, SECONDS_BYTES + CHANCE_BYTES);
      const isOwn =
        bytes.length === head.length + PROOF_BYTES && proofOf(head, run).equals(bytes.subarray(head.length));
      return isOwn ? head.readUInt32BE() * 1_000 : undefined;
    },
  };
}

const MARK_CHARACTERS = 8;

/** A plan that is offered is made anew with each computation, under another id: it is the same offer. */
const OF_OFFER: ReadonlySet<string> = new Set(['plan_id', 'expires_at']);

/** Returns what stands for all events up to one, from what stands for those before it. */
export function markAfter(before: string, event: unknown): string {
  const text = JSON.stringify([before, ordered(event)], (key, value) => (OF_OFFER.has(key) ? undefined : value));
  return createHash('sha256').update(text).digest('base64url').slice(0, MARK_CHARACTERS);
}
