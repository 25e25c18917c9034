import { MeshError } from '../base/errors.ts';

/**
 * Half of what the servers of a bus can be told of at once (net/bus/revocations.ts), which they forget a day later: one
 * workspace alone fills it about once an hour at most.
 */
export const LOST_KEYS_PER_HOUR = 4_000;
const HOUR_MS = 3_600_000;
/**
 * Fraction of that allowance after which devices of agents wait: an agent that delegates in a loop leaves the rest to people.
 */
const AGENT_KEY_QUOTA = 0.5;
const MS_EACH = HOUR_MS / LOST_KEYS_PER_HOUR;

/**
 * How many nodes of a workspace may lose their place or their key before it has to wait for new keys (GCRA): 4,000 that
 * are lost at once cost nothing, 10,000 that no key is given for an hour and a half.
 */
export class KeyAllowance {
  /** By workspace, when all that it lost is made up for; who lost something last stands last. */
  readonly #evenAt = new Map<string, number>();

  /** Takes from nobody: that a place is lost is never refused. */
  lost(workspace: string, places: number, at: number): void {
    if (places === 0) return;
    const evenAt = Math.max(this.#evenAt.get(workspace) ?? 0, at) + places * MS_EACH;
    this.#evenAt.delete(workspace);
    this.#evenAt.set(workspace, evenAt);
    for (const [other, even] of this.#evenAt) {
      if (even > at) break;
      this.#evenAt.delete(other);
    }
  }

  /**
   * @param isAgents of whose devices it is asked
   * @throws MeshError `rate_limited` where nodes of the workspace have lost too many places for another key by now
   */
  requireRoom(workspace: string, now: number, { isAgents = false }: { readonly isAgents?: boolean } = {}): void {
    const share = isAgents ? AGENT_KEY_QUOTA : 1;
    const waitMs = (this.#evenAt.get(workspace) ?? 0) - HOUR_MS * share - now;
    if (waitMs <= 0) return;
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    throw new MeshError(
      'rate_limited',
      `Devices of this workspace were deleted, revoked or given another key ${LOST_KEYS_PER_HOUR * share} times within an hour` +
        `${isAgents ? ', after which those of agents wait' : ''}: ` +
        `wait ${retryAfterSeconds} s, then let a device join or change its key again.`,
      { retryAfterSeconds },
    );
  }
}
