import { expect, test } from 'vitest';
import { apiExposure } from './api-exposure.ts';
import { loadConfig } from './config.ts';

function exposed(MESH_LISTEN: string, publicUrls: string[] = []) {
  const config = loadConfig({ MESH_LISTEN }, '/nonexistent');
  return apiExposure({ ...config, app: { ...config.app, publicUrls } });
}

test.each([
  ['0.0.0.0:18090', '0.0.0.0:18090: every host that reaches this machine; http://127.0.0.1:18090 from here'],
  ['[::]:18090', '[::]:18090: every host that reaches this machine; http://127.0.0.1:18090 from here'],
  ['10.0.0.5:18090', '10.0.0.5:18090: every host that reaches this address'],
])('the API at %s without TLS is open to others, which is warned of', (place, listening) => {
  expect(exposed(place)).toEqual({ listening, warning: expect.stringContaining('MESH_TLS_CERT') });
});

test.each(['127.0.0.1:18090', 'localhost:18090', '[::1]:18090'])('the API at %s is of this machine alone', (place) => {
  expect(exposed(place)).toEqual({ listening: `${place}: this machine alone` });
});

test('behind a TLS proxy the warning says who alone is to reach the clear port', () => {
  expect(exposed('0.0.0.0:18090', ['https://mesh.example']).warning).toContain('Let the TLS proxy of app.publicUrls');
});

test('with a certificate nothing is clear', () => {
  const config = loadConfig({}, '/nonexistent');
  const env = { ...config.env, MESH_TLS_CERT: 'cert.pem', MESH_TLS_KEY: 'key.pem' };
  expect(apiExposure({ ...config, env })).toEqual({
    listening: '0.0.0.0:18090: every host that reaches this machine; https://127.0.0.1:18090 from here',
  });
});
