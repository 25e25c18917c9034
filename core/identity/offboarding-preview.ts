import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import { family, isOpen } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { heirIn, leftoversOf, schedulesOf } from './offboard.ts';

export const LEFTOVER_TYPES = ['API token', 'join token', 'agent', 'webhook', 'schedule'] as const;

/** Something that a person leaves in a workspace, and what becomes of it. */
export interface Leftover {
  /** Slug of the workspace. */
  readonly workspace: string;
  readonly type: (typeof LEFTOVER_TYPES)[number];
  readonly id: string;
  readonly name: string;
  readonly becomes: 'ends' | 'passes';
  /** User name of who takes it over; null for what ends, and for what passes to the workspace without an owner. */
  readonly to: string | null;
}

type Reads = Pick<NetworkServices, 'store' | 'states'>;

/**
 * Returns what becomes of everything that a person would leave in a workspace, agents with their sub-agents.
 *
 * @param successor who takes it over, from {@link heirIn} or as the call names them
 */
export async function leftoversInWorkspace(
  services: Reads,
  workspace: WorkspaceRecord,
  person: Pick<AccountRecord, 'uid' | 'name'>,
  successor: AccountRecord | undefined,
): Promise<Leftover[]> {
  const { apiTokens, joinTokens, agents, webhooks } = await leftoversOf(services, workspace.uid, person);
  const state = await services.states.current(workspace.uid);
  const to = successor?.name ?? null;
  const ends = { workspace: workspace.spec.slug, becomes: 'ends', to: null } as const;
  const passes = { workspace: workspace.spec.slug, becomes: 'passes', to } as const;
  const credential = successor ? passes : ends;
  const families = agents.flatMap((root) => family(state, root).filter(isOpen));
  return [
    ...apiTokens.map(({ uid, spec }) => ({ ...ends, type: 'API token' as const, id: uid, name: spec.name })),
    ...joinTokens.map(({ uid, spec }) => ({ ...credential, type: 'join token' as const, id: uid, name: spec.name })),
    ...families.map(({ uid, name }) => ({ ...credential, type: 'agent' as const, id: uid, name })),
    ...webhooks.map(({ uid, spec }) => {
      return { ...passes, type: 'webhook' as const, id: uid, name: spec.description || hostOf(spec.url) };
    }),
    ...schedulesOf(workspace, person.uid).map((name) => ({ ...passes, type: 'schedule' as const, id: name, name })),
  ];
}

/**
 * Returns the same of all workspaces, for an account that is to be disabled or deleted.
 *
 * @param successor uid of the account that would take over
 */
export async function leftoversEverywhere(
  services: Reads,
  { uid, name }: Pick<AccountRecord, 'uid' | 'name'>,
  successor: string | undefined,
): Promise<Leftover[]> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
  const left: Leftover[] = [];
  for (const workspace of items) {
    const heir = await heirIn(services, workspace.uid, { uid, successor });
    left.push(...(await leftoversInWorkspace(services, workspace, { uid, name }, heir)));
  }
  return left;
}

/** Paths and queries of webhooks often are secrets. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
