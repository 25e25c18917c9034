import { expect, test } from 'vitest';
import { draftOf } from '../core/base/record.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { reading } from './kits/http/read-events.ts';
import { agent, person } from './kits/plane/kit.ts';
import { policy } from './kits/records/records.ts';

type Faces = Awaited<ReturnType<typeof startFaces>>;

const byHand = { actor: 'user:ada', reason: 'test', requestId: 'r_test' };

const policyNamed = (name: string) =>
  draftOf(policy(name, { action: 'DENY', peerSelector: {} }, { uid: `pol_${name}` }));

const write = ({ kit }: Faces, workspace: string, name: string) =>
  kit.services.store.commit(workspace, [{ op: 'create', record: policyNamed(name) }], byHand);

test('a change of the workspace arrives as one event whose id is the revision; those of others do not', async () => {
  await using faces = await startFaces();
  const [own, other] = [await faces.kit.workspace('own'), await faces.kit.workspace('other')];
  faces.callers.set('viewer', person('viewer', own));
  const events = reading(await faces.send('/api/v1/events', 'viewer'));
  await write(faces, other, 'theirs');
  const { revision, at } = await write(faces, own, 'ours');
  expect(await events.next()).toEqual({
    id: String(revision),
    event: 'change',
    data: {
      revision,
      at: new Date(at).toISOString(),
      changes: [{ type: 'created', kind: 'MeshPolicy', name: 'ours', id: 'pol_ours' }],
    },
  });
  await events.stop();
});

test('an auditor also reads who made a change', async () => {
  await using faces = await startFaces();
  const own = await faces.kit.workspace('own');
  faces.callers.set('auditor', person('auditor', own));
  const events = reading(await faces.send('/api/v1/events', 'auditor'));
  await write(faces, own, 'ours');
  expect((await events.next())?.data.actor).toBe('user:ada');
  await events.stop();
});

test('Last-Event-ID brings what was missed, in order and without a gap', async () => {
  await using faces = await startFaces();
  const own = await faces.kit.workspace('own');
  faces.callers.set('viewer', person('viewer', own));
  const first = await write(faces, own, 'a');
  await write(faces, own, 'b');
  await write(faces, own, 'c');
  const headers = { 'last-event-id': String(first.revision) };
  const events = reading(await faces.send('/api/v1/events', 'viewer', { headers }));
  await write(faces, own, 'd');
  const names: string[] = [];
  for (let count = 0; count < 3; count++) names.push((await events.next())?.data.changes[0].name);
  expect(names).toEqual(['b', 'c', 'd']);
  await events.stop();
});

test.each([
  ['no token', undefined, {}, 401],
  ['a token without the scope', 'blind', {}, 403],
  ['another workspace', 'viewer', { 'x-workspace-id': 'w_other' }, 404],
  ['a Last-Event-ID that is no revision', 'viewer', { 'last-event-id': 'soon' }, 400],
  ['a Last-Event-ID of the future', 'viewer', { 'last-event-id': '999999' }, 400],
])('%s is refused with a problem', async (_title, token, headers, status) => {
  await using faces = await startFaces();
  const own = await faces.kit.workspace('own');
  faces.callers.set('viewer', person('viewer', own)).set('blind', agent([], own));
  const response = await faces.send('/api/v1/events', token, { headers: headers as Record<string, string> });
  expect([response.status, ((await response.json()) as { status: number }).status]).toEqual([status, status]);
});

test('a stream ends when its token does', async () => {
  await using faces = await startFaces();
  const own = await faces.kit.workspace('own');
  const expiresAt = faces.kit.clock.time + 50;
  faces.callers.set('brief', { ...person('viewer', own), expiresAt });
  const events = reading(await faces.send('/api/v1/events', 'brief'));
  faces.kit.clock.time = expiresAt;
  const data = { code: 'unauthenticated', detail: 'This token has expired: ask for a new one.' };
  expect(await events.next()).toEqual({ id: undefined, event: 'end', data });
  expect(await events.next()).toBeUndefined();
});

test('one who opens all the streams they can leaves some for others, and is told of the limit', async () => {
  await using faces = await startFaces({ limits: { events: { maxStreams: 40 } } });
  const own = await faces.kit.workspace('own');
  faces.callers.set('greedy', agent(['network:read'], own)).set('viewer', person('viewer', own));
  const open = () => faces.send('/api/v1/events', 'greedy');
  const greedy: Response[] = [];
  for (let count = 0; count < 40; count += 1) greedy.push(await open());
  expect(greedy.filter(({ status }) => status === 200)).toHaveLength(4);
  const refused = greedy.at(-1);
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([429, '30']);
  expect(await refused?.json()).toMatchObject({ code: 'rate_limited', limit: 'event streams', share: 'principal' });
  expect((await faces.send('/api/v1/events', 'viewer')).status).toBe(200);
  await greedy[0]?.body?.cancel();
  await expect.poll(async () => (await open()).status).toBe(200);
});
