import { expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { EndpointWriter } from './endpoint-writer.ts';

const at = (port: number) => ({ address: '192.0.2.1', port });

test('of many wishes for a peer the first and the last reach the tunnel, in order', async () => {
  const written: string[] = [];
  let finish = () => {};
  const writer = new EndpointWriter(
    {
      async setEndpoint(key, { port }) {
        written.push(`${key} ${port}`);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
    },
    silentLog,
  );
  for (const port of [1, 2, 3]) writer.set('a', at(port));
  writer.set('b', at(9));
  expect(written).toEqual(['a 1', 'b 9']);
  const endOfB = finish;
  writer.set('a', at(4));
  endOfB();
  expect(written).toEqual(['a 1', 'b 9']);
});

test('a tunnel that refuses once is told the next wish', async () => {
  const written: number[] = [];
  const writer = new EndpointWriter(
    {
      setEndpoint(_key, { port }) {
        written.push(port);
        return port === 1 ? Promise.reject(new Error('busy')) : Promise.resolve();
      },
    },
    silentLog,
  );
  writer.set('a', at(1));
  writer.set('a', at(2));
  await expect.poll(() => written).toEqual([1, 2]);
});
