import type { Command } from 'commander';
import type { AnyOperation } from '../core/base/operation.ts';
import { approvePeer } from '../tools/peers/approve-peer.ts';
import { getPeer } from '../tools/peers/get-peer.ts';
import { revokePeer } from '../tools/peers/revoke-peer.ts';
import { approveWorkflow } from '../tools/workflows/approve-workflow.ts';
import { rejectWorkflow } from '../tools/workflows/reject-workflow.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { tellWaiting, waitingIn } from './waiting.ts';

interface ReviewOptions extends TargetOptions {
  readonly note?: string;
}

interface Reviewed {
  readonly id: string;
  readonly status: string;
  readonly summary: string;
  readonly error: string | null;
}

interface Peer {
  readonly name: string;
  readonly status: { readonly phase: string; readonly address: string | null };
}

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
      .argument('<id>', 'of a workflow (wf_…) or a peer (p_…), or the name of a peer')
      .option('--note <text>', 'why, kept with the workflow'),
    (id: string, options: ReviewOptions) =>
      id.startsWith('wf_') ? review(workflow, id, options) : peer(targetOf(options), id),
  );
}

async function review(
  operation: AnyOperation<never>,
  id: string,
  { note, ...options }: ReviewOptions,
): Promise<Answer> {
  const value = await callOperation(targetOf(options), operation, { id, ...(note !== undefined && { note }) });
  const { status, summary, error } = value as Reviewed;
  return { value, text: `${id} is ${status}: ${error ?? summary}` };
}

async function approve(target: Target, id: string): Promise<Answer> {
  return answerOf(await callOperation(target, approvePeer, { id }));
}

/** @throws CliError for a peer that is in the network: to shut it out is another matter */
async function reject(target: Target, id: string): Promise<Answer> {
  const { name, status } = (await callOperation(target, getPeer, { id })) as Peer;
  if (status.phase !== 'pending') {
    throw new CliError(
      `${name} is ${status.phase}, not pending. To shut it out: mesh admin revoke-peer ${name}`,
      EXIT.conflict,
    );
  }
  return answerOf(await callOperation(target, revokePeer, { id }));
}

function answerOf(value: unknown): Answer {
  tellWaiting(value);
  if (waitingIn(value) !== undefined) return { value };
  const { name, status } = value as Peer;
  return { value, text: `${name} is ${status.phase}${status.address === null ? '' : ` as ${status.address}`}.` };
}
