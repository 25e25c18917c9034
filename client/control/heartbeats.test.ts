import { expect, test } from 'vitest';
import { Heartbeats } from './heartbeats.ts';

const NEVER = { heartbeat: () => Promise.reject(new Error('The bus is up.')) };

test('a control plane that does not know this process again and again, as one that is restarted, says nothing of the key', async () => {
  const beats = new Heartbeats(
    { isUp: true, beat: async (content: object) => ('echo' in content ? { version: 1 } : { challenge: 'c' }) },
    NEVER,
    undefined,
  );
  for (let count = 0; count < 8; count += 1) {
    await beats.beat();
    expect(beats.isKeyShared).toBe(false);
  }
});

test('a control plane that names another process of the key is believed at once, and until that one is gone', async () => {
  const answers = [{ challenge: 'c', superseded: true }, ...Array.from({ length: 7 }, () => ({}))];
  const beats = new Heartbeats(
    {
      isUp: true,
      beat: async (content: object) => ('echo' in content ? { version: 1 } : { version: 1, ...answers.shift() }),
    },
    NEVER,
    undefined,
  );
  const shared: boolean[] = [];
  for (let count = 0; count < 8; count += 1) {
    await beats.beat();
    shared.push(beats.isKeyShared);
  }
  expect(shared).toEqual([true, true, true, true, true, true, false, false]);
});
