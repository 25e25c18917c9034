import { describe, expect, it } from 'vitest';
import { enrol } from '../../test/kits/plane/devices.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { assertionDraft } from '../assertions/assertion.ts';
import { formatInstant } from '../base/time.ts';
import { networkJobs } from '../peers/jobs.ts';
import { beginPolicies } from './begin-policies.ts';

const HOUR = 3_600_000;
const TO_DB = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }], ports: [{ port: 5432 }] }];
const DB = { matchLabels: { role: 'db' } };
const WEB_IN = {
  action: 'ALLOW',
  peerSelector: DB,
  ingress: [{ from: [{ peerSelector: {} }], ports: [{ port: 5432 }] }],
};

async function scene() {
  const kit = await buildPeopleKit();
  const { prod: workspace, ada, askWith } = kit;
  const join = await ada('generate_join_token', { name: 'db', usageLimit: 5, expiry: '1h', labels: { role: 'db' } });
  await enrol(kit, join.token, 'db-1');
  await ada('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: DB, ingress: [] } });
  const made = { scopes: ['network:read', 'network:write', 'agents:delegate'], reach: TO_DB, ttl: '8h' };
  const planner = await ada('create_agent', { name: 'planner', ...made });
  const asPlanner = askWith(planner.token);
  const { enrollmentToken } = await asPlanner('delegate_agent', {
    id: 'self',
    subAgentName: 'kid',
    ttl: '4h',
    policyPreset: 'inherit',
    scopes: ['network:read', 'network:write'],
  });
  const kid = await enrol(kit, enrollmentToken, 'kid');
  const at = (ms: number) => formatInstant(kit.clock.now() + ms);
  /** Lets time pass, and the policies begin whose time has come. */
  const passed = async (ms: number) => {
    kit.clock.time += ms;
    await beginPolicies(kit.services, workspace);
  };
  /** As if it had been made before any policy waited. */
  const assertShut = async () => {
    const record = assertionDraft('shut', { src: 'kid', dst: 'db-1', expect: 'unreachable' }, {});
    const why = { actor: 'system:test', reason: 'an assertion', requestId: 'r' };
    await kit.services.store.commit(workspace, [{ op: 'create', record }], why);
  };
  const lastReason = async () => {
    const { revision } = await kit.services.states.current(workspace);
    const [commit] = await kit.services.store.commits(workspace, revision - 1, 1);
    return [commit?.actor, commit?.reason];
  };
  const names = async () =>
    ((await ada('list_policies')).items as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name !== 'base' && !name.startsWith('agt_'));
  const said = (call: Promise<unknown>) =>
    call.then(
      () => 'written',
      (reason: unknown) => (reason instanceof Error ? reason.message : ''),
    );
  return {
    kit,
    workspace,
    ada,
    asKid: askWith(kid.agentToken as string),
    asPlanner,
    at,
    passed,
    assertShut,
    lastReason,
    names,
    said,
  };
}

describe('a policy that waits', () => {
  it('does not begin where an assertion would fail all the same, and the audit log says so', async () => {
    const { kit, ada, assertShut, at, passed, lastReason, names } = await scene();
    await using _ = kit;
    await ada('create_policy', { name: 'late', spec: { ...WEB_IN, startsAt: at(HOUR) } });
    await assertShut();
    await passed(HOUR);
    expect(await names()).toEqual([]);
    expect(await lastReason()).toEqual([
      'system:begin',
      expect.stringMatching(/^the policy late was to begin and is deleted instead: the assertion shut would fail: /),
    ]);
  });

  it('is not undone by an assertion that would fail when it begins: that is refused, with when', async () => {
    const { kit, ada, at, passed, names, said } = await scene();
    await using _ = kit;
    const deny = { action: 'DENY', peerSelector: DB, ingress: [{ from: [{ peerSelector: { peers: ['kid'] } }] }] };
    await ada('create_policy', { name: 'open', spec: WEB_IN });
    await ada('create_policy', { name: 'shut', spec: { ...deny, startsAt: at(HOUR) } });
    const reaches = { src: 'kid', dst: 'db-1', protocol: 'TCP', port: 5432, expect: 'reachable' };
    expect(await said(ada('create_assertion', { name: 'kept-open', ...reaches }))).toMatch(
      /would not hold from 2026-01-15T13:\d\d:\d\dZ on, when policies begin: .*\. Delete or change those that wait first\.$/,
    );
    await passed(HOUR);
    expect(await names()).toEqual(['open', 'shut']);
  });

  it('is refused at once where an assertion would fail when it begins', async () => {
    const { kit, ada, at, said } = await scene();
    await using _ = kit;
    await ada('create_assertion', { name: 'shut', src: 'kid', dst: 'db-1', expect: 'unreachable' });
    const spec = { ...WEB_IN, startsAt: at(HOUR) };
    expect(await said(ada('create_policy', { name: 'late', spec }))).toContain('would break the assertion shut');
  });

  it('is judged by what an agent may open when it begins, and goes with the agent', async () => {
    const { kit, ada, asKid, at, names, said } = await scene();
    await using _ = kit;
    const write = (name: string, ms: number, spec: object) =>
      said(asKid('create_policy', { name, spec: { ...WEB_IN, ...spec, startsAt: at(ms) } }));
    const ssh = [{ from: [{ peerSelector: {} }], ports: [{ port: 22 }] }];
    expect(await write('ssh', HOUR, { ingress: ssh })).toContain('beyond what the agent kid was delegated');
    expect(await write('after-its-end', 5 * HOUR, {})).toContain('before this begins');
    expect(await write('own', HOUR, {})).toBe('written');
    expect(await names()).toEqual(['own']);
    await ada('revoke_agent', { id: 'kid' });
    expect(await names()).toEqual([]);
  });

  it('is held to what its agent may write, also where others that it wrote with it begin earlier', async () => {
    const { kit, asKid, at, said } = await scene();
    await using _ = kit;
    const shut = { action: 'DENY', peerSelector: {}, ingress: [{ from: [{ peerSelector: { peers: ['db-1'] } }] }] };
    const apply = (...documents: object[]) => said(asKid('apply_resources', { documents }));
    const own = documentOf('own', WEB_IN);
    expect(await apply(own, documentOf('shut', { ...shut, startsAt: at(HOUR) }))).toMatch(
      /beyond what the agent kid was delegated: once policies have begun, it closes connections/,
    );
    expect(await apply(own, documentOf('late', { ...WEB_IN, startsAt: at(5 * HOUR) }))).toContain('before this begins');
    expect(await apply(own, documentOf('late', { ...WEB_IN, startsAt: at(HOUR) }))).toBe('written');
  });

  it('does not begin where its agent may no longer open what it says', async () => {
    const { kit, workspace, asKid, at, passed, lastReason, names } = await scene();
    await using _ = kit;
    await asKid('create_policy', { name: 'own', spec: { ...WEB_IN, startsAt: at(HOUR) } });
    const { agents } = await kit.services.states.current(workspace);
    const planner = agents.get('planner');
    if (!planner) throw new Error('The agent is missing.');
    const { createdAt: _c, generation: _g, revision, workspace: _w, ...record } = planner;
    const narrowed = { ...record, spec: { ...record.spec, reach: [] } };
    const why = { actor: 'system:test', reason: 'a narrower reach', requestId: 'r' };
    await kit.services.store.commit(workspace, [{ op: 'update', record: narrowed, revision }], why);
    await passed(HOUR);
    expect(await names()).toEqual([]);
    expect((await lastReason())[1]).toContain('it is beyond the agent kid');
  });

  it('does not begin once its time is over, as after an outage', async () => {
    const { kit, ada, at, passed, names, lastReason } = await scene();
    await using _ = kit;
    await ada('create_policy', { name: 'late', spec: { ...WEB_IN, startsAt: at(HOUR) }, ttl: '1h' });
    await passed(3 * HOUR);
    expect(await names()).toEqual([]);
    expect((await lastReason())[1]).toContain('its time is over');
  });

  it('begins with those that were written with it, or none of them does', async () => {
    const { kit, ada, assertShut, at, passed, names } = await scene();
    await using _ = kit;
    const document = (name: string, spec: object) => ({
      apiVersion: 'mesh.internal/v1alpha1',
      kind: 'MeshPolicy',
      metadata: { name },
      spec: { ...spec, startsAt: at(HOUR) },
    });
    const deny = { action: 'DENY', peerSelector: { matchLabels: { role: 'none' } }, ingress: [{}] };
    await ada('apply_resources', { documents: [document('open', WEB_IN), document('shut', deny)] });
    await assertShut();
    await passed(HOUR);
    expect(await names()).toEqual([]);
  });
});

describe('policies that begin at one time', () => {
  it('do not begin for each other where an assertion that was made meanwhile would fail', async () => {
    const { kit, ada, assertShut, at, passed, names } = await scene();
    await using _ = kit;
    await ada('create_policy', { name: 'one', spec: { ...WEB_IN, startsAt: at(HOUR) } });
    await assertShut();
    await ada('create_policy', { name: 'other', spec: { ...WEB_IN, startsAt: at(HOUR) } });
    await passed(HOUR);
    expect(await names()).toEqual([]);
  });

  it('begin although the one that another needs was changed after it', async () => {
    const { kit, ada, assertShut, at, passed, names } = await scene();
    await using _ = kit;
    await assertShut();
    const deny = { action: 'DENY', peerSelector: DB, ingress: [{ from: [{ peerSelector: { peers: ['kid'] } }] }] };
    await ada('create_policy', { name: 'shut', spec: { ...deny, startsAt: at(HOUR) } });
    await ada('create_policy', { name: 'open', spec: { ...WEB_IN, startsAt: at(HOUR) } });
    await ada('apply_resources', { documents: [documentOf('shut', { ...deny, startsAt: at(HOUR) }, { of: 'ada' })] });
    await passed(HOUR);
    expect(await names()).toEqual(['open', 'shut']);
  });
});

describe('a policy that ends when another begins', () => {
  it('stays with the nodes until the other has begun, for a minute at most', async () => {
    const { kit, workspace, ada, at, passed, names } = await scene();
    await using _ = kit;
    const shut = { action: 'DENY', peerSelector: DB, ingress: [{}] };
    await ada('create_policy', { name: 'until', spec: { ...shut, expiresAt: at(HOUR) } });
    await ada('create_policy', { name: 'from', spec: { ...shut, startsAt: at(HOUR) } });
    const expiry = networkJobs(kit.services).find(({ name }) => name === 'expire policies');
    kit.clock.time += HOUR;
    expect(await expiry?.run()).toBe(kit.clock.time + 1_000);
    expect(await names()).toEqual(['from', 'until']);
    await passed(0);
    await expiry?.run();
    expect(await names()).toEqual(['from']);
    await ada('create_policy', { name: 'other', spec: { ...shut, expiresAt: at(HOUR) } });
    await ada('create_policy', { name: 'never', spec: { ...shut, startsAt: at(HOUR) } });
    kit.clock.time += HOUR + 60_000;
    await expiry?.run();
    expect([...(await kit.services.states.current(workspace)).policies.keys()]).not.toContain('other');
  });
});

describe('many policies that begin at one time', () => {
  it('leave the turn to those of other workspaces, and begin when the job comes back', async () => {
    const { kit, workspace, ada, at, passed, names } = await scene();
    await using _ = kit;
    const startsAt = at(HOUR);
    for (const name of ['a', 'b']) await ada('create_policy', { name, spec: { ...WEB_IN, startsAt } });
    kit.services.store.onCommit(() => {
      kit.clock.time += 2_000;
    });
    await passed(HOUR);
    const begun = async () => [...(await kit.services.states.current(workspace)).policies.keys()].includes('b');
    expect(await begun()).toBe(false);
    expect(await beginPolicies(kit.services, workspace)).toBeUndefined();
    expect(await begun()).toBe(true);
    expect(await names()).toEqual(['a', 'b']);
  });
});

describe('the begin of a policy', () => {
  it('cannot be given to one that counts, nor lie behind its end, and one that has come is left out', async () => {
    const { kit, ada, at, said, passed } = await scene();
    await using _ = kit;
    const put = (name: string, spec: object) => said(ada('apply_resources', { documents: [documentOf(name, spec)] }));
    expect(await put('base', { ...WEB_IN, startsAt: at(HOUR) })).toContain('The policy counts already');
    expect(await put('a', { ...WEB_IN, startsAt: at(2 * HOUR), expiresAt: at(HOUR) })).toContain('before it begins');
    const spec = { ...WEB_IN, startsAt: at(HOUR) };
    expect(await put('a', spec)).toBe('written');
    await passed(HOUR);
    const { items } = await ada('apply_resources', { documents: [documentOf('a', spec)] });
    expect(items).toMatchObject([{ result: 'unchanged' }]);
  });

  it('is at the latest one that can be read again, and so is the end', async () => {
    const { kit, workspace, ada, said } = await scene();
    await using _ = kit;
    const last = '9999-12-31T23:59:59.999Z';
    const [startsAt, expiresAt] = ['9999-12-31T23:59:59-11:00', '9999-12-31T23:59:59-12:00'];
    expect(await said(ada('create_policy', { name: 'far', spec: { ...WEB_IN, startsAt, expiresAt } }))).toBe('written');
    const { waiting } = await kit.services.states.current(workspace);
    expect(waiting.get('far')?.spec).toMatchObject({ startsAt: last, expiresAt: last });
  });

  it('is one of three instants at most for which an agent may have policies wait, so that it leaves some to others', async () => {
    const { kit, ada, asKid, asPlanner, at, said } = await scene();
    await using _ = kit;
    const write = (ask: typeof asKid, name: string, hours: number) =>
      said(ask('create_policy', { name, spec: { ...WEB_IN, startsAt: at(hours * HOUR) } }));
    for (const hour of [1, 2, 3]) expect(await write(asKid, `p-${hour}`, hour)).toBe('written');
    expect(await write(asKid, 'one-more', 3.5)).toContain('at most 3 different times');
    expect(await write(asPlanner, 'one-more', 3.5)).toContain('at most 3 different times');
    expect(await write(asKid, 'with-another', 3)).toBe('written');
    expect(await write(ada, 'of-a-person', 4)).toBe('written');
  });

  it('is one of ten instants at most for which policies of a workspace wait', async () => {
    const { kit, ada, at, said } = await scene();
    await using _ = kit;
    const write = (name: string, hours: number) =>
      said(ada('create_policy', { name, spec: { ...WEB_IN, startsAt: at(hours * HOUR) } }));
    for (let hour = 1; hour <= 10; hour += 1) expect(await write(`p-${hour}`, hour)).toBe('written');
    expect(await write('one-more', 11)).toContain('at most 10 different times');
    expect(await write('with-another', 10)).toBe('written');
  });
});

function documentOf(name: string, spec: object, labels: Record<string, string> = {}) {
  return { apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata: { name, labels }, spec };
}
