import { notice } from './answer.ts';
import { type ApiRequest, callApi, WorkspaceNeeded } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { rememberWorkspace, type Target } from './session.ts';

interface InWorkspace {
  /** Which one, where none is named. */
  readonly find?: (target: Target) => Promise<string>;
  /** True, the default, if the request needs a workspace, unless the token belongs to one alone. */
  readonly isNeeded?: boolean;
}

/**
 * Calls in the named workspace; where none is named and the token is not of one alone, in the one that is found. Who is signed
 * in may be at home in several, so that is found first; another token says by a refusal that it needs one named.
 */
export async function callInWorkspace(
  target: Target,
  request: ApiRequest,
  { find = existingWorkspace, isNeeded = true }: InWorkspace = {},
): Promise<unknown> {
  const isNamed = target.workspace !== undefined;
  if (!isNamed && isNeeded && isSession(target)) return callApi({ ...target, workspace: await find(target) }, request);
  try {
    return await callApi(target, request);
  } catch (error) {
    if (!(error instanceof WorkspaceNeeded)) throw error;
    return callApi({ ...target, workspace: await find(target) }, request);
  }
}

/** Returns true if the token is that of a signed-in person: a JWT rather than a token with a prefix. */
export function isSession({ token = '' }: Target): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** @throws CliError that tells how to name one, where there is none or several */
export async function existingWorkspace(target: Target): Promise<string> {
  const only = await onlyWorkspace(target);
  if (only !== undefined) return only;
  throw new CliError(
    'There is no workspace yet: mesh invite and mesh mcp config make the first; mesh admin add-workspace makes any.',
    EXIT.input,
  );
}

/** As many nodes as one network of the default size holds. */
const FIRST_NODE_COUNT = 250;

/** Makes the first one on a new installation, so that the first commands need no administration. */
export async function existingOrFirstWorkspace(target: Target): Promise<string> {
  const only = await onlyWorkspace(target);
  if (only !== undefined) return only;
  const body = { slug: 'default', namespace: 'default', displayName: 'Default', maxNodeCount: FIRST_NODE_COUNT };
  const { data } = (await callApi(target, { method: 'post', path: '/api/v1/workspaces/add', body })) as {
    data: { id: string };
  };
  rememberWorkspace(target, data.id);
  notice(`Made the first workspace, default (${data.id}).`);
  return data.id;
}

async function onlyWorkspace(target: Target): Promise<string | undefined> {
  const { items } = (await callApi(target, { method: 'get', path: '/api/v1/workspaces' }).catch((error: unknown) => {
    // A token may be good for several workspaces and yet not list them.
    throw error instanceof CliError && error.code === 'forbidden' ? new WorkspaceNeeded() : error;
  })) as { items: { id: string; slug: string }[] };
  if (items.length === 0) await requireWhoMayMakeOne(target);
  if (items.length < 2) return items[0]?.id;
  throw new CliError(
    `You have several workspaces (${items.map(({ slug }) => slug).join(', ')}): name one with --workspace.`,
    EXIT.input,
  );
}

/** @throws CliError for a person who sees no workspace and may make none */
async function requireWhoMayMakeOne(target: Target): Promise<void> {
  const { role } = (await callApi(target, { method: 'get', path: '/api/v1/users/me' })) as { role?: unknown };
  if (role === 'user') {
    throw new CliError('You are a member of no workspace. Ask an administrator to add you.', EXIT.auth);
  }
}
