import { expect, test } from 'vitest';
import { StoreError } from '../../core/base/ports.ts';
import { orExplain } from './wire-parts.ts';

const address = { host: '127.0.0.1', port: 6266 };
const startingWith = (error: Error) => orExplain('MESH_RELAY_LISTEN', address, Promise.reject(error));

test('an address that is taken is told with what to change, and a store that fails meanwhile as itself', async () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  await expect(startingWith(taken)).rejects.toThrow(/MESH_RELAY_LISTEN: cannot listen on 127\.0\.0\.1:6266/);
  const damaged = new StoreError('unavailable', 'the database: database disk image is malformed');
  await expect(startingWith(damaged)).rejects.toBe(damaged);
});
