import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../../test/kits/http/receiver.ts';
import { workloadToken } from './workload-token.ts';

const server = 'https://mesh.example.com/';
const TOKEN = 'eyJh.eyJp.c2ln';

test('a job of GitHub asks there for a token for the control plane', async () => {
  await using github = await startReceiver((response) => response.end(JSON.stringify({ value: TOKEN })));
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${github.port}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'credential',
  };
  expect(await workloadToken('github', { server, env })).toBe(TOKEN);
  expect(github.received).toMatchObject([
    {
      url: '/token?api-version=2.0&audience=https%3A%2F%2Fmesh.example.com',
      headers: { authorization: 'Bearer credential' },
    },
  ]);
});

test.each([
  ['refuses', 403, '{}', 'it answered 403'],
  ['says something else', 200, '{"error":"none"}', 'no identity token'],
  ['says something that is no token', 200, '{"value":"<html>"}', 'no identity token'],
])('a job of a GitHub that %s is told', async (_what, status, body, message) => {
  await using github = await startReceiver((response) => response.writeHead(status).end(body));
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${github.port}/`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'credential',
  };
  await expect(workloadToken('github', { server, env })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(message),
  });
});

test('a job without a token is told what it lacks', async () => {
  const asked = (place: 'github' | 'gitlab' | 'oidc') => workloadToken(place, { server, env: {} });
  await expect(asked('github')).rejects.toThrow('permissions: {id-token: write}');
  await expect(asked('gitlab')).rejects.toThrow('id_tokens: {MESH_ID_TOKEN: {aud: https://mesh.example.com}}');
  await expect(asked('oidc')).rejects.toThrow('--identity-file');
});

test('a job of GitLab has its token in a variable, and any workload may have it in a file', async () => {
  expect(await workloadToken('gitlab', { server, env: { MESH_ID_TOKEN: TOKEN } })).toBe(TOKEN);
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-identity-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'token');
  writeFileSync(file, `${TOKEN}\n`);
  expect(await workloadToken('kubernetes', { server, file })).toBe(TOKEN);
  writeFileSync(file, 'no token');
  await expect(workloadToken('oidc', { server, file })).rejects.toThrow('three parts');
  await expect(workloadToken('oidc', { server, file: path.join(directory, 'none') })).rejects.toThrow('ENOENT');
});
