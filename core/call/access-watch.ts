import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Store } from '../base/ports.ts';
import { CREDENTIAL_KINDS } from '../identity/credential-cache.ts';
import type { Gate } from './invoke.ts';

/** A stream, subscription or session that outlives its request. */
export interface Ongoing {
  readonly bearer: string;
  readonly origin: string;
  /** Returns its caller as it is now; found by the bearer token without. */
  readonly again?: Caller['again'];
  /** Receives the caller of the credential as it is now. @throws MeshError when the stream may not go on */
  readonly check: (caller: Caller) => void | Promise<void>;
  /** Called once, with the reason; nothing may be sent afterwards. */
  readonly end: (reason: MeshError) => void;
}

/** Ends what goes on as soon as a commit takes the right to it away. */
export interface AccessWatch {
  /** Watches until the answered function is called. */
  add(ongoing: Ongoing): () => void;
  /**
   * Resolves when all that lost its right by a commit so far has ended: to be awaited before an event is sent. Where that
   * cannot be known all has ended.
   */
  settled(): Promise<void>;
  /** Ends all that goes on, for a reason that is none of theirs. */
  endAll(reason: MeshError): void;
  close(): void;
}

export function buildAccessWatch(
  gate: Pick<Gate<{ readonly store: Pick<Store, 'onCommit'> }>, 'authenticate' | 'caughtUp' | 'services'>,
): AccessWatch {
  const all = new Set<Ongoing>();
  let checked = Promise.resolve();
  let isQueued = false;

  const close = gate.services.store.onCommit(({ changes }) => {
    // A round that has not begun will see this commit too.
    if (isQueued || all.size === 0 || !changes.some(({ record }) => CREDENTIAL_KINDS.has(record.kind))) return;
    isQueued = true;
    checked = checked.then(() => {
      isQueued = false;
      return checkAll();
    });
  });

  async function checkAll(): Promise<void> {
    await Promise.all([...all].map(check));
  }

  async function check(ongoing: Ongoing): Promise<void> {
    if (!all.has(ongoing)) return;
    try {
      const { bearer, origin, again = () => gate.authenticate(bearer, origin, { isUse: false }) } = ongoing;
      await ongoing.check(await again());
    } catch (error) {
      if (all.delete(ongoing)) ongoing.end(error instanceof MeshError ? error : unsure());
    }
  }

  function endAll(reason: MeshError): void {
    for (const ongoing of all) if (all.delete(ongoing)) ongoing.end(reason);
  }

  return {
    add(ongoing) {
      all.add(ongoing);
      // A commit may have come between the request and this.
      checked = checked.then(() => check(ongoing));
      return () => void all.delete(ongoing);
    },
    async settled() {
      // A stream that begins meanwhile is checked as it begins.
      if (all.size === 0) return;
      // The end of a person's access is written to the installation; that of a token precedes the event itself.
      await gate.caughtUp([SYSTEM_WORKSPACE]).catch(() => endAll(unsure()));
      await checked;
    },
    endAll,
    close,
  };
}

function unsure(): MeshError {
  return new MeshError('unavailable', 'Whether this may go on could not be found out: open it again.');
}

/** Returns the reason for which a stream ends when the control plane does. */
export function goElsewhere(): MeshError {
  return new MeshError(
    'unavailable',
    'This control plane is stopping: open the stream again, here in a moment or elsewhere.',
  );
}
