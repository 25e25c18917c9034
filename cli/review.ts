import type { Command } from 'commander';
import type { z } from 'zod';
import type { AnyOperation } from '../core/base/operation.ts';
import { approvePeer } from '../tools/peers/approve-peer.ts';
import { getPeer } from '../tools/peers/get-peer.ts';
import { listPeers } from '../tools/peers/list-peers.ts';
import { revokePeer } from '../tools/peers/revoke-peer.ts';
import { approveWorkflow } from '../tools/workflows/approve-workflow.ts';
import { getWorkflow } from '../tools/workflows/get-workflow.ts';
import { listWorkflows } from '../tools/workflows/list-workflows.ts';
import { rejectWorkflow } from '../tools/workflows/reject-workflow.ts';
import { type Answer, answering, notice } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { exitOf } from './failed.ts';
import { inLocalTime } from './local-time.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface ReviewOptions extends TargetOptions {
  readonly note?: string;
}

type ReviewResult = z.output<typeof getWorkflow.output>;
type Peer = z.output<typeof getPeer.output>;
type ConcernedPeer = Pick<Peer, 'id' | 'name' | 'publicKey'> & Partial<Pick<ReviewResult['peers'][number], 'renames'>>;

/** `mesh approve`: lets what waits for a person happen, be it a change or a peer. */
export function defineApprove(command: Command): void {
  define(command, approveWorkflow, approve);
}

/** `mesh reject`: the other answer. */
export function defineReject(command: Command): void {
  define(command, rejectWorkflow, reject);
}

function define(command: Command, workflow: AnyOperation<never>, peer: typeof approve): void {
  answering(
    withTarget(command)
      .argument('[id...]', 'of workflows (wf_…) or peers (p_…), or names of peers; none: what waits is named')
      .option('--note <text>', 'why, kept with the workflow'),
    (ids: string[], options: ReviewOptions) =>
      reviewAll(command.name(), ids, options, (id) =>
        id.startsWith('wf_') ? review(workflow, id, options) : peer(targetOf(options), id),
      ),
  );
}

/** Reviews one after the other up to the first failure, and names those that were left. An empty list lists what waits. */
async function reviewAll(
  verb: string,
  given: readonly string[],
  options: ReviewOptions,
  reviewOne: (id: string) => Promise<Answer>,
): Promise<Answer> {
  const ids = given.map((text) => text.trim()).filter((id) => id !== '');
  const [only, ...others] = ids;
  if (only === undefined) return listPending(verb, targetOf(options));
  if (others.length === 0) return reviewOne(only);
  const answers: Answer[] = [];
  for (const [at, id] of ids.entries()) {
    try {
      const answer = await reviewOne(id);
      answers.push(answer);
      if (answer.exitCode === undefined) continue;
      const left = ids.slice(at + 1);
      if (left.length > 0) notice(`Left as ${left.length === 1 ? 'it was' : 'they were'}: ${left.join(', ')}`);
      break;
    } catch (error) {
      const done = answers.map(({ text }) => text).filter((text) => text !== undefined);
      if (done.length > 0) notice(done.flat());
      throw error;
    }
  }
  const texts = answers.map(({ text }) => text).filter((text) => text !== undefined);
  const { exitCode } = answers.at(-1) ?? {};
  const value = { items: answers.map((one) => one.value) };
  return { value, text: texts.flat(), ...(exitCode !== undefined && { exitCode }) };
}

/** Columns that do not fit are left out from the last one on: what is approved stays. */
const PENDING = { Id: 'id', 'What it does': 'what', 'Asked by': 'requestedBy' } as const;

/** Lists what waits, and how to answer it; the exit code says that nothing was named, where anything waits. */
async function listPending(verb: string, target: Target): Promise<Answer> {
  const [workflows, peers] = await Promise.all([
    callOperation(target, listWorkflows, { status: 'pending', limit: NAMED }),
    callOperation(target, listPeers, { phase: 'pending', limit: NAMED }),
  ]);
  const items = [
    ...workflows.items.map(({ id, requestedBy, summary }) => ({ id, requestedBy, what: summary })),
    // Listed by id: a name may be another device's by the time it is approved.
    ...peers.items.map(({ id, name, network, labels = {} }) => {
      const labelled = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      const as = labelled.length > 0 ? ` with ${labelled.join(', ')}` : '';
      return { id, name, what: `lets device ${name} into network ${network}${as}` };
    }),
  ];
  if (items.length === 0) return { value: { items }, text: `Nothing waits for approval: there is nothing to ${verb}.` };
  const hint = `To ${verb} one: mesh ${verb} ${items[0]?.id}`;
  return { value: { items }, columns: PENDING, hints: [hint], exitCode: EXIT.input };
}

/** Maximum waiting items listed of each kind. */
const NAMED = 20;

/** Whoever approves reads names: which devices bear them, and since when, is said first. */
async function review(
  operation: AnyOperation<never>,
  id: string,
  { note, ...options }: ReviewOptions,
): Promise<Answer> {
  if (operation === approveWorkflow) {
    // A control plane of an earlier version tells none.
    const { peers = [] } = await callOperation(targetOf(options), getWorkflow, { id });
    for (const peer of peers) notice(peerLine(peer));
  }
  const value = await callOperation(targetOf(options), operation, { id, ...(note !== undefined && { note }) });
  const { status, summary, error } = value as ReviewResult;
  const text = [`${id} is ${status}: ${error ?? summary}`, ...next(value as ReviewResult)];
  return { value, text, ...exitOf(value) };
}

/** Returns the next steps where the change was not carried out. */
function next({ status, summary, awaits }: ReviewResult): readonly string[] {
  switch (status) {
    case 'failed':
      return [`Nothing has changed. To go on, ask for the change again: ${summary}`];
    case 'approved':
      return [`Nothing has changed yet. ${awaits ?? 'It is carried out in a moment: see mesh admin get-workflow.'}`];
    default:
      return [];
  }
}

/**
 * Approves the key and the name that it shows: what has changed meanwhile is refused. A name goes as it was given, so that
 * the control plane refuses one that another device bore lately.
 */
async function approve(target: Target, id: string): Promise<Answer> {
  const peer = await callOperation(target, getPeer, { id });
  notice(peerLine(peer));
  const input = id === peer.id ? { id, revision: peer.revision } : { id };
  return answerOf(await callOperation(target, approvePeer, input));
}

function peerLine({ id, name, publicKey, renames = [] }: ConcernedPeer): string {
  const names = renames.map((rename) => `, was ${inLocalTime(rename)}`);
  return `${name} (${id}): key ${publicKey}${names.join('')}`;
}

/** @throws CliError for a peer that is in the network: to shut it out is another matter */
async function reject(target: Target, id: string): Promise<Answer> {
  const peer = await callOperation(target, getPeer, { id }).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
    // A destructive command suggests no names.
    throw new CliError(`There is no peer "${id}".`, EXIT.notFound);
  });
  const { name, status } = peer;
  if (status.phase !== 'pending') {
    throw new CliError(
      `${name} is ${status.phase}, not pending. To shut it out: mesh admin revoke-peer ${name}`,
      EXIT.conflict,
    );
  }
  return answerOf(await callOperation(target, revokePeer, { id: peer.id }));
}

function answerOf(value: unknown): Answer {
  noticePending(value);
  if (pendingWorkflowOf(value) !== undefined) return { value };
  const { name, status } = value as Peer;
  return { value, text: `${name} is ${status.phase}${status.address === null ? '' : ` as ${status.address}`}.` };
}
