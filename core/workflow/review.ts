import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant } from '../base/time.ts';
import { agentStanding } from '../identity/agent-standing.ts';
import type { WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import { findWorkflow } from '../model/asked.ts';
import { mayApproveOwn } from './approvers.ts';
import { executeWorkflow } from './execute.ts';
import { requireSameNames } from './named-peers.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

/**
 * Approves a pending workflow and carries it out.
 *
 * @throws MeshError `forbidden` for anyone but a signed-in person over REST, and for a person's own request where the
 * workspace asks for another; `conflict` when it is not pending any more, or names peers that have other names by now.
 */
export async function approveWorkflow(
  context: CallContext<Services>,
  id: string,
  note: string | undefined,
): Promise<WorkflowRecord> {
  const reviewer = requirePerson(context);
  const { services, workspace } = context;
  const workflow = await pending(context, id);
  const own = await isOwnRequest(services, workflow, reviewer);
  if (own && !(await mayApproveOwn(services, workspace, workflow.spec))) {
    throw new MeshError(
      'forbidden',
      'You asked for this change, so another person has to approve it (selfApproval is not on and others may approve, or controls fail after it and the workspace has compliance.secondPerson).',
    );
  }
  requireSameNames(workflow.spec.call?.named ?? {}, await services.states.current(workspace));
  await review(context, workflow, reviewer, { state: 'approved', ...(own && { selfApproved: true }) }, note);
  return executeWorkflow(services, workspace, id, context.requestId);
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
 * Whether the reviewer is the person behind who asked or who applied: agents and tokens are not somebody else. Where no
 * person is known, as of agents made by earlier versions, nobody counts as another.
 */
async function isOwnRequest(
  services: Pick<Services, 'store'>,
  { workspace, spec }: WorkflowRecord,
  { id, person = id }: Caller,
): Promise<boolean> {
  const { persons, requesterId, applierId } = spec;
  if (requesterId === id || applierId === id) return true;
  for (const asker of [requesterId, applierId].filter(isAgentId)) {
    // Who took an agent over answers for what it had asked for.
    if ((await agentStanding(services, workspace, asker))?.person === person) return true;
  }
  return persons === undefined ? isAgentId(requesterId) || isAgentId(applierId) : persons.includes(person);
}

/** An MCP client can answer its own prompts, so nothing that comes over MCP counts as a person's decision. */
function requirePerson({ caller, face }: CallContext<Services>): Caller {
  if (caller?.kind === 'user' && caller.interactive && face === 'rest') return caller;
  throw new MeshError(
    'forbidden',
    'Only a signed-in person may review a workflow, over REST or the dashboard; never an agent, a token or MCP.',
  );
}

async function pending({ services, workspace }: CallContext<Services>, id: string): Promise<WorkflowRecord> {
  const workflow = await findWorkflow(services, workspace, id);
  const { state } = workflow.status;
  if (state !== 'pending')
    throw new MeshError('conflict', `The workflow is ${state}, not pending: there is nothing to review.`);
  if (services.clock.now() >= workflow.spec.expiresAt) {
    throw new MeshError('expired', 'The workflow waited too long for a review: plan the change again.');
  }
  return workflow;
}

async function review(
  context: CallContext<Services>,
  { name, spec, status, revision }: WorkflowRecord,
  reviewer: Caller,
  change: Pick<WorkflowStatus, 'state' | 'selfApproved'>,
  note: string | undefined,
): Promise<void> {
  const { services, workspace } = context;
  const record = workflowDraft(name, spec, {
    ...status,
    ...change,
    reviewedBy: reviewer.subject,
    reviewedAt: formatInstant(services.clock.now()),
    ...(note !== undefined && { note }),
  });
  const approval = { workflowId: name, reviewedBy: reviewer.subject };
  const reason = `workflow ${name} ${change.state}: ${spec.summary}`;
  await services.store.commit(
    workspace,
    [{ op: 'update', record, revision }],
    commitContext(context, reason, { approval }),
  );
}
