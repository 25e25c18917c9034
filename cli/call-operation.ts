import type { z } from 'zod';
import type { AnyOperation } from '../core/base/operation.ts';
import { type ApiRequest, WorkspaceNeeded } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { requestOf } from './operation-options.ts';
import type { Target } from './session.ts';
import { callInWorkspace, existingWorkspace, isSession } from './workspace.ts';

interface How extends Pick<ApiRequest, 'timeoutMs' | 'asDocuments'> {
  readonly body?: string | undefined;
  /** Asks for the installation, of an operation that answers for a workspace or for it. */
  readonly ofInstallation?: boolean | undefined;
}

/**
 * Calls an operation with the fields of its input, in the workspace that is named or found.
 *
 * @returns the answer, which the control plane checked before it sent it; a write may answer that it waits instead
 */
export async function callOperation<O extends z.ZodType>(
  target: Target,
  operation: AnyOperation<never> & { readonly output: O },
  values: Readonly<Record<string, unknown>>,
  { body, ofInstallation = false, ...how }: How = {},
): Promise<z.output<O>> {
  requireTokenFor(operation, target);
  const workspace = ofInstallation ? undefined : (target.workspace ?? (await workspaceFor(operation, target)));
  const request = requestOf(operation, values, body, workspace);
  // A path names it already.
  const isNeeded = workspace === undefined && isScoped(operation);
  const called = ofInstallation || operation.orInstallation ? { ...target, workspace } : target;
  const find = ofInstallation && { find: refuseInstallation };
  return (await callInWorkspace(called, { ...request, ...how }, { isNeeded, ...find })) as z.output<O>;
}

/** Called where the control plane wants a workspace named: no other may be answered for in place of the installation. */
function refuseInstallation(): never {
  throw new CliError(
    'Only a platform administrator can ask for the installation: leave --installation out.',
    EXIT.auth,
  );
}

/** Finds the workspace where the control plane would not ask for one: it would answer for the installation instead. */
async function workspaceFor(operation: AnyOperation<never>, target: Target): Promise<string | undefined> {
  if (isInWorkspacePath(operation)) return existingWorkspace(target);
  if (!operation.orInstallation) return undefined;
  return existingWorkspace(target).catch((error: unknown) => {
    // A token that may not list workspaces is an agent's, which is of one alone.
    if (error instanceof WorkspaceNeeded && !isSession(target)) return undefined;
    throw error;
  });
}

/** Returns true if the operation runs in one workspace that only the caller determines. */
function isScoped({ workspace, workspaceOf, orInstallation, access }: AnyOperation<never>): boolean {
  const isDevices = access === 'device' || access === 'enrolment';
  return workspace === 'scoped' && !workspaceOf && !orInstallation && !isDevices;
}

/** Returns true if the path names the workspace. A workspace to delete is never looked up: the caller has to name it. */
function isInWorkspacePath({ http }: AnyOperation<never>): boolean {
  return http.path.includes('/:workspaceId') && !(http.method === 'delete' && http.path.endsWith('/:workspaceId'));
}

/** Devices have tokens of their own: a session is none. */
function requireTokenFor({ access }: AnyOperation<never>, { token }: Target): void {
  if (token || (access !== 'device' && access !== 'enrolment')) return;
  throw new CliError('Give --token with the token of the device or the join token, or set MESH_TOKEN.', EXIT.auth);
}
