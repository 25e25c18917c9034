import { actorsNamed } from '../base/actor.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { lookUpById } from '../model/find.ts';
import { family } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';

/**
 * Whose entries of the audit log a caller reads: anybody's, but a delegated agent only its own and its descendants'.
 *
 * @param asked who is asked for, such as `agent:scout` or `scout`
 * @throws MeshError `beyond_delegation`
 */
export async function readableActors(
  { services, workspace, caller }: CallContext<Pick<NetworkServices, 'states'>>,
  asked: string | undefined,
): Promise<readonly string[] | undefined> {
  const actors = asked === undefined ? undefined : actorsNamed(asked);
  if (caller.kind !== 'agent') return actors;
  const state = await services.states.current(workspace);
  const agent = lookUpById(state.agents, caller.id);
  if (agent && agent.spec.parentRef === undefined) return actors;
  if (!actors) return [caller.subject];
  const own = agent ? family(state, agent).map(({ name }) => `agent:${name}`) : [];
  const readable = actors.filter((actor) => own.includes(actor));
  if (readable.length > 0) return readable;
  throw new MeshError('beyond_delegation', 'A delegated agent reads what it and its own sub-agents did, nothing else.');
}

/**
 * Every member, agent and device of a workspace may check its log, of which hashes tell nothing. A token to join with is
 * no member.
 *
 * @throws MeshError `forbidden`
 */
export function requireMember({ caller }: Pick<CallContext<unknown>, 'caller'>): void {
  if (caller.kind !== 'enrolment') return;
  throw new MeshError('forbidden', 'A token to join with does not read the log: join first.');
}

/** For what cannot leave out the entries of others. @throws MeshError `beyond_delegation` */
export async function requireWholeLog(context: CallContext<Pick<NetworkServices, 'states'>>): Promise<void> {
  if ((await readableActors(context, undefined)) === undefined) return;
  throw new MeshError(
    'beyond_delegation',
    'A delegated agent reads its own entries alone: GET /api/v1/audit has them.',
  );
}
