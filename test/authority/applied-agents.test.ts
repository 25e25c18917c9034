import { describe, expect, it } from 'vitest';
import { MeshError } from '../../core/base/errors.ts';
import type { Scope } from '../../core/base/scope.ts';
import { parseYaml } from '../../tools/yaml.ts';
import { serveFaces } from '../kits/http/faces-kit.ts';
import { buildScene, reachOf } from './scene.ts';

const HEAD = { apiVersion: 'mesh.internal/v1alpha1', kind: 'AgentIdentity' };
const WRITER: readonly Scope[] = ['network:read', 'network:write', 'agents:delegate'];
const POLICY = {
  ...HEAD,
  kind: 'MeshPolicy',
  metadata: { name: 'closed' },
  spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'nobody' } } },
};
const identity = (name: string, spec: object, metadata: object = {}) => ({
  ...HEAD,
  metadata: { name, ...metadata },
  spec,
});
const child = (name: string, spec: object = {}, parent = 'boss') =>
  identity(name, { parentRef: { name: parent, namespace: 'prod' }, ttl: '30m', policyPreset: 'sandboxed', ...spec });

async function scene(settings: Record<string, unknown> = {}) {
  const open = await buildScene(settings);
  const apply = (bearer: string, ...documents: readonly object[]) =>
    open.call(bearer, 'apply_resources', { documents });
  return { ...open, apply, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
}

describe('a root agent in an applied document', () => {
  it('is made by a person with a policy in one commit, and its token is shown once', async () => {
    await using at = await scene();
    const { revision } = await at.state();
    const root = identity('deployer', { ttl: '8h', scopes: WRITER, reach: reachOf('web', 443) });
    const { items } = await at.apply(at.ada, POLICY, root);
    expect(items).toEqual([
      { kind: 'MeshPolicy', name: 'closed', result: 'created' },
      {
        kind: 'AgentIdentity',
        name: 'deployer',
        result: 'created',
        token: expect.stringMatching(/^mesh-agt-/),
        expiresAt: new Date(at.kit.clock.time + 8 * 3_600_000).toISOString(),
      },
    ]);
    expect((await at.state()).revision).toBe(revision + 1);
    expect(await at.call(items[1].token, 'get_agent', { id: 'self' })).toMatchObject({
      kind: 'AgentIdentity',
      metadata: { name: 'deployer', namespace: 'prod' },
      spec: { ttl: '8h', policyPreset: 'inherit', scopes: WRITER },
      status: { phase: 'Active', depth: 0, person: 'ada' },
    });
    expect((await at.apply(at.ada, POLICY, root)).items.map(({ result }: { result: string }) => result)).toEqual([
      'unchanged',
      'unchanged',
    ]);
  });

  it('may name peers in its reach, and is unchanged by the same document', async () => {
    await using at = await scene();
    const root = identity('deployer', { ttl: '8h', reach: [{ to: [{ peerSelector: { peers: ['web-1'] } }] }] });
    expect((await at.apply(at.ada, root)).items[0]).toHaveProperty('token');
    expect((await at.apply(at.ada, root)).items[0]).toMatchObject({ result: 'unchanged' });
  });

  it('is never changed: the answer says to revoke it first', async () => {
    await using at = await scene();
    await at.apply(at.ada, identity('deployer', { ttl: '8h' }));
    for (const spec of [
      { ttl: '9h' },
      { ttl: '8h', scopes: ['network:read'] },
      { ttl: '8h', policyPreset: 'isolated' },
    ]) {
      await expect(at.apply(at.ada, identity('deployer', spec))).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('DELETE /api/v1/agents/deployer'),
      });
    }
    await at.call(at.ada, 'revoke_agent', { id: 'deployer' });
    expect((await at.apply(at.ada, identity('deployer', { ttl: '9h' }))).items[0]).toHaveProperty('token');
  });

  it('is not made by an agent, nor by who may not make agents, and then nothing else is written either', async () => {
    await using at = await scene();
    const boss = await at.agent('boss', WRITER);
    await expect(at.apply(boss.token, POLICY, identity('heir', {}))).rejects.toMatchObject({ code: 'forbidden' });
    const operator = await at.kit.person('otto', 'operator', at.workspace);
    await expect(at.apply(operator, POLICY, identity('heir', { scopes: ['network:read'] }))).rejects.toMatchObject({
      code: 'forbidden',
      details: { scope: 'agents:write' },
    });
    expect([...(await at.state()).policies.keys()]).not.toContain('closed');
  });

  it('waits for a second person where the workspace asks for one, and no token is kept meanwhile', async () => {
    await using at = await scene({ requireApproval: true });
    const documents = [POLICY, identity('deployer', { ttl: '8h' })] as const;
    const { workflow_id } = await at.apply(at.ada, ...documents);
    const stored = await at.kit.services.store.getById(at.workspace, 'Workflow', workflow_id);
    expect(JSON.stringify(stored)).not.toContain('mesh-agt-');
    expect((await at.state()).agents.size).toBe(0);
    await at.call(at.grace, 'approve_workflow', { id: workflow_id });
    const { items } = await at.apply(at.ada, ...documents);
    expect(items[1].token).toMatch(/^mesh-agt-/);
    expect([...(await at.state()).policies.keys()]).toContain('closed');
  });
});

describe('a sub-agent in an applied document', () => {
  it('is delegated by its parent, with an enrolment token that makes its peer', async () => {
    await using at = await scene();
    const boss = await at.agent('boss', WRITER, { reach: reachOf('web', 443) });
    const { items } = await at.apply(boss.token, child('helper'));
    expect(items[0]).toMatchObject({ result: 'created', enrollmentToken: expect.stringMatching(/^mesh-dlg-/) });
    await at.enrol(items[0].enrollmentToken, 'helper');
    const state = await at.state();
    expect(state.agents.get('helper')).toMatchObject({
      spec: { parentRef: { name: 'boss', namespace: 'prod' } },
      status: { phase: 'Active', depth: 1 },
    });
    expect((await at.apply(boss.token, child('helper'))).items[0]).toEqual({
      kind: 'AgentIdentity',
      name: 'helper',
      result: 'unchanged',
    });
  });

  it.each<[string, object, string, string]>([
    ['a longer life', { ttl: '25h' }, 'boss', 'forbidden'],
    ['a wider preset', { policyPreset: 'inherit' }, 'boss', 'forbidden'],
    ['a scope that the parent lacks', { scopes: ['snapshots:read'] }, 'boss', 'forbidden'],
    ['a scope that is never delegated', { scopes: ['peers:approve'] }, 'boss', 'beyond_delegation'],
    ['another parent', {}, 'other', 'forbidden'],
    ['a parent in another namespace', { parentRef: { name: 'boss', namespace: 'dev' } }, 'boss', 'invalid_input'],
    ['a life of nothing', { ttl: '0s' }, 'boss', 'invalid_input'],
    ['a reach of its own', { reach: [] }, 'boss', 'invalid_input'],
  ])('with %s is refused, as when it is delegated', async (_what, spec, parent, code) => {
    await using at = await scene();
    const boss = await at.agent('boss', WRITER, { policyPreset: 'sandboxed' });
    await at.agent('other', WRITER);
    await expect(at.apply(boss.token, child('helper', spec, parent))).rejects.toMatchObject({ code });
    expect([...(await at.state()).agents.keys()]).toEqual(['boss', 'other']);
  });

  it('is not delegated by a person, who would answer for what the parent did not do', async () => {
    await using at = await scene();
    await at.agent('boss', WRITER);
    await expect(at.apply(at.ada, child('helper'))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('needs the scope to delegate', async () => {
    await using at = await scene();
    const boss = await at.agent('boss', ['network:read', 'network:write']);
    await expect(at.apply(boss.token, child('helper'))).rejects.toMatchObject({
      details: { scope: 'agents:delegate' },
    });
  });

  it('is not made below the greatest depth', async () => {
    await using at = await scene();
    let token = (await at.agent('level-0', WRITER)).token;
    for (let depth = 1; depth <= 4; depth += 1) {
      const spec = { scopes: WRITER, policyPreset: 'inherit' };
      const { items } = await at.apply(token, child(`level-${depth}`, spec, `level-${depth - 1}`));
      token = (await at.enrol(items[0].enrollmentToken, `level-${depth}`)).agentToken;
    }
    await expect(at.apply(token, child('level-5', {}, 'level-4'))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('counts to the share of its tree, all of one request together', async () => {
    await using at = await scene();
    const boss = await at.agent('boss', WRITER);
    const many = Array.from({ length: 251 }, (_, index) => child(`helper-${index}`));
    await expect(at.apply(boss.token, ...many)).rejects.toMatchObject({ code: 'conflict', details: { share: 250 } });
    expect((await at.state()).agents.size).toBe(1);
  });

  it('reads its own line without network:read, and nobody else', async () => {
    await using at = await scene();
    const boss = await at.agent('boss', WRITER);
    await at.agent('other', WRITER);
    const { items } = await at.apply(boss.token, child('helper', { scopes: [] }));
    const { agentToken } = await at.enrol(items[0].enrollmentToken, 'helper');
    const read = (id: string) => at.call(agentToken, 'get_agent', { id });
    expect((await read('self')).name).toBe('helper');
    expect((await read('boss')).name).toBe('boss');
    await expect(read('other')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(read('nobody')).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('agents as YAML', () => {
  it('come as a List that can be applied as it is, and an agent that ended does not rise again', async () => {
    await using at = await scene();
    await using faces = await serveFaces(at.kit);
    const boss = await at.agent('boss', [...WRITER, 'tokens:write'], { reach: reachOf('web', 443) });
    await at.apply(boss.token, child('helper', { scopes: ['network:read'] }));
    await at.agent('gone', WRITER);
    await at.call(at.ada, 'revoke_agent', { id: 'gone' });
    const inWorkspace = { 'x-workspace-id': at.workspace };
    const listed = await faces.send('/api/v1/agents', at.ada, {
      headers: { ...inWorkspace, accept: 'application/yaml' },
    });
    expect(listed.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    const yaml = await listed.text();
    expect(parseYaml(yaml)).toMatchObject([
      {
        kind: 'List',
        items: [
          { ...HEAD, metadata: { name: 'boss', namespace: 'prod' }, status: { phase: 'Active' } },
          { metadata: { name: 'gone' }, status: { phase: 'Revoked' } },
          { spec: { parentRef: { name: 'boss', namespace: 'prod' } }, status: { phase: 'Pending', depth: 1 } },
        ],
      },
    ]);
    const { revision } = await at.state();
    const applied = await faces.send('/api/v1/apply', at.ada, {
      method: 'POST',
      headers: { ...inWorkspace, 'content-type': 'application/yaml' },
      body: yaml,
    });
    expect(await applied.json()).toMatchObject({
      items: [{ result: 'unchanged' }, { result: 'unchanged' }, { result: 'unchanged' }],
      revision,
    });
  });
});

it('an agent that is made or ended is part of a snapshot and of what changed between two', async () => {
  await using at = await scene();
  const from = await at.call(at.ada, 'take_snapshot', {});
  await at.apply(at.ada, identity('deployer', { ttl: '8h' }));
  const to = await at.call(at.ada, 'take_snapshot', {});
  await at.call(at.ada, 'revoke_agent', { id: 'deployer' });
  const last = await at.call(at.ada, 'take_snapshot', {});
  const shown = await at.call(at.ada, 'get_snapshot', { snapshot_id: to.id });
  expect(shown.agents).toMatchObject([{ ...HEAD, metadata: { name: 'deployer' }, status: { phase: 'Active' } }]);
  const made = await at.call(at.ada, 'diff_snapshots', { from: from.id, to: to.id });
  expect(made.added).toEqual([{ kind: 'AgentIdentity', name: 'deployer' }]);
  const ended = await at.call(at.ada, 'diff_snapshots', { from: to.id, to: last.id });
  expect(ended.changed).toMatchObject([
    { name: 'deployer', changes: [{ path: '/status/phase', old: 'Active', new: 'Revoked' }] },
  ]);
});

it('an agent that may not read agents learns from no answer whether an identity is there', async () => {
  await using at = await scene();
  const boss = await at.agent('boss', ['agents:delegate', 'network:read'], { reach: reachOf('web') });
  await at.child(boss.token, 'scout', ['agents:delegate']);
  for (const scopes of [['network:write'], ['network:write', 'agents:delegate']] as const) {
    const writer = await at.agent(`writer-${scopes.length}`, scopes, { reach: reachOf('web') });
    const answers = new Set<string>();
    for (const name of ['scout', 'nobody', 'boss']) {
      for (const document of [child(name), child(name, {}, 'nobody'), identity(name, { ttl: '1h' })]) {
        const error = await at.apply(writer.token, document).catch((thrown: unknown) => thrown);
        answers.add(error instanceof MeshError ? error.code : 'answered');
      }
    }
    expect([...answers]).toEqual(['forbidden']);
  }
});
