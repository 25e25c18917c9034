import { expect, test } from 'vitest';
import { Backlog, MAX_BACKLOG_BYTES } from './backlog.ts';

const MIB = 1_048_576;

/** A backlog, and a server that takes what it is asked for when it is told to. */
function behind() {
  const recovered: string[] = [];
  const backlog = new Backlog(() => recovered.push('recovered'));
  const asked: (() => void)[] = [];
  const flush = () => new Promise<void>((resolve) => asked.push(resolve));
  const send = (bytes: number) => {
    const fits = backlog.admits(bytes);
    if (fits) backlog.sent(bytes, flush);
    return fits;
  };
  const take = async () => {
    for (const done of asked.splice(0)) done();
    await Promise.resolve();
  };
  return { backlog, send, take, recovered };
}

test('what a server does not take is bounded, and when it has caught up whoever listens hears that something was lost', async () => {
  const { backlog, send, take, recovered } = behind();
  let sent = 0;
  while (send(MIB)) sent += MIB;
  expect([sent, backlog.bytes, recovered]).toEqual([MAX_BACKLOG_BYTES, MAX_BACKLOG_BYTES, []]);
  await take();
  expect([backlog.bytes, recovered, send(MIB)]).toEqual([0, ['recovered'], true]);
});

test('a server that keeps up loses nothing, and one that is connected anew owes nothing', async () => {
  const { backlog, send, take, recovered } = behind();
  for (let n = 0; n < 200; n += 1) {
    expect(send(MIB)).toBe(true);
    await take();
  }
  while (send(MIB));
  backlog.clear();
  await take();
  expect([backlog.bytes, recovered, send(MIB)]).toEqual([0, [], true]);
});
