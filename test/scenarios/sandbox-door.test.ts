import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serveDoor } from '../../client/sandbox/door.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { connectAgent } from '../../examples/first-change/agent.ts';
import { apiOf, startHarness } from '../kits/http/harness.ts';

/** A control plane, and a door to it for an agent that may read and delegate. */
async function withDoor(scopes = ['network:read', 'agents:delegate']) {
  const harness = await startHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const admin = await harness.workspace();
  const { body } = await harness.api('POST', '/api/v1/agents', { ...admin, body: { name: 'planner', scopes } });
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const door = await serveDoor(listener, { server: harness.url, token: body.token, log: silentLog });
  onTestFinished(() => door.close());
  const url = `http://127.0.0.1:${port}`;
  return { harness, admin, url, inside: apiOf(url) };
}

test('through the door an agent reads, delegates and watches without a token, and the audit log tells that it was a sandbox', async () => {
  const { harness, admin, url, inside } = await withDoor();
  expect((await inside('GET', '/api/v1/peers')).body).toMatchObject({ items: [] });
  const stream = await fetch(`${url}/api/v1/events`, { headers: { accept: 'text/event-stream' } });
  const body = { subAgentName: 'worker', ttl: '5m', policyPreset: 'isolated' };
  expect((await inside('POST', '/api/v1/agents/self/delegate', { body })).body.enrollmentToken).toMatch(/^mesh-dlg-/);
  let events = '';
  for await (const chunk of stream.body ?? []) {
    events += new TextDecoder().decode(chunk);
    if (events.includes('event: change')) break;
  }
  expect(events).toContain('event: change');
  const { body: audit } = await harness.api('GET', '/api/v1/audit', admin);
  const entry = audit.items.find(({ reason }: { reason?: string }) => reason === 'delegate to worker');
  expect(entry).toMatchObject({ actor: 'agent:planner', requestId: expect.stringMatching(/^sandbox-/) });
});

test('an MCP client works through the door without a token', async () => {
  const { url } = await withDoor();
  const agent = await connectAgent(url);
  expect(await agent.use('list_peers')).toMatchObject({ items: [] });
  await agent.close();
});

test('what the agent may not call, nobody but it may, or no agent ever, does not reach the control plane', async () => {
  const { inside } = await withDoor(['network:read']);
  const tried = [
    ['POST', '/api/v1/agents/self/delegate'],
    ['POST', '/api/v1/users/login'],
    ['POST', '/api/v1/devices/register'],
    ['POST', '/api/v1/devices/self/egress'],
    ['GET', '/api/v1/discovery'],
    ['GET', '/api/v1/users/me'],
    ['GET', '/api/v1/users'],
    ['GET', '/'],
    ['GET', '/metrics'],
  ] as const;
  for (const [method, path] of tried) {
    const { status, body } = await inside(method, path, {
      token: 'mesh-api-of-another',
      body: method === 'POST' ? {} : undefined,
    });
    expect([path, status, body?.code]).toEqual([path, 403, 'forbidden']);
  }
});
