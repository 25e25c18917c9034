import { builtinPlanner } from '../core/intent/builtin/builtin.ts';
import type { Planner } from '../core/intent/planner.ts';
import type { Log } from '../core/ports.ts';
import type { Config } from './config.ts';

type ModelSettings = Pick<Config['env'], 'MESH_LLM_BASE_URL' | 'MESH_LLM_MODEL' | 'MESH_LLM_API_KEY'>;

/** The planner of the configuration: a model where one is named, whose client is loaded only then; the built-in one else. */
export async function buildPlanner(
  { MESH_LLM_BASE_URL: baseURL, MESH_LLM_MODEL: model, MESH_LLM_API_KEY: apiKey }: ModelSettings,
  log: Log,
): Promise<Planner> {
  if (baseURL === undefined || model === undefined) return builtinPlanner;
  const { openAiPlanner } = await import('../llm/openai-planner.ts');
  return openAiPlanner({ baseURL, model, apiKey, log });
}
