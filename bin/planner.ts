import { builtinPlanner } from '../core/intent/builtin/builtin.ts';
import type { Planner } from '../core/intent/planner.ts';
import type { Log } from '../core/ports.ts';
import { openAiPlanner } from '../llm/openai-planner.ts';
import type { Config } from './config.ts';

type ModelSettings = Pick<Config['env'], 'MESH_LLM_BASE_URL' | 'MESH_LLM_MODEL' | 'MESH_LLM_API_KEY'>;

/** The planner of the configuration: a model where one is named, the built-in one else. */
export function buildPlanner(
  { MESH_LLM_BASE_URL: baseURL, MESH_LLM_MODEL: model, MESH_LLM_API_KEY: apiKey }: ModelSettings,
  log: Log,
): Planner {
  return baseURL === undefined || model === undefined ? builtinPlanner : openAiPlanner({ baseURL, model, apiKey, log });
}
