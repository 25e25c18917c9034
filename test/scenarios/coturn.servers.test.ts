import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { StunListener } from '../../net/stun/listener.ts';
import { PLATFORM_CHOICES } from '../../platform/choice.ts';
import { platformOf } from '../../platform/platform.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { startPart } from '../kits/process/part.ts';

const CLIENT = 'turnutils_stunclient';

async function answerTo(port: number): Promise<string> {
  const { stdout } = await promisify(execFile)(CLIENT, ['-p', String(port), '127.0.0.1']);
  return stdout;
}

describe.skipIf(!isInstalled(CLIENT))("coturn's client", () => {
  test.each(PLATFORM_CHOICES)('understands the answer, by the platform %s', async (choice) => {
    const listener = new StunListener({
      host: '127.0.0.1',
      port: 0,
      clock: { now: () => 0 },
      datagrams: platformOf(choice).datagrams,
    });
    const { port } = await listener.start();
    try {
      expect(await answerTo(port)).toMatch(/UDP reflexive addr: 127\.0\.0\.1:\d+/);
    } finally {
      await listener.stop();
    }
  });

  test('understands the answer of meshd stun alone', async () => {
    await using stun = await startPart('stun');
    expect(await answerTo(stun.port)).toMatch(/UDP reflexive addr: 127\.0\.0\.1:\d+/);
  });
});
