import { SYSTEM_WORKSPACE } from '../../../core/base/ids.ts';
import { draftOf } from '../../../core/base/record.ts';
import type { Harness } from './harness.ts';

type Planes = Pick<Harness, 'plane'>;

/** The one session that began at an issuer. */
export async function issuedSession({ plane }: Planes) {
  const { items } = await plane.services.store.list(SYSTEM_WORKSPACE, 'Session');
  for (const session of items) {
    const { issued } = session.spec;
    if (issued) return { ...session, spec: { ...session.spec, issued } };
  }
  throw new Error('There is no session of an issuer.');
}

/** Has the issuer be asked now whether the session goes on. */
export async function askNow(harness: Planes): Promise<void> {
  const session = await issuedSession(harness);
  const spec = { ...session.spec, issued: { ...session.spec.issued, askAt: 1 } };
  const op = { op: 'update', record: { ...draftOf(session), spec }, revision: session.revision } as const;
  const why = { actor: 'system:test', reason: 'test', requestId: 'r' };
  await harness.plane.services.store.commit(SYSTEM_WORKSPACE, [op], why);
}
