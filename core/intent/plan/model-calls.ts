import type { CallContext } from '../../base/operation.ts';
import type { ModelCall } from './planner.ts';
import type { PlanServices } from './services.ts';

/** Runs what may ask a model; each request to it is an event of the audit log, also where nothing comes of it. */
export async function recordingCalls<T>(
  { services, workspace, caller, requestId, origin }: CallContext<Pick<PlanServices, 'store'>>,
  run: (onCall: (call: ModelCall) => void) => Promise<T>,
): Promise<T> {
  const calls: ModelCall[] = [];
  try {
    return await run((call) => calls.push(call));
  } finally {
    const events = calls.map(({ outcome, ...detail }) => ({
      type: 'model_call',
      actor: caller.subject,
      result: outcome === 'answered' ? ('ok' as const) : ('refused' as const),
      origin,
      requestId,
      detail,
    }));
    if (events.length > 0) await services.store.record(workspace, events);
  }
}
