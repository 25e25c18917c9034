import { normalizeName } from '../../core/model/resources.ts';
import type { NodeConfig } from './node-config.ts';
import { type PlaneApi, PlaneAway, PlaneRefusal } from './plane-api.ts';

export interface RenameOutcome {
  readonly config: NodeConfig;
  /** Why it keeps its name for now. */
  readonly kept?: string;
}

/** Refusals that say nothing against the name itself. */
const FOR_NOW: ReadonlySet<string> = new Set(['rate_limited', 'peer_pending']);

/**
 * Gives the node another name. A name that cannot be changed at this moment keeps no node from its network.
 *
 * @throws PlaneRefusal for a name that is taken
 */
export async function renameNode(
  config: NodeConfig,
  asked: string,
  api: Pick<PlaneApi, 'rename'>,
): Promise<RenameOutcome> {
  if (normalizeName(asked) === config.name) return { config };
  try {
    const { name, message = 'the control plane did not say why' } = await api.rename(asked);
    // A person has to approve it first.
    return name === undefined ? { config, kept: message } : { config: { ...config, name } };
  } catch (error) {
    if (!isForNow(error)) throw error;
    return { config, kept: error.message };
  }
}

function isForNow(error: unknown): error is Error {
  return error instanceof PlaneAway || (error instanceof PlaneRefusal && FOR_NOW.has(error.code));
}
