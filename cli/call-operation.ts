import type { AnyOperation } from '../core/base/operation.ts';
import type { ApiRequest } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { requestOf } from './operation-options.ts';
import type { Target } from './session.ts';
import { callInWorkspace, existingWorkspace } from './workspace.ts';

/** Calls an operation with the fields of its input, in the workspace that is named or found. */
export async function callOperation(
  target: Target,
  operation: AnyOperation<never>,
  values: Readonly<Record<string, unknown>>,
  { body, ...how }: { readonly body?: string | undefined } & Pick<ApiRequest, 'timeoutMs' | 'asDocuments'> = {},
): Promise<unknown> {
  requireTokenFor(operation, target);
  const workspace = target.workspace ?? (isInWorkspacePath(operation) ? await existingWorkspace(target) : undefined);
  const request = requestOf(operation, values, body, workspace);
  // A path names it already.
  const isNeeded = workspace === undefined && isScoped(operation);
  return callInWorkspace(target, { ...request, ...how }, { isNeeded });
}

/** Whether it runs in one workspace, which nothing else says than who calls. */
function isScoped({ workspace, workspaceOf, orInstallation, access }: AnyOperation<never>): boolean {
  const isDevices = access === 'device' || access === 'enrolment';
  return workspace === 'scoped' && !workspaceOf && !orInstallation && !isDevices;
}

/** Whether the path names the workspace. One that is to be deleted is never found, but named by who deletes it. */
function isInWorkspacePath({ http }: AnyOperation<never>): boolean {
  return http.path.includes('/:workspaceId') && !(http.method === 'delete' && http.path.endsWith('/:workspaceId'));
}

/** Devices have tokens of their own: a session is none. */
function requireTokenFor({ access }: AnyOperation<never>, { token }: Target): void {
  if (token || (access !== 'device' && access !== 'enrolment')) return;
  throw new CliError('Give --token with the token of the device or the join token, or set MESH_TOKEN.', EXIT.auth);
}
