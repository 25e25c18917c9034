import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { AnyOperation } from '../base/operation.ts';
import { mayCall } from './access.ts';

type Input = Readonly<Record<string, unknown>>;

/** The credential of a call, and the workspaces that it names. */
export interface CallOrigin {
  readonly bearer: string | undefined;
  /** A principal that the face itself vouches for: the one of a plane on stdio. */
  readonly caller?: Caller;
  /** From `:workspaceId` in the path and from `X-Workspace-Id`. */
  readonly workspaceHints: readonly (string | undefined)[];
}

export interface CommitWaiter {
  /** Id of the workspace that an id, slug or namespace names. */
  workspaceId(idOrSlug: string): Promise<string | undefined>;
  /** Resolves once what is kept in memory holds every change of these workspaces that was acknowledged before. */
  caughtUp(workspaces: readonly string[]): Promise<void>;
  /** Returns the caller that was verified lately with this bearer token, as long as that holds. */
  known(bearer: string): Caller | undefined;
}

/**
 * Waits until memory holds all commits that were acknowledged before a call: those of the installation, which say who its
 * caller is, and those of the workspaces that the call names, else of the only one that its caller is in.
 *
 * @returns these workspaces; the call waits later for others that it turns out to be about
 */
export async function awaitCommits(call: CallOrigin, named: unknown, gate: CommitWaiter): Promise<Set<string>> {
  const workspaces = new Set([SYSTEM_WORKSPACE]);
  for (const hint of [...call.workspaceHints, named]) {
    const id = typeof hint === 'string' && hint !== '' ? await gate.workspaceId(hint) : undefined;
    if (id !== undefined) workspaces.add(id);
  }
  if (workspaces.size === 1) for (const id of onlyWorkspaceOf(call, gate)) workspaces.add(id);
  await gate.caughtUp([...workspaces]);
  return workspaces;
}

/** Returns the workspace of a known caller that is in one alone, as every token is. */
function onlyWorkspaceOf({ caller, bearer }: CallOrigin, gate: CommitWaiter): readonly string[] {
  const workspaces = (caller ?? (bearer ? gate.known(bearer) : undefined))?.workspaces ?? [];
  return workspaces !== 'all' && workspaces.length === 1 ? workspaces : [];
}

/** Returns the workspace of a call, by its path, header, field, token or record, and the input without the field. */
export async function resolveWorkspace<Services>(
  operation: AnyOperation<Services>,
  request: Pick<CallOrigin, 'workspaceHints'> & { readonly raw: Input },
  caller: Caller,
  gate: Pick<CommitWaiter, 'workspaceId'> & { readonly services: Services },
): Promise<{ raw: Input; workspace: string }> {
  if (operation.workspace === 'none') return { raw: request.raw, workspace: SYSTEM_WORKSPACE };
  if (operation.workspace === 'any') return { raw: request.raw, workspace: someWorkspace(operation, caller) };
  const { raw, named } = withoutName(request.raw);
  if (named !== undefined && typeof named !== 'string') {
    throw new MeshError('invalid_input', 'workspace_id must be a string.', {
      errors: [{ pointer: '/workspace_id', detail: 'Must be the id of a workspace.' }],
    });
  }
  const own = caller.workspaces;
  const ids = new Set<string>();
  for (const hint of [...request.workspaceHints, named]) if (hint) ids.add(await ownWorkspace(hint, own, gate));
  if (ids.size === 0 && own !== 'all' && own.length === 1) return { raw, workspace: own[0] ?? '' };
  if (ids.size === 0 && operation.workspaceOf) {
    const found = await operation.workspaceOf(raw, gate.services);
    // A record elsewhere and one nowhere take the same work, so that the answer reveals neither.
    const isOwn = found !== undefined && (own === 'all' || own.includes(found));
    return { raw, workspace: isOwn ? found : someWorkspace(operation, caller) };
  }
  if (ids.size === 0 && operation.orInstallation && own === 'all') return { raw, workspace: SYSTEM_WORKSPACE };
  if (ids.size === 0) {
    throw new MeshError('invalid_input', 'Name a workspace: send the header X-Workspace-Id.', {
      errors: [
        { pointer: '/workspace_id', detail: 'Required: your token is good for more than one workspace, or for none.' },
      ],
    });
  }
  if (ids.size > 1) {
    throw new MeshError('invalid_input', 'The path, X-Workspace-Id and workspace_id name different workspaces.', {
      errors: [{ pointer: '/workspace_id', detail: 'Name one workspace.' }],
    });
  }
  const [workspace = ''] = ids;
  return { raw, workspace };
}

/** Most inputs have no such field, and a copy of each would cost more than the rest of this. */
function withoutName(sent: Input): { readonly raw: Input; readonly named: unknown } {
  if (!Object.hasOwn(sent, 'workspace_id')) return { raw: sent, named: undefined };
  const { workspace_id: named, ...raw } = sent;
  return { raw, named };
}

/** The id behind a name. Each name is refused on its own and in its own words, so that it tells nothing of others' workspaces. */
export async function ownWorkspace(
  name: string,
  own: Caller['workspaces'],
  gate: Pick<CommitWaiter, 'workspaceId'>,
): Promise<string> {
  const id = await gate.workspaceId(name);
  if (id !== undefined && (own === 'all' || own.includes(id))) return id;
  throw new MeshError('not_found', `There is no workspace ${name} that you are a member of.`);
}

/** The first of the caller's workspaces in which it has access; else the first of all, where it is refused. */
function someWorkspace<Services>(operation: AnyOperation<Services>, caller: Caller): string {
  if (caller.workspaces === 'all') return SYSTEM_WORKSPACE;
  const [first = SYSTEM_WORKSPACE] = caller.workspaces;
  return caller.workspaces.find((workspace) => mayCall(operation, caller, workspace)) ?? first;
}
