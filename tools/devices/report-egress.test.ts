import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const USE = { destination: 'api.example.com:443', outcome: 'opened', count: 3 };

test('what the sandbox of an agent reached is shown among the calls of the agent', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', { name: 'planner' });
  const child = { id: 'self', subAgentName: 'worker', ttl: '30m', policyPreset: 'inherit' };
  const { enrollmentToken } = await kit.call('delegate_agent', child, { bearer: token });
  const { self } = await kit.join('worker', { token: enrollmentToken });
  const refused = { destination: 'elsewhere.example:443', outcome: 'refused', count: 1 };
  expect(await kit.call('report_egress', { uses: [USE, refused] }, self)).toEqual({ reported: 2 });
  const { items } = await kit.ask('list_agent_calls', { id: 'worker' });
  expect(items.map(({ operation, outcome, input }: Record<string, unknown>) => [operation, outcome, input])).toEqual([
    ['egress', 'forbidden', '{"destination":"elsewhere.example:443"}'],
    ['egress', 'ok', '{"destination":"api.example.com:443"}'],
  ]);
});

test('what isolates the sandbox of an agent is shown among its calls', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', { name: 'planner' });
  const child = { id: 'self', subAgentName: 'worker', ttl: '30m', policyPreset: 'inherit' };
  const { enrollmentToken } = await kit.call('delegate_agent', child, { bearer: token });
  const { self } = await kit.join('worker', { token: enrollmentToken });
  const isolation = 'network and mount namespaces; runs as user 1000';
  expect(await kit.call('report_egress', { uses: [], isolation }, self)).toEqual({ reported: 0 });
  const { items } = await kit.ask('list_agent_calls', { id: 'worker' });
  expect(items).toMatchObject([{ operation: 'sandbox', outcome: 'ok', result: JSON.stringify({ isolation }) }]);
});

test('a device that is no agent, and no device at all, reports nothing, and wrong reports are refused by their field', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const report = (uses: unknown, as = self) => kit.call('report_egress', { uses }, as);
  expect(await refusalOf(report([USE]))).toBe('conflict');
  expect(await refusalOf(report(Array(17).fill(USE)))).toBe('invalid_input /uses');
  expect(await refusalOf(report([{ ...USE, count: 0 }]))).toBe('invalid_input /uses/0/count');
  expect(await refusalOf(report([{ ...USE, destination: 'a\nb' }]))).toBe('invalid_input /uses/0/destination');
  expect(await refusalOf(kit.ask('report_egress', { uses: [USE] }))).toBe('forbidden device');
});
