import { freshKey } from '../plane/devices.ts';
import type { ApiAnswer, Harness } from './harness.ts';

/** Joining a plane over HTTP, as devices and administrators do it. */

export interface Place {
  /** Session of an administrator. */
  readonly token: string;
  readonly workspace: string;
}

/** A join token for 100 devices, unless `fields` say otherwise. */
export async function joinTokenFor(
  harness: Pick<Harness, 'api'>,
  place: Place,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = { name: 'devices', expiry: '', usageLimit: 100, ...fields };
  const answer = await harness.api('POST', '/api/v1/token/generate', { ...place, body });
  return answer.body.token;
}

/** Registers a device with a key of its own. */
export function register(
  harness: Pick<Harness, 'api'>,
  token: string,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ApiAnswer> {
  const body = { name, platform: 'linux', publicKey: freshKey().publicKey, ...fields };
  return harness.api('POST', '/api/v1/devices/register', { token, body });
}

/** Names of the peers that the workspace lists. */
export async function peerNames(harness: Harness, place: Place): Promise<string[]> {
  const { body } = await harness.api('GET', '/api/v1/peers?limit=200', place);
  return body.items.map(({ name }: { name: string }) => name);
}
