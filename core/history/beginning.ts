import { MeshError } from '../base/errors.ts';
import { formatInstant } from '../base/time.ts';
import { clockText } from '../base/time-zone.ts';
import { timeZoneOf } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';

type Services = Pick<NetworkServices, 'store'>;

/** Says by the clocks of the workspace when its history begins. @param begin ms */
export async function beginningText(services: Services, workspace: string, begin: number): Promise<string> {
  const timeZone = await timeZoneOf(services, workspace);
  const when = `${clockText(begin, timeZone)} (${timeZone})`;
  return `The history of this workspace begins on ${when}; nothing was recorded before.`;
}

/** Refuses a moment before the history of a workspace. @param begin ms */
export async function beforeHistory(services: Services, workspace: string, begin: number): Promise<MeshError> {
  const detail = `${await beginningText(services, workspace, begin)} Ask about a later moment.`;
  return new MeshError('not_found', detail, { known_since: formatInstant(begin) });
}
