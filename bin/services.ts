import type { Edition } from '../core/edition.ts';
import { buildLoginLimits } from '../core/identity/login-limits.ts';
import type { Planner } from '../core/intent/planner.ts';
import { buildLiveness } from '../core/network/liveness.ts';
import { buildNetworkStates } from '../core/network/states.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import type { Keyring, Services, Settings } from '../core/services.ts';

export interface ServiceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly edition: Edition;
  readonly keys: Keyring;
  readonly planner: Planner;
  readonly settings: Settings;
}

/** What operations reach, put together from the parts that differ between a real plane and a test. */
export function buildServices(parts: ServiceParts): Services {
  return {
    ...parts,
    states: buildNetworkStates(parts),
    liveness: buildLiveness(),
    logins: buildLoginLimits(parts.clock),
  };
}
