import type { QuestionReader } from '../../history/pair/question-reader.ts';
import type { NetworkServices, ThreadServices } from '../../state/services.ts';
import type { Planner } from './planner.ts';

/** With what turns sentences into changes, and questions into what is asked. */
export interface PlanServices extends NetworkServices {
  readonly planner: Planner;
  readonly questions: QuestionReader;
}

/** The services of a heavy operation, limited to those of a computing thread. */
export type ComputeServices = ThreadServices & Pick<PlanServices, 'planner' | 'questions'>;
