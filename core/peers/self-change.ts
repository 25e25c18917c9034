import { MeshError } from '../base/errors.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import type { PeerStatus } from '../model/resources.ts';

/**
 * Between two changes that a device makes to its own record. A write is judged three times at least before it is given up
 * because what it was judged on has changed, and that takes less than two rests: so no device alone can keep others from
 * writing, at whichever control planes it tries.
 */
export const SELF_CHANGE_PAUSE_MS = 30_000;

/**
 * Returns the status of a peer whose device takes another name or key. Until a person has let the device in, both stay as they
 * are: whoever approves it approves the name and the key that they saw.
 *
 * @throws MeshError `peer_pending` before the approval, `rate_limited` where it changed its own record a moment ago
 */
export function changedIdentity(status: PeerStatus, now: number): PeerStatus {
  if (status.phase !== 'pending') return afterSelfChange(status, now);
  throw new MeshError(
    'peer_pending',
    'This device awaits approval, and its name and key are fixed until then. To change them, leave the network and register again.',
  );
}

/**
 * The status of a peer that its device is about to change by itself.
 *
 * @throws MeshError `rate_limited` where it did so a moment ago
 */
export function afterSelfChange(status: PeerStatus, now: number): PeerStatus {
  const { changedItselfAt } = status;
  const since = changedItselfAt === undefined ? 0 : parseInstant(changedItselfAt);
  const waitMs = since + SELF_CHANGE_PAUSE_MS - now;
  // By a clock that was ahead it would have to wait for as long as that was.
  if (waitMs <= 0 || since > now) return { ...status, changedItselfAt: formatInstant(now) };
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  throw new MeshError(
    'rate_limited',
    `This device changed its name or its key a moment ago: wait ${retryAfterSeconds} s, then change it again.`,
    { retryAfterSeconds },
  );
}
