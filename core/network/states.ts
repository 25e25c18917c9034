import type { AsOf } from '../ports.ts';
import type { NetworkState } from './state.ts';

/** Access to network states and the compiled engine over them; one implementation, shared by every operation. */
export interface NetworkStates {
  /** The newest state. Kept in memory and moved on by commits, so it costs a map look-up. */
  current(workspace: string): Promise<NetworkState>;
  /** The state in force at a revision or instant. @throws MeshError `not_found` before history begins. */
  asOf(workspace: string, asOf: AsOf): Promise<NetworkState>;
}
