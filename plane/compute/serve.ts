import type { MessagePort } from 'node:worker_threads';
import type { AnyOperation } from '../../core/base/operation.ts';
import type { Clock, Commit } from '../../core/base/ports.ts';
import { answerOf } from '../../core/call/invoke.ts';
import { requireAnswerSize } from '../../core/compute/answer-size.ts';
import type { Computation, ComputationCall } from '../../core/compute/computation.ts';
import { callerOf, type HeavyCall } from '../../core/compute/compute.ts';
import type { ComputeServices } from '../../core/intent/plan/services.ts';
import {
  type AnyCall,
  type FromThread,
  type Outcome,
  outcomeOf,
  type ToThread,
  unwrap,
  type Write,
  type Writes,
} from './messages.ts';

export interface ThreadParts {
  readonly operations: readonly AnyOperation<ComputeServices>[];
  readonly computations: readonly Computation<ComputeServices, never, unknown>[];
  readonly services: ComputeServices;
  /** Brings the thread's view of a workspace up to what has been committed. */
  refresh(workspace: string): Promise<void>;
}

/** A computing thread's side: runs one call after the other, and asks the main thread to write. */
export function serveCalls(
  port: MessagePort,
  build: (writes: Writes, clock: Clock) => ThreadParts | Promise<ThreadParts>,
): void {
  const say = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  const waiting = new Map<number, (outcome: Outcome<unknown>) => void>();
  let lastId = 0;
  let now = 0;

  async function written(write: Write): Promise<unknown> {
    lastId += 1;
    const id = lastId;
    const outcome = await new Promise<Outcome<unknown>>((resolve) => {
      waiting.set(id, resolve);
      say({ kind: 'write', id, write });
    });
    return unwrap(outcome);
  }

  const writes: Writes = {
    // The main thread answers a commit with what its store answers.
    commit: async (...args) => (await written({ method: 'commit', args })) as Commit,
    record: async (...args) => void (await written({ method: 'record', args })),
  };
  const parts = build(writes, { now: () => now });

  port.on('message', (message: ToThread) => {
    if (message.kind === 'written') {
      waiting.get(message.id)?.(message.outcome);
      waiting.delete(message.id);
      return;
    }
    ({ now } = message);
    void outcomeOf(async () => textOf(message.call, await parts)).then((outcome) =>
      say({ kind: 'answered', outcome }, 'value' in outcome ? [outcome.value.buffer] : []),
    );
  });
}

async function textOf(call: AnyCall, parts: ThreadParts): Promise<Uint8Array<ArrayBuffer>> {
  await parts.refresh(call.workspace);
  const answer = 'computation' in call ? await outputOf(call, parts) : await answerTo(call, parts);
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  requireAnswerSize(bytes.length);
  return bytes;
}

function outputOf(
  { computation: name, workspace, input }: ComputationCall,
  { computations, services }: ThreadParts,
): Promise<unknown> {
  const computation = computations.find((one) => one.name === name);
  if (!computation) throw new TypeError(`${name} is not among the computations of a computing thread.`);
  return computation.run(services, workspace, input as never);
}

function answerTo(call: HeavyCall, { operations, services }: ThreadParts): Promise<unknown> {
  const operation = operations.find(({ name }) => name === call.operation);
  if (!operation) throw new TypeError(`${call.operation} is not among the operations of a computing thread.`);
  const { raw, workspace, requestId, face, origin } = call;
  // A caller that goes away ends the thread; nothing in it has to check the signal.
  const { signal } = new AbortController();
  return answerOf(operation, raw, {
    ...{ services, workspace, requestId, face, origin, signal },
    caller: callerOf(call),
  });
}
