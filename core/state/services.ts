import type { BaseServices } from '../model/services.ts';
import type { NetworkStates } from './states.ts';

/** With the states of networks, now and at any revision. */
export interface NetworkServices extends BaseServices {
  readonly states: NetworkStates;
}
