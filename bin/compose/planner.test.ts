import { expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { environment } from './config.ts';
import { buildNarrator } from './planner.ts';

const MODEL = { MESH_LLM_BASE_URL: 'http://127.0.0.1:1/v1', MESH_LLM_MODEL: 'small' };

test.each([
  ['nobody words findings without a model', {}, undefined],
  ['nor where the narration is on and no model is named', { MESH_LLM_NARRATION: 'on' }, undefined],
  ['the model that is configured words them', MODEL, 'small'],
  ['unless the narration is switched off', { ...MODEL, MESH_LLM_NARRATION: 'off' }, undefined],
])('%s', async (_title, env, model) => {
  const narrator = await buildNarrator(environment.parse(env), silentLog);
  expect(narrator?.model).toBe(model);
});
