import { MeshError } from '../core/base/errors.ts';
import type { CallContext } from '../core/base/operation.ts';
import { pointOf, stateAt } from '../core/history/point.ts';
import type { ComputeServices } from '../core/intent/plan/services.ts';
import type { NetworkState } from '../core/state/state.ts';
import { instant, momentText } from './snapshots/snapshot-fields.ts';

/** Fields by which a question is about the past. */
export const pastFields = {
  at: instant.optional().describe('In the past (Pro)'),
  snapshot_id: momentText.optional().describe('Likewise'),
};

type PastQuery = { readonly at?: string | undefined; readonly snapshot_id?: string | undefined };

/**
 * Returns true if the raw fields name a moment. A question about the past is Pro, even where it is Community about the present.
 */
export function isAboutPast({ at, snapshot_id: id }: Readonly<Record<string, unknown>>): boolean {
  return at !== undefined || id !== undefined;
}

/** A past state may have to be read as a whole. */
export function pastCost(raw: Readonly<Record<string, unknown>>): 'heavy' | 'light' {
  return isAboutPast(raw) ? 'heavy' : 'light';
}

/**
 * The network that a question is about, and the instant from which expiries count, ms: now unless it names a moment.
 *
 * @throws MeshError `forbidden` for the past without `snapshots:read`; `invalid_input`, `not_found` or `expired` as
 * `pointOf` and `stateAt` do
 */
export async function stateFor(
  { services, workspace, caller }: CallContext<Pick<ComputeServices, 'store' | 'states' | 'clock'>>,
  query: PastQuery,
): Promise<{ readonly state: NetworkState; readonly at: number; readonly isPast: boolean }> {
  if (!isAboutPast(query))
    return { state: await services.states.current(workspace), at: services.clock.now(), isPast: false };
  if (!caller.scopesIn(workspace).has('snapshots:read')) {
    const detail = 'The past needs the scope snapshots:read, which you do not hold here. Leave out at and snapshot_id.';
    throw new MeshError('forbidden', detail, { scope: 'snapshots:read' });
  }
  const point = await pointOf(services, workspace, query);
  if (!point) throw new TypeError('A question about the past names a moment.');
  return { state: await stateAt(services, workspace, point), at: point.instant, isPast: true };
}
