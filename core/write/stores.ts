import { writesIn } from '../authority/writes.ts';
import { type Caller, principalOf } from '../base/caller.ts';
import type { Store, Writer } from '../base/ports.ts';
import { requireEventRoom } from '../base/reserve.ts';
import type { CallWriter, WriteServices, WritingCall } from './draft.ts';
import { requireDelegated } from './judgement.ts';
import { commitOf } from './outcome.ts';
import { passStore, type StoreServices, writeAs } from './pipeline.ts';
import { requireHeard } from './standing.ts';

/** The store of the control plane, which jobs write to. Callers have stores of their own over it. */
export function planeStore(services: StoreServices): Store {
  const { store, isDiskFull } = services;
  return {
    ...store,
    async commit(...write) {
      const [workspace, ops, context] = write;
      const draft = await passStore(services, { workspace, ops, context });
      return store.commit(workspace, draft.ops, draft.context);
    },
    async record(workspace, events) {
      if (isDiskFull) requireEventRoom(isDiskFull);
      return store.record(workspace, events);
    },
  };
}

/** Makes the store of one call. */
export type StoreFor = (writer: CallWriter) => Store;

/**
 * Returns services whose store writes as one caller may. Services that a call has got make those of another caller, as for
 * the call that it approves, over the store of the control plane too: the store of one caller never lies under that of another.
 */
export function servicesFor<S extends WriteServices & { readonly storeFor?: StoreFor | undefined }>(
  services: S,
  writer: CallWriter,
): S {
  const storeFor = services.storeFor ?? ((other) => callerStore(services, other));
  return { ...services, store: storeFor(writer), storeFor };
}

/** Every write of a caller passes the stages, and none of them has another store. */
function callerStore({ store, states, clock, computed }: WriteServices, writer: CallWriter): Store {
  const progress = { hasWritten: false, hasEnded: false, hasShown: false };
  const call: WritingCall = { ...writer, store, states, clock, computed, progress };
  const { kind } = writer.caller;
  const queue = kind === 'anonymous' ? store.queue : store.queue.for(writerOf(writer.caller));
  return {
    ...store,
    queue,
    commit: async (workspace, ops, context) => commitOf(await writeAs(call, queue, { workspace, ops, context })),
    async permit(workspace, ops, requestId) {
      if (kind !== 'agent') return;
      await requireHeard(call, workspace);
      const context = { actor: writer.caller.subject, reason: '', requestId };
      const writes = await writesIn(store, workspace, ops);
      await requireDelegated({ workspace, ops, context, writes, granted: [] }, call);
    },
  };
}

/** Maximum pending writes of an agent with its sub-agents, or of a device. */
const MAY_WAIT = 128;

/** Many devices come with one join token at once, so an enrolment has no limit. */
function writerOf(caller: Caller): Writer {
  const isBounded = caller.kind === 'agent' || caller.kind === 'device';
  return { id: principalOf(caller), mayWait: isBounded ? MAY_WAIT : Number.POSITIVE_INFINITY };
}
