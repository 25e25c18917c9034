import { createHmac } from 'node:crypto';
import type { Write } from '../authority/writes.ts';
import { apiTokenOf, principalOf } from '../base/caller.ts';
import { type AnyOperation, type CallContext, type PendingWorkflow, pendingFor } from '../base/operation.ts';
import { ordered } from '../base/ordered.ts';
import type { ReadSet } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { EffectView } from '../effect/effect-view.ts';
import { counted, fenced, plain } from '../effect/markdown.ts';
import { writerOf } from '../intent/plan/check.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import { slugOf } from '../model/workspaces.ts';
import { runExpecting } from '../state/expecting.ts';
import { toYaml } from '../views/render-yaml.ts';
import { type ApprovalNeed, untilApproval } from '../write/outcome.ts';
import { needsAnotherPerson } from './approvers.ts';
import { requireNoDuplicate } from './duplicate-calls.ts';
import { executeCall } from './execute-call.ts';
import { namedPeers } from './named-peers.ts';
import type { Services } from './services.ts';
import { type RequestedCall, WORKFLOW_TTL_MS, type WorkflowSpec } from './workflow-record.ts';
import { callWorkflows, isApprovedIn, openCall, openWorkflow, workflowsOf } from './workflows.ts';
import { assessWrites } from './writes-effect.ts';

type Requested = Pick<AnyOperation<Services>, 'name' | 'title' | 'confidential' | 'ends' | 'addresses' | 'run'>;
type Input = Readonly<Record<string, unknown>>;

/** Runs an operation for its caller, or opens the workflows in which it waits. @returns the answer, or that it waits */
export async function runOrRequestApproval(
  operation: Requested,
  input: Input,
  context: CallContext<Services>,
): Promise<unknown> {
  const outcome = await untilApproval(() => runExpecting(operation, input, context));
  return outcome.status === 'done' ? outcome.answer : requestApproval(operation, input, context, outcome.need);
}

/**
 * Opens a workflow for a call in each workspace whose people decide. The same call again answers the same workflows; a
 * call with a secret, which is not stored, runs when its requester repeats it after the approval.
 */
async function requestApproval(
  operation: Requested,
  input: Input,
  context: CallContext<Services>,
  need: ApprovalNeed,
): Promise<unknown> {
  const { services, caller } = context;
  const digest = digestOf(operation.name, input, context);
  const known = await callWorkflows(services, need.workspaces, digest);
  if (isConfidential(operation, input) && isApprovedIn(known, need.workspaces)) {
    return executeCall(context, [...known.values()], (asCaller) => runExpecting(operation, input, asCaller));
  }
  const waiting: PendingWorkflow[] = [];
  // Checks all workspaces before it opens one: nobody could decide a request that some of them lack.
  for (const workspace of need.workspaces) {
    await requireNoDuplicate({ operation, input, digest }, context, await workflowsOf(services, workspace));
  }
  for (const workspace of need.workspaces) {
    const one = known.get(workspace);
    if (one?.status.state === 'approved') continue;
    const id = one?.name ?? (await openOnce(operation, input, context, { need, digest, workspace }));
    waiting.push(await waitingIn(context, need, { id, workspace }));
  }
  const others = need.workspaces.map((one) => needsAnotherPerson({ services, caller, workspace: one }, need));
  const how = {
    repeated: isConfidential(operation, input),
    byAnother: (await Promise.all(others)).some((isAnother) => isAnother),
  };
  const all = [...known].map(([workspace, { name }]) => waitingIn(context, need, { id: name, workspace }));
  return pendingFor(waiting.length > 0 ? waiting : await Promise.all(all), how, need.reasons);
}

/** Names the workspace, unless it is that of the call alone, where the requester looks for it. */
async function waitingIn(
  { services, workspace: own }: CallContext<Services>,
  { workspaces }: Pick<ApprovalNeed, 'workspaces'>,
  { id, workspace }: { readonly id: string; readonly workspace: string },
): Promise<PendingWorkflow> {
  const isOwn = workspace === own && workspaces.length === 1;
  return { workflow_id: id, ...(!isOwn && { workspace: (await slugOf(services, workspace)) ?? workspace }) };
}

interface Request {
  readonly need: ApprovalNeed;
  readonly digest: string;
  /** The workspace whose people decide. */
  readonly workspace: string;
}

/** Opens one workflow for the same call made twice at the same moment, on whichever control plane. */
function openOnce(
  operation: Requested,
  input: Input,
  context: CallContext<Services>,
  request: Request,
): Promise<string> {
  const { store, clock } = context.services;
  return serialized(store, request.workspace, async () => {
    const { items, revision } = await store.list(request.workspace, 'Workflow');
    const same = openCall(items, request.digest, clock.now());
    if (same) return same.name;
    await requireNoDuplicate({ operation, input, digest: request.digest }, context, items);
    return openFor(operation, input, context, request, { groups: ['Workflow'], revision });
  });
}

async function openFor(
  operation: Requested,
  input: Input,
  context: CallContext<Services>,
  { need, digest, workspace: approving }: Request,
  readSet: ReadSet,
): Promise<string> {
  const { name, title, confidential } = operation;
  const { services, workspace, caller } = context;
  const state = await services.states.current(approving);
  const writes = approving === workspace ? need.writes : [];
  const { shown, warnings, effect } = await services.computed(
    assessWrites,
    { writes, named: need.writes },
    { workspace: approving, principal: principalOf(caller), requestId: context.requestId, isQuestion: true },
  );
  const { kind, id: callerId, subject, name: callerName, interactive, tokenId } = caller;
  const call: RequestedCall = {
    operation: name,
    approvedIn: need.workspaces,
    workspace,
    ...(!isConfidential(operation, input) && { input }),
    asked: withoutSecrets(input, confidential?.input),
    shown,
    named: namedPeers(writes, effect, state),
    digest,
    caller: {
      kind,
      id: callerId,
      subject,
      name: callerName,
      interactive,
      tokenId,
      scopes: [...caller.scopesIn(workspace)],
    },
  };
  const summary = `${title}: ${need.reasons.slice(0, 3).join('; ')}`;
  const spec: WorkflowSpec = {
    summary,
    intent: summary,
    changes: [],
    expectations: [],
    records: [],
    ...(kind !== 'device' && { readBy: writerOf(context) }),
    shown: need.writes.flatMap(shownWrite),
    effect,
    digest,
    diffMarkdown: markdownOf(summary, call, { ...need, warnings }, effect),
    warnings: [...warnings, ...(isConfidential(operation, input) ? [REPEAT] : [])],
    riskLevel: 'high',
    riskReasons: need.reasons,
    ...(need.failsControls.length > 0 && { failsControls: need.failsControls }),
    ...(need.changesDuty && { changesDuty: true }),
    baseRevision: state.revision,
    requestedBy: subject,
    requesterId: callerId,
    ...(caller.person !== undefined && { persons: [caller.person] }),
    appliedBy: subject,
    applierId: callerId,
    call,
    autoApprove: false,
    overridden: false,
    expiresAt: services.clock.now() + WORKFLOW_TTL_MS,
  };
  return openWorkflow(context, approving, spec, summary, readSet);
}

const REPEAT = 'A secret is part of this call and is not kept: once approved, who asked repeats the call.';

/** Kinds whose specs hold no secret and which people write themselves. */
const SHOWN_WHOLE: ReadonlySet<Kind> = new Set<Kind>(['MeshPolicy', 'MeshNetwork', 'PolicyAssertion', 'Member']);
/** Records that follow others by themselves. */
const FOLLOWING: ReadonlySet<Kind> = new Set<Kind>(['Presence', 'AddressRest']);

function shownWrite({ type, kind, name, before, after }: Write): WorkflowRecord['spec']['shown'] {
  if (FOLLOWING.has(kind)) return [];
  const action = type === 'created' ? 'create' : type === 'updated' ? 'update' : 'delete';
  const yaml = (record: Write['after']) => (record && SHOWN_WHOLE.has(kind) ? toYaml(record.spec) : '');
  return [{ action, resource: kind, name: before?.name ?? name, before: yaml(before), after: yaml(after) }];
}

function isConfidential({ confidential }: Requested, input: Input): boolean {
  if (!confidential) return false;
  return confidential.answer === true || (confidential.input ?? []).some((field) => input[field] !== undefined);
}

function withoutSecrets(input: Input, secret: readonly string[] = []): Input {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => [
      field,
      secret.includes(field) && value !== undefined ? '(secret)' : value,
    ]),
  );
}

function markdownOf(
  summary: string,
  call: RequestedCall,
  { reasons, rows, warnings }: Pick<ApprovalNeed, 'reasons' | 'rows'> & { readonly warnings: readonly string[] },
  effect: EffectView,
): string {
  const lines = [
    `# ${plain(summary)}`,
    '',
    ...reasons.map((reason) => `- ${plain(reason)}`),
    ...warnings.map((warning) => `- ${plain(warning)}`),
    ...rows.map(({ src, dst, ports }) => `- opens ${plain(src)} to ${plain(dst)} on ${plain(ports)}`),
    '',
    `What is asked for, \`${call.operation}\`:`,
    '',
    ...fenced('yaml', toYaml(call.asked).trimEnd().split('\n')),
    '',
    `Opens ${counted(effect.opened_pairs, 'pair')} of peers and ${effect.opened_outside ?? 0} with addresses outside of the network, closes ${counted(effect.closed_pairs, 'pair')} and ${effect.closed_outside ?? 0}.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Identifies a call by its requester too: what an API token requested is neither repeated nor shared by another credential. */
function digestOf(operation: string, input: Input, { services, workspace, caller }: CallContext<Services>): string {
  const token = apiTokenOf(caller);
  const requester = token === undefined ? [caller.id] : [caller.id, token];
  // Keyed, for a password in the input could be guessed from a plain digest of it.
  return createHmac('sha256', services.keys.controlPrivateKey.reveal())
    .update(JSON.stringify([operation, workspace, ...requester, ordered(input)]))
    .digest('hex');
}
