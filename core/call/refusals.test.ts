import { expect, test } from 'vitest';
import { buildPeopleKit, CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { memberDraft } from '../identity/members.ts';

const AGENT = { ttl: '1h', scopes: ['network:read', 'agents:delegate'] };

test('a refusal stands in the log of the workspace that was called, and in no other of the caller', async () => {
  await using kit = await buildPeopleKit();
  const other = await kit.workspace('other');
  const members = ['ada', 'vic'].map((name) => ({ op: 'create' as const, record: memberDraft(name, 'admin') }));
  await kit.services.store.commit(other, members, CONTEXT);
  const [ada, vic] = [await kit.sessionOf('ada'), await kit.sessionOf('vic')];
  await kit.call('create_agent', { name: 'merger', ...AGENT }, { bearer: ada, workspace: other });
  const renewal = kit.call('renew_agent', { id: 'merger' }, { bearer: vic, workspace: other });
  expect(await refusalOf(renewal)).toMatch(/^forbidden/);
  await kit.gate.flushRefusals();
  const refused = { type: 'refused', actor: 'user:vic', detail: { operation: 'renew_agent', code: 'forbidden' } };
  expect((await kit.events(other)).at(-1)).toMatchObject(refused);
  expect(JSON.stringify(await kit.events(kit.prod))).not.toContain('merger');
});

test('the reason of a refusal keeps no token that the caller sent', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('create_agent', { name: 'bot', ...AGENT });
  const { token: sent } = await kit.ada('create_agent', { name: 'mesh-api-gateway', ...AGENT });
  const sub = { subAgentName: 'x', policyPreset: 'sandboxed', ttl: '10m', scopes: ['network:read'] };
  await refusalOf(kit.askWith(token)('delegate_agent', { id: sent, ...sub }));
  await kit.gate.flushRefusals();
  const { detail } = (await kit.events(kit.prod)).at(-1) ?? {};
  expect(detail).toMatchObject({ operation: 'delegate_agent', reason: expect.stringContaining('[removed]') });
  expect(JSON.stringify(detail)).not.toContain(sent);
});

test('a flood from one network leaves one entry, whatever addresses in it are used', async () => {
  await using kit = await buildPeopleKit();
  for (const end of [1, 2, 3]) {
    const origin = `2001:db8::${end}`;
    expect(await refusalOf(kit.call('get_me', {}, { bearer: 'mesh-agt-bad', origin }))).toBe('unauthenticated');
  }
  await kit.gate.flushRefusals();
  const refused = (await kit.events(SYSTEM_WORKSPACE)).filter(({ detail }) => detail?.['operation'] === 'get_me');
  expect(refused).toEqual([expect.objectContaining({ detail: expect.objectContaining({ count: 3 }) })]);
});
