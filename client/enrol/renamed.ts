import { normalizeName } from '../../core/model/resources.ts';
import type { NodeConfig } from './node-config.ts';
import { type PlaneApi, PlaneAway, PlaneRefusal } from './plane-api.ts';

export interface Renamed {
  readonly config: NodeConfig;
  /** Why it keeps its name for now. */
  readonly kept?: string;
}

const TOO_MANY_REQUESTS = 429;

/**
 * The node under the name that was asked for. A name that cannot be changed at this moment keeps no node from its network.
 *
 * @throws PlaneRefusal for a name that is taken
 */
export async function renamed(config: NodeConfig, asked: string, api: Pick<PlaneApi, 'rename'>): Promise<Renamed> {
  if (normalizeName(asked) === config.name) return { config };
  try {
    const { name } = await api.rename(asked);
    return { config: { ...config, name } };
  } catch (error) {
    if (!isForNow(error)) throw error;
    return { config, kept: error.message };
  }
}

function isForNow(error: unknown): error is Error {
  return error instanceof PlaneAway || (error instanceof PlaneRefusal && error.status === TOO_MANY_REQUESTS);
}
