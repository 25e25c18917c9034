import type { NetworkServices, ThreadServices } from '../../state/services.ts';
import type { Planner } from './planner.ts';

/** With what turns sentences into changes. */
export interface PlanServices extends NetworkServices {
  readonly planner: Planner;
}

/** What a heavy operation may reach: what a computing thread has too. */
export type ComputeServices = ThreadServices & Pick<PlanServices, 'planner'>;
