import { setTimeout as after } from 'node:timers/promises';
import type { Api } from './http/harness.ts';
import type { Place } from './http/joining.ts';

const TRIES = 100;
const RETRY_MS = 50;
/** The long run asks as fast as it is answered; else requests are on their way all the time, and cores are left for what they wait for. */
const PACE_MS = process.env['MESH_LONG'] === '1' ? 0 : 100;

/** Between two requests of one client. */
export const pace = () => after(PACE_MS);

/** Writers that each make one policy after the other until they are told to end. */
export function writePolicies(api: Api, place: Place, prefix: string, writers = 4) {
  let isOver = false;
  const acknowledged: string[] = [];
  const failures: unknown[] = [];
  const work = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; !isOver; n += 1) {
      const name = `${prefix}-${writer}-${n}`;
      const created = await createOnce(api, place, name).catch((error: unknown) => ({ error }));
      if (created === 'acknowledged') acknowledged.push(name);
      else if (created !== 'unknown') failures.push(created);
      await pace();
    }
  });
  return {
    acknowledged,
    failures,
    async end() {
      isOver = true;
      await Promise.all(work);
    },
  };
}

/**
 * As a client does: what was told not to have been done is asked for again, after a connection that ended nobody knows, and
 * a look says which it was.
 */
async function createOnce(api: Api, place: Place, name: string): Promise<'acknowledged' | 'unknown' | object> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const body = { name, spec: { action: 'DENY', peerSelector: {} } };
    const answer = await api('POST', '/api/v1/policies', { ...place, body }).catch(() => undefined);
    if (answer === undefined) return 'unknown';
    if (answer.status === 201) return 'acknowledged';
    // What was answered with 503 may stand.
    if (answer.status === 409 && tries > 0) return 'unknown';
    if (answer.status !== 503 || !answer.headers.has('retry-after'))
      return { name, status: answer.status, body: answer.body };
    await after(RETRY_MS);
  }
  return { name, status: 'never answered' };
}

/** Of all policies that a control plane lists. */
export async function policyNames(api: Api, place: Place): Promise<Set<string>> {
  const names = new Set<string>();
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await api('GET', `/api/v1/policies?limit=100${query}`, place);
    for (const item of body.items) names.add(item.name);
    cursor = body.next_cursor;
  } while (cursor !== undefined);
  return names;
}
