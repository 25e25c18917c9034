import type { Computed } from '../compute/computation.ts';
import type { BaseServices } from '../model/services.ts';
import type { NetworkStates } from './states.ts';

/** With the states of networks, now and at any revision. */
export interface NetworkServices extends BaseServices {
  readonly states: NetworkStates;
  readonly computed: Computed<ThreadServices>;
}

/** What a computation may reach: what a computing thread has too. */
export type ThreadServices = Pick<BaseServices, 'store' | 'clock' | 'log' | 'settings' | 'liveness'> & {
  readonly states: NetworkStates;
};
