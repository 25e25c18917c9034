import { goTo, linkTo } from '../route/route.ts';
import { say } from '../ui/message.tsx';
import { answer } from './client.ts';
import { changed } from './load.ts';

export const WAITS = 'Waiting for approval: see Review.';

/** Carries out a write and says how it ended: done, or waiting for a person. What is shown is read anew. */
export async function write<T extends object>(
  call: Promise<{ readonly data?: T | undefined }>,
  done: string | ((written: T) => string),
): Promise<T> {
  const written = await answer(call);
  const isWaiting = 'status' in written && written.status === 'pending_approval';
  say(isWaiting ? WAITS : typeof done === 'string' ? done : done(written));
  changed.value += 1;
  return written;
}

/** Leads on after a write: to where it is decided, if it waits. */
export function goAfter(written: object, done: string): void {
  const waits = 'status' in written && written.status === 'pending_approval' && 'workflow_id' in written;
  goTo(waits ? linkTo('review', [String(written.workflow_id)]) : done);
}
