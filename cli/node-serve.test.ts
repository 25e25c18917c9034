import { expect, it } from 'vitest';
import type { NodeConfig } from '../client/enrol/node-config.ts';
import { requireTarget } from './node-serve.ts';

const CONFIG = { server: 'http://localhost:18090', signalingUrl: 'nats://127.0.0.1:4222' } as NodeConfig;
const target = (host: string, port: number) => ({ host, port });

it('serves the loopback of this host, and another host where that is asked for', async () => {
  await requireTarget(target('127.0.0.1', 8080), false, CONFIG);
  await expect(requireTarget(target('192.0.2.1', 80), false, CONFIG)).rejects.toThrow('add --to-other-hosts');
  await requireTarget(target('192.0.2.1', 80), true, CONFIG);
});

it.each([18_090, 4_222])('never serves its control plane at port %i', async (port) => {
  for (const host of ['127.0.0.1', 'localhost']) {
    await expect(requireTarget(target(host, port), true, CONFIG)).rejects.toThrow('is the control plane of this node');
  }
});
