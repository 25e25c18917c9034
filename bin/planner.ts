import { buildBuiltInPlanner } from '../core/intent/builtin/planner.ts';
import type { Planner } from '../core/intent/planner.ts';
import type { Log } from '../core/ports.ts';
import { buildModelPlanner } from '../llm/planner.ts';
import type { Config } from './config.ts';

/** The planner of the configuration: a model where one is named, the built-in one else. */
export function buildPlanner({ env }: Config, log: Log): Planner {
  const { MESH_LLM_BASE_URL: baseUrl, MESH_LLM_MODEL: model, MESH_LLM_API_KEY: apiKey } = env;
  if (baseUrl === undefined || model === undefined) return buildBuiltInPlanner();
  return buildModelPlanner({ baseUrl, model, log, ...(apiKey && { apiKey }) });
}
