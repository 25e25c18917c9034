import { expect, test } from 'vitest';
import type { Entry } from '../apply-batch.ts';
import { Head } from './heads.ts';

const entryOf = (reason: string) => ({ at: 1, actor: 'user:ada', reason }) as unknown as Entry;

test('an entry that no document of the server can hold is refused, and nothing that came with it is appended', () => {
  const head = new Head('w_a', undefined);
  expect(() => head.append([entryOf('small'), entryOf('x'.repeat(13 * 1024 * 1024))])).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
  expect(head.entries).toEqual([]);
  head.append([entryOf('small')]);
  expect(head.entries).toHaveLength(1);
});
