import { MeshError } from '../base/errors.ts';
import { FairQueue } from '../compute/fair-queue.ts';

/** A caller that waits for the hash of a password. */
export interface HashCaller {
  /**
   * True where it is signed in, or signed in to the account from there before: such callers do not wait behind a flood of
   * others.
   */
  readonly isKnown: boolean;
  /** The source that counts as one origin of passwords. */
  readonly source: string;
}

/** Hashes at once; each takes 19 MiB while it runs. */
const MAX_RUNNING = 2;
/** Hashes waiting, of known and of other askers each; more are refused, so that a flood costs no more than this. */
const MAX_WAITING = 32;
/** Maximum of these for one source. */
const MAX_WAITING_OF_SOURCE = 16;

let running = 0;
/** Known askers and others take turns, and within each their sources. */
const waiting = new FairQueue<() => void>({
  total: 2 * MAX_WAITING,
  perTenant: MAX_WAITING,
  perTenantAgents: MAX_WAITING,
  perPrincipal: MAX_WAITING_OF_SOURCE,
});

/** Runs a hash in its turn. @throws MeshError `rate_limited` where too many wait */
export async function withWriteSlot<T>(asker: HashCaller, hash: () => Promise<T>): Promise<T> {
  await takeSlot(asker);
  try {
    return await hash();
  } finally {
    releaseSlot();
  }
}

async function takeSlot({ isKnown, source }: HashCaller): Promise<void> {
  if (running < MAX_RUNNING) {
    running += 1;
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const full = waiting.push({ tenant: isKnown ? 'known' : 'others', principal: source }, resolve);
  if (full !== undefined) {
    throw new MeshError('rate_limited', 'Too many logins at once: try again in a second.', { retryAfterSeconds: 1 });
  }
  await promise;
}

/** The place goes straight to whose turn it is, so nobody slips in between. */
function releaseSlot(): void {
  const next = waiting.shift();
  if (next) next.item();
  else running -= 1;
}
