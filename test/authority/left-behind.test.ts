import { describe, expect, it } from 'vitest';
import { approve, buildScene, type Scene } from './scene.ts';

const URL_OF_HOOK = 'https://hooks.example.com/secret-path';

/** Ada makes one of everything that outlives a call. */
async function belongings(scene: Scene) {
  await scene.call(scene.ada, 'create_api_token', { name: 'ci', scopes: ['network:read'] });
  const join = await scene.call(scene.ada, 'generate_join_token', { name: 'laptops' });
  const boss = await scene.agent('boss', ['network:read', 'agents:delegate']);
  await scene.child(boss.token, 'child', ['network:read']);
  await scene.call(scene.ada, 'create_webhook', { url: URL_OF_HOOK, events: ['*'], description: 'chat' });
  const schedule = { framework: 'soc2', cadence: 'weekly', enabled: true };
  await scene.call(scene.ada, 'set_assessment_schedule', schedule);
  await scene.call(scene.ada, 'update_workspace', { settings: { reviews: { access: 90 } } });
  return { join: join.token as string, boss: boss.token };
}

/** What is there, by type: its owners. */
async function owners(scene: Scene) {
  const { items } = await scene.call(scene.grace, 'list_credentials', { limit: 200 });
  const of = (type: string) =>
    items.filter((item: { type: string }) => item.type === type).map(({ owner }: { owner: string | null }) => owner);
  return {
    api: of('API token'),
    join: of('join token'),
    agents: of('agent token'),
    webhooks: of('webhook'),
    schedules: of('schedule'),
  };
}

const ADAS = {
  api: ['ada'],
  join: ['ada'],
  agents: ['ada', 'ada'],
  webhooks: ['ada'],
  schedules: ['ada', 'ada'],
};
const OWNERLESS = { api: [], join: [], agents: [], webhooks: [null], schedules: [null, null] };
const GRACES = {
  api: [],
  join: ['grace'],
  agents: ['grace', 'grace'],
  webhooks: ['grace'],
  schedules: ['grace', 'grace'],
};

const WAYS = [
  ['is removed', 'remove_member', { username: 'ada' }, 'grace'],
  ['is disabled', 'update_user', { username: 'ada', disabled: true }, 'admin'],
  ['is deleted', 'delete_user', { username: 'ada' }, 'admin'],
] as const;

describe('what a person made', () => {
  it('is in the inventory and in a review of access, with its owner and without the path of a webhook', async () => {
    await using scene = await buildScene();
    await belongings(scene);
    expect(await owners(scene)).toEqual(ADAS);
    const { id } = await scene.call(scene.grace, 'start_review', { kind: 'access' });
    const review = await scene.call(scene.grace, 'get_review', { id, limit: 200 });
    const of = (type: string) => review.items.filter((item: { type: string }) => item.type === type);
    expect(of('webhook')).toMatchObject([{ name: 'chat', facts: { host: 'hooks.example.com', owner: 'ada' } }]);
    expect(
      of('schedule').map(({ id: item, facts }: { id: string; facts: { owner: string } }) => [item, facts.owner]),
    ).toEqual([
      ['Schedule/soc2', 'ada'],
      ['Schedule/reviews', 'ada'],
    ]);
    for (const type of ['agent', 'API token', 'join token']) expect(of(type).length).toBeGreaterThan(0);
    expect(JSON.stringify(review)).not.toContain('secret-path');
    await expect(
      scene.call(scene.ada, 'decide_review_items', {
        id,
        items: [{ item: of('webhook')[0].id, verdict: 'confirmed' }],
      }),
    ).rejects.toMatchObject({ message: expect.stringContaining('You hold chat') });
  });

  it.each(WAYS)('ends or stays without an owner when the person %s', async (_how, name, raw, by) => {
    await using scene = await buildScene();
    const { boss } = await belongings(scene);
    await scene.call(scene[by], name, raw);
    expect(await owners(scene)).toEqual(OWNERLESS);
    await expect(scene.call(boss, 'list_peers')).rejects.toMatchObject({ code: 'unauthenticated' });
    const { items } = await scene.call(scene.grace, 'list_webhooks');
    expect(items).toMatchObject([{ createdBy: 'user:ada', owner: null, enabled: true }]);
    await scene.call(scene.grace, 'update_webhook', { id: items[0].id, description: 'chat of grace' });
    await scene.call(scene.grace, 'set_assessment_schedule', { framework: 'soc2', cadence: 'daily', enabled: true });
    expect(await owners(scene)).toMatchObject({ webhooks: ['grace'], schedules: [null, 'grace'] });
  });

  it.each([
    ['named by the call', {}, 'remove_member', { username: 'ada', successor: 'grace' }, 'grace'],
    ['named by the call that deletes', {}, 'delete_user', { username: 'ada', successor: 'grace' }, 'admin'],
    ...WAYS.map(([how, ...call]) => [`the default, when the person ${how}`, { username: 'grace' }, ...call] as const),
    ['the member with the role', { role: 'admin' }, 'remove_member', { username: 'ada' }, 'grace'],
  ] as const)('passes to a successor who is %s, but for API tokens', async (_how, successor, name, raw, by) => {
    await using scene = await buildScene();
    if (Object.keys(successor).length > 0) await scene.call(scene.ada, 'update_workspace', { settings: { successor } });
    const { join, boss } = await belongings(scene);
    await scene.call(scene[by], name, raw);
    expect(await owners(scene)).toEqual(GRACES);
    expect((await scene.call(boss, 'list_peers')).items.length).toBeGreaterThan(0);
    await scene.enrol(join, 'late');
    const { items: joins } = await scene.call(scene.grace, 'list_join_tokens');
    expect(joins).toMatchObject([{ name: 'laptops', createdBy: 'user:ada' }]);
  });

  it('that was taken over is left by whoever has it now', async () => {
    await using scene = await buildScene();
    const { join } = await belongings(scene);
    await scene.call(scene.grace, 'remove_member', { username: 'ada', successor: 'grace' });
    await scene.call(scene.admin, 'remove_member', { username: 'grace' });
    await expect(scene.enrol(join, 'late')).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('ends where the default successor is no member, or is who leaves', async () => {
    await using scene = await buildScene();
    await belongings(scene);
    for (const username of ['nobody', 'ada']) {
      await scene.call(scene.grace, 'update_workspace', { settings: { successor: { username } } });
      const { left } = await scene.call(scene.grace, 'remove_member', { username: 'ada', dryRun: true });
      expect(left).toContainEqual(expect.objectContaining({ type: 'agent', name: 'boss', becomes: 'ends' }));
    }
  });

  it.each(WAYS)('is listed by a dry run, which changes nothing, before the person %s', async (_how, name, raw, by) => {
    await using scene = await buildScene();
    await belongings(scene);
    const { left, omitted_left } = await scene.call(scene[by], name, { ...raw, dryRun: true });
    const ends = { workspace: 'prod', becomes: 'ends', to: null };
    const passes = { workspace: 'prod', becomes: 'passes', to: null };
    expect(omitted_left).toBe(0);
    expect(left).toEqual([
      { ...ends, type: 'API token', id: expect.any(String), name: 'ci' },
      { ...ends, type: 'join token', id: expect.any(String), name: 'laptops' },
      { ...ends, type: 'agent', id: expect.any(String), name: 'boss' },
      { ...ends, type: 'agent', id: expect.any(String), name: 'child' },
      { ...passes, type: 'webhook', id: expect.any(String), name: 'chat' },
      { ...passes, type: 'schedule', id: 'soc2', name: 'soc2' },
      { ...passes, type: 'schedule', id: 'reviews', name: 'reviews' },
    ]);
    expect(await owners(scene)).toEqual(ADAS);
    const passing = await scene.call(scene.grace, 'remove_member', {
      username: 'ada',
      successor: 'grace',
      dryRun: true,
    });
    expect(passing).toMatchObject({ removed: false, endedAgents: [] });
    expect(passing.left).toContainEqual(expect.objectContaining({ type: 'webhook', to: 'grace' }));
  });
});

it('whom a workspace names as successor takes a second person where it asks for approval', async () => {
  await using scene = await buildScene({ requireApproval: true });
  const settings = { successor: { username: 'grace' } };
  const { workflow_id } = await scene.call(scene.ada, 'update_workspace', { settings });
  expect(await approve(scene, scene.grace, workflow_id)).toMatchObject({ status: 'executed' });
  expect((await scene.call(scene.ada, 'get_workspace')).settings).toMatchObject(settings);
});
