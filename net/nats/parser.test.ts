import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Budget, UNBOUNDED } from './budget.ts';
import { latin1 } from './bytes.ts';
import { corpus } from './corpus.testkit.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { Parser } from './parser.ts';
import type { Publication, Sink } from './sink.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Writes down what the parser finds; publications as they would be sent on. */
class Recorder implements Sink {
  open = true;
  awaitingAuth = false;
  readonly events: unknown[] = [];

  connect(json: string): void {
    this.events.push(['connect', json]);
  }
  info(json: string): void {
    this.events.push(['info', json]);
  }
  ping(): void {
    this.events.push(['ping']);
  }
  pong(): void {
    this.events.push(['pong']);
  }
  subscribe(args: readonly string[]): void {
    this.events.push(['sub', ...args]);
  }
  unsubscribe(args: readonly string[]): void {
    this.events.push(['unsub', ...args]);
  }
  publish(publication: Publication): void {
    const { buffer, hash, headerSize } = publication;
    const text = (from: number, to: number) => latin1(buffer, from, to);
    this.events.push([
      'pub',
      text(publication.subjectStart, publication.subjectEnd),
      hash,
      text(publication.replyStart, publication.replyEnd),
      text(publication.headerStart, publication.headerEnd),
      headerSize,
      text(publication.sizeStart, publication.sizeEnd),
      text(publication.payloadStart, publication.payloadEnd),
    ]);
  }
  peerError(): void {
    this.events.push(['error']);
  }
  unauthorized(): void {
    this.open = false;
    this.events.push(['unauthorized']);
  }
}

function parse(chunks: readonly Uint8Array[], budget = new Budget(UNBOUNDED)) {
  const sink = new Recorder();
  const parser = new Parser(DEFAULT_LIMITS, budget);
  for (const chunk of chunks) {
    // A copy that is overwritten afterwards, as the listener's read buffer is.
    const lent = Uint8Array.from(chunk);
    const error = parser.parse(lent, sink);
    lent.fill(0x21);
    if (error !== undefined) return { events: sink.events, error };
  }
  parser.release();
  return { events: sink.events, error: undefined, left: budget.held.partialBytes };
}

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Cuts a buffer at the given places. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return edges.slice(1).map((end, at) => whole.subarray(edges[at], end));
}

describe('parser', () => {
  it('finds the parts of PUB and HPUB', () => {
    const { events } = parse([bytes('PUB foo re 2\r\nhi\r\nHPUB a.b 4 6\r\nabcdef\r\n')]);
    expect(events).toEqual([
      ['pub', 'foo', expect.any(Number), 're', '', 0, '2', 'hi'],
      ['pub', 'a.b', expect.any(Number), '', '4', 4, '6', 'abcdef'],
    ]);
  });

  it('finds the same in every corpus session byte by byte as at once', () => {
    for (const { name, turns } of corpus) {
      const whole = bytes(turns.map(([, text]) => text).join(''));
      const single = Array.from(whole, (byte) => Uint8Array.of(byte));
      expect({ name, ...parse(single) }).toEqual({ name, ...parse([whole]) });
    }
  });

  it('finds the same in any split of any corpus session', () => {
    const session = fc.constantFrom(...corpus);
    fc.assert(
      fc.property(session, fc.array(fc.nat(), { maxLength: 6 }), ({ turns }, places) => {
        const whole = bytes(turns.map(([, text]) => text).join(''));
        expect(parse(cut(whole, places))).toEqual(parse([whole]));
      }),
      { numRuns: 300 },
    );
  });

  it('gives back every message that was published, however it is split', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'Z', '9', '.', '*', '\xff'), minLength: 1, maxLength: 12 });
    const message = fc.record({ subject: word, reply: fc.option(word), payload: fc.uint8Array({ maxLength: 700 }) });
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat(), { maxLength: 8 }), (messages, places) => {
        const wire = messages.map(({ subject, reply, payload }) =>
          Buffer.concat([
            bytes(`PUB ${subject} ${reply === null ? '' : `${reply} `}${payload.length}\r\n`),
            payload,
            bytes('\r\n'),
          ]),
        );
        const expected = messages.map(({ subject, reply, payload }) => [
          'pub',
          subject,
          expect.any(Number),
          reply ?? '',
          '',
          0,
          String(payload.length),
          latin1(payload, 0, payload.length),
        ]);
        expect(parse(cut(Buffer.concat(wire), places))).toEqual({ events: expected, error: undefined, left: 0 });
      }),
    );
  });

  it('never throws on random bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        parse(chunks);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never throws on a corpus session with some bytes changed', () => {
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(fc.constantFrom(...corpus), fc.array(change, { maxLength: 5 }), ({ turns }, changes) => {
        const whole = bytes(turns.map(([, text]) => text).join(''));
        for (const [at, value] of changes) whole[at % whole.length] = value;
        parse([whole]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses more unfinished bytes than all connections together may hold', () => {
    const most = { ...UNBOUNDED, partialBytes: 100_000 };
    const budget = new Budget(most);
    const half = bytes(`PUB foo 1000000\r\n${'x'.repeat(60_000)}`);
    expect([parse([half], new Budget(most)).error, parse([half, bytes('x'.repeat(60_000))], budget).error]).toEqual([
      undefined,
      'partial',
    ]);
  });

  it('takes memory for what came, not for what was announced', () => {
    const budget = new Budget(UNBOUNDED);
    const parser = new Parser(DEFAULT_LIMITS, budget);
    parser.parse(bytes('PUB foo 1000000\r\nx'), new Recorder());
    expect(budget.held.partialBytes).toBe(512);
  });

  it('ends a line of blanks that never ends', () => {
    const chunks = Array.from({ length: 5_000 }, () => bytes(' '));
    expect(parse([bytes('SUB'), ...chunks]).error).toBe('control-line');
  });

  it('lets only CONNECT through before authentication', () => {
    const sink = new Recorder();
    sink.awaitingAuth = true;
    new Parser(DEFAULT_LIMITS, new Budget(UNBOUNDED)).parse(bytes('CONNECT {}\r\nPING\r\nPUB a 1\r\n'), sink);
    expect(sink.events).toEqual([['connect', '{}'], ['unauthorized']]);
  });
});
