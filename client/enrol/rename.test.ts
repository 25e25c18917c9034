import { describe, expect, test } from 'vitest';
import type { NodeConfig } from './node-config.ts';
import { PlaneAway, PlaneRefusal } from './plane-api.ts';
import { renameNode } from './rename.ts';

const config = { name: 'my-box' } as NodeConfig;
const saying = (error: Error) => ({ rename: () => Promise.reject(error) });

describe('a node that is started with a name', () => {
  test('bears the one that the control plane has given it', async () => {
    const api = { rename: async (name: string) => ({ name: name.toLowerCase() }) };
    expect(await renameNode(config, 'Other', api)).toEqual({ config: { name: 'other' } });
  });

  test('asks for nothing where it is the name that it has', async () => {
    expect(await renameNode(config, 'my box', saying(new Error('was asked')))).toEqual({ config });
  });

  test.each([
    ['changed it a moment ago', new PlaneRefusal(429, 'rate_limited', 'wait 26 s')],
    ['does not reach the control plane', new PlaneAway('wait 26 s')],
    ['awaits approval itself', new PlaneRefusal(403, 'peer_pending', 'wait 26 s')],
  ])('keeps the one that it has, and says why, where it %s', async (_, error) => {
    expect(await renameNode(config, 'other', saying(error))).toEqual({ config, kept: 'wait 26 s' });
  });

  test('keeps the one that it has until a person has approved the new one', async () => {
    const api = { rename: async () => ({ message: 'a person has to approve wf_1' }) };
    expect(await renameNode(config, 'other', api)).toEqual({ config, kept: 'a person has to approve wf_1' });
  });

  test('is refused where the name is taken', async () => {
    const taken = new PlaneRefusal(409, 'conflict', 'is registered already');
    await expect(renameNode(config, 'other', saying(taken))).rejects.toBe(taken);
  });
});
