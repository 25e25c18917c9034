import path from 'node:path';
import { expect, test } from 'vitest';
import type { NodeOptions } from '../../client/agent/launch.ts';
import { asUser } from '../../test/kits/process/as-user.ts';
import { runNode } from './node.ts';

test('a user who has not joined is told so, and not of the rights that an interface needs', async () => {
  asUser(1_000);
  const directory = path.resolve('no-such-directory');
  const options = { directory, interfaceName: 'mesh0', level: 'error' } as NodeOptions;
  await expect(runNode(options)).rejects.toMatchObject({ reason: 'not-configured' });
});
