import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallRequest, Gate } from './invoke.ts';

type Hearing = Pick<Gate<unknown>, 'caughtUp' | 'known' | 'workspaceId'>;
type Asked = Pick<CallRequest, 'bearer' | 'caller' | 'workspaceHints'>;

/**
 * Waits until what is kept in memory holds all that was acknowledged before a call: of the installation, which says who its
 * caller is, and of the workspaces that it is plainly about.
 *
 * @returns those workspaces; what the call turns out to be about besides is to be waited for too
 */
export async function hearOfOthers(call: Asked, named: unknown, gate: Hearing): Promise<Set<string>> {
  const workspaces = new Set([SYSTEM_WORKSPACE, ...onlyOneOf(call, gate)]);
  for (const hint of new Set([...call.workspaceHints, named])) {
    const id = typeof hint === 'string' && hint !== '' ? await gate.workspaceId(hint) : undefined;
    if (id !== undefined) workspaces.add(id);
  }
  await gate.caughtUp([...workspaces]);
  return workspaces;
}

/** Of a caller who is known and is in one workspace alone, as every token is. */
function onlyOneOf({ caller, bearer }: Asked, gate: Hearing): readonly string[] {
  const workspaces = (caller ?? (bearer ? gate.known(bearer) : undefined))?.workspaces ?? [];
  return workspaces !== 'all' && workspaces.length === 1 ? workspaces : [];
}
