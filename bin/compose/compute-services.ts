import type { MessagePort } from 'node:worker_threads';
import { silentLog } from '../../core/base/silent-log.ts';
import { buildLiveness } from '../../core/model/liveness.ts';
import { buildNetworkStates } from '../../core/state/states.ts';
import { serveCalls } from '../../plane/compute/serve.ts';
import { headReader } from '../../storage/log-heads.ts';
import { storeAt } from '../../storage/open.ts';
import { heavyComputations, heavyOperations } from '../../tools/heavy.ts';
import type { ComputeThreadData } from './compute.ts';
import { grammarPlanner, grammarReader } from './readers.ts';

/** An error of a call is part of its answer, and is logged where the answer is given. */

/** Answers the calls of a port with the services of a computing thread. */
export function serveOn(port: MessagePort, data: ComputeThreadData): void {
  const { storeUrl, settings, logKeys, logOriginPrefix, configDir } = data;
  serveCalls(port, async (writes, clock) => {
    const store = await storeAt(storeUrl).openReader({ log: silentLog, writes });
    const states = buildNetworkStates({ store });
    // Nodes are heard by the main thread; nothing that is computed here asks for it.
    const liveness = buildLiveness();
    const services = {
      store,
      states,
      clock,
      log: silentLog,
      settings,
      planner: grammarPlanner,
      questions: grammarReader,
      liveness,
      logs: {
        keys: logKeys,
        originOf: (workspace: string) => `${logOriginPrefix}${workspace}`,
        heads: headReader(configDir),
      },
    };
    return { operations: heavyOperations, computations: heavyComputations, services, refresh: store.refresh };
  });
}
