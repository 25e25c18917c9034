import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { configWarnings, warningText } from './config-warnings.ts';

const said = (env: Readonly<Record<string, string>>) =>
  configWarnings(loadConfig(env, '/nonexistent')).map(warningText);

test.each([
  ['MESH_LISTN', 'did you mean MESH_LISTEN?'],
  ['MESH_SIGNALING_ULR', 'did you mean MESH_SIGNALING_URL?'],
  ['MESH_WORKSPACES', 'did you mean MESH_WORKSPACE?'],
  ['MESH_COLOUR_OF_THE_SKY', 'meshd --help lists the variables there are.'],
])('the unknown variable %s is named as ignored: %s', (name, remedy) => {
  expect(said({ [name]: 'x' })).toEqual([`${name}: there is no such variable, so it is ignored: ${remedy}`]);
});

test('the variables of meshd and of mesh are known', () => {
  expect(said({ MESH_LISTEN: '127.0.0.1:0', MESH_SERVER: 'x', MESH_CONFIG_DIR: 'x', MESH_EDITION: '' })).toEqual([]);
});

test('a relay token of fewer than 16 characters is taken and warned of, and is not shown', () => {
  expect(said({ MESH_LRP_AUTH_TOKEN: 'secret secret 16' })).toEqual([]);
  const [text, ...others] = said({ MESH_LRP_AUTH_TOKEN: 'too-short' });
  expect([text, others]).toEqual([expect.stringContaining('MESH_LRP_AUTH_TOKEN: a token of fewer than 16'), []]);
  expect(text).not.toContain('too-short');
});
