import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { type RouteView, routesPublicBlock } from '../effect/routes.ts';
import { accountById, normalizeUsername } from '../identity/accounts.ts';
import { type Approvers, approversOf, isOnlyApprover } from '../identity/approvers.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { Services } from './services.ts';

interface ApprovalSubject {
  readonly effect?: { readonly routes?: readonly RouteView[] };
  readonly failsControls?: readonly string[];
  /** Tells whether it changes when a second person is needed: never one's own to approve while there is one. */
  readonly changesDuty?: boolean;
}

/**
 * Tells whether a person may approve their own request: where the workspace says so, else only while nobody else could
 * (docs/delegation.md#who-approves-two-persons), so that an installation of one person works. Never a change after which a
 * control fails, where the workspace has `secondPerson`; a single approver may still take that setting back.
 */
export async function mayApproveOwn(
  services: Pick<Services, 'store'>,
  workspace: string,
  judged: ApprovalSubject,
): Promise<boolean> {
  return (await whyNotOwn(services, workspace, judged)) === undefined;
}

/** Returns why a person may not approve what they asked for themselves; undefined where they may, see {@link mayApproveOwn}. */
export async function whyNotOwn(
  services: Pick<Services, 'store'>,
  workspace: string,
  judged: ApprovalSubject,
): Promise<string | undefined> {
  const { failsControls = [], changesDuty } = judged;
  const { settings } = (await workspaceById(services, workspace)).spec;
  const { selfApproval, requireApproval, compliance } = settings;
  if (compliance?.secondPerson && failsControls.length > 0) {
    return 'controls fail after it, and the workspace has compliance.secondPerson';
  }
  const others = async (why: string) => ((await isOnlyApproverOf(services, workspace, judged)) ? undefined : why);
  if (changesDuty) return others('it changes when a second person is needed, and others may approve');
  // Where even the settings need approval, a single approver who may not could never be let in again.
  if (selfApproval === false && !requireApproval) return 'selfApproval is off';
  return selfApproval === true ? undefined : others('selfApproval is not on, and others may approve');
}

/**
 * Tells whether somebody else has to approve: the requester lacks the scope, is no person, or may not approve their own
 * request.
 */
export async function needsAnotherPerson(
  { services, workspace, caller }: Pick<CallContext<Pick<Services, 'store'>>, 'services' | 'workspace' | 'caller'>,
  spec: ApprovalSubject,
): Promise<boolean> {
  if (caller.kind !== 'user' || !caller.scopesIn(workspace).has('workflows:approve')) return true;
  if (routesPublicBlock(spec.effect ?? {}) && !mayRoutePublic({ caller, workspace })) return true;
  return !(await mayApproveOwn(services, workspace, spec));
}

/** The refusal of routes to addresses of the Internet. */
export const ADMINISTRATOR_ROUTES =
  'Only a platform administrator lets nodes route a public block. Ask one, or choose a private block such as 10.97.0.0/24.';

/** A renumbering waits for a person, who is shown both blocks and how many peers move. */
export const RENUMBERING_WAITS = 'Peers would get other addresses.';
export const RENUMBERING_ALONE =
  'Another block of a network waits for the approval of a person: apply it without the agents of the same documents.';

/** Tells whether the caller is a signed-in platform administrator: no token has this scope. */
export function mayRoutePublic({ caller, workspace }: Pick<CallContext<unknown>, 'caller' | 'workspace'>): boolean {
  return caller.scopesIn(workspace).has('workspaces:write') === true;
}

async function isOnlyApproverOf(
  services: Pick<Services, 'store'>,
  workspace: string,
  { effect = {} }: ApprovalSubject,
): Promise<boolean> {
  if (!routesPublicBlock(effect)) return isOnlyApprover(services, workspace);
  const { administrators, signedIn } = await approversOf(services, workspace);
  return administrators.intersection(signedIn).size <= 1;
}

/** Names in a refusal; the members of a workspace are a list of their own. */
export const MAX_NAMED = 10;

/**
 * Returns the user name of an approver of the workspace, by user name or account id.
 *
 * @throws MeshError `invalid_input` with such names for callers who may list them
 */
export async function requireApprover(
  { services, workspace, caller }: CallContext<Pick<Services, 'store'>>,
  asked: string,
): Promise<string> {
  const { administrators, members } = await approversOf(services, workspace);
  const account = ACCOUNT_ID.test(asked) ? await accountById(services, asked) : undefined;
  const name = account?.name ?? normalizeUsername(asked);
  if (administrators.has(name) || members.has(name)) return name;
  const told = visibleApprovers({ caller, workspace }, { administrators, members });
  const names = told.length === 0 ? '' : `, such as ${told.slice(0, MAX_NAMED).join(', ')}`;
  const detail = `Name a person who may approve here, by user name or id: an operator or admin of the workspace, or a platform administrator${names}.`;
  throw invalidInput([{ pointer: '/approved_by', detail }], `/approved_by: ${detail}`);
}

/** Returns the approvers of a workflow besides the caller, as far as the caller may list them. */
export async function othersWhoApprove(
  { services, workspace, caller }: CallContext<Pick<Services, 'store'>>,
  spec: ApprovalSubject & { readonly persons?: readonly string[] },
): Promise<string[]> {
  const known = await approversOf(services, workspace);
  const told = visibleApprovers(
    { caller, workspace },
    routesPublicBlock(spec.effect ?? {}) ? { ...known, members: new Set<string>() } : known,
  );
  const { persons = [] } = spec;
  const mayOwn = await mayApproveOwn(services, workspace, spec);
  const own = mayOwn ? [] : await Promise.all(persons.map((id) => accountById(services, id)));
  const out = new Set([caller.name, ...own.map((account) => account?.name)]);
  return told.filter((name) => !out.has(name)).slice(0, MAX_NAMED);
}

function visibleApprovers(
  { caller, workspace }: Pick<CallContext<unknown>, 'caller' | 'workspace'>,
  { administrators, members }: Pick<Approvers, 'administrators' | 'members'>,
): string[] {
  const scopes = caller.scopesIn(workspace);
  return [
    ...new Set([
      ...(scopes?.has('users:write') ? administrators : []),
      ...(scopes?.has('network:read') ? members : []),
    ]),
  ].toSorted();
}

const ACCOUNT_ID = /^u_/;
