import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, peerNames } from '../kits/http/joining.ts';
import { GITHUB, GITHUB_CLAIMS, workloadIssuer } from '../kits/plane/workloads.ts';
import { launcher, mesh, run } from '../kits/process/run-command.ts';

test('a job registers with a join token that is no secret and the OIDC token of its place', async () => {
  await using harness = await startHarness();
  const place = await harness.workspace('ci');
  const audience = new URL(harness.url).origin;
  const issuer = await workloadIssuer(GITHUB, { now: Date.now, audience });
  const claims = { repository_id: '74', ref: 'refs/heads/*' };
  const token = await joinTokenFor(harness, place, { identity: { issuer: GITHUB, claims, keys: await issuer.keys() } });
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const init = (args: readonly string[], env: Record<string, string> = {}) =>
    mesh(['init', '--server', harness.url, '--token', token, '--name', 'job', ...args], { home, env });

  expect(await init([])).toMatchObject({ code: 2, stderr: expect.stringContaining('give it with --identity') });
  const file = path.join(home, 'token');
  writeFileSync(file, await issuer.token({ ...GITHUB_CLAIMS, repository_id: '75' }));
  const other = await init(['--identity', 'kubernetes', '--identity-file', file]);
  expect(other.stderr).toContain('the claim repository_id does not match');
  const jwt = await issuer.token(GITHUB_CLAIMS);
  const registered = await init(['--identity', 'gitlab'], { MESH_ID_TOKEN: jwt });
  expect([registered.code, registered.stdout]).toEqual([0, expect.stringContaining('Registered job as 10.96.0.1.')]);
  for (const said of [registered.stdout, other.stderr]) expect(said).not.toContain(jwt);
  expect(await peerNames(harness, place)).toEqual(['job']);
  const again = await run(
    launcher('mesh'),
    ['init', '--server', harness.url, '--token', token, '--name', 'thief', '--identity', 'gitlab'],
    { env: { HOME: home, MESH_CONFIG_DIR: path.join(home, 'other'), MESH_ID_TOKEN: jwt } },
  );
  expect(again.stderr).toContain('was used already');
});

test('a repository owns the rules for workloads: applied, exported, compared and pruned, and a job joins by one', async () => {
  await using harness = await startHarness();
  const place = await harness.workspace('rules');
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: place.token, MESH_WORKSPACE: place.workspace };
  const run = (...args: string[]) => mesh(args, { home, env });
  const issuer = await workloadIssuer(GITHUB, { now: Date.now, audience: new URL(harness.url).origin });
  const rule = {
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'WorkloadRule',
    metadata: { name: 'ci' },
    spec: {
      identity: { issuer: GITHUB, claims: { repository_id: '74', ref: 'refs/heads/*' }, keys: await issuer.keys() },
      labels: { role: 'ci' },
      preset: 'isolated',
    },
  };
  const file = path.join(home, 'ci.json');
  writeFileSync(file, JSON.stringify(rule));
  const trial = await run('apply', '-f', file, '--dry-run');
  expect([trial.code, trial.stdout]).toEqual([1, expect.stringContaining('create WorkloadRule ci')]);
  expect(trial.stdout).not.toContain('Opens nothing');
  const applied = JSON.parse((await run('apply', '-f', file, '-o', 'json')).stdout);
  expect(applied.items).toMatchObject([{ kind: 'WorkloadRule', name: 'ci', result: 'created' }]);
  const [shown = {}] = JSON.parse((await run('admin', 'list-join-tokens', '-o', 'json')).stdout).items;
  expect((await run('admin', 'list-join-tokens')).stdout).toContain(shown.token);
  expect(shown.token).toBe(applied.items[0].joinToken);
  const network = path.join(home, 'network');
  expect(await run('export', network)).toMatchObject({ code: 0 });
  const exported = path.join(network, 'workload-rules', 'ci.yaml');
  expect(await run('diff', network)).toMatchObject({ code: 0, stdout: 'No difference.\n' });
  writeFileSync(exported, readFileSync(exported, 'utf8').replace('role: ci', 'role: build'));
  const changed = await run('diff', network);
  expect([changed.code, changed.stdout]).toEqual([1, expect.stringContaining('+++ b/workload-rules/ci.yaml')]);
  expect((await run('apply', '-f', network, '--prune')).stdout).toMatch(/WorkloadRule +ci +updated/);

  const told = JSON.parse((await run('log', '--json')).stdout).items.map(({ what }: { what: string }) => what);
  expect(told).toEqual([
    'applied 2 documents: updated ci: rule ci labels.role: ci → build',
    expect.stringMatching(
      /^applied 1 document: created ci: rule ci labels.role: ci, .*identity.claims.ref: refs\/heads\/\*/,
    ),
    expect.stringMatching(/./),
  ]);

  const init = ['init', '--server', harness.url, '--token', applied.items[0].joinToken, '--identity', 'gitlab'];
  const jwt = await issuer.token(GITHUB_CLAIMS);
  const joined = await mesh([...init, '--name', 'job'], { home, env: { MESH_ID_TOKEN: jwt } });
  expect([joined.code, joined.stdout]).toEqual([0, expect.stringContaining('Registered job as 10.96.0.1.')]);

  rmSync(exported);
  expect((await run('apply', '-f', network, '--prune')).stdout).not.toContain('WorkloadRule');
  const nothing = mkdtempSync(path.join(home, 'nothing-'));
  expect(await run('apply', '-f', nothing, '--prune')).toMatchObject({ code: 2 });
  const gone = await run('apply', '-f', nothing, '--prune', 'WorkloadRule');
  expect(gone.stdout).toMatch(/WorkloadRule +ci +deleted/);
});
