import { type FieldError, MeshError } from '../../../core/base/errors.ts';
import type { Role, Scope } from '../../../core/base/scope.ts';
import { join } from './devices.ts';
import { agent, buildKit, type KitOptions, person } from './kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
type Ask = (name: string, raw?: Record<string, unknown>) => Promise<any>;

export interface WorkspaceKitOptions extends KitOptions {
  /** Of the two workspaces, where the store has some already. */
  readonly slugs?: readonly [string, string];
}

/** The kit with a workspace, its people and agents to call as, and a stranger who administers another workspace. */
export async function buildWorkspaceKit(options: WorkspaceKitOptions = {}) {
  const kit = await buildKit(options);
  const [own, other] = options.slugs ?? ['own', 'elsewhere'];
  const [workspace, elsewhere] = [await kit.workspace(own), await kit.workspace(other)];
  const as = (role: Role): Ask => {
    const caller = person(role, workspace);
    return (name, raw = {}) => kit.call(name, raw, { as: caller, workspace });
  };
  const holding = (...scopes: Scope[]): Ask => {
    const caller = agent(scopes, workspace);
    return (name, raw = {}) => kit.call(name, raw, { as: caller, workspace });
  };
  const stranger = person('admin', elsewhere);

  return {
    ...kit,
    workspace,
    as,
    /** Calls as an agent with these scopes. */
    holding,
    ask: as('admin'),
    foreign: ((name, raw = {}) => kit.call(name, raw, { as: stranger, workspace: elsewhere })) satisfies Ask,
    join: (name: string, fields: Record<string, unknown> = {}) => join(kit, workspace, name, fields),
  };
}

/** The same, where the policy `shut` of an operator waits for a person to approve it. */
export async function buildHeldKit() {
  const kit = await buildWorkspaceKit();
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}] };
  const { workflow_id: held } = await kit.as('operator')('create_policy', { name: 'shut', spec });
  return { ...kit, held: held as string };
}

/** Why a call is refused, in one line: the code, then the scope that is missing or the fields that are wrong. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('The call was answered.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof MeshError)) throw error;
  const { scope, errors = [] } = error.details as { scope?: string; errors?: readonly FieldError[] };
  return [error.code, ...(scope ? [scope] : []), ...errors.map(({ pointer }) => pointer)].join(' ');
}
