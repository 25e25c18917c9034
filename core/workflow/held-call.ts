import { createHmac } from 'node:crypto';
import type { NeedsPerson } from '../authority/needs-person.ts';
import type { Write } from '../authority/writes.ts';
import { type Caller, principalOf } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import {
  type AnyOperation,
  type CallContext,
  type PendingApproval,
  type WaitingIn,
  waitsFor,
} from '../base/operation.ts';
import { ordered } from '../base/ordered.ts';
import type { Basis } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { serialised } from '../base/serialise.ts';
import type { EffectView } from '../effect/effect-view.ts';
import { counted, fenced, plain } from '../effect/markdown.ts';
import { writerOf } from '../intent/plan/check.ts';
import { isUndecided, type WorkflowRecord } from '../model/asked.ts';
import { slugOf } from '../model/workspaces.ts';
import { runExpecting } from '../state/expecting.ts';
import { toYaml } from '../views/render-yaml.ts';
import { needsAnotherPerson } from './approvers.ts';
import { requireFirst } from './ends-once.ts';
import { namedPeers } from './named-peers.ts';
import { runApproved } from './run-approved.ts';
import type { Services } from './services.ts';
import { showWrites } from './show-writes.ts';
import { type HeldCall, WORKFLOW_TTL_MS, workflowDraft } from './workflow-record.ts';
import { workflowsOf } from './workflows.ts';

type Held = Pick<AnyOperation<Services>, 'name' | 'title' | 'confidential' | 'ends' | 'addresses' | 'run'>;

/**
 * Puts a call that a person has to see first into the approval workflow. The same call again answers the same workflow;
 * one with a secret in it, which is not kept, is carried out when it is repeated after the approval.
 *
 * @returns the answer of the operation where it was carried out now
 */
export async function holdCall(
  operation: Held,
  input: Readonly<Record<string, unknown>>,
  context: CallContext<Services>,
  need: NeedsPerson,
): Promise<{ readonly pending: PendingApproval } | { readonly answer: unknown }> {
  const { services, caller } = context;
  if (!caller) throw new MeshError('unauthenticated', 'Only a known caller may ask for a change.');
  const digest = digestOf(operation.name, input, context);
  const known = await callWorkflows(services, need.workspaces, digest);
  if (isConfidential(operation, input) && isApprovedIn(known, need.workspaces)) {
    return { answer: await runApproved(context, [...known.values()], (held) => runExpecting(operation, input, held)) };
  }
  const asked: WaitingIn[] = [];
  // Of all before one is made: what is asked in a part of them alone nobody could decide.
  for (const workspace of need.workspaces) {
    await requireFirst({ operation, input, digest }, context, await workflowsOf(services, workspace));
  }
  for (const workspace of need.workspaces) {
    const one = known.get(workspace);
    if (one?.status.state === 'approved') continue;
    const id = one?.name ?? (await askOnce(operation, input, context, { need, digest, caller, workspace }));
    asked.push(await waitingIn(context, need, { id, workspace }));
  }
  const others = need.workspaces.map((one) => needsAnotherPerson({ services, caller, workspace: one }, need));
  const how = {
    repeated: isConfidential(operation, input),
    byAnother: (await Promise.all(others)).some((isAnother) => isAnother),
  };
  const all = [...known].map(([workspace, { name }]) => waitingIn(context, need, { id: name, workspace }));
  return { pending: waitsFor(asked.length > 0 ? asked : await Promise.all(all), how, need.reasons) };
}

/** Who asked looks for it in the workspace of the call, unless they are told of another. */
async function waitingIn(
  { services, workspace: own }: CallContext<Services>,
  { workspaces }: Pick<NeedsPerson, 'workspaces'>,
  { id, workspace }: { readonly id: string; readonly workspace: string },
): Promise<WaitingIn> {
  const isOwn = workspace === own && workspaces.length === 1;
  return { workflow_id: id, ...(!isOwn && { workspace: (await slugOf(services, workspace)) ?? workspace }) };
}

/** The workflows in which a call waits or is approved, by workspace. */
export async function callWorkflows(
  services: Pick<Services, 'store' | 'clock'>,
  workspaces: readonly string[],
  digest: string,
): Promise<Map<string, WorkflowRecord>> {
  const found = new Map<string, WorkflowRecord>();
  for (const workspace of workspaces) {
    const one = openCall(await workflowsOf(services, workspace), digest, services.clock.now());
    if (one) found.set(workspace, one);
  }
  return found;
}

function openCall(all: readonly WorkflowRecord[], digest: string, now: number): WorkflowRecord | undefined {
  return all.find((workflow) => {
    const { spec } = workflow;
    return spec.call?.digest === digest && spec.expiresAt > now && isUndecided(workflow);
  });
}

/** Whether the people of every one of the workspaces have approved. */
export function isApprovedIn(known: ReadonlyMap<string, WorkflowRecord>, workspaces: readonly string[]): boolean {
  return workspaces.every((workspace) => known.get(workspace)?.status.state === 'approved');
}

interface Asking {
  readonly need: NeedsPerson;
  readonly digest: string;
  readonly caller: Caller;
  /** Whose people are asked. */
  readonly workspace: string;
}

/** Of the same call made twice at the same moment, wherever, the second waits in the workflow of the first. */
function askOnce(
  operation: Held,
  input: Readonly<Record<string, unknown>>,
  context: CallContext<Services>,
  asking: Asking,
): Promise<string> {
  const { store, clock } = context.services;
  return serialised(store, asking.workspace, async () => {
    const { items, revision } = await store.list(asking.workspace, 'Workflow');
    const same = openCall(items, asking.digest, clock.now());
    if (same) return same.name;
    await requireFirst({ operation, input, digest: asking.digest }, context, items);
    return ask(operation, input, context, asking, { groups: ['Workflow'], revision });
  });
}

async function ask(
  operation: Held,
  input: Readonly<Record<string, unknown>>,
  context: CallContext<Services>,
  { need, digest, caller, workspace: asked }: Asking,
  basis: Basis,
): Promise<string> {
  const { name, title, confidential } = operation;
  const { services, workspace } = context;
  const state = await services.states.current(asked);
  const now = services.clock.now();
  const touchesNetwork = asked === workspace;
  const writes = touchesNetwork ? need.writes : [];
  const { shown, warnings, effect } = await services.computed(
    showWrites,
    { writes, named: need.writes },
    { workspace: asked, principal: principalOf(caller), requestId: context.requestId, isQuestion: true },
  );
  const { kind, id: callerId, subject, name: callerName, interactive, tokenId } = caller;
  const call: HeldCall = {
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
  const id = newId('wf');
  const record = workflowDraft(
    id,
    {
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
      expiresAt: now + WORKFLOW_TTL_MS,
    },
    { state: 'pending' },
  );
  const commit = commitContext(context, `submit: ${summary}`, { basis });
  await services.store.commit(asked, [{ op: 'create', record }], commit);
  return id;
}

const REPEAT = 'A secret is part of this call and is not kept: once approved, who asked repeats the call.';

/** Kinds whose specs hold no secret and which people write themselves. */
const SHOWN_WHOLE: ReadonlySet<Kind> = new Set<Kind>(['MeshPolicy', 'MeshNetwork', 'PolicyAssertion', 'Member']);
/** Records that only follow others. */
const FOLLOWING: ReadonlySet<Kind> = new Set<Kind>(['Presence', 'AddressRest']);

function shownWrite({ type, kind, name, before, after }: Write): WorkflowRecord['spec']['shown'] {
  if (FOLLOWING.has(kind)) return [];
  const action = type === 'created' ? 'create' : type === 'updated' ? 'update' : 'delete';
  const yaml = (record: Write['after']) => (record && SHOWN_WHOLE.has(kind) ? toYaml(record.spec) : '');
  return [{ action, resource: kind, name: before?.name ?? name, before: yaml(before), after: yaml(after) }];
}

function isConfidential({ confidential }: Held, input: HeldCall['asked']): boolean {
  if (!confidential) return false;
  return confidential.answer === true || (confidential.input ?? []).some((field) => input[field] !== undefined);
}

function withoutSecrets(input: HeldCall['asked'], secret: readonly string[] = []): HeldCall['asked'] {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => [
      field,
      secret.includes(field) && value !== undefined ? '(secret)' : value,
    ]),
  );
}

function markdownOf(
  summary: string,
  call: HeldCall,
  { reasons, rows, warnings }: Pick<NeedsPerson, 'reasons' | 'rows'> & { readonly warnings: readonly string[] },
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

function digestOf(
  operation: string,
  input: Readonly<Record<string, unknown>>,
  { services, workspace, caller }: CallContext<Services>,
): string {
  // Keyed, for a password in the input could be guessed from a plain digest of it.
  return createHmac('sha256', services.keys.controlPrivateKey.reveal())
    .update(JSON.stringify([operation, workspace, caller?.id ?? '', ordered(input)]))
    .digest('hex');
}
