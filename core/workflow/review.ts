import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant, hasEnded } from '../base/time.ts';
import { routesPublicBlock } from '../effect/routes.ts';
import { agentRights } from '../identity/agent-rights.ts';
import { accountsOfPerson } from '../identity/persons.ts';
import { hasSecondFactor, type Proof, spendFactor } from '../identity/second-factor.ts';
import { begunText } from '../intent/plan/approval-deadline.ts';
import { findWorkflow, type WorkflowRecord, type WorkflowStatus } from '../model/workflow-records.ts';
import { workspaceById } from '../model/workspaces.ts';
import { ADMINISTRATOR_ROUTES, mayRoutePublic, whyNotOwn } from './approvers.ts';
import { executeOrLater } from './execute.ts';
import { requireSameNames } from './named-peers.ts';
import { asReviewed } from './reassess.ts';
import type { Services } from './services.ts';
import { statusOp } from './workflow-record.ts';

export interface Approval extends Pick<Proof, 'otp' | 'passkey'> {
  readonly note?: string | undefined;
  /** Digest of the assessment that the approver saw: they approve the effect of now, not that at submission. */
  readonly digest?: string | undefined;
}

/**
 * Approves a pending workflow and carries it out.
 *
 * @throws MeshError `forbidden` for anyone but a signed-in person over REST, and for a person's own request where the
 * workspace asks for another; `invalid_input` without the code that it asks for; `plan_stale` where it is not what was seen, or has failed since it would do something else now; `conflict` when it is not pending
 * any more, or names peers that have other names by now.
 */
export async function approveWorkflow(
  context: CallContext<Services>,
  id: string,
  { note, digest, ...factor }: Approval,
): Promise<WorkflowRecord> {
  const { services, workspace } = context;
  const reviewer = requirePerson(context);
  const found = await pending(context, id);
  const workflow = digest === undefined || found.spec.call ? found : await asReviewed(context, found, digest);
  const standing = await standingOf(context, workflow);
  if (!standing.mayApprove) throw new MeshError('forbidden', standing.why ?? NO_PERSON);
  requireSameNames(workflow.spec.call?.named ?? {}, await services.states.current(workspace));
  // A code is good once, so it is asked for last.
  if (standing.needsCode) await spendFactor(factor, context);
  const approved = { state: 'approved', ...(standing.isOwn && { selfApproved: true }) } as const;
  await review(context, workflow, reviewer, approved, note);
  let refusal: unknown;
  const reviewed = await executeOrLater(services, workspace, id, context.requestId, (error) => {
    refusal = error;
  });
  if (reviewed.status.state === 'failed' && refusal instanceof MeshError && refusal.code === 'plan_stale')
    throw refusal;
  return reviewed;
}

/** Tells whether the caller may approve a workflow, and why not. */
export interface Standing {
  readonly mayApprove: boolean;
  readonly why?: string;
  /** True where they are the person who requested it. */
  readonly isOwn: boolean;
  /** True where the workspace demands a code of the approver's second factor. */
  readonly needsCode: boolean;
}

export async function standingOf(context: CallContext<Services>, workflow: WorkflowRecord): Promise<Standing> {
  const { services, workspace, caller } = context;
  const { slug, settings } = (await workspaceById(services, workspace)).spec;
  const needsCode = settings.approvalCode === true;
  const refused = (why: string, isOwn: boolean): Standing => ({ mayApprove: false, why, isOwn, needsCode });
  if (!isPerson(context)) return refused(NO_PERSON, false);
  const isOwn = await isOwnRequest(services, workflow, caller);
  if (!caller.scopesIn(workspace).has('workflows:approve')) return refused(NO_SCOPE, isOwn);
  if (routesPublicBlock(workflow.spec.effect) && !mayRoutePublic(context)) return refused(ADMINISTRATOR_ROUTES, isOwn);
  const whyNot = isOwn ? await whyNotOwn(services, workspace, workflow.spec) : undefined;
  if (whyNot !== undefined) return refused(ownRequest(whyNot, slug), isOwn);
  if (needsCode && !(await hasSecondFactor(services, caller))) return refused(NO_FACTOR, isOwn);
  return { mayApprove: true, isOwn, needsCode };
}

const NO_PERSON =
  'Only a signed-in person may review a workflow, over REST or the dashboard; never an agent, a token or MCP.';
const NO_SCOPE =
  'You may read this, and not decide it: that needs workflows:approve, as operators and administrators have.';
const NO_FACTOR =
  'This workspace asks who approves for a code of their second factor (approvalCode), and your account has none: enrol one first (mesh otp enroll).';

function ownRequest(why: string, workspace: string): string {
  return `You asked for this change, or answer for who did, so another person has to approve it: ${why}. If nobody else is left, whoever runs the host ends this with: meshd end-approval ${workspace}`;
}

/** Rejects a pending workflow. @throws MeshError as {@link approveWorkflow} */
export async function rejectWorkflow(
  context: CallContext<Services>,
  id: string,
  note: string | undefined,
): Promise<WorkflowRecord> {
  const reviewer = requirePerson(context);
  await review(context, await pending(context, id), reviewer, { state: 'rejected' }, note);
  return findWorkflow(context.services, context.workspace, id);
}

/**
 * Tells whether the reviewer is the person behind requester or applier: agents and tokens are not somebody else. Where no
 * person is known, as for agents of earlier versions, nobody counts as another.
 */
async function isOwnRequest(
  services: Pick<Services, 'store'>,
  { workspace, spec }: WorkflowRecord,
  { id, person = id }: Caller,
): Promise<boolean> {
  const { persons, requesterId, applierId } = spec;
  if (requesterId === id || applierId === id) return true;
  const own = await accountsOfPerson(services, person);
  if (own.has(requesterId) || own.has(applierId)) return true;
  for (const asker of [requesterId, applierId].filter(isAgentId)) {
    // A successor answers for the earlier requests of an agent.
    const answerable = (await agentRights(services, workspace, asker))?.person;
    if (answerable !== undefined && own.has(answerable)) return true;
  }
  return persons === undefined ? isAgentId(requesterId) || isAgentId(applierId) : persons.some((one) => own.has(one));
}

/** An MCP client can answer its own prompts, so nothing that comes over MCP counts as a person's decision. */
function requirePerson({ caller, face }: CallContext<Services>): Caller {
  if (isPerson({ caller, face })) return caller;
  throw new MeshError('forbidden', NO_PERSON);
}

function isPerson({ caller, face }: Pick<CallContext<Services>, 'caller' | 'face'>): boolean {
  return caller.kind === 'user' && caller.interactive && face === 'rest';
}

async function pending({ services, workspace }: CallContext<Services>, id: string): Promise<WorkflowRecord> {
  const workflow = await findWorkflow(services, workspace, id);
  const { state } = workflow.status;
  if (state !== 'pending')
    throw new MeshError('conflict', `The workflow is ${state}, not pending: there is nothing to review.`);
  const now = services.clock.now();
  if (hasEnded(workflow.spec, now)) {
    const why = begunText(workflow.spec, now) ?? 'The workflow waited too long for a review: plan the change again.';
    throw new MeshError('expired', why);
  }
  return workflow;
}

async function review(
  context: CallContext<Services>,
  workflow: WorkflowRecord,
  reviewer: Caller,
  change: Pick<WorkflowStatus, 'state' | 'selfApproved'>,
  note: string | undefined,
): Promise<void> {
  const { services, workspace } = context;
  const { name, spec } = workflow;
  const op = statusOp(workflow, {
    ...change,
    reviewedBy: reviewer.subject,
    reviewedAt: formatInstant(services.clock.now()),
    ...(note !== undefined && { note }),
  });
  const approval = { workflowId: name, reviewedBy: reviewer.subject };
  const reason = `workflow ${name} ${change.state}: ${spec.summary}`;
  await services.store.commit(workspace, [op], commitContext(context, reason, { approval }));
}
