import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { BufferPool } from './buffer-pool.ts';
import { Outbox } from './outbox.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe('outbox', () => {
  it('gives out what was put in, in order, whatever the sizes', () => {
    const run = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(run, run), { maxLength: 8 }), (runs) => {
        const outbox = new Outbox(new BufferPool());
        const parts = runs.flatMap(([head, tail], at) => [
          new Uint8Array(head).fill(at * 2 + 1),
          new Uint8Array(tail).fill(at * 2 + 2),
        ]);
        for (let at = 0; at < parts.length; at += 2) {
          outbox.append(parts[at] ?? new Uint8Array(), parts[at + 1] ?? new Uint8Array());
        }
        const whole = Buffer.concat(parts);
        expect(outbox.bytes).toBe(whole.length);
        const out: Uint8Array[] = [];
        for (let chunk = outbox.take(); chunk !== undefined; chunk = outbox.take()) out.push(chunk.bytes);
        expect(Buffer.concat(out).equals(whole)).toBe(true);
        expect(outbox.bytes).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('uses a returned buffer again', () => {
    const pool = new BufferPool();
    const outbox = new Outbox(pool);
    outbox.append(Uint8Array.of(1), Uint8Array.of(2));
    const first = outbox.take();
    if (first !== undefined) pool.give(first.buffer);
    outbox.append(Uint8Array.of(3), Uint8Array.of());
    expect(outbox.take()?.buffer).toBe(first?.buffer);
  });
});
