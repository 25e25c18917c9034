import { expect, test } from 'vitest';
import { Heartbeats } from './heartbeats.ts';

const NEVER = { heartbeat: () => Promise.reject(new Error('The bus is up.')) };

/** Heartbeats to a control plane that takes each of these for one of an unknown process, or not. */
async function beatsOf(strange: readonly boolean[]): Promise<Heartbeats> {
  const left = [...strange];
  const beats = new Heartbeats(
    {
      isUp: true,
      async beat(content: object) {
        if (!('echo' in content) && left.shift()) return { challenge: 'c' };
        return { version: 1 };
      },
    },
    NEVER,
    undefined,
  );
  for (const _ of strange) await beats.beat();
  return beats;
}

test('a key that two machines use is noticed by each of them within three heartbeats', async () => {
  expect((await beatsOf([true, true])).isKeyShared).toBe(false);
  expect((await beatsOf([true, true, true])).isKeyShared).toBe(true);
});

test('a control plane that was restarted says nothing of the key, and what is over is forgotten', async () => {
  expect((await beatsOf([true, false, false, true, false, false])).isKeyShared).toBe(false);
  expect((await beatsOf([true, true, true, false, false, false, false, false])).isKeyShared).toBe(false);
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
