import { expect, test } from 'vitest';
import { bufferedOutput, logOutput } from './log-output.ts';

function refusal(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A descriptor that takes bytes while there is room. */
function outputWith(room: number) {
  const disk = { room, text: '', code: 'ENOSPC' };
  const output = logOutput(2, (_fd, bytes) => {
    const taken = Math.min(disk.room, bytes.length);
    if (taken === 0) throw refusal(disk.code);
    disk.room -= taken;
    disk.text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  });
  return { disk, output };
}

test.each(['ENOSPC', 'EPIPE', 'EIO', 'EROFS'])(
  'a line that %s refuses is dropped and counted, and nobody hears of it',
  (code) => {
    const { disk, output } = outputWith(0);
    disk.code = code;
    output.write('one\n');
    output.write('two\n');
    expect([output.lost(), output.isLosing(), disk.text]).toEqual([2, true, '']);
  },
);

test('once there is room again, the log goes on with a line that says how many were lost', () => {
  const { disk, output } = outputWith(4);
  for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
  disk.room = 1_000;
  output.write('four\n');
  const [one, told, four] = disk.text.split('\n');
  expect([one, JSON.parse(told ?? ''), four]).toEqual(['one', expect.objectContaining({ level: 40, lost: 2 }), 'four']);
  expect([output.lost(), output.isLosing()]).toEqual([2, false]);
});

test('asking whether lines are lost finds out that there is room again', () => {
  const { disk, output } = outputWith(0);
  output.write('one\n');
  disk.room = 1_000;
  expect(output.isLosing()).toBe(false);
  expect(JSON.parse(disk.text)).toMatchObject({ lost: 1 });
});

test('a line that was cut off does not run into the next', () => {
  const { disk, output } = outputWith(3);
  output.write('{"a":1}\n');
  disk.room = 1_000;
  output.write('{"b":2}\n');
  expect(disk.text.split('\n').map((line) => line.slice(0, 7))).toEqual(['{"a', '{"level', '{"b":2}', '']);
});

test('a reader that is slow is waited for, and one that has stopped once only', () => {
  let refusals = 3;
  const slow = logOutput(2, (_fd, bytes) => {
    if (refusals-- > 0) throw refusal('EAGAIN');
    return bytes.length;
  });
  slow.write('one\n');
  expect(slow.lost()).toBe(0);

  let tries = 0;
  const stopped = logOutput(2, () => {
    tries += 1;
    throw refusal('EAGAIN');
  });
  stopped.write('one\n');
  const before = tries;
  for (let line = 0; line < 100; line += 1) stopped.write('more\n');
  expect([stopped.lost(), tries - before]).toEqual([101, 100]);
});

test('lines that are held come in their order once they are released, and later lines at once', () => {
  const { disk, output } = outputWith(1_000);
  const held = bufferedOutput(output);
  held.output.write('one\n');
  held.output.write('two\n');
  expect(disk.text).toBe('');
  held.release();
  held.output.write('three\n');
  expect(disk.text).toBe('one\ntwo\nthree\n');
});

test('a start that logs much is not held in memory', () => {
  const { disk, output } = outputWith(100_000);
  const held = bufferedOutput(output);
  for (let line = 0; line < 500; line += 1) held.output.write(`${line}\n`);
  expect(disk.text.split('\n')).toHaveLength(501);
  held.release();
});
