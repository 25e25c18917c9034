import { expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';
import { SHARED_BUFFER_BYTES, SHARED_BUFFER_FRAMES } from './limits.ts';
import { Outbox } from './outbox.ts';
import { SharedBuffer } from './shared-buffer.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const text = (part: Uint8Array | undefined) => Buffer.from(part ?? []).toString();

function setUp() {
  const pool = new BufferPool();
  const shared = new SharedBuffer(pool);
  const outbox = () => new Outbox(pool);
  /** Puts a frame for those receivers, each with the start it goes by. */
  const put = (tail: string, ...receivers: readonly (readonly [Outbox, Uint8Array])[]) => {
    shared.put(bytes(tail));
    for (const [receiver, head] of receivers) receiver.note(shared, head);
  };
  return { pool, shared, outbox, put };
}

it('gives each receiver the frames it was to have, with its own start', () => {
  const { outbox, put, pool } = setUp();
  const [first, second] = [outbox(), outbox()];
  const [one, two] = [bytes('1:'), bytes('22:')];
  put('a ', [first, one], [second, two]);
  put('b ', [first, one], [second, two]);
  put('c ', [second, two]);
  expect([first.bytes, second.bytes, pool.queued]).toEqual([8, 15, 0]);
  expect([text(first.take()?.bytes), text(second.take()?.bytes)]).toEqual(['1:a 1:b ', '22:a 22:b 22:c ']);
});

it('puts the same bytes together once, until a receiver is slow to take them', () => {
  const { outbox, put } = setUp();
  const receivers = Array.from({ length: 4 }, outbox);
  const [same, other] = [bytes('1:'), bytes('2:')];
  put('a', ...receivers.map((receiver, at) => [receiver, at === 3 ? other : same] as const));
  const chunks = receivers.map((receiver, at) => {
    const chunk = receiver.take();
    if (at < 2) chunk?.owner.give(chunk.buffer);
    return chunk;
  });
  const [first, second, third, fourth] = chunks;
  expect([second, third].map((chunk) => chunk?.bytes === first?.bytes)).toEqual([true, true]);
  expect(fourth?.buffer).not.toBe(third?.buffer);
  expect([text(third?.bytes), text(fourth?.bytes)]).toEqual(['1:a', '2:a']);
});

it('keeps the order for a receiver that misses a frame or hears something else in between', () => {
  const { outbox, put, pool } = setUp();
  const [gap, mixed] = [outbox(), outbox()];
  const head = bytes('1:');
  put('a ', [gap, head], [mixed, head]);
  mixed.append(bytes('PONG '), new Uint8Array());
  put('b ', [mixed, head]);
  put('c ', [gap, head], [mixed, head]);
  expect(pool.queued).toBe('1:a 1:c '.length + '1:a PONG 1:b 1:c '.length);
  expect([text(gap.take()?.bytes), text(mixed.take()?.bytes)]).toEqual(['1:a 1:c ', '1:a PONG 1:b 1:c ']);
  expect(pool.queued).toBe(0);
});

it('has room again once nobody needs what is on it', () => {
  const { outbox, shared, put } = setUp();
  const [taken, dropped] = [outbox(), outbox()];
  const head = bytes('1:');
  const half = 'x'.repeat(SHARED_BUFFER_BYTES / 2);
  put(half, [taken, head]);
  put(half, [dropped, head]);
  const room = () => [shared.fits(bytes('y')), shared.frames];
  const full = room();
  taken.take();
  const stillFull = room();
  dropped.clear();
  expect([full, stillFull, room()]).toEqual([
    [false, 2],
    [false, 2],
    [true, 0],
  ]);
});

it('takes a bounded number of frames, however short', () => {
  const { outbox, shared, put } = setUp();
  const receiver = outbox();
  const head = bytes('1:');
  for (let frame = 0; frame < SHARED_BUFFER_FRAMES; frame++) put('0\r\n\r\n', [receiver, head]);
  expect(shared.fits(bytes('0\r\n\r\n'))).toBe(false);
});
