import { MeshError } from '../errors.ts';
import type { PlanRecord } from '../intent/plan-record.ts';
import type { AgentRecord } from '../network/resources.ts';
import type { NetworkState } from '../network/state.ts';
import type { CommitContext, Op } from '../ports.ts';
import { draftOf } from '../record.ts';
import type { Services } from '../services.ts';
import type { WorkflowRecord } from '../workflow/workflow-record.ts';
import { type AccountRecord, accountById, findAccount } from './accounts.ts';
import { endAgents } from './end-agents.ts';
import { cancelOp } from './ending-with.ts';
import { roleOf } from './members.ts';
import type { TokenRecord } from './token-record.ts';

type Needs = Pick<Services, 'store' | 'states' | 'clock' | 'liveness'>;

/**
 * What a person leaves in a workspace, to be committed with what takes them out of it: their join and API tokens and plans
 * go, what they asked for and nobody decided is not carried out, and their agents pass to a successor where one is named.
 * Devices that came with their join tokens stay.
 */
export async function leavingOps(
  { store, states }: Pick<Services, 'store' | 'states'>,
  workspace: string,
  { uid, name }: Pick<AccountRecord, 'uid' | 'name'>,
  successor: AccountRecord | undefined,
): Promise<Op[]> {
  const [tokens, plans, workflows] = await Promise.all(
    (['Token', 'Plan', 'Workflow'] as const).map(async (kind) => (await store.list(workspace, kind)).items),
  );
  const isTheirs = ({ spec }: TokenRecord) =>
    spec.kind === 'api' ? spec.owner === uid : spec.kind === 'join' && spec.createdBy === `user:${name}`;
  const gone = [
    ...(tokens as readonly TokenRecord[]).filter(isTheirs),
    ...(plans as readonly PlanRecord[]).filter(({ spec }) => spec.requesterId === uid),
  ];
  const undecided = (workflows as readonly WorkflowRecord[]).filter(
    ({ spec, status }) =>
      (status.state === 'pending' || status.state === 'approved') &&
      (spec.requesterId === uid || spec.applierId === uid),
  );
  const agents = successor ? rootsOf(await states.current(workspace), uid) : [];
  return [
    ...gone.map(({ kind, name: key }): Op => ({ op: 'delete', key: { kind, name: key } })),
    ...undecided.map((workflow) => cancelOp(workflow, `${name}, who asked for it, has left`)),
    ...agents.map(
      (agent): Op => ({
        op: 'update',
        revision: agent.revision,
        record: {
          ...draftOf(agent),
          spec: { ...agent.spec, person: { id: successor?.uid ?? uid, name: successor?.name ?? name } },
        },
      }),
    ),
  ];
}

/**
 * Who takes over the agents of a person that leaves.
 *
 * @throws MeshError `not_found` for who is no member of the workspace
 */
export async function successorIn(
  services: Pick<Services, 'store'>,
  workspace: string,
  username: string | undefined,
): Promise<AccountRecord | undefined> {
  if (username === undefined) return undefined;
  const account = await findAccount(services, username);
  if (account && (await isMember(services, workspace, account))) return account;
  throw new MeshError('not_found', `${username} is no member of the workspace ${workspace}: name one who is.`);
}

/** Ends the agents whose person is not there any more, with all that hangs on them. @returns names of what ended */
export async function endOrphans(services: Needs, workspace: string, context: CommitContext): Promise<string[]> {
  const state = await services.states.current(workspace);
  const persons = new Set([...state.agents.values()].flatMap(({ spec }) => spec.person?.id ?? []));
  const gone = new Set<string>();
  for (const id of persons) if (!(await isThere(services, workspace, id))) gone.add(id);
  if (gone.size === 0) return [];
  return endAgents(services, workspace, (now) => [...gone].flatMap((id) => rootsOf(now, id)), 'Revoked', context);
}

async function isThere(services: Pick<Services, 'store'>, workspace: string, id: string): Promise<boolean> {
  const account = await accountById(services, id);
  return account !== undefined && isMember(services, workspace, account);
}

/** Whether an account has a part in a workspace. */
export async function isMember(
  services: Pick<Services, 'store'>,
  workspace: string,
  account: AccountRecord,
): Promise<boolean> {
  if (account.spec.disabled) return false;
  return account.spec.role === 'platform_admin' || (await roleOf(services, workspace, account)) !== undefined;
}

function rootsOf({ agents }: NetworkState, person: string): AgentRecord[] {
  return [...agents.values()].filter(({ spec }) => spec.person?.id === person);
}
