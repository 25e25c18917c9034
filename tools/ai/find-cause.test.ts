import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { carryOut } from '../../test/kits/plane/carry-out.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { person } from '../../test/kits/plane/kit.ts';

/** web-1 and ci-runner reach db-1 until it is isolated, and again for a minute by a policy that ends. */
async function withOutage() {
  const kit = await buildHistoryKit();
  const began = kit.clock.time;
  const at = (seconds: number) => formatInstant(began + seconds * 1_000);
  await kit.join('web-1', { role: 'web' });
  const ci = await kit.join('ci-runner', { role: 'ci' });
  await kit.join('db-1', { role: 'db' });
  kit.clock.time += 60_000;
  await kit.ask('create_policy', {
    name: 'isolate-db',
    spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } },
  });
  kit.clock.time += 60_000;
  const spec = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'ci' } } }], ports: [{ port: 5432 }] }],
    expiresAt: at(180),
  };
  await kit.ask('create_policy', { name: 'ci-to-db', spec });
  kit.clock.time += 120_000;
  return { kit, ci, at };
}

test('a question in plain words is answered with what broke it, who did it, and a plan that puts it back', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  const question = "Since when can't the CI runner reach the database on 5432, and why?";
  const answer = await kit.ask('find_cause', { question, from: at(1) });
  expect(answer).toMatchObject({
    asked: { src: 'ci-runner', dst: 'db-1', protocol: 'TCP', port: 5432 },
    finding_count: 3,
  });
  const [first, opened, broken] = answer.findings;
  expect(first).toMatchObject({
    at: at(180),
    before: { verdict: 'reachable' },
    after: { verdict: 'unreachable' },
    causes: [{ cause: 'expiry', kind: 'MeshPolicy', name: 'ci-to-db' }],
    change: null,
    no_restore: null,
    restore: { verified: true, changes: [{ action: 'update', resource: 'MeshPolicy', name: 'ci-to-db' }] },
  });
  expect(opened).toMatchObject({
    at: at(120),
    restore: null,
    no_restore: expect.stringContaining('nothing is to be put back'),
  });
  expect(broken).toMatchObject({
    at: at(60),
    causes: [{ cause: 'policy', kind: 'MeshPolicy', name: 'isolate-db' }],
    change: {
      actor: 'user:admin',
      reviewed_by: null,
      workflow_id: null,
      changed: [{ type: 'created', kind: 'MeshPolicy', name: 'isolate-db' }],
    },
    restore: { verified: true, changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'isolate-db' }] },
  });
  await carryOut(kit, kit.workspace, first.restore.plan_id);
  const now = await kit.ask('check_connectivity', { src: 'ci-runner', dst: 'db-1', port: 5432 });
  expect(now.verdict).toBe('reachable');
});

test('the typed form says what the question says, and the snapshot and the approval of each change', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  await kit.pass(2_000);
  const typed = await kit.ask('find_cause', { src: 'ci-runner', dst: 'db-1', port: 5432, from: at(1), to: at(200) });
  const asked = await kit.ask('find_cause', {
    question: 'why is db-1:5432 not reachable from ci-runner?',
    from: at(1),
    to: at(200),
  });
  const strip = (findings: { restore: unknown }[]) => findings.map(({ restore: _restore, ...rest }) => rest);
  expect(asked.reading).toBe(typed.reading);
  expect(strip(asked.findings.slice(0, 1))).toEqual(strip(typed.findings.slice(0, 1)));
  const planned = await kit.ask('plan_network_change', { intent: 'delete the policy isolate-db' });
  const id = await carryOut(kit, kit.workspace, planned.plan_id);
  await kit.pass(5_000);
  const after = await kit.ask('find_cause', { src: 'ci-runner', dst: 'db-1', from: at(1) });
  const opened = after.findings.find(
    ({ change }: { change: { workflow_id: string } | null }) => change?.workflow_id === id,
  );
  expect(opened.change.reviewed_by).not.toBeNull();
  expect(opened.change.snapshot_id).toMatch(/^snap_/);
});

test.each([
  ['why can web-1 not reach storage-7?', /no peer "storage-7"/],
  ['why can web-1 not reach the warehouse?', /no peer "warehouse"/],
  ['why can web-1 not reach db-11?', /no peer "db-11".*Did you mean "db-1"/],
  ['why is it broken?', /No peer is named/],
  ["why can't web-1 connect?", /Only web-1 is named/],
  ['why can web-1 not reach db-1, which ci-runner can?', /More than two are named/],
  ['why can web-1 not reach db-1 on 80 or 443?', /Two ports/],
  ['why can web-1 not reach db-1 on 99999?', /no port 99999/],
  ['why can web-1 not reach the ci server?', /matches 2 peers.*"role=ci", "ci-runner" or "ci-runner-2"/],
  ['why can web-1 not reach anything in staging?', /no peer "staging"/],
  ['why can web-1 not reach db-1 in the lab?', /no peer "lab"/],
  ['what changed between the two audits?', /It is not known when "the two audits" was/],
  ['since the audit, why can web-1 not reach db-1?', /It is not known when "the audit" was/],
  ['why can web-1 not reach db-1 since tomorrow?', /lies in the future/],
  ['why could web-1 not reach db-1 yesterday and last week?', /Several times are named/],
])('a question that cannot be read is asked back, never guessed: %s', async (question, message) => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  if (question.includes('ci server')) await kit.join('ci-runner-2', { role: 'ci' });
  await expect(kit.ask('find_cause', { question, from: at(1) })).rejects.toMatchObject({
    code: 'intent_not_understood',
    message: expect.stringMatching(message),
  });
});

test('a peer that was renamed, and one that was deleted, is found by what it was called', async () => {
  const { kit, ci, at } = await withOutage();
  await using _ = kit;
  await kit.call('rename_own_device', { name: 'builder' }, { bearer: ci.deviceToken });
  kit.clock.time += 1_000;
  const renamed = await kit.ask('find_cause', {
    question: 'why can ci-runner not reach db-1?',
    from: at(1),
    to: at(100),
  });
  expect([renamed.asked.src, renamed.finding_count]).toEqual(['ci-runner', 1]);
  await kit.ask('delete_peer', { id: 'db-1' });
  kit.clock.time += 1_000;
  const gone = await kit.ask('find_cause', { question: 'why can builder not reach db-1?', from: at(1) });
  expect(gone.findings[0]).toMatchObject({
    causes: [{ cause: 'expiry' }],
    no_restore: 'db-1 is gone: it has to join again.',
  });
});

test('who may read the past but not plan gets the findings without plans, and strangers nothing', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  const asked = { src: 'ci-runner', dst: 'db-1', from: at(1) };
  const viewer = person('viewer', kit.workspace);
  const { findings } = await kit.call('find_cause', asked, { as: viewer });
  expect(findings[0]).toMatchObject({ restore: null, no_restore: expect.stringContaining('intents:plan') });
  const stranger = person('admin', await kit.addWorkspace());
  await expect(kit.call('find_cause', asked, { as: stranger, workspace: kit.workspace })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('findings come in pages of one range, and neither question nor ends is refused', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  const asked = { src: 'ci-runner', dst: 'db-1', port: 5432, from: at(1), limit: 2 };
  const first = await kit.ask('find_cause', asked);
  const second = await kit.ask('find_cause', { ...asked, cursor: first.next_cursor });
  const ranks = [...first.findings, ...second.findings].map(({ rank }: { rank: number }) => rank);
  expect([ranks, second.next_cursor]).toEqual([[1, 2, 3], undefined]);
  for (const bad of [{}, { src: 'web-1' }]) {
    await expect(kit.ask('find_cause', bad)).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

/** Three of ci and two databases; a policy takes the databases from ci, and one of ci gets another label. */
async function withGroups() {
  const kit = await buildHistoryKit();
  const began = kit.clock.time;
  const at = (seconds: number) => formatInstant(began + seconds * 1_000);
  for (const name of ['ci-1', 'ci-2', 'ci-3']) await kit.join(name, { role: 'ci' });
  for (const name of ['db-1', 'db-2']) await kit.join(name, { role: 'db' });
  kit.clock.time = began + 60_000;
  await kit.ask('update_peer', { id: 'ci-3', labels: { role: 'guest' } });
  kit.clock.time = began + 120_000;
  const spec = {
    action: 'DENY',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'ci' } } }] }],
  };
  await kit.ask('create_policy', { name: 'no-ci', spec });
  kit.clock.time = began + 180_000;
  await kit.ask('create_policy', {
    name: 'no-guests',
    spec: { ...spec, ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'guest' } } }] }] },
  });
  kit.clock.time = began + 240_000;
  return { kit, at };
}

test('a group is answered by what one change did to all of its connections, and a plan brings all of them back', async () => {
  const { kit, at } = await withGroups();
  await using _ = kit;
  const question = "Since when can't the ci machines reach the databases on 5432?";
  const answer = await kit.ask('find_cause', { question, from: at(1) });
  expect(answer).toMatchObject({
    reading: expect.stringContaining('role=ci to role=db on TCP 5432'),
    asked: { src: 'role=ci', dst: 'role=db', connections: 6 },
    was: {
      begin: { verdict: 'reachable', connections: { reachable: 6, unreachable: 0 } },
      now: { verdict: 'unreachable', connections: { reachable: 0, unreachable: 6 } },
    },
    finding_count: 2,
  });
  // ci-3 was of the group when the range began: it is asked about too, and fell to another policy.
  expect(answer.findings).toMatchObject([
    {
      at: at(120),
      connections: { count: 4, src: ['role=ci (2 peers)'], dst: ['role=db (2 peers)'] },
      causes: [{ name: 'no-ci' }],
    },
    {
      at: at(180),
      connections: { count: 2, src: ['ci-3'] },
      causes: [{ name: 'no-guests' }],
      restore: { verified: true },
    },
  ]);
  expect(answer.summary).toContain('4 of 6 connections');
  await carryOut(kit, kit.workspace, answer.findings[0].restore.plan_id);
  const now = await kit.ask('check_connectivity', { src: 'role=ci', dst: 'role=db', port: 5432 });
  expect(now).toMatchObject({ verdict: 'reachable', open_pairs: 4 });
  const typed = await kit.ask('find_cause', { src: 'role=ci', dst: 'db-1', port: 5432, from: at(1) });
  expect(typed.asked).toMatchObject({ src: 'role=ci', dst: 'db-1', connections: 3 });
  const nobody = kit.ask('find_cause', { src: 'role=cl', dst: 'db-1', from: at(1) });
  await expect(nobody).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('"role=ci"') });
});

test('more connections than are searched at once are asked back with their number', async () => {
  const { kit, at } = await withGroups();
  await using _ = kit;
  for (let n = 0; n < 51; n += 1) await kit.join(`web-${n}`, { role: 'web' });
  await expect(
    kit.ask('find_cause', { question: 'why can all web servers not reach the databases?', from: at(1) }),
  ).rejects.toMatchObject({
    code: 'intent_not_understood',
    message: expect.stringMatching(/role=web to role=db are 102 connections, and at most 100/),
  });
});

test('the time in the words is that of the workspace, within the range that is sent, and said in the answer', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  await kit.ask('update_workspace', { settings: { timeZone: 'Europe/Zurich' } });
  // It was 13:00 in Zurich when all joined: 13:01 it was isolated, 13:02 opened, 13:03 closed again.
  const ask = (words: string, more = {}) =>
    kit.ask('find_cause', { question: `why could ci-runner not reach db-1 on 5432 ${words}?`, ...more });
  const atMoment = await ask('at 13:01', { from: at(1) });
  expect([atMoment.finding_count, atMoment.was.end.verdict]).toEqual([1, 'unreachable']);
  expect(atMoment.reading).toContain('"at 13:01" is Monday 2026-01-05 13:01 (Europe/Zurich)');
  const since = await ask('since 13:02', { from: at(1) });
  expect([since.asked.from, since.finding_count]).toEqual([at(120), 1]);
  const all = await ask('since when');
  expect([all.finding_count, all.asked.from]).toEqual([4, formatInstant(kit.clock.time - 30 * 86_400_000)]);
  await expect(ask('at 13:01', { from: at(90) })).rejects.toMatchObject({
    code: 'intent_not_understood',
    message: expect.stringMatching(/lies outside of the range/),
  });
  const first = await ask('since 2 hours ago', { limit: 2 });
  kit.clock.time += 60_000;
  const second = await ask('since 2 hours ago', { limit: 2, cursor: first.next_cursor });
  expect([second.findings.length, second.asked.from, second.asked.to]).toEqual([2, first.asked.from, first.asked.to]);
});

test('what another tool answers leads there, with arguments that it takes', async () => {
  const { kit, at } = await withOutage();
  await using _ = kit;
  const lead = async (question: string) => (await kit.ask('find_cause', { question, from: at(1) })).next;
  const who = await lead('what could reach the database on 5432 at 12:01?');
  expect(who).toEqual({
    tool: 'check_connectivity_at',
    arguments: { dst: 'db-1', protocol: 'TCP', port: 5432, at: at(60) },
  });
  expect(await kit.ask(who.tool, who.arguments)).toMatchObject({ open_pairs: 0 });
  const exposure = await lead('who could connect to db-1 in the last 3 minutes?');
  expect(exposure.arguments).toEqual({ dst: 'db-1', from: at(60), to: at(240) });
  const { intervals } = await kit.ask(exposure.tool, exposure.arguments);
  expect(intervals.map(({ reach }: { reach: { peers: string[] }[] }) => reach.flatMap(({ peers }) => peers))).toEqual(
    expect.arrayContaining([[], ['ci-runner']]),
  );
  const changes = await lead('what changed between 2026-01-05T12:00:30Z and 2026-01-05T12:01:30Z?');
  expect(await kit.ask(changes.tool, changes.arguments)).toMatchObject({ added: [{ name: 'isolate-db' }] });
});
