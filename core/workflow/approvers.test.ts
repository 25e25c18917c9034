import { expect, test } from 'vitest';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { requireApprover } from './approvers.ts';

test('a platform administrator who is a member of the workspace too is offered once as an approver', async () => {
  await using kit = await buildKit();
  const { store } = kit.services;
  const workspace = await kit.workspace();
  const record = { labels: {}, annotations: {}, status: {}, unique: [] };
  const account = { ...record, kind: 'Account', uid: 'u_admin', name: 'admin', spec: { role: 'platform_admin' } };
  const member = { ...record, kind: 'Member', uid: 'm_admin', name: 'admin', spec: { role: 'admin' } };
  const items = { Account: [account], Member: [member] };
  const list = async (_workspace: string, kind: keyof typeof items) => ({ items: items[kind], revision: 1 });
  const services = { store: { ...store, list } as unknown as typeof store };
  const context = { ...CONTEXT, services, workspace, caller: person('platform_admin', workspace, 'admin') };
  await expect(requireApprover(context, 'nobody')).rejects.toMatchObject({
    message: expect.stringMatching(/such as admin\.$/),
  });
});

const CONTEXT = { requestId: 'r_test', face: 'rest', origin: 'test', signal: new AbortController().signal } as const;
