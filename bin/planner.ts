import { builtinPlanner } from '../core/intent/builtin/builtin.ts';
import type { Planner } from '../core/intent/planner.ts';

/** The planner of the configuration: a model where one is named, the built-in one else. */
export function buildPlanner(): Planner {
  return builtinPlanner;
}
