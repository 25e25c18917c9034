import { NEVER_DELEGATED, ROLE_SCOPES, type Scope } from '../base/scope.ts';
import { parseInstant } from '../base/time.ts';
import type { AgentRecord } from '../model/resources.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { agentLineage } from './agent-lineage.ts';
import { commonScopes, expandScopes } from './grants.ts';
import { roleIn } from './members.ts';

/** The present rights of an agent, and the records that they follow from. */
export interface AgentRights {
  /** The agent and its ancestors, nearest first. */
  readonly line: readonly AgentRecord[];
  readonly scopes: ReadonlySet<Scope>;
  /** When the first of the line ends, ms. */
  readonly endsAt: number;
  /** Account that answers for it; undefined for agents that were made before that was recorded. */
  readonly person: string | undefined;
}

/**
 * The rights of an agent: those that every agent of its line holds, less what is never delegated, and no more than the
 * person who made its root holds now. Undefined where one of the line, or that person, is not there any more.
 */
export async function agentRights(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  uid: string,
): Promise<AgentRights | undefined> {
  const line = await agentLineage(services.store, workspace, uid);
  const root = line?.at(-1);
  if (!line || !root) return undefined;
  const granted = line.map(({ spec }) => expandScopes(spec.scopes)).reduce(commonScopes);
  const held = line.length > 1 ? granted.difference(NEVER_DELEGATED) : granted;
  const person = root.spec.person?.id;
  const personal = person === undefined ? undefined : await scopesOfPerson(services, workspace, person);
  if (personal === 'none') return undefined;
  return {
    line,
    scopes: personal ? commonScopes(held, personal) : held,
    endsAt: Math.min(...line.map(({ spec }) => parseInstant(spec.expiresAt))),
    person,
  };
}

/**
 * Returns the scopes that an agent may have from a person; undefined for an unknown account, `none` for one without rights
 * here.
 */
async function scopesOfPerson(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  id: string,
): Promise<ReadonlySet<Scope> | 'none' | undefined> {
  const account = await accountById(services, id);
  if (!account) return undefined;
  if (account.spec.disabled) return 'none';
  const role =
    account.spec.role === 'platform_admin' ? 'platform_admin' : await roleIn(services, workspace, account.uid);
  // `agents:delegate` belongs to no role: it is given by name.
  return role === undefined ? 'none' : new Set<Scope>([...ROLE_SCOPES[role], 'agents:delegate']);
}
